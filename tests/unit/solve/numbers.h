/* Numbers for tests of the solver: drawn by position, so that any of them can be had again. */
#ifndef TESTS_UNIT_SOLVE_NUMBERS_H
#define TESTS_UNIT_SOLVE_NUMBERS_H

#define MAX_ROWS 24000
#include "../learn/rows.h"

#include "base/hash.h"

#include <math.h>
#include <stdbool.h>

/* In (0, 1). */
static inline double unit_at(uint64_t seed, size_t i)
{
    return ((double)(gsai_mix(gsai_mix(seed) + i) >> 12) + 0.5) * 0x1p-52;
}

static inline double between(double low, double high, uint64_t seed, size_t i)
{
    return low + (high - low) * unit_at(seed, i);
}

/* About normal, by the sum of twelve. */
static inline double normal_at(uint64_t seed, size_t i)
{
    double sum = -6;
    for (size_t j = 0; j < 12; j++)
        sum += unit_at(seed, 12 * i + j);
    return sum;
}

/* n floats in (-2, 2), every seventh 0 and every fifth a hundred times as large. */
static inline float *floats_at(uint64_t seed, size_t n)
{
    float *x = malloc((n ? n : 1) * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = i % 7 == 3 ? 0 : (float)(between(-2, 2, seed, i) * (i % 5 == 4 ? 100 : 1));
    return x;
}

static inline float *copied(const float *x, size_t n)
{
    float *copy = malloc((n ? n : 1) * sizeof *copy);
    memcpy(copy, x, n * sizeof *copy);
    return copy;
}

#endif
