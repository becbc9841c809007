/* The tables of a state as tensors.
 *
 * Slots of which nothing is known are left out if they are many, as with hashed words: the tensor "slots" then says
 * which are there, ascending, the last of the table always among them. */
#ifndef GSA_CORE_SNAPSHOT_TABLE_H
#define GSA_CORE_SNAPSHOT_TABLE_H

#include "core/snapshot_build.h"
#include "core/table.h"

/* rival: the table of a contest, of the same shape, or NULL. */
gsa_status gsa__tables_snapshot(gsa__snapshot *snapshot, const gsa__table *own, const gsa__table *rival,
                                gsa_error *error);

/* Slots of the table that a bundle has, 0 if its tensors do not fit together or have not so many outputs. */
gsa_status gsa__table_shape(const gsa__bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error);
/* Into a table of that shape: weights and average terms; mean squares and presence. */
gsa_status gsa__weights_restore(gsa__table *table, const char *weights, const char *averages, const gsa__bundle *bundle,
                                gsa_error *error);
gsa_status gsa__counts_restore(gsa__table *table, uint64_t n_counted, const gsa__bundle *bundle, gsa_error *error);

#endif
