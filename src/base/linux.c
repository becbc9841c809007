/* Processors and memory of a process on Linux: those of the machine, or fewer if its affinity mask or its control
 * groups (version 1 and 2, of a container or of systemd) allow fewer. A group has the limits of those above it, as far
 * up as they are mounted. A file that cannot be read limits nothing. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the system asks for it */
#define _GNU_SOURCE /* sched_getaffinity */

#include "base/cgroup.h"
#include "base/hash.h"
#include "base/os.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINE = 4096, MAX_PATH = 3 * MAX_LINE };
#define MASK_SETS 16 /* of 1024 processors each */

/* Reads a line without its end, cut off if it is longer. */
static bool read_line(FILE *file, char line[MAX_LINE])
{
    if (!fgets(line, MAX_LINE, file))
        return false;
    size_t len = strcspn(line, "\n");
    for (int c = line[len]; c != '\n' && c != EOF;)
        c = getc(file);
    line[len] = '\0';
    return true;
}

/* Reads up to two numbers of a file in a folder. Returns how many it has: none in "max" and in -1. */
static int read_numbers(const char *folder, const char *name, uint64_t *first, uint64_t *second)
{
    char path[MAX_PATH + 32], line[MAX_LINE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    bool is_read = file && read_line(file, line) && line[0] != '-';
    if (file)
        fclose(file);
    return is_read ? sscanf(line, "%" SCNu64 " %" SCNu64, first, second) : 0;
}

static void limit_processors(gsai_cgroup_limits *limits, uint64_t quota, uint64_t period)
{
    if (period == 0)
        return;
    uint64_t n = quota / period + (quota % period != 0);
    limits->processors = n < limits->processors ? (n > 0 ? n : 1) : limits->processors;
}

static void read_group(const char *folder, gsai_cgroup_limits *limits)
{
    static const char *const memory[] = {"memory.max", "memory.limit_in_bytes"};
    uint64_t quota, period, size, none;
    if (read_numbers(folder, "cpu.max", &quota, &period) == 2)
        limit_processors(limits, quota, period);
    if (read_numbers(folder, "cpu.cfs_quota_us", &quota, &none) > 0 &&
        read_numbers(folder, "cpu.cfs_period_us", &period, &none) > 0)
        limit_processors(limits, quota, period);
    for (int i = 0; i < 2; i++)
        if (read_numbers(folder, memory[i], &size, &none) > 0 && size < limits->memory)
            limits->memory = size;
}

static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (strncmp(list, name, len) == 0 && (list[len] == ',' || list[len] == '\0'))
            return true;
    return false;
}

/* Finds the process's group in the hierarchy of a controller; NULL: that of version 2. */
static bool find_group(const char *root, const char *controller, char group[MAX_LINE])
{
    char line[MAX_LINE];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "re");
    bool is_found = false;
    while (file && !is_found && read_line(file, line)) {
        char *names = strchr(line, ':'), *path = names ? strchr(++names, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        is_found = controller ? is_listed(names, controller) : *names == '\0';
        memmove(group, path, strlen(path) + 1);
    }
    if (file)
        fclose(file);
    return is_found;
}

/* Reads the limits of a group and of those above it. `top` is the group that is mounted at `mount`. */
static void read_groups(const char *root, const char *mount, const char *top, const char *group,
                        gsai_cgroup_limits *limits)
{
    char folder[MAX_PATH];
    size_t top_len = strcmp(top, "/") == 0 ? 0 : strlen(top);
    bool is_inside =
        strncmp(group, top, top_len) == 0 && (group[top_len] == '/' || group[top_len] == '\0') && !strstr(group, "/..");
    int stop = snprintf(folder, sizeof folder, "%s%s", root, mount);
    if (stop < 0 || (size_t)stop >= sizeof folder - MAX_LINE)
        return;
    if (is_inside && strcmp(group + top_len, "/") != 0)
        memcpy(folder + stop, group + top_len, strlen(group + top_len) + 1);
    for (;;) {
        read_group(folder, limits);
        if (!folder[stop])
            return;
        *strrchr(folder, '/') = '\0';
    }
}

void gsai_cgroup_read(const char *root, gsai_cgroup_limits *out)
{
    char line[MAX_LINE], group[MAX_LINE];
    *out = (gsai_cgroup_limits){.processors = UINT64_MAX, .memory = UINT64_MAX};
    snprintf(line, sizeof line, "%s/proc/self/mountinfo", root);
    FILE *file = fopen(line, "re");
    while (file && read_line(file, line)) {
        /* 36 35 98:0 TOP MOUNT options - TYPE source controllers */
        char top[MAX_LINE], mount[MAX_LINE], type[16], names[256];
        char *end = strstr(line, " - ");
        if (!end || sscanf(line, "%*s %*s %*s %4095s %4095s", top, mount) != 2 ||
            sscanf(end, " - %15s %*s %255s", type, names) != 2)
            continue;
        const char *controller = is_listed(names, "cpu") ? "cpu" : is_listed(names, "memory") ? "memory" : NULL;
        bool is_v2 = strcmp(type, "cgroup2") == 0;
        if ((is_v2 || (strcmp(type, "cgroup") == 0 && controller)) &&
            find_group(root, is_v2 ? NULL : controller, group))
            read_groups(root, mount, top, group, out);
    }
    if (file)
        fclose(file);
}

size_t gsai_os_processors(void)
{
    cpu_set_t sets[MASK_SETS];
    gsai_cgroup_limits limits;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = online < 1 ? 1 : (uint64_t)online;
    if (sched_getaffinity(0, sizeof sets, sets) == 0)
        n = (uint64_t)CPU_COUNT_S(sizeof sets, sets);
    gsai_cgroup_read("", &limits);
    return (size_t)(limits.processors < n ? limits.processors : n);
}

uint64_t gsai_os_processor_set(void)
{
    cpu_set_t sets[MASK_SETS] = {0};
    return sched_getaffinity(0, sizeof sets, sets) == 0 ? gsai_hash(sets, sizeof sets, 0) : 0;
}

uint64_t gsai_os_memory(void)
{
    gsai_cgroup_limits limits;
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    uint64_t size = pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : 0;
    gsai_cgroup_read("", &limits);
    return limits.memory < size || (size == 0 && limits.memory < UINT64_MAX) ? limits.memory : size;
}
