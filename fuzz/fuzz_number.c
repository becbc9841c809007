/* Numbers and digits in text, where fast paths have slow oracles:
 *
 *   N1  the vector forms of "where do digits end" and "where do cells end" are the plain ones;
 *   N2  eight digits in one step are the number that they are one by one;
 *   N3  a number parsed is what the C library reads, as a double and as a float, and ends where that ends;
 *   N4  a short cell that is read in one step is that number;
 *   N5  a float written reads back to its bits, and a label's text to its number. */
#include "fuzz.h"

#include "base/memory.h"
#include "base/text.h"
#include "data/format/digits.h"
#include "data/format/input_text.h"
#include "data/format/libsvm.h"
#include "data/format/number.h"

static void check_digits(const char *text, char separator)
{
    fuzz_must(gsai_others(text) == gsai_others_plain(text), "digits end where the plain form says", NULL);
    fuzz_must(gsai_marks(text, separator) == gsai_marks_plain(text, separator), "cells end where the plain form says",
              NULL);
    uint64_t number = 0;
    for (size_t n = 1; n <= 8 && gsai_is_digit(text[n - 1]); n++) {
        number = number * 10 + (uint64_t)(text[n - 1] - '0');
        fuzz_must(gsai_read_digits(text, n) == number, "digits in one step are those one by one", NULL);
    }
}

/* The grammar of number.h; strtod has more. */
static const char *number_end(const char *p)
{
    size_t n = 0;
    p += *p == '-' || *p == '+';
    for (; gsai_is_digit(*p); p++)
        n++;
    if (*p == '.')
        for (p++; gsai_is_digit(*p); p++)
            n++;
    if (n == 0)
        return NULL;
    if (*p != 'e' && *p != 'E')
        return p;
    p++;
    p += *p == '-' || *p == '+';
    if (!gsai_is_digit(*p))
        return NULL;
    while (gsai_is_digit(*p))
        p++;
    return p;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void check_number(const gsai_number_locale *locale, const char *text)
{
    gsai_number as_double = {0}, as_float = {0};
    const char *end = number_end(text);
    gsai_number_parse(locale, text, &as_double);
    gsai_number_parse_float(locale, text, &as_float);
    fuzz_must(as_double.after == end && as_float.after == end, "a number ends where its grammar says", NULL);
    if (!end)
        return;
    char alone[512]; /* the C library reads hexadecimal too */
    snprintf(alone, sizeof alone, "%.*s", (int)(end - text), text);
    double wanted = strtod(alone, NULL);
    fuzz_must(same_bits(as_double.value, wanted), "a number is what the C library reads", NULL);
    fuzz_must((float)as_float.value == (float)wanted, "a number is that float", NULL);
    bool nonzero = strpbrk(text, "123456789") && strpbrk(text, "123456789") < end;
    const char *e = memchr(text, 'e', (size_t)(end - text)), *E = memchr(text, 'E', (size_t)(end - text));
    if (!e && !E)
        fuzz_must(as_double.has_nonzero == nonzero, "a digit that is not 0 is seen", NULL);
}

static void check_short(const gsai_number_locale *locale, const char *text, size_t size)
{
    gsai_number wanted = {0}, is;
    gsai_number_parse(locale, text, &wanted);
    if (gsai_number_parse_short(text, size, &is))
        fuzz_must(wanted.after == text + size && same_bits(wanted.value, is.value) &&
                      wanted.has_nonzero == is.has_nonzero,
                  "a short cell is that number", NULL);
}

static void check_float(const gsai_number_locale *locale, float value)
{
    char text[GSAI_DECIMAL_SIZE + 1];
    if (!isfinite(value))
        return;
    char *end = gsai_decimal_float(value, locale, text);
    fuzz_must(end > text && end <= text + GSAI_DECIMAL_SIZE, "a float fits in its room", NULL);
    *end = '\0';
    fuzz_must(strtof(text, NULL) == value, "a float written reads back", text);
    gsai_number number = {0};
    gsai_number_parse_float(locale, text, &number);
    fuzz_must(number.after == end && (float)number.value == value, "a float written is read here", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gsai_number_locale *locale;
    if (!locale)
        locale = gsai_os_c_locale();
    if (size > 256 || size == 0)
        return -1;
    char text[256 + 65];
    memcpy(text, data, size);
    memset(text + size, '\n', 64);
    text[size + 64] = '\0';
    for (size_t i = 0; i < size && i < 8; i++)
        check_digits(text + i, (char)data[size - 1]);
    if (!memchr(data, 0, size))
        check_number(locale, text);
    check_short(locale, text, size);
    for (size_t i = 0; i + 4 <= size && i < 16; i += 4) {
        float value;
        memcpy(&value, data + i, sizeof value);
        check_float(locale, value);
    }
    char quote[GSAI_QUOTE_SIZE];
    gsai_quote(text, size, quote);
    fuzz_must(strlen(quote) < sizeof quote, "a quotation fits in its room", NULL);
    (void)gsai_libsvm_objection(text, size);
    (void)gsai_label_objection(text, size);
    return 0;
}
