/* exp, log and friends in plain double arithmetic.
 *
 *   M1  only + - * / and conversions that are exact: IEEE 754 fixes every bit of them, so every machine agrees;
 *   M2  a result is built as a large part that is exact or nearly so and a small part that is added last: the final
 *       addition is then the only rounding that costs half an ulp. "pair" is such an unevaluated sum;
 *   M3  series are Taylor's, so that a coefficient is a fraction that can be read; a few terms more than the best
 *       polynomial would need are the price.
 *
 * The argument of exp is reduced to x = k ln 2 + r, |r| <= ln(2)/2, that of log to 2^k (1 + f), 1/sqrt(2) <= 1 + f <
 * sqrt(2). ln 2 is cut in two: LN2_HIGH has 41 bits, so that its product with any k in use is exact. */
#include "base/real.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* 16: as 0, with half floats beside (-march=native on newer x86). */
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,
               "double arithmetic must be double arithmetic (on x86: -msse2 -mfpmath=sse)");
_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "double is IEEE 754 binary64");

#define LN2_HIGH 0x1.62e42fefa3p-1
#define LN2_LOW 0x1.3de6af278ece6p-42
#define ONE_BY_LN2 0x1.71547652b82fep+0

/* Beyond this distance from 0, e^-x vanishes beside 1 and e^-2x beside e^-x. */
#define FAR 40.0
/* Below this, x^2 vanishes beside x. */
#define TINY 0x1p-54

typedef struct pair {
    double high, low;
} pair;

/* a + b exactly, for |a| >= |b| or a = 0. */
static pair sum_ordered(double a, double b)
{
    double sum = a + b;
    return (pair){sum, b - (sum - a)};
}

/* a + b exactly. */
static pair sum_any(double a, double b)
{
    return fabs(a) >= fabs(b) ? sum_ordered(a, b) : sum_ordered(b, a);
}

/* 2^k for -1022 <= k <= 1023. */
static double power_of_two(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* y 2^k for y near 1 and -1140 < k <= 1024, rounded once also where the result is subnormal or overflows. */
static double scaled(double y, int k)
{
    if (k > 1023)
        return y * 0x1p1023 * 2;
    if (k < -1021)
        return y * power_of_two(k + 128) * 0x1p-128;
    return y * power_of_two(k);
}

/* e^x = 2^k (1 + r + tail), |r| <= 0.3466, |tail| < 0.07, for -746 <= x <= 710. */
typedef struct reduced {
    double r, tail;
    int k;
} reduced;

static reduced reduce(double x)
{
    /* Adding 1.5 * 2^52 leaves no room for a fraction: the nearest integer, by plain addition. */
    double n = (x * ONE_BY_LN2 + 0x1.8p52) - 0x1.8p52;
    double high = x - n * LN2_HIGH;
    double low = n * LN2_LOW;
    double r = high - low;
    double r_low = (high - r) - low;

    /* e^r - 1 - r = r^2 (1/2! + r/3! + ... + r^11/13!), summed in pairs so that they can run side by side. */
    double z = r * r;
    double a = 1.0 / 2 + r * (1.0 / 6);
    double b = 1.0 / 24 + r * (1.0 / 120);
    double c = 1.0 / 720 + r * (1.0 / 5040);
    double d = 1.0 / 40320 + r * (1.0 / 362880);
    double e = 1.0 / 3628800 + r * (1.0 / 39916800);
    double f = 1.0 / 479001600 + r * (1.0 / 6227020800);
    double zz = z * z;
    double series = (a + z * b) + zz * ((c + z * d) + zz * (e + z * f));

    return (reduced){r, z * series + (r_low + r_low * r), (int)n};
}

double gsai_exp(double x)
{
    if (!(x >= -746.0))
        return isnan(x) ? x : 0.0;
    if (x > 710.0)
        return INFINITY;
    reduced e = reduce(x);
    pair sum = sum_ordered(1.0, e.r);
    return scaled(sum.high + (sum.low + e.tail), e.k);
}

/* e^x - 1 = 2^k ((1 - 2^-k) + r + tail); the bracket is exact as a pair for every k. */
double gsai_expm1(double x)
{
    if (fabs(x) < TINY || isnan(x))
        return x;
    if (x < -FAR)
        return -1.0;
    if (x > 710.0)
        return INFINITY;
    reduced e = reduce(x);
    double power = power_of_two(e.k > 1022 ? -1022 : -e.k);
    pair one = e.k >= 0 ? sum_ordered(1.0, -power) : sum_ordered(-power, 1.0);
    pair sum = sum_ordered(one.high, e.r);
    return scaled(sum.high + (sum.low + (one.low + e.tail)), e.k);
}

/* log(2^k (1 + f)) + correction, for 1/sqrt(2) <= 1 + f <= sqrt(2) and a correction below an ulp or so.
 *
 * With s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2s + s R, R = 2/3 s^2 + 2/5 s^4 + ..., and since 2s = f - h + s h
 * with h = f^2 / 2, the part f that is exact can be kept apart from the small rest. s^2 <= 0.0295. */
static pair log_reduced(int k, double f, double correction)
{
    double s = f / (2.0 + f);
    double h = 0.5 * f * f;
    double z = s * s;
    double zz = z * z;
    double a = 2.0 / 3 + z * (2.0 / 5);
    double b = 2.0 / 7 + z * (2.0 / 9);
    double c = 2.0 / 11 + z * (2.0 / 13);
    double d = 2.0 / 15 + z * (2.0 / 17);
    double e = 2.0 / 19 + z * (2.0 / 21 + z * (2.0 / 23));
    double R = z * ((a + zz * b) + zz * zz * ((c + zz * d) + zz * zz * e));

    pair sum = sum_ordered(k * LN2_HIGH, f);
    return (pair){sum.high, sum.low + ((k * LN2_LOW + correction) - (h - s * (h + R)))};
}

/* log(x + low) for a normal x > 0 and |low| below an ulp or so of x. */
static pair log_pair(double x, double low)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int k = (int)(bits >> 52) - 1023;
    bits = (bits & 0xFFFFFFFFFFFFFu) | (uint64_t)1023 << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 0x1.6a09e667f3bcdp0) {
        m *= 0.5;
        k++;
    }
    return log_reduced(k, m - 1.0, low / x);
}

double gsai_log(double x)
{
    if (!(x > 0.0))
        return x == 0.0 ? -INFINITY : (isnan(x) ? x : NAN);
    if (x > DBL_MAX)
        return x;
    pair log_x;
    if (x < DBL_MIN) {
        log_x = log_pair(x * 0x1p54, 0.0);
        pair sum = sum_any(log_x.high, -54 * LN2_HIGH);
        return sum.high + (sum.low + (log_x.low - 54 * LN2_LOW));
    }
    log_x = log_pair(x, 0.0);
    return log_x.high + log_x.low;
}

/* log(1 + x + low) for a finite x > -1 and |low| below an ulp or so of x. */
static pair log1p_pair(double x, double low)
{
    if (x > -0.29 && x < 0.41)
        return log_reduced(0, x, low / (1.0 + x));
    pair sum = sum_any(1.0, x);
    return log_pair(sum.high, sum.low + low);
}

double gsai_log1p(double x)
{
    if (fabs(x) < TINY || isnan(x))
        return x;
    if (!(x > -1.0))
        return x == -1.0 ? -INFINITY : NAN;
    if (x > DBL_MAX)
        return x;
    pair log_x = log1p_pair(x, 0.0);
    return log_x.high + log_x.low;
}

/* e^x as a pair, for -FAR <= x <= 0. */
static pair exp_pair(double x)
{
    reduced e = reduce(x);
    pair one = sum_ordered(1.0, e.r);
    pair sum = sum_ordered(one.high, one.low + e.tail);
    double power = power_of_two(e.k);
    return (pair){sum.high * power, sum.low * power};
}

/* With t = e^-|x|: the smaller of the two probabilities is t / (1 + t), the other 1 minus that. */
void gsai_sigmoids(double x, double both[2])
{
    int larger = !(x < 0);
    if (isnan(x)) {
        both[0] = -x;
        both[1] = x;
    } else if (fabs(x) > FAR) {
        both[larger] = 1.0;
        both[!larger] = gsai_exp(-fabs(x));
    } else {
        pair t = exp_pair(-fabs(x));
        pair one = sum_ordered(1.0, t.high);
        double quotient = t.high / one.high;
        double correction = (t.low - quotient * (one.low + t.low)) / one.high;
        pair rest = sum_ordered(1.0, -quotient);
        both[larger] = rest.high + (rest.low - correction);
        both[!larger] = quotient + correction;
    }
}

double gsai_sigmoid(double x)
{
    double both[2];
    gsai_sigmoids(x, both);
    return both[1];
}

double gsai_softplus(double x)
{
    if (isnan(x) || x > FAR)
        return x;
    if (x < -FAR)
        return gsai_exp(x);
    pair t = exp_pair(-fabs(x));
    pair log_t = log1p_pair(t.high, t.low);
    if (x <= 0)
        return log_t.high + log_t.low;
    pair sum = sum_any(x, log_t.high);
    return sum.high + (sum.low + log_t.low);
}
