/* Numbers as text, whatever the process's locale; words and their letters. */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- significant digits ----------------------------------------------------------------------------------------- */

/* Up to 15 digits nearly all numbers are rounded without snprintf. The value times a power of ten up to 10^22, which a
 * double has exactly, is rounded once. That is monotonous, and every whole number and a half below 10^15 is a double:
 * what is above a half (below it) after it was above (below) it before. Only a half itself tells nothing. What falls
 * just short of a power of ten rounds up to it from either side, so that it does not matter which exponent such a
 * number is given. */

#define MAX_POWER 22
#define MAX_DIGITS 15

char *gsai_decimal_unsigned(uint64_t value, char *out)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t high = value; /* without most of its digits, to count them */
    for (; high >= 10000; high /= 10000)
        out += 4;
    char *end = out + 1 + (high >= 10) + (high >= 100) + (high >= 1000), *p = end;
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

/* False where the rounding is not decided safely. */
static bool round_scaled(double value, int n_digits, gsai_significant *out)
{
    static const double power[MAX_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double scaled = INFINITY;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    /* The decimal exponent, or up to two less: 1233 / 4096 is just below log10(2). */
    int binary = (int)(bits >> 52) - 1023, exponent = (binary * 1233 - (binary < 0 ? 4095 : 0)) / 4096 - 1;
    while (scaled >= power[n_digits]) {
        int up = n_digits - 1 - ++exponent;
        if (up < -MAX_POWER || up > MAX_POWER)
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

/* Rounds by printing. The point of "%.*e" is the locale's: everything but digits is skipped. */
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
    if (n_digits > MAX_DIGITS || !round_scaled(value, n_digits, out))
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

char *gsai_significant_scientific(const gsai_significant *number, bool as_printf, char *out)
{
    size_t n = (size_t)number->n;
    unsigned exponent = (unsigned)abs(number->exponent);
    *out++ = number->digit[0]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): there is one at least */
    if (n > 1)
        *out++ = '.';
    memcpy(out, number->digit + 1, n - 1);
    out += n - 1;
    *out++ = 'e';
    if (number->exponent < 0 || as_printf)
        *out++ = number->exponent < 0 ? '-' : '+';
    if (as_printf && exponent < 10)
        *out++ = '0';
    return gsai_decimal_unsigned(exponent, out);
}

static char *write_general(double value, int n_digits, bool as_printf, char *out)
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
    bool is_plain = number.exponent >= -4 && number.exponent < n_digits;
    return is_plain ? gsai_significant_plain(&number, out) : gsai_significant_scientific(&number, as_printf, out);
}

char *gsai_decimal_general(double value, int n_digits, char *out)
{
    return write_general(value, n_digits, true, out);
}

/* ---- labels, counts and letters --------------------------------------------------------------------------------- */

size_t gsai_number_text(double number, char out[GSAI_NUMBER_TEXT])
{
    if (number == 0)
        number = 0; /* the label -0 is the label 0 */
    if (number > -1e15 && number < 1e15 && number == (double)(int64_t)number) {
        char *end = out; /* the usual label: writers print one a row */
        if (number < 0)
            *end++ = '-';
        end = gsai_decimal_unsigned((uint64_t)(number < 0 ? -number : number), end);
        *end = '\0';
        return (size_t)(end - out);
    }
    int digits = 0; /* as the locale has them, to be read in the same locale */
    do
        snprintf(out, GSAI_NUMBER_TEXT, "%.*g", ++digits, number);
    while (digits < 17 && strtod(out, NULL) != number);
    char *end = write_general(number, digits, false, out);
    *end = '\0';
    return (size_t)(end - out);
}

static bool append_digit(uint64_t *value, unsigned digit)
{
    if (*value > (UINT64_MAX - digit) / 10)
        return false;
    *value = *value * 10 + digit;
    return true;
}

bool gsai_count_parse(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    const char *at = text;
    if (*at < '0' || *at > '9')
        return false;
    for (; (*at >= '0' && *at <= '9') || (*at == '_' && at[1] >= '0' && at[1] <= '9'); at++)
        if (*at != '_' && !append_digit(&value, (unsigned)(*at - '0')))
            return false;
    if (*at == 'e' || *at == 'E') {
        unsigned power = 0;
        at++;
        if (*at < '0' || *at > '9')
            return false;
        for (; *at >= '0' && *at <= '9' && power < 100; at++)
            power = power * 10 + (unsigned)(*at - '0');
        while (power-- > 0)
            if (!append_digit(&value, 0))
                return false;
    }
    if (*at)
        return false;
    *out = value;
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t gsai_edit_distance(const char *a, const char *b)
{
    enum { MOST = 48 };
    size_t a_len = strlen(a), b_len = strlen(b);
    if (a_len >= MOST || b_len >= MOST)
        return MOST;
    size_t rows[3][MOST] = {{0}};
    size_t *before_last = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(change, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before_last[j - 2] + 1);
        }
        size_t *free_row = before_last;
        before_last = last;
        last = now;
        now = free_row;
    }
    return last[b_len];
}

size_t gsai_utf8_character(const char *text, size_t size)
{
    if (size == 0)
        return 0;
    unsigned char first = (unsigned char)text[0];
    size_t len = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (len <= 1 || size < len)
        return len <= 1 ? len : 0;
    /* Second bytes are narrower after some first bytes: no overlong forms, no surrogates, nothing above U+10FFFF. */
    unsigned char min = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char max = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    bool is_right = (unsigned char)text[1] >= min && (unsigned char)text[1] <= max;
    for (size_t i = 2; i < len; i++)
        is_right = is_right && ((unsigned char)text[i] & 0xC0u) == 0x80;
    return is_right ? len : 0;
}

bool gsai_is_utf8(const char *text, size_t size)
{
    size_t i = 0, len = 1;
    for (; i < size && len > 0; i += len)
        len = gsai_utf8_character(text + i, size - i);
    return len > 0;
}

bool gsai_is_text(const char *text, size_t size)
{
    return size > 0 && !memchr(text, '\0', size) && gsai_is_utf8(text, size);
}

char *gsai_put_utf8(uint32_t c, char *out)
{
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(n == 1 ? c : (0xF00u >> n & 0xFF) | c);
    return out + n;
}

char *gsai_utf8_of_1252(unsigned char c, char *out)
{
    /* 0x80 to 0x9F; all others are those of Unicode. */
    static const uint16_t code[32] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                      0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,
                                      0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                      0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
    return gsai_put_utf8(c >= 0x80 && c < 0xA0 ? code[c - 0x80] : c, out);
}

#ifdef _WIN32
#define SEPARATORS "/\\:"
#else
#define SEPARATORS "/"
#endif

size_t gsai_directory_len(const char *path)
{
    size_t len = strlen(path);
    while (len > 0 && strchr(SEPARATORS, path[len - 1]) == NULL)
        len--;
    return len;
}
