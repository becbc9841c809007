/* Lines of a byte stream. */
#include "data/format/text_lines.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

#define DEFAULT_BUFFER ((size_t)256 << 10)

gsa_status gsai_lines_init(gsai_lines *lines, size_t buffer_size, const gsai_env *env, gsa_error *error)
{
    *lines = (gsai_lines){.env = env, .max_size = GSAI_LONGEST_LINE};
    if (gsai_memory_limit(env) / 4 < lines->max_size)
        lines->max_size = (size_t)(gsai_memory_limit(env) / 4);
    lines->capacity = lines->usual = buffer_size ? buffer_size : DEFAULT_BUFFER;
    lines->buffer = gsai_alloc(env, lines->capacity + GSAI_LINES_PADDING, 1);
    return lines->buffer ? GSA_OK
                         : gsai_fail_memory(env, error, "no memory for a buffer of %zu bytes", lines->capacity);
}

void gsai_lines_free(gsai_lines *lines)
{
    gsai_free(lines->env, lines->buffer);
    *lines = (gsai_lines){.env = lines->env};
}

void gsai_lines_begin(gsai_lines *lines, gsai_decode *stream)
{
    lines->stream = stream;
    lines->start = lines->scanned = lines->end = 0;
    lines->line = lines->byte = 0;
    lines->ended = lines->discarding = false;
}

gsa_status gsai_lines_refill(gsai_lines *lines, gsa_error *error)
{
    if (lines->start > 0) {
        memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
        lines->scanned -= lines->start;
        lines->end -= lines->start;
        lines->start = 0;
        if (lines->held == 0 && lines->capacity > GSAI_LINES_MAX_GIVEN && lines->end < lines->capacity / 8) {
            /* Give back memory that a long line or a hold needed; a buffer that cannot be made smaller is kept. */
            char *narrower = gsai_resize(lines->env, lines->buffer, lines->capacity / 4 + GSAI_LINES_PADDING);
            lines->buffer = narrower ? narrower : lines->buffer;
            lines->capacity = narrower ? lines->capacity / 4 : lines->capacity;
        }
    }
    if (lines->end == lines->capacity) {
        /* It is full of what must stay in it, an unfinished line for instance: doubled, up to what the longest line and
         * its newline need, or what is held. */
        size_t held = lines->held > 0 ? lines->held + lines->usual : 0;
        size_t max = held > lines->max_size || held > lines->capacity ? held : lines->max_size + 1;
        if (max <= lines->capacity)
            max = 2 * lines->capacity;
        size_t capacity = lines->capacity >= max / 2 ? max : lines->capacity * 2;
        char *wider = gsai_resize(lines->env, lines->buffer, capacity + GSAI_LINES_PADDING);
        GSAI_TRY_MEMORY(wider, lines->env, error, "no memory for more than %zu bytes of text at once", lines->capacity);
        lines->buffer = wider;
        lines->capacity = capacity;
    }
    size_t got;
    GSA_TRY(gsai_decode_read(lines->stream, lines->buffer + lines->end, lines->capacity - lines->end, &got, error));
    lines->end += got;
    memset(lines->buffer + lines->end, '\n', GSAI_LINES_PADDING);
    lines->ended = got == 0;
    return GSA_OK;
}

void gsai_lines_drop(gsai_lines *lines, size_t size)
{
    lines->start += size;
    lines->byte += size;
    lines->scanned = lines->start;
}

gsa_status gsai_lines_give(gsai_lines *lines, gsai_lines *to, gsai_lines_whole whole, void *ctx, gsa_error *error)
{
    size_t size = 0, max = lines->usual;
    for (bool is_all = false; size == 0; max *= 2) {
        if (lines->discarding || is_all || max > GSAI_LINES_MAX_GIVEN)
            return GSA_END;
        /* as many bytes as there are without waiting or growing, up to max */
        while (!lines->ended && lines->end - lines->start < max && lines->end - lines->start < lines->capacity &&
               !gsai_decode_is_idle(lines->stream))
            GSA_TRY(gsai_lines_refill(lines, error));
        const char *start = lines->buffer + lines->start;
        is_all = lines->end - lines->start <= max;
        size = (size_t)(whole(ctx, start, is_all ? lines->buffer + lines->end : start + max) - start);
    }
    gsai_lines_begin(to, NULL);
    GSAI_TRY_MEMORY(gsai_reserve(to->env, &to->buffer, &to->capacity, size + GSAI_LINES_PADDING, 1), to->env, error,
                    "no memory for a buffer of %zu bytes", size);
    memcpy(to->buffer, lines->buffer + lines->start, size);
    memset(to->buffer + size, '\n', GSAI_LINES_PADDING);
    to->end = size;
    to->byte = lines->byte;
    to->ended = true;
    gsai_lines_drop(lines, size);
    return GSA_OK;
}

/* Fills in the next line, valid until the next call; GSA_END after the last, and if `hurried` also if the stream has no
 * whole line at the moment; `ended` tells which. A line that is too long is GSA_INPUT with line and byte set; the call
 * after that delivers the line that follows it. */
static gsa_status next_line(gsai_lines *lines, gsai_line *out, gsa_error *error)
{
    for (;;) {
        const char *start = lines->buffer + lines->start;
        const char *newline = memchr(lines->buffer + lines->scanned, '\n', lines->end - lines->scanned);
        size_t size = newline ? (size_t)(newline - start) : lines->end - lines->start;
        const uint64_t byte = lines->byte;
        const bool is_whole = newline || lines->ended, is_rest = lines->discarding;
        const bool is_too_long = !is_rest && size > lines->max_size;
        if (is_whole && !newline && size == 0)
            return GSA_END;
        lines->scanned = lines->end;
        if (is_whole || is_rest || is_too_long)
            gsai_lines_drop(lines, size + (newline != NULL));
        lines->discarding = !is_whole && (is_rest || is_too_long);
        lines->line += !is_rest && (is_whole || is_too_long);
        if (is_too_long) {
            char text[GSAI_SIZE_TEXT];
            gsai_size_text(lines->max_size, text);
            return gsai_fail_line(error, GSA_INPUT, lines->line, byte,
                                  "the line is longer than %s%s: is this text with one row per line?", text,
                                  lines->max_size < GSAI_LONGEST_LINE ? " (a quarter of the memory limit)" : "");
        }
        if (is_whole && !is_rest) {
            size -= size > 0 && start[size - 1] == '\r';
            *out = (gsai_line){start, start + size, lines->line, byte};
            return GSA_OK;
        }
        if (!is_whole && lines->hurried && gsai_decode_is_idle(lines->stream))
            return GSA_END;
        if (!is_whole)
            GSA_TRY(gsai_lines_refill(lines, error));
    }
}

/* ---- formats with a row per line -------------------------------------------------------------------------------- */

gsa_status gsai_line_text_open(void *parser, size_t buffer_size, gsa_error *error)
{
    gsai_line_text *text = parser;
    text->locale = gsai_os_c_locale();
    GSAI_TRY_MEMORY(text->locale, text->env, error, "no memory for a reader of text");
    return gsai_lines_init(&text->lines, buffer_size, text->env, error);
}

void gsai_line_text_close(void *parser)
{
    gsai_line_text *text = parser;
    gsai_free(text->env, text->lines.buffer);
    gsai_os_c_locale_free(text->locale);
    gsai_free(text->env, text);
}

void gsai_line_text_begin(void *parser, gsai_format_input *input)
{
    gsai_line_text *text = parser;
    text->input = input;
    gsai_lines_begin(&text->lines, input->stream);
}

static const char *last_end(void *ctx, const char *start, const char *end)
{
    (void)ctx;
    while (end > start && end[-1] != '\n')
        end--;
    return end;
}

gsa_status gsai_line_text_give(void *parser, void *to, gsa_error *error)
{
    gsai_line_text *from = parser, *other = to;
    return gsai_lines_give(&from->lines, &other->lines, last_end, NULL, error);
}

uint64_t *gsai_line_text_lines(void *parser)
{
    return &((gsai_line_text *)parser)->lines.line;
}

gsa_status gsai_line_text_read(void *parser, gsai_line_parse parse, gsai_rows *rows, gsa_error *error)
{
    gsai_line_text *text = parser;
    gsa_status status = GSA_OK;
    while (status == GSA_OK && !gsai_rows_full(rows)) {
        gsai_line line;
        text->lines.hurried = rows->n_rows > 0; /* an answer to these may be waited for */
        status = next_line(&text->lines, &line, error);
        if (status == GSA_END && !text->lines.ended)
            return GSA_OK;
        bool found = status == GSA_OK;
        if (found)
            status = parse(parser, &line, rows, error);
        if (found && status == GSA_STOPPED) { /* the next call begins with this line again */
            text->lines.start = text->lines.scanned = (size_t)(line.start - text->lines.buffer);
            text->lines.byte = line.byte;
            text->lines.line = line.number - 1;
        }
        status = gsai_format_settle(text->input, rows, status, error);
    }
    return status;
}

gsa_status gsai_line_fail(const gsai_line *line, const char *at, const char *end, const char *what,
                          const char *expected, gsa_error *error)
{
    char quote[GSAI_QUOTE_SIZE];
    return gsai_fail_line(error, GSA_INPUT, line->number, gsai_line_offset(line, at), "%s '%s': %s", what,
                          gsai_quote(at, (size_t)(end - at), quote), expected);
}
