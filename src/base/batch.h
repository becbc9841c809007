/* Checks of batches from outside the library, before any of their rows is read. Trusted without a check: that the ids
 * of a row are distinct, and that arrays are as long as the last offset says. */
#ifndef GSA_BASE_BATCH_H
#define GSA_BASE_BATCH_H

#include <greedystep/greedystep.h>

/* A row of a batch, sparse or dense. */
typedef struct gsai_row {
    size_t n;              /* entries, zeros included */
    const uint32_t *index; /* NULL: entry i is feature i */
    const float *value;    /* NULL: all ones */
} gsai_row;

static inline gsai_row gsai_row_at(const gsa_batch *batch, size_t row)
{
    if (!batch->index)
        return (gsai_row){batch->width, NULL, batch->width > 0 ? batch->value + row * batch->width : batch->value};
    size_t from = (size_t)batch->row_start[row];
    size_t n = (size_t)(batch->row_start[row + 1] - batch->row_start[row]);
    return (gsai_row){n, batch->index + from, batch->value ? batch->value + from : NULL};
}

static inline uint32_t gsai_row_id(const gsai_row *row, size_t entry)
{
    return row->index ? row->index[entry] : (uint32_t)entry;
}

static inline float gsai_row_value(const gsai_row *row, size_t entry)
{
    return row->value ? row->value[entry] : 1.0f;
}

/* Checks pointers, width, and the numbers and offsets of the rows named (NULL: the first n_rows). Returns GSA_ARGUMENT,
 * with error->row where the offsets of a row are wrong. */
gsa_status gsai_batch_check(const gsa_batch *batch, const uint32_t *rows, size_t n_rows, int needs_labels,
                            gsa_error *error);
/* Checks the feature ids of a row, best right before they are used. Returns GSA_ARGUMENT with error->row. */
gsa_status gsai_batch_check_ids(const gsa_batch *batch, size_t row, gsa_error *error);

#endif
