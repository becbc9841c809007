/* The numbers of a state per slot: its table, the weights of the other scaling, prior totals, the best checkpoint. */
#ifndef GSA_STORE_SLOTS_H
#define GSA_STORE_SLOTS_H

#include "learn/parts.h"
#include "store/bundle.h"

/* Describes all parts that the state has; the list of their lines is "slot" and has the first and the last. */
gsa_status gsai_snapshot_slots(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error);

/* Finds the slots of the table, 0 if the tensors do not fit together or have not so many outputs. */
gsa_status gsai_slots_shape(const gsai_bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error);
/* Fills in all parts that the state has memory for, which are zeros. */
gsa_status gsai_slots_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error);

#endif
