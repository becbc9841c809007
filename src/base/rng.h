/* Random numbers that are part of the algorithm: a counter, mixed. Any draw can be computed without the others, on any
 * machine. */
#ifndef GSA_BASE_RNG_H
#define GSA_BASE_RNG_H

#include "base/hash.h"

typedef struct gsai_rng {
    uint64_t key;
    uint64_t counter;
} gsai_rng;

/* Returns a generator; different (a, b, c) give independent streams. */
static inline gsai_rng gsai_rng_of(uint64_t a, uint64_t b, uint64_t c)
{
    gsai_rng rng = {gsai_mix(gsai_mix(gsai_mix(a) ^ b) ^ c), 0};
    return rng;
}

static inline uint64_t gsai_rng_next(gsai_rng *rng)
{
    return gsai_mix(rng->key + 0x9E3779B97F4A7C15u * rng->counter++);
}

/* Returns a uniform number in [0, n), n > 0: multiplies and takes the high half. The bias is below n / 2^64 (Lemire
 * 2019, without the rejection, so that one draw is always one step of the counter). */
static inline uint64_t gsai_rng_below(gsai_rng *rng, uint64_t n)
{
    uint64_t x = gsai_rng_next(rng);
    uint64_t x_low = x & 0xFFFFFFFFu, x_high = x >> 32, n_low = n & 0xFFFFFFFFu, n_high = n >> 32;
    uint64_t middle = x_high * n_low + ((x_low * n_low) >> 32);
    uint64_t carry = x_low * n_high + (middle & 0xFFFFFFFFu);
    return x_high * n_high + (middle >> 32) + (carry >> 32);
}

/* Returns a uniform number in (0, 1), both ends excluded: 52 bits and a half, which a double holds exactly. */
static inline double gsai_rng_unit(gsai_rng *rng)
{
    return ((double)(gsai_rng_next(rng) >> 12) + 0.5) * 0x1p-52;
}

#endif
