/* What a terminal may be shown. */
#include "printable.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* Bytes that can be shown as they are, from here on: all but the control characters of ASCII and of Latin-1, which
 * UTF-8 writes as C2 80 to C2 9F. */
static size_t clean_size(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t n = 0;
    while (at[n] != '\0') {
        size_t size = gsa__utf8_character(text + n, SIZE_MAX); /* which does not pass over the end: 0 is no part */
        bool is_control = at[n] < ' ' || at[n] == 0x7F || (at[n] == 0xC2 && at[n + 1] < 0xA0);
        if (is_control || (size == 0 && at[n] < 0xA0))
            break;
        n += size > 0 ? size : 1;
    }
    return n;
}

char *printable_clean(char *text)
{
    for (char *at = text + clean_size(text); *at != '\0'; at += clean_size(at))
        *at = '?';
    return text;
}

static void put_some(FILE *stream, const char *text, size_t size)
{
    for (size_t at = 0; at < size; at++) {
        size_t n = clean_size(text + at);
        n = n < size - at ? n : size - at;
        fwrite(text + at, 1, n, stream);
        at += n;
        if (at < size)
            fputc('?', stream);
    }
}

void printable_put(FILE *stream, const char *text)
{
    put_some(stream, text, strlen(text));
}

void printable_put_word(FILE *stream, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, stream);
        return;
    }
    fputc('\'', stream);
    for (const char *end; (end = strchr(word, '\'')) != NULL; word = end + 1) {
        put_some(stream, word, (size_t)(end - word));
        fputs("'\\''", stream);
    }
    printable_put(stream, word);
    fputc('\'', stream);
}
