/* Tensors: named arrays on their way to or from a file, and bundles of them, put together and taken apart.
 *
 * Learn and model describe a state or a model as a bundle; store writes it to a file and reads one back. A tensor that
 * is being written may produce its bytes by a function, so that tables that are interleaved in memory need no copy. A
 * tensor has one key, which serves writing, reading and checking: whatever is written was checked as it will be when it
 * is read. */
#ifndef GSA_BASE_BUNDLE_H
#define GSA_BASE_BUNDLE_H

#include "base/memory.h"

#include <stdbool.h>

typedef enum gsai_dtype { GSAI_U8, GSAI_I32, GSAI_U32, GSAI_I64, GSAI_U64, GSAI_F32, GSAI_F64 } gsai_dtype;

static inline size_t gsai_dtype_size(gsai_dtype dtype)
{
    static const unsigned char sizes[] = {1, 4, 4, 8, 8, 4, 8};
    return sizes[dtype];
}

#define GSAI_TENSOR_DIMS 2

typedef struct gsai_tensor {
    const char *name; /* borrowed */
    gsai_dtype dtype;
    unsigned n_dims;
    uint64_t shape[GSAI_TENSOR_DIMS];
    /* Contiguous elements in machine order; or NULL and `fill`, which writes elements [from, from + n) to out. */
    const void *data;
    void (*fill)(const void *ctx, uint64_t from, size_t n, void *out);
    const void *ctx;
} gsai_tensor;

static inline uint64_t gsai_tensor_len(const gsai_tensor *tensor) /* elements; the maker has checked the product */
{
    uint64_t len = 1;
    for (unsigned d = 0; d < tensor->n_dims; d++)
        len *= tensor->shape[d];
    return len;
}

/* A text that goes with the tensors: parameters and the format's name and version. */
typedef struct gsai_note {
    const char *key;
    const char *text;
} gsai_note;

/* The content of a file. Both arrays are borrowed. */
typedef struct gsai_bundle {
    const gsai_tensor *tensors;
    size_t n_tensors;
    const gsai_note *notes;
    size_t n_notes;
} gsai_bundle;

#define GSAI_SNAPSHOT_TENSORS 128
#define GSAI_SNAPSHOT_NOTES 24

/* The numbers that floats may be. */
typedef enum gsai_float_range { GSAI_FINITE, GSAI_NOT_NEGATIVE, GSAI_ANY_NUMBER } gsai_float_range;

typedef struct gsai_tensor_key {
    const char *name;
    gsai_dtype dtype;
    uint64_t limit; /* the largest integer, or the gsai_float_range of floats */
} gsai_tensor_key;

/* Numbers of a struct that are a tensor of their own. */
typedef struct gsai_stored_field {
    gsai_tensor_key key;
    size_t at, len; /* the first element in the struct, and how many follow each other */
} gsai_stored_field;

/* A bundle that is being put together. It borrows from a state or a model, and owns what was made for it. */
typedef struct gsai_snapshot {
    gsai_bundle bundle;
    gsai_tensor tensors[GSAI_SNAPSHOT_TENSORS];
    uint64_t limits[GSAI_SNAPSHOT_TENSORS];
    gsai_note notes[GSAI_SNAPSHOT_NOTES];
    gsai_arena owned; /* released by the owner of the snapshot; gsai_snapshot_check tells if it has failed */
} gsai_snapshot;

/* ---- to a bundle ------------------------------------------------------------------------------------------------- */

/* Prepares a snapshot, which stays where it is and borrows env. */
void gsai_snapshot_init(gsai_snapshot *snapshot, const gsai_env *env);
void gsai_snapshot_note(gsai_snapshot *snapshot, const char *key, const char *text);
/* Adds a tensor of one dimension whose data is borrowed. */
gsai_tensor *gsai_snapshot_add(gsai_snapshot *snapshot, const gsai_tensor_key *key, const void *data, uint64_t len);
/* Borrows the numbers of the struct. */
void gsai_snapshot_fields(gsai_snapshot *snapshot, const gsai_stored_field *fields, size_t n, const void *from);
/* Checks all tensors: GSA_LIMIT if an integer, GSA_DIVERGED if a float could not be read again, GSA_MEMORY if one could
 * not be made. */
gsa_status gsai_snapshot_check(const gsai_snapshot *snapshot, gsa_error *error);

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

/* Return the tensor or text of that name, or NULL. */
const gsai_tensor *gsai_bundle_tensor(const gsai_bundle *bundle, const char *name);
const char *gsai_bundle_note(const gsai_bundle *bundle, const char *key);
/* Finds the tensor of that key and length (GSAI_ANY_LEN: any), with all elements in range; GSA_FORMAT if it is missing
 * or different. */
#define GSAI_ANY_LEN UINT64_MAX
gsa_status gsai_bundle_need(const gsai_bundle *bundle, const gsai_tensor_key *key, uint64_t len,
                            const gsai_tensor **out, gsa_error *error);
/* Does the same for a tensor that may be missing: *out is then NULL. */
gsa_status gsai_bundle_may_have(const gsai_bundle *bundle, const gsai_tensor_key *key, uint64_t len,
                                const gsai_tensor **out, gsa_error *error);
/* Copies the numbers of all fields into the struct. */
gsa_status gsai_bundle_fields(const gsai_bundle *bundle, const gsai_stored_field *fields, size_t n, void *to,
                              gsa_error *error);

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Tensors with a line per slot of a state, or per feature of a model. Lines that are all zeros, as most of hashed
 * features are, are left out where that makes the file smaller: a list then says which are there. */

/* The slots or features of the lines, ascending; id NULL: all. */
typedef struct gsai_lines {
    const uint32_t *id;
    size_t n;
} gsai_lines;

/* A tensor, and where its elements are in memory. */
#define GSAI_LINE_PAGE ((size_t)4)
typedef struct gsai_line_tensor {
    gsai_tensor_key key;
    unsigned n_dims;
    size_t width;         /* elements per line */
    char *at;             /* the elements of id 0 */
    size_t stride;        /* bytes to those of the next id */
    size_t n;             /* ids from here on have zeros */
    const uint32_t *page; /* NULL, or where in memory each GSAI_LINE_PAGE ids are, in pages */
} gsai_line_tensor;

/* Returns the first id from `from` on that is in use, or n. */
typedef size_t gsai_next_used(const void *ctx, size_t from, size_t n);

/* Describes the tensors, and the list of the ids below n that are in use, at most n_max, if it makes the file smaller.
 */
void gsai_snapshot_lines(gsai_snapshot *snapshot, const gsai_line_tensor *tensors, size_t n_tensors,
                         const gsai_tensor_key *list, size_t n, size_t n_max, gsai_next_used *next_used,
                         const void *ctx);

/* Finds the list, if there is one, and checks that it ascends and ends below n; else the lines are all ids below n. */
gsa_status gsai_lines_find(const gsai_bundle *bundle, const gsai_tensor_key *list, size_t n, gsai_lines *out,
                           gsa_error *error);
/* Copies and checks the elements. Those that are in memory already are not written: pages of zeros stay untouched. */
gsa_status gsai_lines_restore(const gsai_line_tensor *to, const gsai_lines *lines, const gsai_bundle *bundle,
                              gsa_error *error);

#endif
