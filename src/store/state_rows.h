/* Rows that a state has: its held-out sample, and those that wait for their group. */
#ifndef GSA_STORE_STATE_ROWS_H
#define GSA_STORE_STATE_ROWS_H

#include "learn/parts.h"
#include "store/bundle.h"

/* Add rows to a snapshot, and restore them into a state whose loss, labels and table are restored already; a bundle
 * without such rows leaves none. */
gsa_status gsai_snapshot_sample(gsai_snapshot *snapshot, const gsai_sample *sample, gsa_error *error);
gsa_status gsai_sample_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error);
gsa_status gsai_snapshot_group(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error);
gsa_status gsai_group_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error);

#endif
