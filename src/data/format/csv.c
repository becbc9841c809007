/* Tables in text as a format of the reader. */
#include "data/format/csv.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/text.h"

#include <stdio.h>
#include <string.h>

static void close_csv(void *memory)
{
    gsai_csv *csv = memory;
    gsai_csv_forget(csv);
    gsai_records_free(&csv->records);
    gsai_number_locale_free(csv->env, csv->locale);
    gsai_free(csv->env, csv);
}

static gsa_status open_csv(size_t buffer_size, const gsa_env *env, void **out, gsa_error *error)
{
    gsai_csv *csv = gsai_alloc_zeroed(env, 1, sizeof *csv);
    if (!csv)
        return gsai_fail_memory(env, error, "no memory for a reader of tables");
    csv->env = env;
    gsa_status status = gsai_records_init(&csv->records, buffer_size, env, error);
    csv->locale = gsai_number_locale_new(env);
    if (status == GSA_OK && !csv->locale)
        status = gsai_fail_memory(env, error, "no memory for a reader of tables");
    if (status != GSA_OK) {
        close_csv(csv);
        return status;
    }
    *out = csv;
    return GSA_OK;
}

static void begin_csv(void *memory, gsai_format_input *input)
{
    gsai_csv *csv = memory;
    csv->input = input;
    csv->is_prepared = false;
    gsai_records_begin(&csv->records, input->stream);
}

/* One line about the first table: what the reader took it for. */
static void describe(const gsai_csv *csv, const gsai_csv_sniff *look)
{
    const gsai_schema *schema = csv->input->schema;
    size_t n_words = csv->n_columns - csv->n_numbers, n_ignored = schema->n_of_kind[GSAI_FIELD_IGNORED], f = 0;
    char label[GSAI_QUOTE_SIZE], words[48] = "", bits[32] = "", ignored[32] = "", crosses[32] = "";
    const char separator = csv->records.separator, *mark = schema->is_named ? "'" : "";
    while (f + 1 < schema->n_fields && schema->field[f].kind != GSAI_FIELD_LABEL)
        f++;
    if (n_words > 0)
        snprintf(words, sizeof words, " and %zu word", n_words);
    if (csv->n_crosses > 0)
        snprintf(crosses, sizeof crosses, ", %zu cross%s", csv->n_crosses, csv->n_crosses == 1 ? "" : "es");
    if (n_words + csv->n_crosses > 0)
        snprintf(bits, sizeof bits, " (hashed to %u bits)", schema->bits);
    if (n_ignored > 0)
        snprintf(ignored, sizeof ignored, ", %zu ignored", n_ignored);
    snprintf(csv->input->description, sizeof csv->input->description,
             "%s: %s, %s; label is %s%s%s%s, %zu number%s column%s%s%s%s", csv->input->name,
             separator == ','    ? "comma-separated"
             : separator == ';'  ? "semicolon-separated"
             : separator == '\t' ? "tab-separated"
                                 : "columns with types",
             separator == '\0'  ? "found by name"
             : look->has_header ? "with a header"
                                : "no header",
             schema->is_named ? mark : "column ", gsai_quote(schema->field[f].name, schema->field[f].name_size, label),
             mark, schema->n_of_kind[GSAI_FIELD_WEIGHT] > 0 ? ", rows have weights" : "", csv->n_numbers, words,
             (n_words > 0 ? n_words : csv->n_numbers) == 1 ? "" : "s", crosses, bits, ignored);
}

gsa_status gsai_csv_settle(gsai_csv *csv, gsai_csv_sniff *look, gsa_error *error)
{
    gsai_format_input *input = csv->input;
    gsa_status status = input->schema->text ? GSA_OK : gsai_csv_infer(csv, look, error);
    if (status == GSA_OK)
        status = gsai_csv_match(csv, look, error);
    if (status == GSA_OK && input->options->remember_names)
        status = gsai_feature_names_begin(input->names, input->schema->bits, csv->env, error);
    if (status == GSA_OK && input->description[0] == '\0')
        describe(csv, look);
    return status;
}

static gsa_status refuse_utf16(const gsai_csv *csv, gsa_error *error)
{
    const gsai_lines *lines = &csv->records.lines;
    bool is_utf16 = lines->end >= 2 && (memcmp(lines->buffer, "\xFF\xFE", 2) == 0 ||
                                        memcmp(lines->buffer, "\xFE\xFF", 2) == 0 || lines->buffer[1] == '\0');
    return is_utf16 ? gsai_fail(error, GSA_FORMAT, "%s is UTF-16 text; save it as UTF-8", csv->input->name) : GSA_OK;
}

/* Looks at the first block of the file; the next record is then its first row. An empty file is GSA_END. */
static gsa_status prepare_csv(void *memory, gsa_error *error)
{
    gsai_csv *csv = memory;
    gsai_csv_sniff look = {0};
    gsai_record header;
    if (csv->is_prepared)
        return GSA_OK;
    gsa_status status = gsai_csv_sniff_row(csv, &look, error);
    if (status == GSA_OK)
        status = refuse_utf16(csv, error);
    if (status == GSA_OK)
        status = gsai_csv_settle(csv, &look, error);
    gsai_records_back(&csv->records);
    csv->records.lines.hurried = false;
    if (status == GSA_OK && look.has_header)
        status = gsai_records_next(&csv->records, &header, error);
    csv->is_prepared = status == GSA_OK;
    gsai_csv_sniff_free(csv, &look);
    return status;
}

static gsa_status read_csv(void *memory, gsai_rows *rows, gsa_error *error)
{
    gsai_csv *csv = memory;
    gsa_status status = prepare_csv(csv, error);
    while (status == GSA_OK && !gsai_rows_full(rows)) {
        gsai_record record;
        csv->records.lines.hurried = rows->n_rows > 0; /* an answer to these may be waited for */
        status = gsai_records_next(&csv->records, &record, error);
        if (status == GSA_END && !csv->records.lines.ended)
            return GSA_OK;
        if (status == GSA_OK)
            status = gsai_csv_row(csv, &record, rows, error);
        status = gsai_format_settle(csv->input, status);
    }
    return status;
}

/* Whether a line end is inside of quotes is not to be seen from here: that a record begins is believed. */
static gsa_status enter_csv(void *memory, const gsa_place *at, gsa_error *error)
{
    gsai_csv *csv = memory;
    unsigned char before = 0;
    size_t got = 0;
    gsa_status status = gsai_decode_seek(csv->input->stream, (int64_t)at->byte - 1, error);
    if (status == GSA_OK)
        status = gsai_decode_read(csv->input->stream, &before, 1, &got, error);
    csv->input->entered = at->line > 0 ? 0 : at->byte;
    gsai_records_enter(&csv->records, at->byte, at->line > 0 ? at->line - 1 : 0);
    bool is_behind_mark = at->byte == 3 && before == 0xBF; /* the byte order mark */
    return status == GSA_OK && before != '\n' && before != '\r' && !is_behind_mark ? GSA_END : status;
}

static gsa_status give_csv(void *memory, void *to_memory, gsa_error *error)
{
    gsai_csv *csv = memory, *to = to_memory;
    gsa_status status = to->is_prepared ? GSA_OK : gsai_csv_match_same(to, csv, error);
    to->is_prepared = status == GSA_OK;
    return status == GSA_OK ? gsai_records_give(&csv->records, &to->records, error) : status;
}

static uint64_t *lines_of_csv(void *memory)
{
    return &((gsai_csv *)memory)->records.line;
}

const gsai_format *gsai_format_csv(void)
{
    static const gsai_format format = {.title = "a table",
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
