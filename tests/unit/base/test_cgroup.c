/* What control groups allow, from folders that look as Linux shows them. */
#include "base/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[64];

static int setup(void **unused)
{
    (void)unused;
    strcpy(root, "/tmp/gsa-cgroup-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **unused)
{
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

/* Writes a file below the root, with its folders. */
static void put(const char *name, const char *text)
{
    char path[512];
    int start = snprintf(path, sizeof path, "%s", root) + 1;
    snprintf(path + start - 1, sizeof path - (size_t)start, "%s", name);
    for (char *at = path + start; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        (void)mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect(uint64_t processors, uint64_t memory)
{
    gsai_cgroup_limits limits;
    gsai_cgroup_read(root, &limits);
    assert_int_equal(limits.processors, processors);
    assert_int_equal(limits.memory, memory);
}

static void nothing_limits_without_groups(void **unused)
{
    (void)unused;
    expect(UINT64_MAX, UINT64_MAX);
    put("/proc/self/cgroup", "0::/a\n1:cpu\n\n");
    put("/proc/self/mountinfo", "25 24 0:22 / /sys rw - sysfs sysfs rw\nodd - cgroup\n1 2 3 / / - cgroup2 x\n");
    expect(UINT64_MAX, UINT64_MAX);
}

static void the_tightest_group_of_the_path_counts_in_version_2(void **unused)
{
    (void)unused;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/b/memory.max", "3000000\n");
    expect(UINT64_MAX, 3000000);
    put("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    expect(3, 3000000);
    put("/sys/fs/cgroup/cpu.max", "30000 100000\n");
    put("/sys/fs/cgroup/memory.max", "2000000\n");
    expect(1, 2000000);
}

static void controllers_of_version_1_have_groups_of_their_own(void **unused)
{
    (void)unused;
    put("/proc/self/cgroup", "4:memory:/m\n3:cpuset:/elsewhere\n2:cpu,cpuacct:/c/d\n1:name=systemd:/x\n0::/\n");
    put("/proc/self/mountinfo", "33 32 0:29 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                                "34 32 0:30 / /cg/memory rw - cgroup cgroup rw,memory\n"
                                "35 32 0:31 / /cg/unified rw - cgroup2 cgroup2 rw\n");
    put("/cg/cpu,cpuacct/c/d/cpu.cfs_quota_us", "-1\n");
    put("/cg/cpu,cpuacct/c/d/cpu.cfs_period_us", "100000\n");
    put("/cg/memory/m/memory.limit_in_bytes", "9223372036854771712\n");
    expect(UINT64_MAX, UINT64_C(9223372036854771712));
    put("/cg/cpu,cpuacct/c/cpu.cfs_quota_us", "400000\n");
    put("/cg/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
    put("/cg/memory/memory.limit_in_bytes", "5000000\n");
    expect(4, 5000000);
    put("/cg/cpu,cpuacct/c/cpu.cfs_period_us", "0\n");
    expect(UINT64_MAX, 5000000);
}

static void a_container_sees_its_group_at_the_mount(void **unused)
{
    (void)unused;
    put("/sys/fs/cgroup/memory.max", "7000000\n");
    /* Of the machine's path only the end is mounted, */
    put("/proc/self/cgroup", "0::/docker/abc/inner\n");
    put("/proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup ro\n");
    put("/sys/fs/cgroup/inner/cpu.max", "200000 100000\n");
    expect(2, 7000000);
    /* or another one, or the process is outside. */
    put("/proc/self/cgroup", "0::/docker/abcd\n");
    expect(UINT64_MAX, 7000000);
    put("/proc/self/cgroup", "0::/../other\n");
    put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup ro\n");
    expect(UINT64_MAX, 7000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_limits_without_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(the_tightest_group_of_the_path_counts_in_version_2, setup, teardown),
        cmocka_unit_test_setup_teardown(controllers_of_version_1_have_groups_of_their_own, setup, teardown),
        cmocka_unit_test_setup_teardown(a_container_sees_its_group_at_the_mount, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
