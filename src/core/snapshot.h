/* States and models as bundles of tensors, and back. The one door between core and store. */
#ifndef GSA_CORE_SNAPSHOT_H
#define GSA_CORE_SNAPSHOT_H

#include "base/tensor.h"

/* The bundle borrows from the state or model and from `work`, which the caller frees with gsa__snapshot_free. */
typedef struct gsa__snapshot gsa__snapshot;
gsa_status gsa__state_snapshot(const gsa_state *state, gsa__snapshot **out, gsa_error *error);
/* Of all but features and best weights. */
gsa_status gsa__state_snapshot_head(const gsa_state *copy, const gsa_state *base, gsa__snapshot **out,
                                    gsa_error *error);
gsa_status gsa__model_snapshot(const gsa_model *model, gsa__snapshot **out, gsa_error *error);
const gsa__bundle *gsa__snapshot_bundle(const gsa__snapshot *snapshot);
void gsa__snapshot_free(gsa__snapshot *snapshot);

/* Checks everything that a damaged or hostile bundle could say, then copies. */
gsa_status gsa__state_restore(const gsa__bundle *bundle, const gsa_env *env, gsa_state **out, gsa_error *error);

/* A model may go on using the bundle's memory: it then calls `close(owner)` when it is freed, and *kept is set. With
 * close NULL it copies what it needs. */
gsa_status gsa__model_restore(const gsa__bundle *bundle, const gsa_env *env, void (*close)(void *owner), void *owner,
                              int *kept, gsa_model **out, gsa_error *error);

#endif
