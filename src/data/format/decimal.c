/* Numbers to decimal text.
 *
 * The usual number is a short one: m / 10^k with few digits. That quotient is computed exactly as the reader computes
 * it (number.h), so that comparing it with the value proves the round trip, and the first k that fits has the fewest
 * digits. All else goes through snprintf with 6, 7, 8 or 9 digits: if a shorter text reads back, the one with FLT_DIG
 * digits ends in zeros, which are cut. Numbers below the normal range have no such guarantee and try every length. */
#include "data/format/decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

static size_t count_digits(uint64_t value)
{
    size_t n = 1;
    for (; value >= 10000; value /= 10000)
        n += 4;
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

char *gsa__decimal_unsigned(uint64_t value, char *out)
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

/* m / 10^k, with a point if k > 0. */
static char *write_fixed(uint64_t m, unsigned k, char *out)
{
    uint64_t scale = 1;
    for (unsigned i = 0; i < k; i++)
        scale *= 10;
    out = gsa__decimal_unsigned(m / scale, out);
    if (k == 0)
        return out;
    *out++ = '.';
    uint64_t rest = m % scale;
    for (unsigned i = 0; i < k; i++) {
        scale /= 10;
        *out++ = (char)('0' + rest / scale);
        rest %= scale;
    }
    return out;
}

/* The digits and exponent of "%.*e" without the point, which is the locale's: d ddd e x means d.ddd * 10^x. */
typedef struct scientific {
    char digits[24];
    int n_digits;
    int exponent;
} scientific;

static void to_scientific(double value, int n_digits, scientific *out)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", n_digits - 1, value);
    const char *p = text;
    out->n_digits = 0;
    for (; *p != 'e'; p++)
        if (gsa__is_digit(*p))
            out->digits[out->n_digits++] = *p;
    int64_t exponent = 0;
    gsa__number_exponent(p + 1, &exponent);
    out->exponent = (int)exponent;
    while (out->n_digits > 1 && out->digits[out->n_digits - 1] == '0')
        out->n_digits--;
}

/* d.ddde-7 and d.ddde12 where that is shorter than zeros, plain digits otherwise. */
static char *write_scientific(const scientific *number, char *out)
{
    const char *digits = number->digits;
    int n = number->n_digits, x = number->exponent;
    if (x < -5 || x > 16) {
        *out++ = digits[0];
        if (n > 1)
            *out++ = '.';
        memcpy(out, digits + 1, (size_t)(n - 1));
        out += n - 1;
        *out++ = 'e';
        if (x < 0)
            *out++ = '-';
        return gsa__decimal_unsigned((uint64_t)(x < 0 ? -x : x), out);
    }
    if (x < 0) {
        memcpy(out, "0.0000", (size_t)(1 - x));
        out += 1 - x;
        memcpy(out, digits, (size_t)n);
        return out + n;
    }
    for (int i = 0; i < n || i <= x; i++) {
        if (i == x + 1)
            *out++ = '.';
        *out++ = i < n ? digits[i] : '0';
    }
    return out;
}

static bool reads_back(float value, const gsa__number_locale *locale, const char *text, char *end)
{
    gsa__number number;
    *end = '\n';
    gsa__number_parse(locale, text, &number);
    return (float)number.value == value;
}

static char *write_shortest(float value, const gsa__number_locale *locale, char *out)
{
    int first = value >= FLT_MIN ? FLT_DIG : 1;
    for (int n_digits = first;; n_digits++) {
        scientific number;
        to_scientific((double)value, n_digits, &number);
        char *end = write_scientific(&number, out);
        if (n_digits == FLT_DECIMAL_DIG || reads_back(value, locale, out, end))
            return end;
    }
}

char *gsa__decimal_float(float signed_value, const gsa__number_locale *locale, char *out)
{
    if (signed_value < 0)
        *out++ = '-';
    float value = fabsf(signed_value);
    if (value == 0 || (value >= 1e-4f && value < 1e9f)) {
        for (unsigned k = 0; k < 10 && value * powers[k] < 1e9; k++) {
            uint64_t m = (uint64_t)(value * powers[k] + 0.5);
            if ((float)((double)m / powers[k]) == value)
                return write_fixed(m, k, out);
        }
    }
    return write_shortest(value, locale, out);
}
