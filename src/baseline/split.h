/* Which rows of a data set are kept for testing, by seed. */
#ifndef GSA_BASELINE_SPLIT_H
#define GSA_BASELINE_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

/* Rows that are kept for testing: a fifth, rounded down, at least 1. */
static inline uint32_t gsa__split_tests(uint32_t n_rows)
{
    return n_rows >= 5 ? n_rows / 5 : 1;
}

/* Chooses them: is_test[row] for each of the n_rows (at least 1). Depends on the seed and n_rows alone. `scratch` has
 * room for n_rows. */
void gsa__split(uint64_t seed, uint32_t n_rows, uint32_t *scratch, bool *is_test);

#endif
