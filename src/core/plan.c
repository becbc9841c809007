/* The plan: the order in which rows are learned. Depends on row numbers and the seed, never on the machine. */
#include "base/rng.h"

#include <greedystep/greedystep.h>

size_t gsa_plan_block(const gsa_batch *rows, size_t from)
{
    size_t n = 0, n_entries = 0;
    while (n < GSA_BLOCK_ROWS && n_entries < GSA_BLOCK_ENTRIES && from + n < rows->n_rows) {
        n_entries += rows->index ? (size_t)(rows->row_start[from + n + 1] - rows->row_start[from + n]) : rows->width;
        n++;
    }
    return n;
}

/* Fisher-Yates with a stream of its own for every block of every pass. */
void gsa_plan_order(uint64_t seed, uint64_t pass, uint64_t block, uint32_t n_rows, uint32_t *out)
{
    gsa__rng rng = gsa__rng_of(seed, pass, block);
    for (uint32_t i = 0; i < n_rows; i++)
        out[i] = i;
    for (uint32_t i = n_rows; i > 1; i--) {
        uint32_t j = (uint32_t)gsa__rng_below(&rng, i);
        uint32_t held = out[i - 1];
        out[i - 1] = out[j];
        out[j] = held;
    }
}

uint64_t gsa_plan_passes(uint64_t n_rows)
{
    uint64_t passes = ((uint64_t)1 << 18) / (n_rows > 0 ? n_rows : 1);
    return passes < 20 ? 20 : passes > 100 ? 100 : passes;
}
