/* The slots of several states into those of one.
 *
 * Slot by slot and output by output the merged change is
 *   sum c_s (w_s - start) / sum c_s        c_s = the sum of squares of the slot in state s, its base's included
 * once for the last weights and once for the averaged, from sums as sums.h has them: the sum of the c_s is that of
 * those since the base, and the base's as often as states count. Copies of a base that have not touched a feature
 * since do not count; states that were trained separately do, with the base's sum of squares and no change. The result
 * is start + gamma * aggregation * change where gamma and aggregation come first, from the slots of held-out rows
 * alone: then each slot is read and written once.
 *
 * The aggregation factor is for copies. Each has gone a part of the way that all rows together would have gone: with
 * q rows seen the share 1 - exp(-alpha q) of it, so that a mean of copies is to be multiplied by
 *   (1 - exp(-alpha Q)) / (1 - exp(-alpha q))    Q = rows seen by all copies, q = by one that stands for them
 * which is the number of copies for a feature that is rare, whose changes add up, and 1 for one that is frequent,
 * where every copy has converged. How frequent that is, alpha, is found with gamma (line_search.c;
 * docs/decisions/0017). */
#ifndef GSA_MERGE_SLOTS_H
#define GSA_MERGE_SLOTS_H

#include "merge/delta.h"

/* How far to go in the direction of the change: gamma, and alpha of the aggregation factor (0: there is none). */
typedef struct gsai_line_step {
    double gamma, alpha;
} gsai_line_step;

typedef struct gsai_merging {
    const gsa_state *const *states;
    size_t n_states;
    const gsa_state *base;    /* NULL: the states began with nothing */
    bool goes_on;             /* the states are copies of the base that went on like it */
    const gsai_delta *deltas; /* n_deltas > 0: features of all states, reduced; the states have the intercept only */
    size_t n_deltas;
    gsai_delta found; /* how far the deltas were searched, and the number of that delta */
    size_t n_found;
    gsa_state *into; /* NULL: the states and the base have the same outputs, and sums are all that is asked for */
    const gsai_env *env;
    size_t n_outputs;
    gsai_merged *from;           /* the states, then the base */
    gsai_line_step line_step[2]; /* the changes of the last weights, and of the averaged */
    gsai_tree tree;              /* of a block, as is all that follows */
    gsai_view view, start;       /* a state, and the base */
    gsai_block_steps steps;
} gsai_merging;

/* Prepares a merge. The caller has set what is to be merged; `into` has its shape and its averaging. */
gsa_status gsai_merging_begin(gsai_merging *merging, gsa_error *error);
void gsai_merging_end(gsai_merging *merging);

/* Adds at most a block of slots of all states to the tree, and of the base to `start`; the first state is number
 * `number` of all. */
gsa_status gsai_merging_add(gsai_merging *merging, size_t number, const gsai_slots *slots, gsa_error *error);
/* Computes the mean changes of some slots, at most a block and the first alone, and what else `steps` has of them. */
gsa_status gsai_merging_changes(gsai_merging *merging, const gsai_slots *slots, gsai_sums **out, gsa_error *error);
/* Finds how far to go, by the held-out rows of the result, for the last weights and for the averaged. Gammas are in [0,
 * number of states]; 1 without an aggregation factor if there is no sample. line_search.c. */
gsa_status gsai_merging_line_steps(gsai_merging *merging, gsa_error *error);
/* Makes all slots of the result, and the sums of classes. */
gsa_status gsai_merging_slots(gsai_merging *merging, gsa_error *error);

#endif
