/* Parts of a state that not every state has: totals from before, means of columns, weights of classes, origins, the
 * best weights. */
#ifndef GSA_CORE_SNAPSHOT_OPTIONAL_H
#define GSA_CORE_SNAPSHOT_OPTIONAL_H

#include "core/snapshot_build.h"
#include "core/state.h"

gsa_status gsa__optional_snapshot(gsa__snapshot *snapshot, const gsa_state *state, gsa_error *error);
gsa_status gsa__optional_restore(gsa_state *state, const gsa__bundle *bundle, gsa_error *error);

#endif
