/* Detection of a file's format. Anything that is valid libsvm text must stay libsvm text. */
#include "data/format/format.h"

#include "data/format/input_text.h"
#include "data/format/json.h"
#include "data/format/number.h"

#include <string.h>

/* Finds the first line with something in it, as far as it is there; its size is 0 if not found. */
static const char *first_line(const char *p, const char *end, size_t *size)
{
    if (gsai_is_mark(p, end))
        p += GSAI_MARK_SIZE;
    for (*size = 0; p < end; p += *size + 1) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        *size = (size_t)((newline ? newline : end) - p);
        size_t blanks = 0;
        while (blanks < *size && strchr(" \t\r", p[blanks]) && p[blanks] != '\0')
            blanks++;
        if (blanks < *size && p[blanks] != '#') {
            *size -= blanks;
            return p + blanks;
        }
    }
    *size = 0;
    return p;
}

/* Properties of the tokens behind the first. */
typedef struct tokens {
    size_t first_size;
    bool any;           /* there is one behind it */
    bool second_paired; /* the second is a pair, and a space stands before it */
    bool all_paired;
} tokens;

static tokens look_at_tokens(const char *p, const char *end)
{
    const char *start = p;
    tokens found = {.all_paired = true};
    while (p < end && *p != ' ' && *p != '\t')
        p++;
    found.first_size = (size_t)(p - start);
    while (p < end) {
        bool after_space = *p == ' ';
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
            p++;
        if (p == end || *p == '#')
            break;
        const char *digits = p;
        while (p < end && gsai_is_digit(*p))
            p++;
        bool paired = (p > digits && p < end && *p == ':') || (end - digits >= 4 && memcmp(digits, "qid:", 4) == 0);
        found.second_paired = found.second_paired || (!found.any && paired && after_space);
        found.all_paired = found.all_paired && paired;
        found.any = true;
        while (p < end && *p != ' ' && *p != '\t')
            p++;
    }
    return found;
}

/* A bar separates where it cannot be that of Vowpal Wabbit: there are two of them, or no blank. */
static bool has_separator(const char *line, size_t size)
{
    const char *bar = memchr(line, '|', size);
    return memchr(line, ',', size) || memchr(line, '\t', size) || memchr(line, ';', size) ||
           (bar && (!memchr(line, ' ', size) || memchr(bar + 1, '|', size - (size_t)(bar + 1 - line))));
}

static bool has_bar(const char *line, size_t size)
{
    for (size_t i = 0; i < size && !(line[i] == '#' && i > 0 && line[i - 1] == ' '); i++)
        if (line[i] == '|' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
            return true;
    return false;
}

const gsai_format *gsai_recognise(const char *name, const unsigned char *start, size_t size,
                                  const gsai_format *expected)
{
    if (gsai_cache_matches(start, size))
        return &gsai_format_cache;
    if (gsai_npy_matches(start, size))
        return &gsai_format_npy;
    size_t line_size;
    const char *line = first_line((const char *)start, (const char *)start + size, &line_size);
    if (gsai_json_matches(start, size))
        return &gsai_format_table;
    bool named_table = gsai_codec_ends(name, ".csv") || gsai_codec_ends(name, ".tsv") || gsai_codec_ends(name, ".tab");
    if (size == GSAI_DECODE_START && line + line_size == (const char *)start + size)
        while (line_size > 0 && line[line_size - 1] != ' ' && line[line_size - 1] != '\t')
            line_size--; /* the last token may go on */
    tokens found = look_at_tokens(line, line + line_size);
    bool separated = has_separator(line, found.any ? line_size : found.first_size), is_libsvm;
    bool named_vw = gsai_codec_ends(name, ".vw") || (expected == &gsai_format_vw && !named_table),
         barred = has_bar(line, line_size);
    named_table = named_table || expected == &gsai_format_table;
    if (named_vw && barred)
        return &gsai_format_vw;
    if (found.any && (found.second_paired || found.all_paired))
        is_libsvm = !(named_table && separated);
    else if (named_vw || (barred && !named_table))
        return &gsai_format_vw;
    else
        is_libsvm = !separated && !named_table;
    return is_libsvm ? &gsai_format_libsvm : &gsai_format_table;
}

const char *gsai_foreign(const unsigned char *start, size_t size)
{
    static const char *const kinds[][2] = {
        {"PK\003\004", "a zip archive or a spreadsheet: unpack it, or save the sheet as CSV"},
        {"SQLite format 3", "a database: write its rows to a CSV file"},
        {"%PDF-", "a PDF document: give a table"},
        {"<?xml ", "XML: give a table"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= strlen(kinds[i][0]) && memcmp(start, kinds[i][0], strlen(kinds[i][0])) == 0)
            return kinds[i][1];
    static const char list[] = "[{"; /* of JSON objects */
    size_t found = 0;
    for (size_t i = 0; i < size && found < 2; i++) {
        if (start[i] != list[found] && !memchr(" \t\n\r", start[i], 4))
            return NULL;
        found += start[i] == list[found];
    }
    return found == 2 ? "one JSON list: write one object per line, without the list" : NULL;
}
