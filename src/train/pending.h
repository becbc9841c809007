/* Copies that have learned and wait to be merged, as bytes: fewer than a copy has, and what processes hand round.
 *
 * Everyone unites the changes of some features and tells the others; heads, base and united changes are the merged
 * state, in every process. How copies are spread over processes, and when they are put aside, changes no bit. */
#ifndef GSA_TRAIN_PENDING_H
#define GSA_TRAIN_PENDING_H

#include "train/comm.h"

/* What copies that were put aside together have learned: for every range of features a delta behind its size. */
typedef struct gsai_delta_set {
    gsai_bytes bytes;
    size_t *at; /* by range, and where the last ends */
} gsai_delta_set;

typedef struct gsai_pending {
    gsai_job *job; /* its state is the base of all copies */
    gsai_bytes heads;
    gsai_delta_set *sliced;
    size_t n_with_deltas, capacity;
    size_t n_ranges; /* a multiple of the number of processes: range i is united by process i % n */
    uint64_t width;  /* features of a range; the last has all others too */
} gsai_pending;

void gsai_pending_begin(gsai_pending *aside, gsai_job *job);
void gsai_pending_drop(gsai_pending *aside);
/* n copies, numbers first on, which follow those that were put aside before; they have the labels of the base. */
gsa_status gsai_pending_add(gsai_pending *aside, const gsa_state *const *copy, size_t n, size_t first,
                            gsa_error *error);
/* What gsa_state_merge makes of all n_copies (at least 2), those of other processes among them. */
gsa_status gsai_pending_merge(gsai_pending *aside, gsa_status status, size_t n_copies, gsa_state **out,
                              gsa_error *error);

#endif
