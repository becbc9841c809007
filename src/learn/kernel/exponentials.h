/* Exponentials of several classes, eight at a time, compiled with the loops (loops.h) for every kind of machine.
 *
 * base/real.c has these for one number, with the reasons; here are the same operations in the same order. */
#ifndef GSA_LEARN_KERNEL_EXPONENTIALS_H
#define GSA_LEARN_KERNEL_EXPONENTIALS_H

#include "learn/kernel/kernel.h"

#include <math.h>
#include <string.h>

typedef double eight_doubles __attribute__((vector_size(64)));
typedef int64_t eight_longs __attribute__((vector_size(64)));

/* The first eight of n numbers; those that are not there are `rest`. */
static inline eight_doubles load(const double *number, size_t n, double rest)
{
    eight_doubles out;
    for (size_t j = 0; j < 8 && n >= 8; j++)
        out[j] = number[j];
    for (size_t j = 0; j < 8 && n < 8; j++)
        out[j] = j < n ? number[j] : rest;
    return out;
}

static inline double add_eight(eight_doubles lane)
{
    double lanes[GSAI_LANES];
    memcpy(lanes, &lane, sizeof lanes);
    return gsai_add_lanes(lanes);
}

#define LN2_HIGH 0x1.62e42fefa3p-1
#define LN2_LOW 0x1.3de6af278ece6p-42
#define ONE_BY_LN2 0x1.71547652b82fep+0
#define ROUNDER 0x1.8p52
#define ROUNDER_BITS INT64_C(0x4338000000000000)

/* Picks from a where all bits are set, else from b. */
static inline eight_doubles pick(eight_longs set, eight_doubles a, eight_doubles b)
{
    return (eight_doubles)(((eight_longs)a & set) | ((eight_longs)b & ~set));
}

/* e^x = 2^k (1 + r + tail). */
static inline void reduce(eight_doubles x, eight_doubles *r, eight_doubles *tail, eight_longs *k)
{
    eight_doubles t = x * ONE_BY_LN2 + ROUNDER, n = t - ROUNDER;
    eight_doubles high = x - n * LN2_HIGH, low = n * LN2_LOW, q = high - low, q_low = (high - q) - low, z = q * q;
    eight_doubles a = 1.0 / 2 + q * (1.0 / 6), b = 1.0 / 24 + q * (1.0 / 120), c = 1.0 / 720 + q * (1.0 / 5040);
    eight_doubles d = 1.0 / 40320 + q * (1.0 / 362880), e = 1.0 / 3628800 + q * (1.0 / 39916800);
    eight_doubles f = 1.0 / 479001600 + q * (1.0 / 6227020800), zz = z * z;
    *tail = z * ((a + z * b) + zz * ((c + z * d) + zz * (e + z * f))) + (q_low + q_low * q);
    *r = q;
    *k = (eight_longs)t - ROUNDER_BITS;
}

static inline eight_doubles powers_of_two(eight_longs k)
{
    return (eight_doubles)((k + 1023) << 52);
}

/* e^x for x <= 0; in two steps of scaling, so that the second rounds once where the result is subnormal. What is 0 is
 * not computed: a processor takes a hundred times as long where a product underflows. */
static inline eight_doubles exp_eight(eight_doubles x)
{
    eight_doubles r, tail, min = {-746, -746, -746, -746, -746, -746, -746, -746};
    eight_longs k, there = ~(x <= min); /* NaN is */
    reduce((eight_doubles)((eight_longs)x & there), &r, &tail, &k);
    eight_doubles high = 1 + r, low = r - (high - 1);
    eight_longs half = ((k + 2048) >> 1) - 1024;
    eight_doubles e = (high + (low + tail)) * powers_of_two(half) * powers_of_two(k - half);
    return (eight_doubles)((eight_longs)e & there);
}

/* e^x - 1 for 0 <= x <= 1. */
static inline eight_doubles expm1_eight(eight_doubles x)
{
    eight_doubles r, tail;
    eight_longs k;
    reduce(x, &r, &tail, &k);
    eight_doubles power = powers_of_two(-k), one = 1 - power, one_low = -power - (one - 1);
    eight_doubles high = one + r, low = r - (high - one);
    return (high + (low + (one_low + tail))) * powers_of_two(k);
}

static double exponentiate(double *m, size_t n, double *shift)
{
    size_t n_whole = n / 8 * 8;
    eight_doubles e, lane = {0}, rest = load(m + n_whole, n - n_whole, -INFINITY), max = rest;
    for (size_t i = 0; i < n_whole; i += 8) {
        e = load(m + i, 8, 0);
        max = pick(e > max, e, max);
    }
    double top = *shift;
    for (size_t j = 0; j < 8; j++)
        top = max[j] > top ? max[j] : top;
    *shift = top;
    for (size_t i = 0; i < n_whole; i += 8) {
        e = exp_eight(load(m + i, 8, 0) - top);
        for (size_t j = 0; j < 8; j++)
            m[i + j] = e[j];
        lane += e;
    }
    if (n_whole < n) {
        rest = exp_eight(rest - top);
        memcpy(m + n_whole, &rest, (n - n_whole) * sizeof *m);
        lane += rest;
    }
    return add_eight(lane);
}

static double expected_growth(const double *p, size_t n)
{
    eight_doubles lane = {0};
    for (size_t i = 0; i < n; i += 8) {
        eight_doubles q = load(p + i, n - i, 0);
        lane += q * expm1_eight(q);
    }
    return add_eight(lane);
}

#endif
