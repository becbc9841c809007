/* The slots of several states into those of one.
 *
 * Slot by slot and output by output the merged change is
 *   sum c_s (w_s - start) / sum c_s        c_s = the mass of the slot in state s, its base's included
 * once for the last weights and once for the averaged, from sums as merge_sums.h has them: the sum of the masses is
 * that of those since the base, and the base's as often as states count. Copies of a base that have not met a feature
 * since do not count; states that were trained apart do, with the base's mass and no change. It is written into the
 * table of the result in place of weight and average term; the result is start + gamma * gain * change.
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

/* Of features since the base: of all copies, and of one that stands for them, the sum of squares over the sum. In units
 * of the given features it is mass, else the number of rows. */
typedef struct gsa__presence {
    float *all, *one;
} gsa__presence;

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
    gsa_state *into; /* NULL: the states and the base have the same outputs, and sums are all that is asked for */
    const gsa_env *env;
    size_t n_outputs;
    gsa__merged *from; /* the states, then the base */
    double fresh;      /* as above, of the result */
    gsa__presence met; /* by slot; NULL: no gain */
    gsa__tree tree;
    gsa__view view, start; /* of a block: a state, and the base */
} gsa__merging;

/* What is to be merged is in place, the rest is made here. `into` has its shape and its clock. */
gsa_status gsa__merging_begin(gsa__merging *merging, gsa_error *error);
void gsa__merging_end(gsa__merging *merging);

/* Slots [first, first + n) of all states into the tree, n at most a block; the first is number `number` of all there
 * are. `start` is that block of the base. */
gsa_status gsa__merging_add(gsa__merging *merging, size_t number, size_t first, size_t n, gsa_error *error);
/* What the result has of these slots: mass, presence, and the changes for gamma = 1. */
void gsa__merging_enter(gsa__merging *merging, const gsa__sums *sums, size_t first, size_t n);
/* All slots, and the sums of classes. */
gsa_status gsa__merging_take(gsa__merging *merging, gsa_error *error);
/* slices.c: the slots above the first, from slices. */
void gsa__slices_take(gsa__merging *merging);
/* Where last weights of some slots start from, and by how much averages start below: as a view has them, in `start`. */
void gsa__merging_start(gsa__merging *merging, size_t first, size_t n);
/* Of n features with this presence, into gain. */
void gsa__gains(const float *all, const float *one, size_t n, double alpha, float *gain);
/* greedy_merge.c: how far to go, by the held-out rows of the result, for the last weights and for the averaged. Gammas
 * are in [0, number of states]; 1 without a gain where there is no sample. */
gsa_status gsa__merging_strides(gsa__merging *merging, gsa__stride *along, gsa__stride *along_average,
                                gsa_error *error);
/* From changes to weights: the last ones, and the averaged. */
gsa_status gsa__merging_apply(gsa__merging *merging, const gsa__stride *along, const gsa__stride *along_average,
                              gsa_error *error);

#endif
