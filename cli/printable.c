/* Characters that a terminal may be shown. */
#include "printable.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Characters that are not to be seen, or change how others are: controls (Cc), formats (Cf: bidirectional overrides,
 * zero widths, tags) and separators of lines. In ascending order. */
static const struct {
    uint32_t first, last;
} hidden[] = {{0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},
              {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},
              {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},
              {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
              {0xE0001, 0xE0001}, {0xE0020, 0xE007F}};

/* Returns the bytes of the character here, and whether it may be shown. A byte outside of any character counts as one;
 * it is shown as it is, unless a terminal could take it for a control of Latin-1. */
static size_t character_size(const char *text, bool *is_shown)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t size = gsai_utf8_character(text, SIZE_MAX); /* does not pass over the end; 0: not a character */
    static const unsigned char bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = at[0] & bits[size];
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (at[i] & 0x3Fu);
    size_t range = 0, n = sizeof hidden / sizeof *hidden;
    while (range < n && hidden[range].last < code)
        range++;
    *is_shown = size > 0 ? range == n || code < hidden[range].first : at[0] >= 0xA0;
    return size > 0 ? size : 1;
}

char *printable_clean(char *text)
{
    bool is_shown;
    for (size_t at = 0, n; text[at] != '\0'; at += n) {
        n = character_size(text + at, &is_shown);
        if (!is_shown)
            memset(text + at, '?', n);
    }
    return text;
}

static void put_some(FILE *stream, const char *text, size_t size)
{
    bool is_shown;
    for (size_t at = 0, n; at < size; at += n) {
        n = character_size(text + at, &is_shown);
        for (size_t i = 0; i < n; i++)
            fputc(is_shown ? text[at + i] : '?', stream);
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
