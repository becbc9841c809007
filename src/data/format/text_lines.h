/* Lines of a byte stream, delivered where they lie in one buffer, without copying.
 *
 *   1 A line that is delivered is followed in the buffer by a byte that does not belong to it ('\n' or '\r') and by
 *     GSAI_LINES_PADDING bytes that may be read.
 *   2 The buffer grows to the longest line and never beyond `max_size` plus a few bytes.
 *   3 A call that is stopped (GSA_STOPPED) loses nothing: calling it again goes on. */
#ifndef GSA_DATA_FORMAT_TEXT_LINES_H
#define GSA_DATA_FORMAT_TEXT_LINES_H

#include "data/format/format.h"
#include "data/format/input_text.h"
#include "data/format/number.h"

#define GSAI_LONGEST_LINE ((size_t)128 << 20)
#define GSAI_LINES_PADDING 64
#define GSAI_LINES_MAX_GIVEN ((size_t)4 << 20) /* bytes that are given to another thread, at most */

typedef struct gsai_line {
    const char *start;
    const char *end;
    uint64_t number; /* from 1 */
    uint64_t byte;   /* offset of start in the plain content of the file */
} gsai_line;

/* Returns the offset of a byte of the line in that content. */
static inline uint64_t gsai_line_offset(const gsai_line *line, const char *at)
{
    return line->byte + (uint64_t)(at - line->start);
}

typedef struct gsai_lines {
    const gsai_env *env; /* borrowed, resolved */
    gsai_decode *stream; /* borrowed; NULL before the first begin */
    char *buffer;
    size_t capacity, usual;     /* usual: before lines made it grow */
    size_t held;                /* bytes that the caller wants to stay in the buffer, at most; 0: none */
    size_t start, scanned, end; /* [start, scanned) has no newline, [scanned, end) is not looked at yet */
    size_t max_size;            /* bytes of a line without its newline, at most */
    uint64_t line;              /* lines taken so far */
    uint64_t byte;              /* offset of start in the content */
    bool ended;                 /* the stream has */
    bool hurried;               /* the caller has something to do meanwhile */
    bool discarding;            /* what comes up to the next newline belongs to a line that is not delivered */
} gsai_lines;

/* Prepares a buffer; buffer_size 0: the default. */
gsa_status gsai_lines_init(gsai_lines *lines, size_t buffer_size, const gsai_env *env, gsa_error *error);
void gsai_lines_free(gsai_lines *lines);
/* Delivers the lines of this stream from now on. */
void gsai_lines_begin(gsai_lines *lines, gsai_decode *stream);
/* Adds bytes of the stream after [start, end), which move to the front of the buffer, and GSAI_LINES_PADDING newlines
 * after these; the buffer grows if it is full. For formats that find other ends than those of lines. */
gsa_status gsai_lines_refill(gsai_lines *lines, gsa_error *error);
/* Forgets the first bytes. */
void gsai_lines_drop(gsai_lines *lines, size_t size);

/* Returns the end of the last whole line, or of what else is read, in [start, end); start if not found. */
typedef const char *(*gsai_lines_whole)(void *ctx, const char *start, const char *end);
/* Gives whole lines that come next, as many as an ordinary buffer has, to `to`, where they are all there is, for
 * another thread to read. Never waits. GSA_END: no lines are left, or they are long, or what comes next is not a line:
 * next goes on. */
gsa_status gsai_lines_give(gsai_lines *lines, gsai_lines *to, gsai_lines_whole whole, void *ctx, gsa_error *error);

/* Parsers of text with a row per line begin with this struct. */
typedef struct gsai_line_text {
    const gsai_env *env;
    gsai_number_locale *locale;
    gsai_lines lines;
    gsai_format_input *input;
} gsai_line_text;

gsa_status gsai_line_text_open(void *parser, size_t buffer_size, gsa_error *error);
void gsai_line_text_close(void *parser);
void gsai_line_text_begin(void *parser, gsai_format_input *input);
gsa_status gsai_line_text_give(void *parser, void *to, gsa_error *error);
uint64_t *gsai_line_text_lines(void *parser);

/* Adds the row of a line, if it has one. */
typedef gsa_status (*gsai_line_parse)(void *parser, const gsai_line *line, gsai_rows *rows, gsa_error *error);
/* Reads rows as `read` of a format does. Rows that are there do not wait for a stream that has no more at the moment.
 */
gsa_status gsai_line_text_read(void *parser, gsai_line_parse parse, gsai_rows *rows, gsa_error *error);

/* Returns the start of a line's text: after a byte order mark, if it is the first line. */
static inline const char *gsai_line_begin(const gsai_line *line)
{
    return line->start + (line->byte == 0 && gsai_is_mark(line->start, line->end) ? GSAI_MARK_SIZE : 0);
}

static inline bool gsai_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Skips blanks in a line, whose end is not a blank. */
static inline const char *gsai_skip_blanks(const char *p)
{
    while (gsai_is_blank(*p))
        p++;
    return p;
}

/* Fails with a message about the token [at, end), such as "label 'x': expected a number". */
gsa_status gsai_line_fail(const gsai_line *line, const char *at, const char *end, const char *what,
                          const char *expected, gsa_error *error);

#endif
