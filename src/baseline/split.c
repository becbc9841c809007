/* The split into rows to learn and rows to test. */
#include "baseline/split.h"

#include "base/rng.h"

#define SPLIT_STREAM 0x5917u

/* Fisher-Yates, as for the order of rows (core/plan.c); the first rows of the permutation are the test. */
void gsa__split(uint64_t seed, uint32_t n_rows, uint32_t *scratch, bool *is_test)
{
    gsa__rng rng = gsa__rng_of(seed, SPLIT_STREAM, 0);
    for (uint32_t i = 0; i < n_rows; i++)
        scratch[i] = i;
    for (uint32_t i = n_rows; i > 1; i--) {
        uint32_t j = (uint32_t)gsa__rng_below(&rng, i);
        uint32_t held = scratch[i - 1];
        scratch[i - 1] = scratch[j];
        scratch[j] = held;
    }
    for (uint32_t i = 0; i < n_rows; i++)
        is_test[scratch[i]] = i < gsa__split_tests(n_rows);
}
