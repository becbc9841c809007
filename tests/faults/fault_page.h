/* What the driver and the interposer share: a page of memory behind an inherited descriptor.
 *
 * The driver fills in the wish before each run, the interposer counts; it reads nothing from the environment but the
 * number of the descriptor. */
#ifndef TESTS_FAULTS_FAULT_PAGE_H
#define TESTS_FAULTS_FAULT_PAGE_H

#include <stdatomic.h>

#define FAULT_DESCRIPTOR "GREEDYSTEP_FAULT_DESCRIPTOR"
#define FAULT_EXIT_AGAIN 250 /* the interposer cannot work at the addresses of this run */

enum fault_kind {
    FAULT_MEMORY,
    FAULT_THREAD,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_OPEN,
    FAULT_SYNC,
    FAULT_RENAME,
    FAULT_CLOSE,
    FAULT_TRUNCATE,
    FAULT_MAP,
    FAULT_SEEK,
    FAULT_STAT,
    FAULT_N_KINDS
};

enum fault_mode {
    FAULT_ERROR, /* the calls first..last fail with `number` */
    FAULT_SHORT, /* every read and write moves a few bytes only */
    FAULT_AGAIN  /* every other call fails with EINTR */
};

typedef struct fault_page {
    enum fault_kind kind;
    enum fault_mode mode;
    unsigned long first, last; /* calls, from 1 */
    int number;                /* errno */
    atomic_ulong n_calls, n_faults;
    atomic_long n_live; /* blocks of memory at the end of the process */
} fault_page;

#endif
