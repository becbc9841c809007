/* What copies learned since their base, the part that is not in slots: rows, ticks, steps, losses. It adds up. */
#ifndef GSA_MERGE_CHANGE_H
#define GSA_MERGE_CHANGE_H

#include "learn/state.h"

typedef struct gsai_change {
    uint64_t n_rows, n_ticks, n_merged;
    uint64_t rows_behind;
    uint64_t rows_free; /* rows of copies that learn free of units */
    gsai_step_mean step;
    double loss_sum, loss_weight, squared_error, squared_label;
    gsai_row_weights given;
    uint64_t pass, pass_rows;
    gsa_fingerprint rows;
} gsai_change;

/* Does the one output of a state for two classes become one a class in `into`? Its steps are then halved. */
bool gsai_state_splits(const gsa_state *state, const gsa_state *into);

/* Is the state a copy of the base that went on counting where the base stood, rather than a new run that started from
 * the base's finished weights? A new run has the base among its lineage, even if it began with the same rows. */
bool gsai_state_continues(const gsa_state *state, const gsa_state *base);

/* Returns the mean weight of the rows of a state in units of that of `into`, the mean over all states. */
double gsai_weight_in(const gsa_state *state, const gsa_state *into);

/* The sum of the changes of the states since `base` (NULL: since nothing), left half plus right half, the left one a
 * power of two. */
gsai_change gsai_change_sum(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsa_state *into);
/* Enters them in the result of a merge. */
void gsai_change_apply(gsa_state *into, const gsai_change *sum, const gsa_state *base, bool goes_on);

#endif
