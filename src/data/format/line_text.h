/* Text with a row a line: what parsers of such formats have in common. Each begins with this struct. */
#ifndef GSA_DATA_LINE_TEXT_H
#define GSA_DATA_LINE_TEXT_H

#include "data/format/format.h"
#include "data/format/lines.h"
#include "data/format/number.h"
#include "data/format/text.h"

typedef struct gsa__line_text {
    const gsa_env *env;
    gsa__number_locale *locale;
    gsa__lines lines;
    gsa__format_input *input;
} gsa__line_text;

/* A zeroed parser of that size, with its beginning filled in; `title` is what it reads, for messages. */
gsa_status gsa__line_text_open(size_t parser_size, const char *title, size_t buffer_size, const gsa_env *env,
                               void **out, gsa_error *error);
void gsa__line_text_close(void *parser);
void gsa__line_text_begin(void *parser, gsa__format_input *input);
gsa_status gsa__line_text_enter(void *parser, const gsa_place *at, gsa_error *error);
gsa_status gsa__line_text_give(void *parser, void *to, gsa_error *error);
uint64_t *gsa__line_text_lines(void *parser);

/* Adds the row of a line, if it has one. */
typedef gsa_status (*gsa__line_parse)(void *parser, const gsa__line *line, gsa__rows *rows, gsa_error *error);
/* As `read` of a format. Rows that are there do not wait for a stream that has no more for the moment. */
gsa_status gsa__line_text_read(void *parser, gsa__line_parse parse, gsa__rows *rows, gsa_error *error);

/* Where the text of a line begins: behind a byte order mark, if it is the first. */
static inline const char *gsa__line_begin(const gsa__line *line)
{
    return line->start + (line->byte == 0 && gsa__is_mark(line->start, line->end) ? GSA__MARK_SIZE : 0);
}

static inline bool gsa__is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* In a line, which no blank follows. */
static inline const char *gsa__skip_blanks(const char *p)
{
    while (gsa__is_blank(*p))
        p++;
    return p;
}

/* "label 'x': expected a number" about the token [at, end). */
gsa_status gsa__line_fail(const gsa__line *line, const char *at, const char *end, const char *what,
                          const char *expected, gsa_error *error);

#endif
