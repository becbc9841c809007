/* Replicas that have learned and wait to be merged, as bytes: fewer than a replica has, and what processes exchange.
 *
 * Every process reduces the changes of some features and sends them to the others; headers, base and reduced changes
 * are the merged state, in every process. How replicas are spread over processes, and when they become deltas, changes
 * no bit. */
#ifndef GSA_TRAIN_PENDING_H
#define GSA_TRAIN_PENDING_H

#include "train/comm.h"

/* What replicas have learned that were added together: for every range of features a delta behind its size. */
typedef struct gsai_delta_set {
    gsai_bytes bytes;
    size_t *at; /* by range, and where the last ends */
} gsai_delta_set;

typedef struct gsai_pending {
    gsai_job *job; /* its state is the base of all replicas */
    gsai_bytes headers;
    gsai_delta_set *set;
    size_t n_sets, capacity;
    size_t n_ranges; /* a multiple of the number of processes: range i is reduced by process i % n */
    uint64_t width;  /* features of a range; the last has all others too */
} gsai_pending;

void gsai_pending_begin(gsai_pending *pending, gsai_job *job);
void gsai_pending_drop(gsai_pending *pending);
/* Adds n replicas, numbers first on, which follow those that were added before; they have the labels of the base. */
gsa_status gsai_pending_add(gsai_pending *pending, const gsa_state *const *replica, size_t n, size_t first,
                            gsa_error *error);
/* Makes what gsa_state_merge would make of all n_replicas (at least 2), those of other processes among them. */
gsa_status gsai_pending_merge(gsai_pending *pending, gsa_status status, size_t n_replicas, gsa_state **out,
                              gsa_error *error);

#endif
