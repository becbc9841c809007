/* A smaller state: the weakest features are dropped as long as the held-out loss hardly rises. docs/export.md. */
#ifndef GSA_LEARN_COMPACT_H
#define GSA_LEARN_COMPACT_H

#include "base/memory.h"
#include "learn/row.h"

/* The result of dropping the weakest features: features, and the loss of rows that were not learned. */
typedef struct gsai_compaction {
    uint64_t n_before, n_after; /* both 0: nothing was tried */
    double loss_before, loss_after, error_of_mean;
} gsai_compaction;

/* A row that the weights were not learned from. */
typedef struct gsai_unlearned {
    gsai_row row;
    size_t class_number;
    double number, weight;
} gsai_unlearned;

/* Rows by their number. */
typedef struct gsai_unlearned_rows {
    gsai_unlearned (*at)(const void *ctx, size_t number);
    const void *ctx;
    size_t n;
    const gsai_env *env; /* whether to stop */
} gsai_unlearned_rows;

/* Finds how few features, the strongest by weight times deviation, have a mean loss on the rows that is at most one
 * standard error above that of all. */
gsa_status gsai_compact_measure(const gsa_state *state, const gsai_unlearned_rows *rows, gsai_compaction *out,
                                gsa_error *error);
/* Keeps the share of features, the strongest, that state->compaction says, and sets its counts to those of the state.
 * The other features become as if no row had had them; the intercept makes up for what they add to these rows on
 * average. */
gsa_status gsai_compact_apply(gsa_state *state, const gsai_unlearned_rows *rows, gsa_error *error);

/* Held-out rows below which nothing is dropped: they could not tell which features matter. */
#define GSAI_COMPACT_MIN_ROWS 30
/* Drops the weakest features by the held-out sample; does nothing without a sample. */
gsa_status gsai_state_compact(gsa_state *state, const gsai_env *env, gsa_error *error);

#endif
