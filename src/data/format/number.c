/* Decimal numbers: the slow path from text, by strtod in a locale of our own, and floats to text. */
#include "data/format/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *gsai_number_exponent(const char *text, int64_t *exponent)
{
    const int64_t far = 1000000000; /* a mantissa cannot be long enough to bring this back into range */
    const char *p = text + (*text == '-' || *text == '+');
    if (!gsai_is_digit(*p))
        return NULL;
    int64_t value = 0;
    for (; gsai_is_digit(*p); p++)
        if (value < far)
            value = value * 10 + (*p - '0');
    *exponent = *text == '-' ? -value : value;
    return p;
}

void gsai_number_slow(const gsai_number_locale *locale, const char *text, gsai_number *out)
{
    const char *nonzero = text + strspn(text, "+-0.");
    out->has_nonzero = nonzero < out->after && gsai_is_digit(*nonzero);
    out->value = out->has_nonzero ? gsai_os_strtod(text, locale) : *text == '-' ? -0.0 : 0.0;
}

/* ---- floats to text --------------------------------------------------------------------------------------------- */

/* The usual number is a short one: m / 10^k with few digits. That quotient is computed exactly as the reader computes
 * it (number.h), so that comparing it with the value proves the round trip, and the first k that fits has the fewest
 * digits. All else is rounded to 6, 7, 8 or 9 digits: if a shorter text reads back, the one with FLT_DIG
 * digits ends in zeros, which are cut. Numbers below the normal range have no such guarantee and try every length. */

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

char *gsai_decimal_float(float signed_value, const gsai_number_locale *locale, char *out)
{
    if (signed_value < 0)
        *out++ = '-';
    float value = fabsf(signed_value);
    if (value == 0 || (value >= 1e-4f && value < 1e9f)) {
        for (unsigned k = 0; k < 10 && value * powers[k] < 1e9; k++) {
            uint64_t m = (uint64_t)(value * powers[k] + 0.5);
            if ((float)((double)m / powers[k]) == value) {
                gsai_significant number;
                number.n = (int)(gsai_decimal_unsigned(m, number.digit) - number.digit);
                number.exponent = number.n - 1 - (int)k;
                return gsai_significant_plain(&number, out);
            }
        }
    }
    for (int n_digits = value >= FLT_MIN ? FLT_DIG : 1;; n_digits++) {
        gsai_significant number;
        gsai_number back = {0};
        gsai_significant_round((double)value, n_digits, &number);
        /* d.ddde-7 and d.ddde17, where that is shorter than zeros. */
        bool is_plain = number.exponent >= -5 && number.exponent <= 16;
        char *end = is_plain ? gsai_significant_plain(&number, out) : gsai_significant_scientific(&number, false, out);
        if (n_digits == FLT_DECIMAL_DIG)
            return end;
        *end = '\n';
        gsai_number_parse(locale, out, &back);
        if ((float)back.value == value)
            return end;
    }
}
