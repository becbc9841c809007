/* Numbers as text, whatever the process's locale; words and their letters. */
#include "base/text.h"

#include "base/significant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1e-07" and "1e+22" as "1e-7" and "1e22". */
static void shorten_exponent(char *text)
{
    char *from = strchr(text, 'e'), *to = from;
    if (!from)
        return;
    *to++ = *from++;
    if (*from == '-')
        *to++ = '-';
    while (*from == '-' || *from == '+' || *from == '0')
        from++;
    memmove(to, from, strlen(from) + 1);
}

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
    *gsai_decimal_general(number, digits, out) = '\0';
    shorten_exponent(out);
    return strlen(out);
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

static bool is_continuation(unsigned char c)
{
    return (c & 0xC0u) == 0x80;
}

/* Second bytes are narrower after some first bytes: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool is_second(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return is_continuation(second);
    }
}

size_t gsai_utf8_character(const char *text, size_t size)
{
    if (size == 0)
        return 0;
    unsigned char first = (unsigned char)text[0];
    size_t len = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (len <= 1)
        return len;
    if (size < len || !is_second(first, (unsigned char)text[1]))
        return 0;
    for (size_t i = 2; i < len; i++)
        if (!is_continuation((unsigned char)text[i]))
            return 0;
    return len;
}

bool gsai_is_text(const char *text, size_t size)
{
    size_t i = 0, len = 1;
    for (; i < size && len > 0; i += len)
        len = text[i] == '\0' ? 0 : gsai_utf8_character(text + i, size - i);
    return size > 0 && len > 0;
}

size_t gsai_directory_len(const char *path)
{
#ifdef _WIN32
    static const char separators[] = "/\\:";
#else
    static const char separators[] = "/";
#endif
    size_t len = strlen(path);
    while (len > 0 && strchr(separators, path[len - 1]) == NULL)
        len--;
    return len;
}
