/* Changes of states since a base, a block of slots at a time, added up.
 *
 *   A1  Sums are floats. A state has of a slot
 *         c (w - start) and c (average - start), [outputs] each; sum of squares since the base; squared rows
 *         seen since the base
 *       where c is its sum of squares in the state, and of a slot that it has not touched since the base zeros.
 *   A2  States are added up in one fixed binary tree over their numbers: left half plus right half, the left one a
 *       power of two. Runs of states that are aligned to such a power are whole parts of the tree, whatever number of
 *       states there is, so that each may be added up by another process, to the same bits.
 *   A3  No number is -0: to add nothing, as a slot that no state of a run has touched, changes no bit. */
#ifndef GSA_MERGE_SUMS_H
#define GSA_MERGE_SUMS_H

#include "learn/state.h"

/* Sums that wait for those to their right: in the end the parts of the tree that the states are. */
typedef struct gsai_tree {
    gsai_sums *at;
    size_t depth, n_outputs;
    const gsai_kernels *kernels;
    size_t n_slots; /* of the block, set by the caller */
    void *memory;
} gsai_tree;

/* Zeros, which are valid. */
void gsai_sums_clear(gsai_sums *sums, size_t n_outputs);

/* Makes room for any run of up to n_states. */
bool gsai_tree_begin(gsai_tree *tree, size_t n_states, size_t n_outputs, const gsai_env *env);
void gsai_tree_end(gsai_tree *tree, const gsai_env *env);
/* Returns the place for the sums of the next states, to be filled in before gsai_tree_grow, which adds up what has
 * become whole. n is a power of two and first a multiple of it. */
gsai_sums *gsai_tree_next(gsai_tree *tree, size_t first, size_t n);
void gsai_tree_grow(gsai_tree *tree);
/* States [first, end) have touched nothing. */
void gsai_tree_skip(gsai_tree *tree, size_t first, size_t end);
/* Returns the sum of everything in the tree, which must have all states, and empties the tree. */
gsai_sums *gsai_tree_sum(gsai_tree *tree);

/* A state, and where its outputs go in the outputs of the merged one. */
typedef struct gsai_merged {
    const gsa_state *state;
    const gsai_table *table; /* the one that is ahead; NULL: zero everywhere */
    double per_total;        /* 1 / what its average is over; 0: it has none */
    double fresh;            /* share of the weights since the base in its average */
    size_t *to;              /* by output of the state; if that is split: of its two labels */
    bool is_placed;          /* by these; else the outputs are those of the merged one */
    bool split;         /* one output for two classes into one per class: w/2 to its second label, -w/2 to its first */
    float sign;         /* one output into one: -1 if the labels change places */
    float unseen;       /* the intercept of labels that it does not know */
    float label_offset; /* of its labels, from that of the merged one */
    double weight;      /* the mean weight of its rows, in that of the merged one's; 1 with a base */
} gsai_merged;

bool gsai_view_begin(gsai_view *view, size_t n_outputs, const gsai_env *env);
/* Prefetch, and read, at most a block of slots; those that the state does not have are zero. */
void gsai_view_ask(const gsai_merged *from, const gsai_slots *slots);
void gsai_view_take(gsai_view *view, const gsai_merged *from, const gsai_slots *slots);

/* The changes of copies since their base that are not in slots: rows, averaging, steps, losses. */
typedef struct gsai_change {
    uint64_t n_rows, n_averaged, n_merged;
    uint64_t rows_behind;
    uint64_t rows_standardised; /* rows of copies that learn standardised features */
    gsai_step_mean step;
    double loss_sum, loss_weight, squared_error, squared_label;
    gsai_row_weights row_weights;
    uint64_t pass, pass_rows;
    gsa_fingerprint rows;
} gsai_change;

/* Does the one output of a state for two classes become one per class in `into`? Its steps are then halved. */
bool gsai_state_splits(const gsa_state *state, const gsa_state *into);

/* Returns whether the state is a replica of the base that continued counting where the base stood, not a new run that
 * started from the base's finished weights. A new run has the base in its lineage, even if it began with the same rows.
 */
bool gsai_state_continues(const gsa_state *state, const gsa_state *base);

/* Returns the mean weight of the rows of a state in units of that of `into`, the mean over all states. */
double gsai_weight_in(const gsa_state *state, const gsa_state *into);

/* Returns the sum of the changes of the states since `base` (NULL: since nothing), left half plus right half, the left
 * one a power of two. */
gsai_change gsai_change_sum(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsa_state *into);
/* Enters them in the result of a merge. */
void gsai_change_apply(gsa_state *into, const gsai_change *sum, const gsa_state *base, bool goes_on);

#endif
