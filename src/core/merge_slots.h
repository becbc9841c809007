/* The slots of several states into those of one.
 *
 * Slot by slot and output by output the merged change is
 *   sum c_s (w_s - start) / sum c_s        c_s = the mass of the slot in state s, its base's included
 * once for the last weights and once for the averaged, from sums as merge_sums.h has them: the sum of the masses is
 * that of those since the base, and the base's as often as states count. Copies of a base that have not met a feature
 * since do not count; states that were trained apart do, with the base's mass and no change. The result is
 *   start + gamma * gain * change
 * where gamma and gain come first, from the slots of held-out rows alone: then each slot is read and written once.
 *
 * The gain is of copies. Each has gone a part of the way that all rows together would have gone: with q of presence the
 * share 1 - exp(-alpha q) of it, so that a mean of copies is to be multiplied by
 *   (1 - exp(-alpha Q)) / (1 - exp(-alpha q))    Q = presence of all copies, q = of one that stands for them
 * which is the number of copies for a feature that is rare, whose changes add up, and 1 for one that is frequent, where
 * every copy has arrived. How frequent that is, alpha, is found with gamma (greedy_merge.c; docs/decisions/0017). */
#ifndef GSA_CORE_MERGE_SLOTS_H
#define GSA_CORE_MERGE_SLOTS_H

#include "core/merge_sums.h"

/* Some features, as slices.c has them in bytes. */
typedef struct gsa__slice {
    const unsigned char *chunks;
    uint64_t first, n_features, first_copy, n_copies, n_chunks;
    uint64_t end; /* the last feature that a copy has met + 1, or 0 */
} gsa__slice;

/* How far to go along the change: gamma, and alpha of the gain (0: there is none). */
typedef struct gsa__stride {
    double gamma, alpha;
} gsa__stride;

typedef struct gsa__merging {
    const gsa_state *const *states;
    size_t n_states;
    const gsa_state *base;    /* NULL: the states began with nothing */
    bool goes_on;             /* the states are copies of the base that went on like it */
    const gsa__slice *slices; /* n_slices > 0: the features of all states, united; the states have the intercept only */
    size_t n_slices;
    gsa__slice found; /* where gsa__slices_find is, and the number of that slice */
    size_t n_found;
    gsa_state *into; /* NULL: the states and the base have the same outputs, and sums are all that is asked for */
    const gsa_env *env;
    size_t n_outputs;
    gsa__merged *from;     /* the states, then the base */
    gsa__stride along[2];  /* the changes of the last weights, and of the averaged */
    gsa__tree tree;        /* of a block, as is all that follows */
    gsa__view view, start; /* a state, and the base */
    gsa__block_steps steps;
} gsa__merging;

/* What is to be merged is in place, the rest is made here. `into` has its shape and its clock. */
gsa_status gsa__merging_begin(gsa__merging *merging, gsa_error *error);
void gsa__merging_end(gsa__merging *merging);

/* At most a block of slots of all states into the tree, and of the base into `start`; the first state is number
 * `number` of all there are. */
gsa_status gsa__merging_add(gsa__merging *merging, size_t number, const gsa__slots *slots, gsa_error *error);
/* The mean changes of some slots, at most a block and the first alone, and what else `steps` has of them. */
gsa_status gsa__merging_changes(gsa__merging *merging, const gsa__slots *slots, gsa__sums **out, gsa_error *error);
/* greedy_merge.c: finds how far to go, by the held-out rows of the result, for the last weights and for the averaged.
 * Gammas are in [0, number of states]; 1 without a gain where there is no sample. */
gsa_status gsa__merging_strides(gsa__merging *merging, gsa_error *error);
/* Makes all slots of the result, and the sums of classes. */
gsa_status gsa__merging_slots(gsa__merging *merging, gsa_error *error);
/* Makes slots of the result from the sums that all states have of them. */
void gsa__merging_enter(gsa__merging *merging, gsa__sums *sums, size_t first, size_t n);

/* slices.c: the sums of some slots above the first; and slots of the result from slice `number`. */
gsa__sums *gsa__slices_find(gsa__merging *merging, const gsa__slots *slots);
void gsa__slices_enter(gsa__merging *merging, size_t number);

#endif
