/* The large tensors of a state: its tables by feature, the rows that it holds out and those that wait for their group.
 * The format is specified in docs/formats/model.md. */
#ifndef GSA_STORE_STATE_TENSORS_H
#define GSA_STORE_STATE_TENSORS_H

#include "learn/state.h"
#include "store/bundle.h"

/* Slots of which nothing is known are left out if they are many, as with hashed words: the tensor "slots" then says
 * which are there, ascending, the last of the table always among them. standard: the table of standardised features
 * while the scaling is chosen, of the same shape, or NULL. */
gsa_status gsai_snapshot_tables(gsai_snapshot *snapshot, const gsai_table *own, const gsai_table *standard,
                                gsa_error *error);
/* Slots of the table that a bundle has, 0 if its tensors do not fit together or have not so many outputs. */
gsa_status gsai_table_shape(const gsai_bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error);
/* Into a table of that shape: weights and average terms; mean squares and counts. */
gsa_status gsai_weights_restore(gsai_table *table, const char *weights, const char *averages, const gsai_bundle *bundle,
                                gsa_error *error);
gsa_status gsai_counts_restore(gsai_table *table, uint64_t n_counted, const gsai_bundle *bundle, gsa_error *error);

/* The prior totals of features, and the means of dense columns; into a state whose table is restored. */
void gsai_snapshot_totals(gsai_snapshot *snapshot, const gsa_state *state);
gsa_status gsai_totals_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error);

/* Into a state whose loss and labels are restored already; a bundle without such rows leaves none. */
gsa_status gsai_snapshot_sample(gsai_snapshot *snapshot, const gsai_sample *sample, gsa_error *error);
gsa_status gsai_sample_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error);
gsa_status gsai_snapshot_group(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error);
gsa_status gsai_group_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error);

#endif
