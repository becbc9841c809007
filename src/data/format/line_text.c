/* Lines to a parser, and what it refuses. */
#include "data/format/line_text.h"

#include "base/error.h"
#include "base/memory.h"

gsa_status gsai_line_text_open(size_t parser_size, const char *title, size_t buffer_size, const gsa_env *env,
                               void **out, gsa_error *error)
{
    gsai_line_text *text = gsai_alloc_zeroed(env, 1, parser_size);
    if (!text)
        return gsai_fail_memory(env, error, "no memory for a reader of %s", title);
    text->env = env;
    gsa_status status = gsai_lines_init(&text->lines, buffer_size, env, error);
    text->locale = gsai_number_locale_new(env);
    if (status == GSA_OK && !text->locale)
        status = gsai_fail_memory(env, error, "no memory for a reader of %s", title);
    if (status != GSA_OK) {
        gsai_line_text_close(text);
        return status;
    }
    *out = text;
    return GSA_OK;
}

void gsai_line_text_close(void *parser)
{
    gsai_line_text *text = parser;
    gsai_lines_free(&text->lines);
    gsai_number_locale_free(text->env, text->locale);
    gsai_free(text->env, text);
}

void gsai_line_text_begin(void *parser, gsai_format_input *input)
{
    gsai_line_text *text = parser;
    text->input = input;
    gsai_lines_begin(&text->lines, input->stream);
    text->lines.limit = input->limit;
}

/* A line begins behind a newline: what follows the byte before is passed over up to one. */
gsa_status gsai_line_text_enter(void *parser, const gsa_place *at, gsa_error *error)
{
    gsai_line_text *text = parser;
    text->input->entered = at->line > 0 ? 0 : at->byte - 1;
    gsai_lines_enter(&text->lines, at->byte, at->line > 0 ? at->line - 1 : 1);
    return gsai_decode_seek(text->input->stream, (int64_t)at->byte - 1, error);
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
        status = gsai_lines_next(&text->lines, &line, error);
        if (status == GSA_END && !text->lines.ended)
            return GSA_OK;
        bool found = status == GSA_OK;
        if (found)
            status = parse(parser, &line, rows, error);
        if (found && status == GSA_STOPPED) /* the next call begins with this line again */
            gsai_lines_back(&text->lines, &line);
        status = gsai_format_settle(text->input, status);
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
