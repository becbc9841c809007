/* Control groups of Linux: what the groups of this process allow it. */
#ifndef GSA_BASE_CGROUP_H
#define GSA_BASE_CGROUP_H

#include <stdint.h>

typedef struct gsai_cgroup_limits {
    uint64_t processors, memory; /* bytes; UINT64_MAX: not limited */
} gsai_cgroup_limits;

/* `root` comes before all paths: "", or a folder that a test made. */
void gsai_cgroup_read(const char *root, gsai_cgroup_limits *out);

#endif
