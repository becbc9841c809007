/* The order in which the rows of a block are learned: from row numbers and the seed, never from the machine. */
#include "base/rng.h"

#include <greedystep/distributed.h>
#include <greedystep/greedystep.h>

/* Fisher-Yates with a stream of its own for every block of every pass. */
void gsa_plan_order(uint64_t seed, uint64_t pass, uint64_t block, uint32_t n_rows, uint32_t *out)
{
    gsai_rng rng = gsai_rng_of(seed, pass, block);
    for (uint32_t i = 0; i < n_rows; i++)
        out[i] = i;
    for (uint32_t i = n_rows; i > 1; i--) {
        uint32_t j = (uint32_t)gsai_rng_below(&rng, i);
        uint32_t held = out[i - 1];
        out[i - 1] = out[j];
        out[j] = held;
    }
}
