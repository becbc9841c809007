/* Putting a bundle together, and taking one apart: shared by the snapshots of states and of models. */
#ifndef GSA_STORE_BUNDLE_H
#define GSA_STORE_BUNDLE_H

#include "learn/labels.h"
#include "learn/loss/loss.h"
#include "learn/names.h"
#include "store/snapshot.h"

#define GSAI_SNAPSHOT_TENSORS 96
#define GSAI_SNAPSHOT_NOTES 24

struct gsai_snapshot {
    gsa_env env;
    gsai_bundle bundle;
    gsai_tensor tensors[GSAI_SNAPSHOT_TENSORS];
    gsai_note notes[GSAI_SNAPSHOT_NOTES];
    void *owned[GSAI_SNAPSHOT_TENSORS];
    size_t n_owned;
};

gsa_status gsai_snapshot_new(const gsa_env *env, gsai_snapshot **out, gsa_error *error);
void gsai_snapshot_note(gsai_snapshot *snapshot, const char *key, const char *text);
/* A tensor of one dimension whose data is borrowed. */
void gsai_snapshot_vector(gsai_snapshot *snapshot, const char *name, gsai_dtype dtype, const void *data, uint64_t len);
/* The same of two dimensions. */
void gsai_snapshot_matrix(gsai_snapshot *snapshot, const char *name, gsai_dtype dtype, const void *data, uint64_t n,
                          uint64_t width);
gsai_tensor *gsai_snapshot_add(gsai_snapshot *snapshot, const char *name, gsai_dtype dtype);
/* Zeroed memory that lives as long as the snapshot; NULL if there is none. */
void *gsai_snapshot_alloc(gsai_snapshot *snapshot, size_t n, size_t element_size);
gsa_status gsai_snapshot_labels(gsai_snapshot *snapshot, const gsai_labels *labels, gsa_error *error);
/* A schema and names, if there are any. */
void gsai_snapshot_schema(gsai_snapshot *snapshot, const char *schema);
void gsai_snapshot_names(gsai_snapshot *snapshot, const gsai_names *names);

/* The tensor of that name, type and length (GSAI_ANY_LEN: any); GSA_FORMAT if it is missing or different. */
#define GSAI_ANY_LEN UINT64_MAX
gsa_status gsai_bundle_need(const gsai_bundle *bundle, const char *name, gsai_dtype dtype, uint64_t len,
                            const gsai_tensor **out, gsa_error *error);
/* The same of one that need not be there: *out is then NULL. */
gsa_status gsai_bundle_may_have(const gsai_bundle *bundle, const char *name, gsai_dtype dtype, uint64_t len,
                                const gsai_tensor **out, gsa_error *error);
gsa_status gsai_bundle_need_note(const gsai_bundle *bundle, const char *key, const char **out, gsa_error *error);
/* The loss that a note of this key names. */
gsa_status gsai_bundle_loss(const gsai_bundle *bundle, const char *key, bool may_be_auto, const gsai_loss **out,
                            gsa_error *error);
/* Checks the format's name and version. */
gsa_status gsai_bundle_check(const gsai_bundle *bundle, const char *format, gsa_error *error);
gsa_status gsai_labels_restore(gsai_labels *labels, const gsai_bundle *bundle, gsa_error *error);
gsa_status gsai_schema_restore(char **out, const gsai_bundle *bundle, const gsa_env *env, gsa_error *error);
gsa_status gsai_names_restore(gsai_names *out, const gsai_bundle *bundle, const gsa_env *env, gsa_error *error);

#define GSAI_FORMAT_VERSION "2"

#endif
