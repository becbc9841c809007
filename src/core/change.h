/* What one working copy learned since its base: the thing that adds up.
 *
 * For every slot i and output k a change holds, as doubles,
 *   weight   sum c_i (w - w_base)      average  sum c_i (avg - w_base)      c_i = the copy's mass of i, its base's
 * included c, mass, count: the sums of c_i, of the new mass and of the new presence. The merged weight is w_base +
 * gamma * weight / c. Changes of several copies are added in one fixed binary tree over their numbers, so that threads,
 * ranks and tasks that hold aligned runs of them build the same sums, bit for bit. */
#ifndef GSA_CORE_CHANGE_H
#define GSA_CORE_CHANGE_H

#include "core/state.h"

/* Where the outputs of a state go in the outputs of the merged one. */
typedef struct gsa__output_map {
    size_t *to;  /* by output of the state; if that is split: of its two labels */
    bool split;  /* one output for two classes into one a class: w/2 to its second label, -w/2 to its first */
    double sign; /* one output into one: -1 if the labels change places */
    size_t n_labels;
} gsa__output_map;

gsa_status gsa__output_map_init(gsa__output_map *map, const gsa_state *state, const gsa_state *into, gsa_error *error);
void gsa__output_map_release(gsa__output_map *map, const gsa_env *env);

typedef struct gsa__change {
    size_t n_slots, n_outputs;
    double *weight, *average; /* [n_slots x n_outputs] */
    double *c, *mass;         /* [n_slots] */
    uint64_t *count;
    double *class_sums; /* [n_class_sums], as in a state, of the labels of the merged one */
    size_t n_class_sums;
    uint64_t n_rows, n_ticks, n_merged;
    uint64_t rows_behind;
    uint64_t rows_free; /* rows of copies that learn free of units */
    gsa__step_mean step;
    double loss_sum, loss_weight, squared_error, squared_label;
    uint64_t pass, pass_rows;
} gsa__change;

/* Does the one output of a state for two classes become one a class in `into`? Its steps are then halved. */
bool gsa__state_splits(const gsa_state *state, const gsa_state *into);

/* Is the state a copy of the base that went on counting where the base stood, rather than a new run that started from
 * the base's finished weights? A new run has the base among its ancestors, even if it began with the same rows. */
bool gsa__state_continues(const gsa_state *state, const gsa_state *base);

/* The change of `state` since `base` (NULL: since nothing), in the slots and outputs of `into`. */
gsa_status gsa__change_of(gsa__change *change, const gsa_state *state, const gsa_state *base, const gsa_state *into,
                          gsa_error *error);
/* into += from; from is released. Both have the same shape. */
void gsa__change_add(gsa__change *into, gsa__change *from, const gsa_env *env);
/* Rows that were learned by so many of the copies count once; 0 is 1. */
void gsa__change_share(gsa__change *change, size_t shares);
void gsa__change_release(gsa__change *change, const gsa_env *env);

#endif
