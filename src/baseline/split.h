/* Which rows of a data set are kept for testing, by seed. */
#ifndef GSA_BASELINE_SPLIT_H
#define GSA_BASELINE_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

/* Chooses a fifth of the rows, rounded down, at least 1: is_test[row] for each of the n_rows (at least 1). Depends on
 * the seed and n_rows alone. `scratch` has room for n_rows. */
void gsai_split(uint64_t seed, uint32_t n_rows, uint32_t *scratch, bool *is_test);

#endif
