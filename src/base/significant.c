/* Numbers to so many significant digits.
 *
 * Up to 15 digits nearly all numbers are rounded without snprintf. The value times a power of ten up to 10^22, which a
 * double has exactly, is rounded once. That is monotonous, and every whole number and a half below 10^15 is a double:
 * what is above a half (below it) after it was above (below) it before. Only a half itself tells nothing.
 * What falls just short of a power of ten rounds up to it from either side, so that it does not matter which exponent
 * such a number is given. */
#include "base/significant.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_POWER 22
#define MOST_DIGITS 15

static size_t count_digits(uint64_t value)
{
    size_t n = 1;
    for (; value >= 10000; value /= 10000)
        n += 4;
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

char *gsai_decimal_unsigned(uint64_t value, char *out)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char *end = out + count_digits(value), *p = end;
    for (; value >= 100; value /= 100) {
        p -= 2;
        memcpy(p, pairs + 2 * (value % 100), 2);
    }
    if (value >= 10)
        memcpy(p - 2, pairs + 2 * value, 2);
    else
        p[-1] = (char)('0' + value);
    return end;
}

/* The decimal exponent, or one less: 1233 / 4096 is just below log10(2). */
static int guess_exponent(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int binary = (int)(bits >> 52) - 1023;
    return (binary * 1233 - (binary < 0 ? 4095 : 0)) / 4096;
}

/* False where the rounding is not decided safely. */
static bool round_scaled(double value, int n_digits, gsai_significant *out)
{
    static const double power[MOST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double scaled = INFINITY;
    int exponent = guess_exponent(value) - 1;
    while (scaled >= power[n_digits]) {
        int up = n_digits - 1 - ++exponent;
        if (up < -MOST_POWER || up > MOST_POWER)
            return false;
        scaled = up < 0 ? value / power[-up] : value * power[up];
    }
    uint64_t whole = (uint64_t)scaled;
    double fraction = scaled - (double)whole;
    if (scaled < power[n_digits - 1] || fraction == 0.5)
        return false;
    whole += fraction > 0.5;
    out->n = (int)(gsai_decimal_unsigned(whole, out->digit) - out->digit);
    out->exponent = exponent + (out->n > n_digits); /* 99.9 became 100 */
    return true;
}

/* The point of "%.*e" is the locale's: everything that is no digit is passed over. */
static void round_printed(double value, int n_digits, gsai_significant *out)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", n_digits - 1, value);
    const char *p = text;
    for (out->n = 0; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            out->digit[out->n++] = *p;
    out->exponent = (int)strtol(p + 1, NULL, 10);
}

void gsai_significant_round(double value, int n_digits, gsai_significant *out)
{
    if (n_digits > MOST_DIGITS || !round_scaled(value, n_digits, out))
        round_printed(value, n_digits, out);
    while (out->n > 1 && out->digit[out->n - 1] == '0')
        out->n--;
}

char *gsai_significant_plain(const gsai_significant *number, char *out)
{
    size_t n = (size_t)number->n, lead = number->exponent < 0 ? (size_t)-number->exponent : 0;
    if (lead > 0) {
        memcpy(out, "0.0000", 6);
        memcpy(out + 1 + lead, number->digit, n);
        return out + 1 + lead + n;
    }
    size_t whole = (size_t)number->exponent + 1;
    for (size_t i = 0; i < n || i < whole; i++) {
        if (i == whole)
            *out++ = '.';
        *out++ = i < n ? number->digit[i] : '0';
    }
    return out;
}

char *gsai_significant_mantissa(const gsai_significant *number, char *out)
{
    *out++ = number->digit[0]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): there is one at least */
    if (number->n > 1)
        *out++ = '.';
    memcpy(out, number->digit + 1, (size_t)number->n - 1);
    out += number->n - 1;
    *out++ = 'e';
    return out;
}

char *gsai_decimal_general(double value, int n_digits, char *out)
{
    gsai_significant number;
    if (signbit(value))
        *out++ = '-';
    value = fabs(value);
    if (!isfinite(value) || value == 0) {
        const char *name = value == 0 ? "0" : isnan(value) ? "nan" : "inf";
        size_t n = strlen(name);
        memcpy(out, name, n);
        return out + n;
    }
    gsai_significant_round(value, n_digits, &number);
    int exponent = number.exponent;
    if (exponent >= -4 && exponent < n_digits)
        return gsai_significant_plain(&number, out);
    out = gsai_significant_mantissa(&number, out);
    *out++ = exponent < 0 ? '-' : '+';
    if (abs(exponent) < 10)
        *out++ = '0';
    return gsai_decimal_unsigned((uint64_t)abs(exponent), out);
}
