/* Rows of an array: dense batches of floats, converted piece by piece as they are read.
 *
 *   1 A piece is as many rows as the batch has room for; it and its labels are read whole before a row is taken.
 *   2 A call that is stopped goes on where it was: `filled` says how much of the piece is there. */
#include "data/format/npy.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/half.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct npy {
    const gsai_env *env;
    gsai_format_input *input;
    bool is_begun; /* the header was taken */
    gsai_npy_header header;
    gsai_npy_labels labels;
    uint64_t width;  /* of the first file; 0: there was none */
    uint64_t n_rows; /* taken, good or bad */
    size_t n_piece;  /* rows of the piece at hand; 0: none */
    unsigned char *piece;
    size_t capacity, filled;
} npy;

static void close_npy(void *memory)
{
    npy *parser = memory;
    gsai_npy_labels_close(&parser->labels);
    gsai_free(parser->env, parser->labels.item);
    gsai_free(parser->env, parser->piece);
    gsai_free(parser->env, parser);
}

static gsa_status open_npy(size_t buffer_size, const gsai_env *env, void **out, gsa_error *error)
{
    (void)buffer_size; /* pieces are those of batches */
    npy *parser = gsai_alloc_zeroed(env, 1, sizeof *parser);
    if (!parser)
        return gsai_fail_memory(env, error, "no memory for a reader of arrays");
    parser->env = parser->labels.env = env;
    *out = parser;
    return GSA_OK;
}

static void begin_npy(void *memory, gsai_format_input *input)
{
    npy *parser = memory;
    gsai_npy_labels_close(&parser->labels);
    parser->input = input;
    parser->is_begun = false;
    parser->n_rows = 0;
    parser->n_piece = 0;
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

/* The header, and the labels beside it. */
static gsa_status prepare_npy(void *memory, gsa_error *error)
{
    npy *parser = memory;
    gsai_format_input *input = parser->input;
    if (parser->is_begun)
        return GSA_OK;
    unsigned char head[GSAI_DECODE_START];
    size_t filled = 0;
    GSA_TRY(gsai_npy_header_parse(input->stream, input->name, &parser->header, error));
    GSA_TRY(check_header(parser, error));
    if (!input->options->without_labels)
        GSA_TRY(gsai_npy_labels_open(&parser->labels, input, parser->header.n_rows, error));
    GSA_TRY(gsai_npy_fill(input->stream, input->name, head, parser->header.size, &filled, error));
    parser->width = parser->header.width;
    parser->is_begun = true;
    return GSA_OK;
}

/* Floats of the machine are read to where they stay. */
static bool is_plain(const gsai_npy_header *header)
{
    return header->kind == 'f' && header->item == sizeof(float) && header->is_big != gsai_machine_is_little_endian();
}

static void convert(const gsai_npy_header *header, unsigned char *items, size_t n, float *out)
{
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
    if (!is_plain(header) && !gsai_reserve(parser->env, &parser->piece, &parser->capacity, size, 1))
        return gsai_fail_memory(parser->env, error, "no memory for %zu rows of %zu values", parser->n_piece, width);
    GSA_TRY(gsai_npy_fill(parser->input->stream, parser->input->name,
                          is_plain(header) ? (unsigned char *)value : parser->piece, size, &parser->filled, error));
    if (parser->labels.is_open)
        GSA_TRY(gsai_npy_labels_read(&parser->labels, parser->n_piece, error));
    if (!is_plain(header))
        convert(header, parser->piece, n, value);
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
            GSA_TRY(gsai_format_settle(parser->input, rows, take_row(parser, rows, i, value, error)));
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
