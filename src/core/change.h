/* What copies learned since their base, the part that is not in slots: rows, ticks, steps, losses. It adds up. */
#ifndef GSA_CORE_CHANGE_H
#define GSA_CORE_CHANGE_H

#include "core/state.h"

typedef struct gsa__change {
    uint64_t n_rows, n_ticks, n_merged;
    uint64_t rows_behind;
    uint64_t rows_free; /* rows of copies that learn free of units */
    gsa__step_mean step;
    double loss_sum, loss_weight, squared_error, squared_label;
    gsa__given_weights given;
    uint64_t pass, pass_rows;
    gsa_fingerprint rows;
} gsa__change;

/* Does the one output of a state for two classes become one a class in `into`? Its steps are then halved. */
bool gsa__state_splits(const gsa_state *state, const gsa_state *into);

/* Is the state a copy of the base that went on counting where the base stood, rather than a new run that started from
 * the base's finished weights? A new run has the base among its ancestors, even if it began with the same rows. */
bool gsa__state_continues(const gsa_state *state, const gsa_state *base);

/* Returns the mean weight of the rows of a state in units of that of `into`, the mean over all states. */
double gsa__weight_in(const gsa_state *state, const gsa_state *into);

/* The sum of the changes of the states since `base` (NULL: since nothing), left half plus right half, the left one a
 * power of two. */
gsa__change gsa__change_sum(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsa_state *into);
/* Enters them in the result of a merge. */
void gsa__change_apply(gsa_state *into, const gsa__change *sum, const gsa_state *base, bool goes_on);

#endif
