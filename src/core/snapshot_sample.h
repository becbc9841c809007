/* The held-out sample as tensors, and back. */
#ifndef GSA_CORE_SNAPSHOT_SAMPLE_H
#define GSA_CORE_SNAPSHOT_SAMPLE_H

#include "core/snapshot_build.h"
#include "core/state.h"

gsa_status gsa__sample_snapshot(gsa__snapshot *snapshot, const gsa__sample *sample, gsa_error *error);
/* Into a state whose loss and labels are restored already; a bundle without a sample leaves it empty. */
gsa_status gsa__sample_restore(gsa_state *state, const gsa__bundle *bundle, gsa_error *error);

#endif
