/* Tables in text as a format of the reader. */
#include "data/format/csv.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/text.h"

#include <stdio.h>
#include <string.h>

static void close_csv(void *memory)
{
    gsa__csv *csv = memory;
    gsa__csv_forget(csv);
    gsa__records_free(&csv->records);
    gsa__number_locale_free(csv->env, csv->locale);
    gsa__free(csv->env, csv);
}

static gsa_status open_csv(size_t buffer_size, const gsa_env *env, void **out, gsa_error *error)
{
    gsa__csv *csv = gsa__alloc_zeroed(env, 1, sizeof *csv);
    if (!csv)
        return gsa__fail_memory(env, error, "no memory for a reader of tables");
    csv->env = env;
    gsa_status status = gsa__records_init(&csv->records, buffer_size, env, error);
    csv->locale = gsa__number_locale_new(env);
    if (status == GSA_OK && !csv->locale)
        status = gsa__fail_memory(env, error, "no memory for a reader of tables");
    if (status != GSA_OK) {
        close_csv(csv);
        return status;
    }
    *out = csv;
    return GSA_OK;
}

static void begin_csv(void *memory, gsa__format_input *input)
{
    gsa__csv *csv = memory;
    csv->input = input;
    csv->is_prepared = false;
    gsa__records_begin(&csv->records, input->stream);
}

/* One line about the first table: what the reader took it for. */
static void describe(const gsa__csv *csv, const gsa__csv_look *look)
{
    const gsa__schema *schema = csv->input->schema;
    size_t n_words = csv->n_columns - csv->n_numbers, n_ignored = schema->n_of_kind[GSA__FIELD_IGNORED], f = 0;
    char label[GSA__QUOTE_SIZE], words[48] = "", bits[32] = "", ignored[32] = "", crosses[32] = "";
    const char separator = csv->records.separator, *mark = schema->is_named ? "'" : "";
    while (f + 1 < schema->n_fields && schema->field[f].kind != GSA__FIELD_LABEL)
        f++;
    if (n_words > 0)
        snprintf(words, sizeof words, " and %zu word", n_words);
    if (csv->n_crosses > 0)
        snprintf(crosses, sizeof crosses, ", %zu cross%s", csv->n_crosses, csv->n_crosses == 1 ? "" : "es");
    if (n_words + csv->n_crosses > 0)
        snprintf(bits, sizeof bits, " (hashed to %u bits)", schema->bits);
    if (n_ignored > 0)
        snprintf(ignored, sizeof ignored, ", %zu ignored", n_ignored);
    snprintf(csv->input->understood, sizeof csv->input->understood,
             "%s: %s, %s; label is %s%s%s%s, %zu number%s column%s%s%s%s", csv->input->name,
             separator == ','    ? "comma-separated"
             : separator == ';'  ? "semicolon-separated"
             : separator == '\t' ? "tab-separated"
                                 : "columns with types",
             separator == '\0'  ? "found by name"
             : look->has_header ? "with a header"
                                : "no header",
             schema->is_named ? mark : "column ", gsa__quote(schema->field[f].name, schema->field[f].name_size, label),
             mark, schema->n_of_kind[GSA__FIELD_WEIGHT] > 0 ? ", rows have weights" : "", csv->n_numbers, words,
             (n_words > 0 ? n_words : csv->n_numbers) == 1 ? "" : "s", crosses, bits, ignored);
}

gsa_status gsa__csv_settle(gsa__csv *csv, gsa__csv_look *look, gsa_error *error)
{
    gsa__format_input *input = csv->input;
    gsa_status status = input->schema->text ? GSA_OK : gsa__csv_infer(csv, look, error);
    if (status == GSA_OK)
        status = gsa__csv_follow(csv, look, error);
    if (status == GSA_OK && input->options->remember_names)
        status = gsa__name_book_begin(input->names, input->schema->bits, csv->env, error);
    if (status == GSA_OK && input->understood[0] == '\0')
        describe(csv, look);
    return status;
}

static gsa_status refuse_utf16(const gsa__csv *csv, gsa_error *error)
{
    const gsa__lines *lines = &csv->records.lines;
    bool is_utf16 = lines->end >= 2 && (memcmp(lines->buffer, "\xFF\xFE", 2) == 0 ||
                                        memcmp(lines->buffer, "\xFE\xFF", 2) == 0 || lines->buffer[1] == '\0');
    return is_utf16 ? gsa__fail(error, GSA_FORMAT, "%s is UTF-16 text; save it as UTF-8", csv->input->name) : GSA_OK;
}

/* Looks at the first block of the file; the next record is then its first row. An empty file is GSA_END. */
static gsa_status prepare_csv(void *memory, gsa_error *error)
{
    gsa__csv *csv = memory;
    gsa__csv_look look = {0};
    gsa__record header;
    if (csv->is_prepared)
        return GSA_OK;
    gsa_status status = gsa__csv_look_at(csv, &look, error);
    if (status == GSA_OK)
        status = refuse_utf16(csv, error);
    if (status == GSA_OK)
        status = gsa__csv_settle(csv, &look, error);
    gsa__records_back(&csv->records);
    csv->records.lines.hurried = false;
    if (status == GSA_OK && look.has_header)
        status = gsa__records_next(&csv->records, &header, error);
    csv->is_prepared = status == GSA_OK;
    gsa__csv_look_free(csv, &look);
    return status;
}

static gsa_status read_csv(void *memory, gsa__rows *rows, gsa_error *error)
{
    gsa__csv *csv = memory;
    gsa_status status = prepare_csv(csv, error);
    while (status == GSA_OK && !gsa__rows_full(rows)) {
        gsa__record record;
        csv->records.lines.hurried = rows->n_rows > 0; /* an answer to these may be waited for */
        status = gsa__records_next(&csv->records, &record, error);
        if (status == GSA_END && !csv->records.lines.ended)
            return GSA_OK;
        if (status == GSA_OK)
            status = gsa__csv_row(csv, &record, rows, error);
        status = gsa__format_settle(csv->input, status);
    }
    return status;
}

/* Whether a line end is inside of quotes is not to be seen from here: that a record begins is believed. */
static gsa_status enter_csv(void *memory, const gsa_place *at, gsa_error *error)
{
    gsa__csv *csv = memory;
    unsigned char before = 0;
    size_t got = 0;
    gsa_status status = gsa__decode_seek(csv->input->stream, (int64_t)at->byte - 1, error);
    if (status == GSA_OK)
        status = gsa__decode_read(csv->input->stream, &before, 1, &got, error);
    csv->input->entered = at->line > 0 ? 0 : at->byte;
    gsa__records_enter(&csv->records, at->byte, at->line > 0 ? at->line - 1 : 0);
    bool is_behind_mark = at->byte == 3 && before == 0xBF; /* the byte order mark */
    return status == GSA_OK && before != '\n' && before != '\r' && !is_behind_mark ? GSA_END : status;
}

static gsa_status give_csv(void *memory, void *to_memory, gsa_error *error)
{
    gsa__csv *csv = memory, *to = to_memory;
    gsa_status status = to->is_prepared ? GSA_OK : gsa__csv_follow_same(to, csv, error);
    to->is_prepared = status == GSA_OK;
    return status == GSA_OK ? gsa__records_give(&csv->records, &to->records, error) : status;
}

static uint64_t *lines_of_csv(void *memory)
{
    return &((gsa__csv *)memory)->records.line;
}

const gsa__format *gsa__format_csv(void)
{
    static const gsa__format format = {.title = "a table",
                                       .open = open_csv,
                                       .begin = begin_csv,
                                       .read = read_csv,
                                       .close = close_csv,
                                       .prepare = prepare_csv,
                                       .enter = enter_csv,
                                       .give = give_csv,
                                       .lines = lines_of_csv};
    return &format;
}
