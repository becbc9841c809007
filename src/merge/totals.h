/* Changes of states since their base that are not in slots, added up. */
#ifndef GSA_MERGE_TOTALS_H
#define GSA_MERGE_TOTALS_H

#include "learn/parts.h"

typedef struct gsai_change {
    uint64_t n_rows, n_averaged, n_merged;
    uint64_t rows_behind;
    uint64_t rows_standardised; /* rows of replicas that learn standardised features */
    gsai_step_mean step;
    double loss_sum, loss_weight, squared_error, squared_label;
    gsai_row_weights row_weights;
    uint64_t pass, pass_rows;
    gsa_fingerprint rows;
} gsai_change;

/* Returns whether the state is a replica of the base that continued counting where the base stood, not a new run that
 * started from the base's finished weights. A new run has the base in its lineage, even if it began with the same rows.
 */
bool gsai_state_continues(const gsa_state *state, const gsa_state *base);

/* Returns the sum of the changes of the states since `base` (NULL: since nothing), left half plus right half, the left
 * one a power of two. */
gsai_change gsai_change_sum(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                            const gsa_state *into);
/* Enters them in the result of a merge. */
void gsai_change_apply(gsa_state *into, const gsai_change *sum, const gsa_state *base, bool continues);

#endif
