/* Offsets and feature ids of rows, each checked once. */
#include "base/batch.h"

#include "base/error.h"

#include <inttypes.h>

/* Rows that are named lie here and there: their offsets are asked for some rows before they are needed. */
#define ROWS_AHEAD 16

gsa_status gsai_batch_check(const gsa_batch *batch, const uint32_t *rows, size_t n_rows, int needs_labels,
                            gsa_error *error)
{
    if (n_rows == 0)
        return GSA_OK;
    if (batch->index ? !batch->row_start : !batch->value && batch->width > 0)
        return gsai_fail(error, GSA_ARGUMENT, "a batch of sparse rows needs row_start, one of dense rows value");
    if (!batch->index && (uint64_t)batch->width > (uint64_t)GSA_MAX_ID + 1)
        return gsai_fail(error, GSA_ARGUMENT, "dense rows of %zu values are too wide", batch->width);
    if (needs_labels && !batch->label)
        return gsai_fail(error, GSA_ARGUMENT, "these rows have no labels to learn from");
    const int64_t *start = batch->index ? batch->row_start : NULL;
    for (size_t i = 0; i < n_rows; i++) {
        size_t row = rows ? rows[i] : i;
        if (row >= batch->n_rows)
            return gsai_fail(error, GSA_ARGUMENT, "row %zu of a batch of %zu", row, batch->n_rows);
        if (start && rows && i + ROWS_AHEAD < n_rows && rows[i + ROWS_AHEAD] < batch->n_rows)
            __builtin_prefetch(start + rows[i + ROWS_AHEAD]);
        if (start && (start[row] < 0 || start[row] > start[row + 1]))
            return gsai_fail_row(error, GSA_ARGUMENT, row,
                                 "row_start has %" PRId64 " and then %" PRId64 ": offsets are from 0 and never descend",
                                 start[row], start[row + 1]);
    }
    return GSA_OK;
}

gsa_status gsai_batch_check_ids(const gsa_batch *batch, size_t row, gsa_error *error)
{
    uint32_t most = 0;
    int64_t end = batch->index ? batch->row_start[row + 1] : 0;
    for (int64_t i = batch->index ? batch->row_start[row] : 0; i < end; i++)
        most = batch->index[i] > most ? batch->index[i] : most;
    if (most <= GSA_MAX_ID)
        return GSA_OK;
    return gsai_fail_row(error, GSA_ARGUMENT, row, "feature id %" PRIu32 " is too large: the largest is %u", most,
                         GSA_MAX_ID);
}
