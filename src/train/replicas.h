/* Replicas of a state that learn different rows and become one state again: what a step of the schedule is, on threads
 * and in processes, and in the tasks of a cluster by the same functions of the library.
 *
 * Some replicas are in memory at a time. If these are all, they are merged as they are. Else their changes become
 * deltas, which are bytes: fewer than a replica has, and what processes exchange. Every process reduces the deltas of
 * some features and sends the sums to the others; headers, base and sums are the merged state, in every process. How
 * replicas are spread over processes, which are in memory together, and when they become deltas, changes no bit. */
#ifndef GSA_TRAIN_REPLICAS_H
#define GSA_TRAIN_REPLICAS_H

#include "train/comm.h"

#include <greedystep/distributed.h>

typedef struct gsai_replicas {
    gsai_job *job; /* its state is the base: untouched until the replicas are merged */
    gsa_step step;
    size_t own_first, own_end;  /* replicas of this process */
    const uint64_t *shard_rows; /* of these replicas, in contiguous steps; NULL: all replicas have equal rows */
    size_t n_begun;             /* replicas that have begun to learn; 0: no step is under way */
    gsa_state **resident;       /* in memory: numbers `first` on, n of them; NULL if another process has it */
    size_t first, n, capacity;
    gsa_state *spare[GSA_MAX_RESIDENT];
    size_t n_spare; /* replicas that are of no use but for their memory */
    /* Headers, and deltas by range of features, of the replicas of this process that were settled; in frames. */
    gsai_bytes headers, *deltas;
    size_t n_ranges; /* a multiple of the number of processes: range i is reduced by process i % n; 0: no deltas */
    uint64_t width;  /* features of a range; the last has all others too */
} gsai_replicas;

/* Begins a step; replicas [own_first, own_end) are this process's. */
gsa_status gsai_replicas_begin(gsai_replicas *replicas, const gsa_step *step, size_t own_first, size_t own_end,
                               const uint64_t *shard_rows, gsa_error *error);
/* Makes the next replicas, while none are in memory. */
gsa_status gsai_replicas_fork(gsai_replicas *replicas, gsa_error *error);
/* Turns the changes of the replicas in memory into deltas, to make room for the next. They must have the labels of the
 * base; n_rows: the rows that the step has learned, for the message. */
gsa_status gsai_replicas_settle(gsai_replicas *replicas, uint64_t n_rows, gsa_error *error);
/* Makes the state what all replicas of all processes have learned, and ends the step. whole: deltas cannot have
 * everything, since a process has met new labels or the choice of scaling is open. */
gsa_status gsai_replicas_merge(gsai_replicas *replicas, bool whole, uint64_t n_rows, gsa_error *error);
/* Returns whether a replica in memory has seen a label that the base does not know. */
bool gsai_replicas_have_new_labels(const gsai_replicas *replicas);
void gsai_replicas_free(gsai_replicas *replicas);

#endif
