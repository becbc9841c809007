/* Copies that have learned and wait to be merged, as bytes: fewer than a copy has, and what processes hand round.
 *
 * Everyone unites the changes of some features and tells the others; heads, base and united changes are the merged
 * state, in every process. How copies are spread over processes, and when they are put aside, changes no bit. */
#ifndef GSA_ENGINE_ASIDE_H
#define GSA_ENGINE_ASIDE_H

#include "engine/bytes.h"
#include "engine/job.h"

/* What copies that were put aside together have learned: for every range of features a slice behind its size. */
typedef struct gsa__sliced {
    gsa__bytes bytes;
    size_t *at; /* by range, and where the last ends */
} gsa__sliced;

typedef struct gsa__aside {
    gsa__job *job; /* its state is the base of all copies */
    gsa__bytes heads;
    gsa__sliced *sliced;
    size_t n_sliced, capacity;
    size_t n_ranges; /* a multiple of the number of processes: range i is united by process i % n */
    uint64_t width;  /* features of a range; the last has all others too */
} gsa__aside;

void gsa__aside_begin(gsa__aside *aside, gsa__job *job);
void gsa__aside_drop(gsa__aside *aside);
/* n copies, numbers first on, which follow those that were put aside before; they have the labels of the base. */
gsa_status gsa__aside_add(gsa__aside *aside, const gsa_state *const *copy, size_t n, size_t first, gsa_error *error);
/* What gsa_state_merge makes of all n_copies (at least 2), those of other processes among them. */
gsa_status gsa__aside_merge(gsa__aside *aside, gsa_status status, size_t n_copies, gsa_state **out, gsa_error *error);

#endif
