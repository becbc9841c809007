/* States and models as bundles of tensors, and back. */
#ifndef GSA_STORE_SNAPSHOT_H
#define GSA_STORE_SNAPSHOT_H

#include "base/bundle.h"

/* Describe a state or a model, which the snapshot borrows from; the caller frees it, after a failure, too. Where base
 * is not NULL, the state is a replica of it, and described is the header of its delta: all but features and best
 * weights. */
gsa_status gsai_state_snapshot(const gsa_state *state, const gsa_state *base, gsai_snapshot *snapshot,
                               gsa_error *error);
gsa_status gsai_model_snapshot(const gsa_model *model, gsai_snapshot *snapshot, gsa_error *error);

/* Checks everything that a damaged or hostile bundle could say, then copies. */
gsa_status gsai_state_restore(const gsai_bundle *bundle, const gsai_env *env, gsa_state **out, gsa_error *error);

/* Restores a model, which may continue to use the bundle's memory: it then calls `close(owner)` when it is freed, and
 * *kept is set. With close NULL it copies what it needs. */
gsa_status gsai_model_restore(const gsai_bundle *bundle, const gsai_env *env, void (*close)(void *owner), void *owner,
                              int *kept, gsa_model **out, gsa_error *error);

#endif
