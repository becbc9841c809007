/* One row of a batch, checked, and what identifies it. */
#ifndef GSA_CORE_ROW_H
#define GSA_CORE_ROW_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef struct gsa__row {
    size_t n;              /* entries, zeros included */
    const uint32_t *index; /* NULL: entry i is feature i */
    const float *value;    /* NULL: all ones */
} gsa__row;

gsa__row gsa__row_at(const gsa_batch *batch, size_t row);

/* Is its label a word, rather than a number? */
static inline bool gsa__row_is_word(const gsa_batch *batch, size_t row)
{
    return batch->word && batch->word[row] >= 0;
}

/* Its weight, 1 where rows have none. GSA_INPUT if it is negative or not finite. */
gsa_status gsa__row_weight(const gsa_batch *batch, size_t row, double *out, gsa_error *error);

/* A 64-bit hash of label, weight and the nonzero entries in their order; the same for equal rows of every format. */
uint64_t gsa__row_hash(const gsa_batch *batch, size_t row);

/* The shape of a batch from outside: GSA_ARGUMENT if pointers are missing. */
gsa_status gsa__batch_check(const gsa_batch *batch, int needs_labels, gsa_error *error);

#endif
