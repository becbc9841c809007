/* Decimal numbers from text and to text, exactly rounded, whatever the locale of the process.
 *
 * Grammar: [+-] digits [. digits] [(e|E) [+-] digits], with at least one digit before the exponent. No hexadecimal,
 * no infinity, no NaN. The text must be followed by a byte that cannot continue a number (a line's newline will do):
 * nothing here knows where the buffer ends.
 *
 * Exact fast path (Clinger 1990): a mantissa up to 2^53 and a power of ten up to 10^22 are both doubles without error,
 * so that one multiplication or division rounds once. All else goes to the C library's strtod in the "C" locale. */
#ifndef GSA_DATA_FORMAT_NUMBER_H
#define GSA_DATA_FORMAT_NUMBER_H

#include "base/os.h"
#include "base/text.h"
#include "data/format/digits.h"

#include <greedystep/greedystep.h>

#include <math.h>
#include <stdbool.h>

/* The "C" locale for the slow path, from gsai_os_c_locale. */
typedef void gsai_number_locale;

typedef struct gsai_number {
    double value;      /* infinite if it is beyond double */
    bool has_nonzero;  /* some digit is not 0: the number is not zero, even where its double is */
    const char *after; /* the first byte that does not belong to it; NULL: not a number */
} gsai_number;

/* Returns whether the value is neither beyond the largest of the type nor lost below the smallest. */
static inline bool gsai_number_fits_double(const gsai_number *number)
{
    return !isinf(number->value) && !(number->value == 0 && number->has_nonzero);
}

static inline bool gsai_number_fits_float(const gsai_number *number)
{
    float x = (float)number->value;
    return !isinf(x) && !(x == 0 && number->has_nonzero);
}
#define GSAI_NO_FLOAT "it does not fit a float, whose magnitudes go from 1.5e-45 to 3.4e38"

static inline bool gsai_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Takes the slow path, for text that is known to be a number up to out->after: sets value and has_nonzero. */
void gsai_number_slow(const gsai_number_locale *locale, const char *text, gsai_number *out);
/* Reads [+-] digits after the e; returns what follows, or NULL without a digit. Saturates far beyond any double. */
const char *gsai_number_exponent(const char *text, int64_t *exponent);

/* Appends the digits at p to the mantissa (which wraps around when there are too many); returns what follows. */
static inline const char *gsai_number_digits(const char *p, uint64_t *mantissa)
{
    uint64_t sum = *mantissa;
    for (;; p++) {
        unsigned digit = (unsigned)(unsigned char)*p - '0';
        if (digit > 9)
            break;
        sum = sum * 10 + digit;
    }
    *mantissa = sum;
    return p;
}

/* A number taken apart: mantissa * 10^exponent, if it is short (few enough digits and a small enough power). */
typedef struct gsai_number_parts {
    uint64_t mantissa;
    int64_t exponent;
    const char *after; /* NULL: not a number */
    bool is_short;
} gsai_number_parts;

static inline gsai_number_parts gsai_number_split(const char *text)
{
    gsai_number_parts parts = {0};
    const char *digits = text + (*text == '-' || *text == '+');
    const char *p = gsai_number_digits(digits, &parts.mantissa);
    ptrdiff_t n_digits = p - digits;
    if (*p == '.') {
        const char *fraction = p + 1;
        p = gsai_number_digits(fraction, &parts.mantissa);
        n_digits += p - fraction;
        parts.exponent = -(int64_t)(p - fraction);
    }
    if (n_digits == 0)
        return parts;
    if (*p == 'e' || *p == 'E') {
        int64_t written;
        p = gsai_number_exponent(p + 1, &written);
        if (!p)
            return parts;
        parts.exponent += written;
    }
    parts.after = p;
    parts.is_short = n_digits <= 19 && parts.exponent >= -22 && parts.exponent <= 22;
    return parts;
}

/* Parses a number. Short parts are mantissa * 10^exponent: exact rounding if the mantissa is at most 2^53, else two
 * roundings, a relative error below 2^-51. For callers that need (float)value only, that float is known as soon as both
 * ends of the interval that contains the double round to it, which spares nearly all numbers of 17 to 19 digits the
 * slow path. */
static inline void gsai_number_parse_as(const gsai_number_locale *locale, const char *text, bool as_float,
                                        gsai_number *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    static const double sign[] = {1, -1};
    gsai_number_parts parts = gsai_number_split(text);
    out->after = parts.after;
    out->has_nonzero = parts.mantissa != 0;
    if (!parts.after)
        return;
    if (parts.is_short) {
        double whole = (double)parts.mantissa;
        out->value = parts.exponent < 0 ? whole / power[-parts.exponent] : whole * power[parts.exponent];
        out->value *= sign[*text == '-'];
        if (parts.mantissa <= (UINT64_C(1) << 53) ||
            (as_float && (float)(out->value * (1 - 0x1p-51)) == (float)(out->value * (1 + 0x1p-51))))
            return;
    }
    gsai_number_slow(locale, text, out);
}

static inline void gsai_number_parse(const gsai_number_locale *locale, const char *text, gsai_number *out)
{
    gsai_number_parse_as(locale, text, false, out);
}

static inline void gsai_number_parse_float(const gsai_number_locale *locale, const char *text, gsai_number *out)
{
    gsai_number_parse_as(locale, text, true, out);
}

/* Reads a text that is 1 to 8 digits, one of which may be a point, behind a minus or not: the same value. Returns false
 * for any other. So many bytes at `text` may be read: */
enum { GSAI_CELL_PADDING = 10 };
static inline bool gsai_number_parse_short(const char *text, size_t size, gsai_number *out)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    static const double sign[] = {1, -1};
    bool is_negative = *text == '-';
    size_t n = size - is_negative, n_fraction = 0;
    if (n - 1 >= 8)
        return false;
    uint64_t x = gsai_load_digits(text + is_negative, n), others = gsai_above_nine(x);
    if (others != 0) { /* the point, in whose place the digits before it move up */
        uint64_t byte = others >> 7;
        if ((others & (others - 1)) != 0 || (x & byte * 0xFF) != byte * ('.' ^ '0') || n == 1)
            return false;
        n_fraction = (size_t)__builtin_clzll(others) / 8;
        x = (x & (byte - 1)) << 8 | (x & -(others << 1));
    }
    out->value = (double)(int64_t)gsai_join_digits(x) * sign[is_negative];
    if (n_fraction > 0)
        out->value /= power[n_fraction];
    out->has_nonzero = x != 0;
    out->after = text + size;
    return true;
}

/* Writes a float as short as reads back to the same bits, whatever the locale of the process. `out` has room for
 * GSAI_DECIMAL_SIZE bytes; returns the end of what it wrote. The value must be finite. */
char *gsai_decimal_float(float value, const gsai_number_locale *locale, char *out);

#endif
