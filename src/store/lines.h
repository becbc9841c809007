/* Tensors with a line per slot of a state, or per feature of a model. Lines that are all zeros, as most of hashed
 * features are, are left out where that makes the file smaller: a list then says which are there. */
#ifndef GSA_STORE_LINES_H
#define GSA_STORE_LINES_H

#include "store/bundle.h"

/* The slots or features of the lines, ascending; id NULL: all. */
typedef struct gsai_lines {
    const uint32_t *id;
    size_t n;
} gsai_lines;

/* A tensor, and where its elements are in memory. */
typedef struct gsai_line_tensor {
    gsai_key key;
    unsigned n_dims;
    size_t width;  /* elements per line */
    char *at;      /* the elements of id 0 */
    size_t stride; /* bytes to those of the next id */
    size_t n;      /* ids from here on have zeros */
} gsai_line_tensor;

/* Returns the first id from `from` on that is in use, n if there is none. */
typedef size_t gsai_next_used(const void *ctx, size_t from, size_t n);

/* Describes the tensors, and the list of the ids below n that are in use if it makes the file smaller. */
gsa_status gsai_snapshot_lines(gsai_snapshot *snapshot, const gsai_line_tensor *tensors, size_t n_tensors,
                               const gsai_key *list, size_t n, gsai_next_used *next_used, const void *ctx,
                               gsa_error *error);

/* Finds the list, if there is one, and checks that it ascends and ends below n; else the lines are all ids below n. */
gsa_status gsai_lines_find(const gsai_bundle *bundle, const gsai_key *list, size_t n, gsai_lines *out,
                           gsa_error *error);
/* Copies and checks the elements. Those that are in memory already are not written: pages of zeros stay untouched. */
gsa_status gsai_lines_restore(const gsai_line_tensor *to, const gsai_lines *lines, const gsai_bundle *bundle,
                              gsa_error *error);

#endif
