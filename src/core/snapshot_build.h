/* Putting a bundle together, and taking one apart: shared by the snapshots of states and of models. */
#ifndef GSA_CORE_SNAPSHOT_BUILD_H
#define GSA_CORE_SNAPSHOT_BUILD_H

#include "core/labels.h"
#include "core/snapshot.h"

#define GSA__SNAPSHOT_TENSORS 48
#define GSA__SNAPSHOT_NOTES 24

struct gsa__snapshot {
    gsa_env env;
    gsa__bundle bundle;
    gsa__tensor tensors[GSA__SNAPSHOT_TENSORS];
    gsa__note notes[GSA__SNAPSHOT_NOTES];
    void *owned[GSA__SNAPSHOT_TENSORS];
    size_t n_owned;
};

gsa_status gsa__snapshot_new(const gsa_env *env, gsa__snapshot **out, gsa_error *error);
void gsa__snapshot_note(gsa__snapshot *snapshot, const char *key, const char *text);
/* A tensor of one dimension whose data is borrowed. */
void gsa__snapshot_vector(gsa__snapshot *snapshot, const char *name, gsa__dtype dtype, const void *data, uint64_t len);
gsa__tensor *gsa__snapshot_add(gsa__snapshot *snapshot, const char *name, gsa__dtype dtype);
/* Zeroed memory that lives as long as the snapshot; NULL if there is none. */
void *gsa__snapshot_alloc(gsa__snapshot *snapshot, size_t n, size_t element_size);
gsa_status gsa__snapshot_labels(gsa__snapshot *snapshot, const gsa__labels *labels, gsa_error *error);

/* The tensor of that name, type and length (GSA__ANY_LEN: any); GSA_FORMAT if it is missing or different. */
#define GSA__ANY_LEN UINT64_MAX
gsa_status gsa__bundle_need(const gsa__bundle *bundle, const char *name, gsa__dtype dtype, uint64_t len,
                            const gsa__tensor **out, gsa_error *error);
/* The same of one that need not be there: *out is then NULL. */
gsa_status gsa__bundle_may_have(const gsa__bundle *bundle, const char *name, gsa__dtype dtype, uint64_t len,
                                const gsa__tensor **out, gsa_error *error);
gsa_status gsa__bundle_need_note(const gsa__bundle *bundle, const char *key, const char **out, gsa_error *error);
/* Checks the format's name and version. */
gsa_status gsa__bundle_check(const gsa__bundle *bundle, const char *format, gsa_error *error);
gsa_status gsa__labels_restore(gsa__labels *labels, const gsa__bundle *bundle, gsa_error *error);

#define GSA__FORMAT_VERSION "1"

#endif
