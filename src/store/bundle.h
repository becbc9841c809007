/* Putting a bundle together, and taking one apart: shared by the snapshots of states and of models.
 *
 * A tensor has one key, which serves writing, reading and checking: whatever is written was checked as it will be when
 * it is read. */
#ifndef GSA_STORE_BUNDLE_H
#define GSA_STORE_BUNDLE_H

#include "learn/config.h"
#include "learn/labels.h"
#include "learn/loss/loss.h"
#include "learn/names.h"
#include "learn/results.h"
#include "store/snapshot.h"

#define GSAI_FORMAT_VERSION "3"
#define GSAI_SNAPSHOT_TENSORS 128
#define GSAI_SNAPSHOT_NOTES 24

/* The numbers that floats may be. */
typedef enum gsai_range { GSAI_FINITE, GSAI_NOT_NEGATIVE, GSAI_ANY_NUMBER } gsai_range;

typedef struct gsai_key {
    const char *name;
    gsai_dtype dtype;
    uint64_t limit; /* the largest integer, or the gsai_range of floats */
} gsai_key;

/* Numbers of a struct that are a tensor of their own. */
typedef struct gsai_field {
    gsai_key key;
    size_t at, len; /* the first element in the struct, and how many follow each other */
} gsai_field;

struct gsai_snapshot {
    gsai_env env;
    gsai_bundle bundle;
    gsai_tensor tensors[GSAI_SNAPSHOT_TENSORS];
    uint64_t limits[GSAI_SNAPSHOT_TENSORS];
    gsai_note notes[GSAI_SNAPSHOT_NOTES];
    void *owned[GSAI_SNAPSHOT_TENSORS];
    size_t n_owned;
};

/* ---- to a bundle ------------------------------------------------------------------------------------------------- */

gsa_status gsai_snapshot_new(const gsai_env *env, gsai_snapshot **out, gsa_error *error);
/* Hands the snapshot out if the status is GSA_OK, else frees it. Returns the status. */
gsa_status gsai_snapshot_finish(gsai_snapshot *snapshot, gsa_status status, gsai_snapshot **out);
void gsai_snapshot_note(gsai_snapshot *snapshot, const char *key, const char *text);
/* Adds a tensor of one dimension whose data is borrowed. */
gsai_tensor *gsai_snapshot_add(gsai_snapshot *snapshot, const gsai_key *key, const void *data, uint64_t len);
/* Borrows the numbers of the struct. */
void gsai_snapshot_fields(gsai_snapshot *snapshot, const gsai_field *fields, size_t n, const void *from);
/* Returns zeroed memory that lives as long as the snapshot; NULL if there is none. */
void *gsai_snapshot_alloc(gsai_snapshot *snapshot, size_t n, size_t element_size);
/* Adds labels and, if there are any, a schema and names. */
gsa_status gsai_snapshot_texts(gsai_snapshot *snapshot, const gsai_labels *labels, const char *schema,
                               const gsai_names *names, gsa_error *error);
/* Adds the results that are known. */
void gsai_snapshot_results(gsai_snapshot *snapshot, const gsai_results *results);
/* Checks all tensors: GSA_LIMIT if an integer, GSA_DIVERGED if a float could not be read again. */
gsa_status gsai_snapshot_check(const gsai_snapshot *snapshot, gsa_error *error);

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

/* Finds the tensor of that key and length (GSAI_ANY_LEN: any), with all elements in range; GSA_FORMAT if it is missing
 * or different. */
#define GSAI_ANY_LEN UINT64_MAX
gsa_status gsai_bundle_need(const gsai_bundle *bundle, const gsai_key *key, uint64_t len, const gsai_tensor **out,
                            gsa_error *error);
/* Does the same for a tensor that may be missing: *out is then NULL. */
gsa_status gsai_bundle_may_have(const gsai_bundle *bundle, const gsai_key *key, uint64_t len, const gsai_tensor **out,
                                gsa_error *error);
/* Copies the numbers of all fields into the struct. */
gsa_status gsai_bundle_fields(const gsai_bundle *bundle, const gsai_field *fields, size_t n, void *to,
                              gsa_error *error);
gsa_status gsai_bundle_need_note(const gsai_bundle *bundle, const char *key, const char **out, gsa_error *error);
/* Finds the loss that a note of this key names. */
gsa_status gsai_bundle_loss(const gsai_bundle *bundle, const char *key, bool may_be_auto, const gsai_loss **out,
                            gsa_error *error);
/* Sets a parameter to what the note of its name says. */
gsa_status gsai_bundle_param(const gsai_bundle *bundle, gsai_param_id id, gsai_params *params, gsa_error *error);
/* Checks the format's name and version. */
gsa_status gsai_bundle_check(const gsai_bundle *bundle, const char *format, gsa_error *error);
gsa_status gsai_bundle_results(const gsai_bundle *bundle, gsai_results *out, gsa_error *error);
gsa_status gsai_bundle_texts(const gsai_bundle *bundle, const gsai_env *env, gsai_labels *labels, char **schema,
                             gsai_names *names, gsa_error *error);

#endif
