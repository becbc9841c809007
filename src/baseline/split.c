/* The split into rows to learn and rows to test. */
#include "baseline/split.h"

#include <greedystep/greedystep.h>

/* In place of a pass, for an order of its own. */
#define SPLIT_STREAM 0x5917u

void gsai_split(uint64_t seed, uint32_t n_rows, uint32_t *scratch, bool *is_test)
{
    uint32_t n_tests = n_rows >= 5 ? n_rows / 5 : 1;
    gsa_plan_order(seed, SPLIT_STREAM, 0, n_rows, scratch);
    for (uint32_t i = 0; i < n_rows; i++)
        is_test[scratch[i]] = i < n_tests;
}
