/* Rows that a state has, as tensors: its held-out sample, and those that wait for their group. Both have the same six
 * tensors; the sample also the hashes of its rows and the weights that were seen. */
#ifndef GSA_LEARN_STORED_ROWS_H
#define GSA_LEARN_STORED_ROWS_H

#include "base/bundle.h"
#include "learn/row.h"

enum {
    GSAI_ROW_START,
    GSAI_ROW_NUMBER,
    GSAI_ROW_WEIGHT,
    GSAI_ROW_CLASS,
    GSAI_ROW_INDEX,
    GSAI_ROW_VALUE,
    GSAI_ROW_HASH,
    GSAI_ROW_SEEN,
    GSAI_ROW_TENSORS
};

/* The elements of the tensors, in the order of the enum. Those of a file are only read. */
typedef struct gsai_stored_rows {
    size_t n;
    uint64_t n_entries, *start;
    double *number, *weight;
    uint32_t *class_number, *index;
    float *value;
    uint64_t *hash;
    double *seen;
} gsai_stored_rows;

/* Adds tensors of zeros, which the caller fills in. Returns false if out of memory. */
bool gsai_stored_rows_add(gsai_snapshot *snapshot, const gsai_tensor_key *keys, size_t n_tensors, size_t n,
                          uint64_t n_entries, gsai_stored_rows *out);
/* Finds the tensors and checks their types and lengths. */
gsa_status gsai_stored_rows_find(const gsai_bundle *bundle, const gsai_tensor_key *keys, size_t n_tensors,
                                 gsai_stored_rows *out, gsa_error *error);
/* Takes row i of a state; returns false if it cannot be one. Entries follow each other without gaps. */
bool gsai_stored_row(const gsa_state *state, const gsai_stored_rows *in, size_t i, gsai_row *out);

#endif
