/* Rows of an array: dense batches of floats, converted piece by piece as they are read.
 *
 * The first rows are held to find columns that are far from 0 (column_stats.h). If there are some, the array has the
 * schema of a table whose columns are named by their numbers, with offsets.
 *
 *   1 A piece is as many rows as the batch has room for; it and its labels are read whole before a row is taken.
 *   2 A call that is stopped goes on where it was: `filled` says how much of the piece is there. */
#include "data/format/npy.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/half.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/column_stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_HELD ((size_t)32 << 20)
#define MAX_MEASURED 65536u /* columns of an array that may have offsets */

typedef struct npy {
    const gsai_env *env;
    gsai_format_input *input;
    bool has_head, is_begun; /* the header was taken; all is ready for rows */
    bool is_decided;         /* whether there are offsets */
    gsai_npy_header header;
    gsai_npy_labels labels;
    uint64_t width;  /* of the first file; 0 before it */
    uint64_t n_rows; /* taken, good or bad */
    bool has_offsets;
    unsigned char *held; /* the first rows, read before they are taken */
    size_t held_capacity, held_size, held_at;
    size_t n_piece; /* rows of the piece at hand; 0: none */
    unsigned char *piece;
    size_t capacity, filled;
} npy;

static void close_npy(void *memory)
{
    npy *parser = memory;
    gsai_npy_labels_close(&parser->labels);
    gsai_free(parser->env, parser->labels.item);
    gsai_free(parser->env, parser->piece);
    gsai_free(parser->env, parser->held);
    gsai_free(parser->env, parser);
}

static gsa_status open_npy(size_t buffer_size, const gsai_env *env, void **out, gsa_error *error)
{
    (void)buffer_size; /* pieces are those of batches */
    npy *parser = gsai_alloc_zeroed(env, 1, sizeof *parser);
    GSAI_TRY_MEMORY(parser, env, error, "no memory for a reader of arrays");
    parser->env = parser->labels.env = env;
    *out = parser;
    return GSA_OK;
}

static void begin_npy(void *memory, gsai_format_input *input)
{
    npy *parser = memory;
    gsai_npy_labels_close(&parser->labels);
    parser->input = input;
    parser->has_head = parser->is_begun = false;
    parser->n_rows = 0;
    parser->n_piece = 0;
    parser->held_size = parser->held_at = 0;
}

static gsa_status check_header(const npy *parser, gsa_error *error)
{
    const gsai_npy_header *header = &parser->header;
    const char *name = parser->input->name;
    uint64_t max = gsai_memory_limit(parser->env) / 16;
    if (header->kind == 'U' || header->kind == 'S')
        return gsai_fail(error, GSA_ARGUMENT, "%s holds texts: rows are numbers, labels are given beside them", name);
    if (header->width == 0 || header->width > (uint64_t)GSA_MAX_ID + 1 || header->width > max / sizeof(double))
        return gsai_fail(error, GSA_ARGUMENT, "%s has %" PRIu64 " columns: expected at least one%s", name,
                         header->width, header->width > 0 ? ", and fewer than memory has room for" : "");
    if (parser->width > 0 && header->width != parser->width)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s has %" PRIu64 " columns and the file before it %" PRIu64 ": expected the same number",
                         name, header->width, parser->width);
    return GSA_OK;
}

/* ---- offsets ---------------------------------------------------------------------------------------------------- */

static double offset_of(const npy *parser, size_t column)
{
    const gsai_schema *schema = parser->input->schema;
    return schema->field[schema->number[column]].offset;
}

/* Returns the statistics of a column in the held rows. */
static gsai_column_stats see(const npy *parser, size_t column)
{
    size_t width = (size_t)parser->header.width;
    gsai_column_stats seen = {0};
    for (size_t i = column; i < parser->held_size / parser->header.item; i += width)
        gsai_stats_add_number(&seen, gsai_npy_number(&parser->header, parser->held, i), 1);
    return seen;
}

static gsa_status make_schema(const npy *parser, gsa_error *error)
{
    gsai_schema *schema = parser->input->schema;
    schema->is_named = true;
    char name[GSAI_NUMBER_TEXT], number[GSAI_NUMBER_TEXT], *text = parser->input->description;
    size_t room = sizeof parser->input->description;
    int size = snprintf(text, room, "%s: an array of %" PRIu64 " columns", parser->input->name, parser->header.width);
    for (size_t i = 0; i < parser->header.width; i++) {
        gsai_column_stats seen = see(parser, i);
        double offset = gsai_stats_offset(&seen);
        GSA_TRY(gsai_schema_add(schema, name, gsai_number_text((double)(i + 1), name), GSAI_FIELD_NUMBER, error));
        gsai_schema_set_offset(schema, offset);
        GSA_TRY(gsai_schema_set_reading(schema, gsai_stats_mean(&seen, offset), NULL, error));
        gsai_number_text(offset, number);
        if (offset != 0 && (size_t)size + 4 * GSAI_NUMBER_TEXT < room)
            size += snprintf(text + size, room - (size_t)size, "; column %s is measured from %s", name, number);
    }
    GSA_TRY(gsai_schema_add(schema, "label", strlen("label"), GSAI_FIELD_LABEL, error));
    return gsai_schema_complete(schema, error);
}

/* Holds the rows that decide, or as many as there are, and decides. */
static gsa_status decide(npy *parser, gsa_error *error)
{
    size_t width = (size_t)parser->header.width, row_size = width * parser->header.item, got = 1;
    size_t n =
        GSAI_DECIDING_CELLS / (width + 1) > GSAI_DECIDING_ROWS ? GSAI_DECIDING_CELLS / (width + 1) : GSAI_DECIDING_ROWS;
    n = n < MAX_HELD / row_size + 1 ? n : MAX_HELD / row_size + 1;
    n = n < parser->header.n_rows ? n : (size_t)parser->header.n_rows;
    GSAI_TRY_MEMORY(gsai_reserve(parser->env, &parser->held, &parser->held_capacity, n * row_size, 1), parser->env,
                    error, "no memory for %zu rows of %zu values", n, width);
    for (; parser->held_size < n * row_size && got > 0; parser->held_size += got)
        GSA_TRY(gsai_decode_read(parser->input->stream, parser->held + parser->held_size,
                                 n * row_size - parser->held_size, &got, error));
    parser->is_decided = true;
    for (size_t i = 0; i < width; i++) {
        gsai_column_stats seen = see(parser, i);
        if (gsai_stats_offset(&seen) != 0)
            return make_schema(parser, error);
    }
    return GSA_OK;
}

/* Fills `to` up to `size` bytes, from the held rows first. */
static gsa_status fill(npy *parser, unsigned char *to, size_t size, gsa_error *error)
{
    size_t n = parser->held_size - parser->held_at, left = size - parser->filled;
    n = n < left ? n : left;
    if (n > 0)
        memcpy(to + parser->filled, parser->held + parser->held_at, n);
    parser->held_at += n;
    parser->filled += n;
    if (parser->held_at == parser->held_size) {
        gsai_free(parser->env, parser->held);
        parser->held = NULL;
        parser->held_capacity = 0;
    }
    return gsai_npy_fill(parser->input->stream, parser->input->name, to, size, &parser->filled, error);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* The header, the labels beside it, and what the rows of the first file are measured from. */
static gsa_status prepare_npy(void *memory, gsa_error *error)
{
    npy *parser = memory;
    gsai_format_input *input = parser->input;
    if (parser->is_begun)
        return GSA_OK;
    unsigned char head[GSAI_DECODE_START];
    size_t filled = 0;
    if (!parser->has_head) { /* else a call was stopped */
        GSA_TRY(gsai_npy_header_parse(input->stream, input->name, &parser->header, error));
        GSA_TRY(check_header(parser, error));
        if (!input->options->without_labels)
            GSA_TRY(gsai_npy_labels_open(&parser->labels, input, parser->header.n_rows, error));
        GSA_TRY(gsai_npy_fill(input->stream, input->name, head, parser->header.size, &filled, error));
        parser->has_head = true;
    }
    bool may_decide = !input->schema->text && input->file == 0 && !parser->is_decided;
    if (may_decide && !input->options->without_offsets && parser->header.width <= MAX_MEASURED)
        GSA_TRY(decide(parser, error));
    if (input->schema->text && input->schema->n_numbers != parser->header.width)
        return gsai_fail(error, GSA_ARGUMENT, "%s has %" PRIu64 " columns, and %s %zu", input->name,
                         parser->header.width, input->schema_from, input->schema->n_numbers);
    parser->has_offsets = input->schema->text != NULL;
    parser->width = parser->header.width;
    parser->is_begun = true;
    return GSA_OK;
}

/* Floats of the machine are read to where they stay. */
static bool is_plain(const npy *parser)
{
    const gsai_npy_header *header = &parser->header;
    return header->kind == 'f' && header->item == sizeof(float) && header->is_big != gsai_machine_is_little_endian() &&
           !parser->has_offsets;
}

static void convert(const npy *parser, unsigned char *items, size_t n, float *out)
{
    const gsai_npy_header *header = &parser->header;
    for (size_t i = 0; i < n && parser->has_offsets; i++)
        out[i] = (float)(gsai_npy_number(header, items, i) - offset_of(parser, i % (size_t)header->width));
    if (parser->has_offsets)
        return;
    if (header->item == 2 && (header->kind == 'f' || header->kind == 'h')) {
        if (header->is_big == gsai_machine_is_little_endian())
            gsai_swap_bytes(items, n, 2);
        gsa_half_read(header->kind == 'h' ? GSA_HALF_BF16 : GSA_HALF_F16, (const uint16_t *)(const void *)items, n,
                      out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (float)gsai_npy_number(header, items, i);
}

/* Reads the next piece, of which there is at least one row. */
static gsa_status read_piece(npy *parser, gsai_rows *rows, gsa_error *error)
{
    const gsai_npy_header *header = &parser->header;
    size_t width = (size_t)header->width;
    if (parser->n_piece == 0) {
        size_t left = rows->max_rows - rows->n_rows, n = (rows->max_values - rows->n_values) / width + 1;
        n = n < left ? n : left;
        parser->n_piece = header->n_rows - parser->n_rows < n ? (size_t)(header->n_rows - parser->n_rows) : n;
        parser->filled = parser->labels.filled = 0;
    }
    size_t n = parser->n_piece * width, size = n * header->item;
    GSA_TRY(gsai_rows_reserve_dense(rows, parser->n_piece, width, error));
    float *value = rows->value + rows->n_values;
    if (!is_plain(parser) && !gsai_reserve(parser->env, &parser->piece, &parser->capacity, size, 1))
        return gsai_fail_memory(parser->env, error, "no memory for %zu rows of %zu values", parser->n_piece, width);
    GSA_TRY(fill(parser, is_plain(parser) ? (unsigned char *)value : parser->piece, size, error));
    if (parser->labels.is_open)
        GSA_TRY(gsai_npy_labels_read(&parser->labels, parser->n_piece, error));
    if (!is_plain(parser))
        convert(parser, parser->piece, n, value);
    return GSA_OK;
}

static bool are_finite(const float *value, size_t n)
{
    int n_bad = 0;
    for (size_t i = 0; i < n; i++)
        n_bad |= !isfinite(value[i]);
    return !n_bad;
}

/* Row i of the piece, whose values are behind those of the finished rows or, after bad ones, further on. */
static gsa_status take_row(npy *parser, gsai_rows *rows, size_t i, const float *value, gsa_error *error)
{
    size_t width = rows->width, column = 0;
    double label = 0;
    int32_t word = -1;
    uint64_t row = ++parser->n_rows;
    gsai_rows_begin_texts(rows);
    if (!are_finite(value, width)) {
        while (isfinite(value[column]))
            column++;
        return gsai_fail_line(error, GSA_INPUT, row, UINT64_MAX, "column %zu holds %s: values must be finite",
                              column + 1, isnan(value[column]) ? "no number (NaN)" : "an infinite number");
    }
    if (parser->labels.is_open) {
        gsa_status status = gsai_npy_label(&parser->labels, i, rows, &label, &word, error);
        if (status != GSA_OK && error) {
            error->line = row;
            error->byte = UINT64_MAX;
        }
        if (status != GSA_OK)
            return status;
    }
    if (value != rows->value + rows->n_values)
        memmove(rows->value + rows->n_values, value, width * sizeof *value);
    gsai_rows_finish(rows, width, false, label, word, gsai_format_location(parser->input, row, UINT64_MAX));
    return GSA_OK;
}

static gsa_status read_npy(void *memory, gsai_rows *rows, gsa_error *error)
{
    npy *parser = memory;
    GSA_TRY(prepare_npy(parser, error));
    while (!gsai_rows_full(rows)) {
        if (parser->n_rows == parser->header.n_rows) {
            GSA_TRY(gsai_npy_end(parser->input->stream, parser->input->name, error));
            GSA_TRY(gsai_npy_labels_end(&parser->labels, error));
            return GSA_END;
        }
        GSA_TRY(read_piece(parser, rows, error));
        const float *value = rows->value + rows->n_values;
        for (size_t i = 0; i < parser->n_piece; i++, value += rows->width)
            GSA_TRY(gsai_format_settle(parser->input, rows, take_row(parser, rows, i, value, error), error));
        parser->n_piece = 0;
    }
    return GSA_OK;
}

const gsai_format *gsai_format_npy(void)
{
    static const gsai_format format = {.title = "an array (.npy)",
                                       .open = open_npy,
                                       .begin = begin_npy,
                                       .read = read_npy,
                                       .close = close_npy,
                                       .prepare = prepare_npy};
    return &format;
}
