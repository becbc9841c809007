/* Changes applied: the slots of the result from those of the base and the deltas.
 *
 * Slot by slot and output by output the merged change is
 *   sum c_s (w_s - start) / sum c_s        c_s = the sum of squares of the slot in state s, its base's included
 * once for the last weights and once for the averaged, from sums as sums.h has them: the sum of the c_s is that of
 * those since the base, and the base's as often as states count. Replicas of a base that have not touched a feature
 * since do not count; states that were trained separately do, with the base's sum of squares and no change. The result
 * is start + gamma * aggregation * change where gamma and aggregation come first, from the slots of held-out rows
 * alone: then each slot is read and written once.
 *
 * The aggregation factor is for replicas. Each has gone a part of the way that all rows together would have gone: with
 * q rows seen the share 1 - exp(-alpha q) of it, so that a mean of replicas is to be multiplied by
 *   (1 - exp(-alpha Q)) / (1 - exp(-alpha q))    Q = rows seen by all replicas, q = by one that stands for them
 * which is the number of replicas for a feature that is rare, whose changes add up, and 1 for one that is frequent,
 * where every replica has converged. How frequent that is, alpha, is found with gamma (line_search.c;
 * docs/decisions/0017). */
#ifndef GSA_MERGE_APPLY_H
#define GSA_MERGE_APPLY_H

#include "merge/delta.h"

/* The step in the direction of the change: gamma, and alpha of the aggregation factor (0: no factor). */
typedef struct gsai_line_step {
    double gamma, alpha;
} gsai_line_step;

/* Some slots of the result, and the deltas that have what all states changed in them. */
typedef struct gsai_range {
    size_t first, end;
    const gsai_delta *deltas; /* by state */
    size_t n_deltas;
} gsai_range;

typedef struct gsai_merging {
    const gsa_state *const *states; /* states in memory, or headers of replicas */
    size_t n_states;
    const gsa_state *base; /* NULL: the states began with nothing */
    bool continues;        /* the states are replicas of the base that went on where it stood */
    gsa_state *into;
    const gsai_env *env;
    gsai_arena arena;         /* has the members below */
    gsai_resident *residents; /* the states, then the base */
    gsai_delta *deltas;       /* of the states */
    gsai_range *ranges;       /* all slots of the result, ascending */
    size_t n_ranges;
    gsai_line_step line_step[2]; /* the changes of the last weights, and of the averaged */
} gsai_merging;

/* Prepares the deltas. The caller has set the first six members; `into` has its shape and its averaging. The features
 * come from n_reduced deltas of all states as bytes, or, if that is 0, from the states. The caller releases the arena.
 */
gsa_status gsai_merging_begin(gsai_merging *merging, const gsai_delta *reduced, size_t n_reduced, gsa_error *error);
/* Makes an adder for the changes of a merge, to be ended by the caller even after a failure; and has it read the deltas
 * of a range. */
gsa_status gsai_merging_adder(const gsai_merging *merging, gsai_adder *adder, gsa_error *error);
void gsai_adder_enter(gsai_adder *adder, const gsai_range *range);
/* Computes the mean changes of some slots of the range, at most a block, and what else adder->steps has of them; the
 * base's counts in adder->start become those of the result. */
gsa_status gsai_adder_changes(gsai_adder *adder, const gsai_merging *merging, const gsai_slots *slots, gsai_sums **out,
                              gsa_error *error);

/* Makes all slots of the result. */
gsa_status gsai_merging_apply(gsai_merging *merging, gsa_error *error);

#endif
