/* Text with a row a line: what parsers of such formats have in common. Each begins with this struct. */
#ifndef GSA_DATA_FORMAT_LINE_TEXT_H
#define GSA_DATA_FORMAT_LINE_TEXT_H

#include "data/format/format.h"
#include "data/format/lines.h"
#include "data/format/number.h"
#include "data/format/text.h"

typedef struct gsai_line_text {
    const gsa_env *env;
    gsai_number_locale *locale;
    gsai_lines lines;
    gsai_format_input *input;
} gsai_line_text;

/* A zeroed parser of that size, with its beginning filled in; `title` is what it reads, for messages. */
gsa_status gsai_line_text_open(size_t parser_size, const char *title, size_t buffer_size, const gsa_env *env,
                               void **out, gsa_error *error);
void gsai_line_text_close(void *parser);
void gsai_line_text_begin(void *parser, gsai_format_input *input);
gsa_status gsai_line_text_enter(void *parser, const gsa_place *at, gsa_error *error);
gsa_status gsai_line_text_give(void *parser, void *to, gsa_error *error);
uint64_t *gsai_line_text_lines(void *parser);

/* Adds the row of a line, if it has one. */
typedef gsa_status (*gsai_line_parse)(void *parser, const gsai_line *line, gsai_rows *rows, gsa_error *error);
/* As `read` of a format. Rows that are there do not wait for a stream that has no more for the moment. */
gsa_status gsai_line_text_read(void *parser, gsai_line_parse parse, gsai_rows *rows, gsa_error *error);

/* Where the text of a line begins: behind a byte order mark, if it is the first. */
static inline const char *gsai_line_begin(const gsai_line *line)
{
    return line->start + (line->byte == 0 && gsai_is_mark(line->start, line->end) ? GSAI_MARK_SIZE : 0);
}

static inline bool gsai_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* In a line, which no blank follows. */
static inline const char *gsai_skip_blanks(const char *p)
{
    while (gsai_is_blank(*p))
        p++;
    return p;
}

/* "label 'x': expected a number" about the token [at, end). */
gsa_status gsai_line_fail(const gsai_line *line, const char *at, const char *end, const char *what,
                          const char *expected, gsa_error *error);

#endif
