/* The loops of gsai_array_math (loss_rows.h). array_math.c compiles them for every machine, the solver's kernels for
 * its vectors; all give the same bits. */
#ifndef GSA_LEARN_LOSS_ARRAY_LOOPS_H
#define GSA_LEARN_LOSS_ARRAY_LOOPS_H

#include "learn/loss/loss_rows.h"

#include <string.h>

#define LANES 16

/* Sixteen floats at once: an element-wise operation of these is sixteen operations of floats on every machine. */
typedef float floats __attribute__((vector_size(64)));
typedef int32_t ints __attribute__((vector_size(64)));

#define INLINE __attribute__((always_inline)) static inline
#define LOAD(to, from) memcpy(&(to), (from), sizeof(to))
#define STORE(to, from) memcpy((to), &(from), sizeof(from))

/* ---- exponentials ------------------------------------------------------------------------------------------------ */

static inline floats clamp(floats x)
{
    const floats low = (floats){0} - 87.0F, high = (floats){0} + 88.0F;
    ints below = (ints)(x < low), above = (ints)(x > high);
    x = (floats)(((ints)x & ~below) | ((ints)low & below));
    return (floats)(((ints)x & ~above) | ((ints)high & above));
}

/* e^x = 2^k e^f, |f| <= log(2) / 2, k by rounding with a large number. Taylor's terms up to f^7. */
static inline floats exponential(floats x)
{
    const float round = 12582912.0F;
    x = clamp(x);
    floats k = (x * 1.44269504F + round) - round;
    floats f = (x - k * 0.693359375F) + k * 2.12194440e-4F;
    floats p = f * 1.9841270e-4F + 1.3888889e-3F;
    p = p * f + 8.3333333e-3F;
    p = p * f + 4.1666667e-2F;
    p = p * f + 1.6666667e-1F;
    p = p * f + 0.5F;
    p = p * (f * f) + (f + 1.0F);
    ints bits = (__builtin_convertvector(k, ints) + 127) << 23;
    return p * (floats)bits;
}

/* log(1 + x) = 2 atanh(s), s = x / (2 + x) <= 1/3. */
static inline floats log1p_of(floats x)
{
    floats s = x / (x + 2.0F), t = s * s;
    floats p = t * (1.0F / 15) + 1.0F / 13;
    p = p * t + 1.0F / 11;
    p = p * t + 1.0F / 9;
    p = p * t + 1.0F / 7;
    p = p * t + 1.0F / 5;
    p = p * t + 1.0F / 3;
    return (s + s) * (p * t + 1.0F);
}

/* log(2^k f) = k log(2) + log(f), f in [1, 2). */
static inline floats logarithm(floats x)
{
    ints bits = (ints)x;
    floats k = __builtin_convertvector((bits >> 23) - 127, floats);
    floats f = (floats)((bits & 0x007FFFFF) | 0x3F800000);
    return k * 0.693147181F + log1p_of(f - 1.0F);
}

#define OVER_ARRAY(function)                    \
    size_t i = 0;                               \
    floats v;                                   \
    for (; i + LANES <= n; i += LANES) {        \
        LOAD(v, x + i);                         \
        v = function(v);                        \
        STORE(x + i, v);                        \
    }                                           \
    if (i < n) {                                \
        v = (floats){0};                        \
        memcpy(&v, x + i, (n - i) * sizeof *x); \
        v = function(v);                        \
        memcpy(x + i, &v, (n - i) * sizeof *x); \
    }

static void exponentials(float *x, size_t n)
{
    OVER_ARRAY(exponential)
}

static void log1ps(float *x, size_t n)
{
    OVER_ARRAY(log1p_of)
}

static void logarithms(float *x, size_t n)
{
    OVER_ARRAY(logarithm)
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static double dot(const float *a, const float *b, size_t n)
{
    double total = 0;
    for (size_t from = 0; from < n; from += 4096) {
        size_t end = from + 4096 < n ? from + 4096 : n;
        floats sum = {0}, x, y;
        for (size_t i = from; i < end; i += LANES) {
            LOAD(x, a + i);
            LOAD(y, b + i);
            sum += x * y;
        }
        for (size_t j = 0; j < LANES; j++)
            total += (double)sum[j];
    }
    return total;
}

/* ---- rows of a few numbers --------------------------------------------------------------------------------------- */

#define EIGHT ((size_t)8)
typedef float eight __attribute__((vector_size(32)));
typedef int32_t eight_ints __attribute__((vector_size(32)));

static inline float add_eight(eight s)
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static void exponentiate_rows(float *rows, size_t n_rows, size_t n, size_t stride, float *highest, float *sum)
{
    for (size_t i = 0; i < n_rows; i++) {
        float *row = rows + i * stride;
        eight top, v;
        for (size_t k = n; k < stride; k++)
            row[k] = row[0];
        LOAD(top, row);
        for (size_t k = EIGHT; k < stride; k += EIGHT) {
            LOAD(v, row + k);
            eight_ints above = (eight_ints)(v > top);
            top = (eight)(((eight_ints)v & above) | ((eight_ints)top & ~above));
        }
        highest[i] = top[0];
        for (size_t k = 1; k < EIGHT; k++)
            highest[i] = top[k] > highest[i] ? top[k] : highest[i];
        for (size_t k = 0; k < stride; k += EIGHT) {
            LOAD(v, row + k);
            v -= highest[i];
            STORE(row + k, v);
        }
    }
    exponentials(rows, n_rows * stride);
    for (size_t i = 0; i < n_rows; i++) {
        float *row = rows + i * stride;
        eight s = {0}, v;
        for (size_t k = n; k < stride; k++)
            row[k] = 0;
        for (size_t k = 0; k < stride; k += EIGHT) {
            LOAD(v, row + k);
            s += v;
        }
        sum[i] = add_eight(s);
    }
}

static void moments(const float *e, const float *z, size_t n_rows, size_t stride, float *first, float *second)
{
    for (size_t i = 0; i < n_rows; i++) {
        eight s1 = {0}, s2 = {0}, x, y;
        for (size_t k = i * stride; k < (i + 1) * stride; k += EIGHT) {
            LOAD(x, e + k);
            LOAD(y, z + k);
            x *= y;
            s1 += x;
            s2 += x * y;
        }
        first[i] = add_eight(s1);
        second[i] = add_eight(s2);
    }
}

static void scale_rows(float *to, const float *by, const float *from, size_t n_rows, size_t stride)
{
    for (size_t i = 0; i < n_rows; i++) {
        eight v;
        for (size_t k = i * stride; k < (i + 1) * stride; k += EIGHT) {
            LOAD(v, from + k);
            v *= by[i];
            STORE(to + k, v);
        }
    }
}

#define GSAI_ARRAY_MATH                                                               \
    {                                                                                 \
        exponentials, log1ps, logarithms, dot, exponentiate_rows, moments, scale_rows \
    }

#endif
