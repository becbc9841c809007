/* The parts of a snapshot, there and back. The format is specified in docs/formats/model.md. */
#ifndef GSA_CORE_SNAPSHOT_PARTS_H
#define GSA_CORE_SNAPSHOT_PARTS_H

#include "core/snapshot_build.h"
#include "core/state.h"

/* The loss that a text of this key names, `least` or one behind it. */
gsa_status gsa__bundle_loss(const gsa__bundle *bundle, const char *key, bool may_be_auto, const gsa__loss **out,
                            gsa_error *error);

/* snapshot_table.c: tables.
 *
 * Slots of which nothing is known are left out if they are many, as with hashed words: the tensor "slots" then says
 * which are there, ascending, the last of the table always among them. rival: the table of a contest, of the same
 * shape, or NULL. */
gsa_status gsa__tables_snapshot(gsa__snapshot *snapshot, const gsa__table *own, const gsa__table *rival,
                                gsa_error *error);
/* Slots of the table that a bundle has, 0 if its tensors do not fit together or have not so many outputs. */
gsa_status gsa__table_shape(const gsa__bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error);
/* Into a table of that shape: weights and average terms; mean squares and presence. */
gsa_status gsa__weights_restore(gsa__table *table, const char *weights, const char *averages, const gsa__bundle *bundle,
                                gsa_error *error);
gsa_status gsa__counts_restore(gsa__table *table, uint64_t n_counted, const gsa__bundle *bundle, gsa_error *error);

/* snapshot_optional.c: what not every state has. A contest; totals from before, means of columns, weights of classes,
 * origins, the best weights. */
gsa_status gsa__contest_snapshot(gsa__snapshot *snapshot, const gsa__contest *contest, gsa_error *error);
gsa_status gsa__contest_restore(gsa_state *state, const gsa__bundle *bundle, gsa_error *error);
gsa_status gsa__optional_snapshot(gsa__snapshot *snapshot, const gsa_state *state, gsa_error *error);
gsa_status gsa__optional_restore(gsa_state *state, const gsa__bundle *bundle, gsa_error *error);

/* snapshot_sample.c: the held-out sample. Into a state whose loss and labels are restored already; a bundle without a
 * sample leaves it empty. */
gsa_status gsa__sample_snapshot(gsa__snapshot *snapshot, const gsa__sample *sample, gsa_error *error);
gsa_status gsa__sample_restore(gsa_state *state, const gsa__bundle *bundle, gsa_error *error);

#endif
