/* Arrays of NumPy (.npy): dense batches of floats, converted piece by piece as they are read, and their labels from
 * other files. docs/formats/arrow.md has the rules.
 *
 * The first rows are held to find columns that are far from 0 (column_stats.h). If there are some, the array has the
 * schema of a table whose columns are named by their numbers, with offsets.
 *
 *   1 A piece is as many rows as the batch has room for; it and its labels are read whole before a row is taken.
 *   2 A call that is stopped goes on where it was: `filled` says how much of the piece is there. */
#include "data/format/format.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/half.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/column_stats.h"
#include "data/format/input_text.h"
#include "data/format/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define MAX_HELD ((size_t)32 << 20)
#define MAX_MEASURED 65536u /* columns of an array that may have offsets */

/* The header of a file: the type and shape of the array behind it. */
typedef struct header {
    char kind;   /* f float, h bf16, i and u integers, b truth, U and S text */
    bool is_big; /* items begin with their highest byte */
    size_t item; /* bytes per item */
    uint64_t n_rows, width;
    size_t size; /* of the head, in bytes */
} header;

/* Labels of the rows of one file. */
typedef struct labels {
    const gsai_env *env;
    gsai_decode stream;
    bool is_open;
    char *name;
    header header;
    unsigned char *item; /* those of the rows at hand */
    size_t capacity, filled;
} labels;

typedef struct npy {
    const gsai_env *env;
    gsai_format_input *input;
    bool has_head, is_begun; /* the header was taken; all is ready for rows */
    bool is_decided;         /* whether there are offsets */
    header header;
    labels labels;
    uint64_t width;  /* of the first file; 0 before it */
    uint64_t n_rows; /* taken, good or bad */
    bool has_offsets;
    unsigned char *held; /* the first rows, read before they are taken */
    size_t held_capacity, held_size, held_at;
    size_t n_piece; /* rows of the piece at hand; 0: none */
    unsigned char *piece;
    size_t capacity, filled;
} npy;

/* ---- the header of a file --------------------------------------------------------------------------------------- */

bool gsai_npy_matches(const unsigned char *start, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(start, MAGIC, MAGIC_SIZE) == 0;
}

typedef struct cursor {
    const char *p, *end;
    unsigned n_dims;
    bool is_fortran;
} cursor;

static bool take(cursor *at, const char *text)
{
    while (at->p < at->end && (*at->p == ' ' || *at->p == '\n'))
        at->p++;
    size_t size = strlen(text);
    bool is_there = (size_t)(at->end - at->p) >= size && memcmp(at->p, text, size) == 0;
    at->p += is_there ? size : 0;
    return is_there;
}

static bool take_count(cursor *at, uint64_t *out)
{
    (void)take(at, "");
    const char *first = at->p;
    for (*out = 0; at->p < at->end && gsai_is_digit(*at->p) && *out < UINT64_MAX / 10 - 1; at->p++)
        *out = *out * 10 + (uint64_t)(*at->p - '0');
    return at->p > first && (at->p == at->end || !gsai_is_digit(*at->p));
}

/* '<f4': byte order, kind, bytes per item; of U code points per item. */
static bool take_type(cursor *at, header *out)
{
    uint64_t size = 0;
    if (!take(at, "'") || at->end - at->p < 3)
        return false;
    char order = *at->p++;
    out->kind = *at->p++;
    out->is_big = order == '>' || (order == '=' && !gsai_machine_is_little_endian());
    if (!strchr("<>=|", order) || (out->kind != 'O' && !take_count(at, &size)) || size > 1 << 20)
        return false;
    out->item = (size_t)size * (out->kind == 'U' ? 4 : 1);
    return take(at, "'");
}

/* Goes on after an item of a list that ends with a bracket; returns false after the last, or if it is not a list. */
static bool take_comma(cursor *at, const char *bracket, bool *is_right)
{
    bool has_comma = take(at, ","), has_ended = take(at, bracket);
    *is_right = *is_right && (has_comma || has_ended);
    return *is_right && !has_ended;
}

static bool take_shape(cursor *at, header *out)
{
    uint64_t length[2] = {1, 1}, other;
    bool is_right = take(at, "(");
    if (!is_right || take(at, ")"))
        return is_right;
    do {
        is_right = take_count(at, at->n_dims < 2 ? &length[at->n_dims] : &other);
        at->n_dims++;
    } while (take_comma(at, ")", &is_right));
    out->n_rows = length[0];
    out->width = length[1];
    return is_right;
}

static bool take_dictionary(cursor *at, header *out)
{
    unsigned found = 0;
    bool is_right = take(at, "{");
    do {
        unsigned key = take(at, "'descr':") ? 1 : take(at, "'fortran_order':") ? 2 : take(at, "'shape':") ? 4 : 0;
        is_right = is_right && !(found & key);
        found |= key;
        if (key == 1)
            is_right = is_right && take_type(at, out);
        else if (key == 2)
            is_right = is_right && ((at->is_fortran = take(at, "True")) || take(at, "False"));
        else
            is_right = is_right && key == 4 && take_shape(at, out);
    } while (take_comma(at, "}", &is_right));
    (void)take(at, "");
    return is_right && found == 7 && at->p == at->end;
}

/* Returns whether items are of a type that is read here. */
static bool is_known(const header *of)
{
    static const struct {
        char kind;
        const char *sizes; /* in bytes, each a digit; NULL: any */
    } types[] = {{'f', "248"}, {'i', "1248"}, {'u', "1248"}, {'b', "1"}, {'h', "2"}, {'U', NULL}, {'S', NULL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == of->kind)
            return of->item > 0 && (!types[i].sizes || (of->item < 10 && strchr(types[i].sizes, '0' + (int)of->item)));
    return false;
}

/* Parses the head of a stream that was peeked at; nothing is read. GSA_FORMAT or GSA_UNSUPPORTED, with the name. */
static gsa_status parse_header(const gsai_decode *stream, const char *name, header *out, gsa_error *error)
{
    const unsigned char *start = stream->start;
    size_t n_lead = stream->start_size > 8 && start[MAGIC_SIZE] > 1 ? 12 : 10, n = 0;
    *out = (header){0};
    if (stream->start_size < n_lead || !gsai_npy_matches(start, stream->start_size) || start[MAGIC_SIZE] < 1 ||
        start[MAGIC_SIZE] > 3)
        return gsai_fail(error, GSA_FORMAT, "%s is no array of NumPy (.npy) of version 1, 2 or 3", name);
    for (size_t i = n_lead; i > 8; i--)
        n = n << 8 | start[i - 1];
    if (n > stream->start_size - n_lead)
        return gsai_fail(error, GSA_FORMAT, "%s: its header of %zu bytes is cut off or too long", name, n);
    cursor at = {.p = (const char *)start + n_lead, .end = (const char *)start + n_lead + n};
    out->size = n_lead + n;
    if (!take_dictionary(&at, out))
        return gsai_fail(error, GSA_FORMAT, "%s: its header makes no sense, or it holds records: '%.*s'", name,
                         n < 120 ? (int)n : 120, (const char *)start + n_lead);
    if (out->kind == 'V' && out->item == 2) /* how bf16 is written, which has no name of its own in .npy */
        out->kind = 'h';
    if (out->kind == 'O')
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "%s holds Python objects: save it as numbers or as texts (array.astype(str))", name);
    if (!is_known(out))
        return gsai_fail(error, GSA_UNSUPPORTED, "%s is an array of another type than numbers or texts: convert it",
                         name);
    if (at.n_dims < 1 || at.n_dims > 2)
        return gsai_fail(error, GSA_UNSUPPORTED, "%s has %u dimensions: expected rows and columns", name, at.n_dims);
    if (at.is_fortran && out->n_rows > 1 && out->width > 1)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "%s is in Fortran order, column after column: save it by rows (numpy.ascontiguousarray)",
                         name);
    return GSA_OK;
}

/* Returns number i of items that are numbers. */
static double number_at(const header *of, const unsigned char *items, size_t i)
{
    unsigned char item[8] = {0};
    memcpy(item, items + i * of->item, of->item);
    if (of->is_big)
        gsai_swap_bytes(item, 1, of->item);
    const uint64_t bits = gsai_load_u64(item);
    const unsigned unused = 64 - 8 * (unsigned)of->item;
    const uint16_t half = (uint16_t)bits;
    const uint32_t single = (uint32_t)bits;
    float x = 0;
    double wide;
    if (of->kind == 'u' || of->kind == 'b')
        return (double)bits;
    if (of->kind == 'i')
        return (double)((int64_t)(bits << unused) >> unused);
    memcpy(&wide, &bits, sizeof wide);
    if (of->item == 4)
        memcpy(&x, &single, sizeof x);
    if (of->item == 2)
        gsa_half_read(of->kind == 'h' ? GSA_HALF_BF16 : GSA_HALF_F16, &half, 1, &x);
    return of->item == 8 ? wide : (double)x;
}

/* Fills `to` up to `size` bytes from a stream; *filled says how many are there, also after GSA_STOPPED. */
static gsa_status fill_from(gsai_decode *stream, const char *name, unsigned char *to, size_t size, size_t *filled,
                            gsa_error *error)
{
    for (size_t got = 1; *filled < size && got > 0; *filled += got)
        GSA_TRY(gsai_decode_read(stream, to + *filled, size - *filled, &got, error));
    return *filled == size ? GSA_OK
                           : gsai_fail(error, GSA_FORMAT, "%s ends before the last row that its header tells of", name);
}

/* Fails if a stream goes on. */
static gsa_status end_stream(gsai_decode *stream, const char *name, gsa_error *error)
{
    unsigned char byte;
    size_t got;
    GSA_TRY(gsai_decode_read(stream, &byte, 1, &got, error));
    return got == 0 ? GSA_OK
                    : gsai_fail(error, GSA_FORMAT, "%s goes on behind the last row that its header tells of", name);
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

/* Finds the name at this place of a list with commas; returns its size, 0 if not found. */
static size_t find_name(const char *list, uint32_t number, const char **out)
{
    for (; number > 0 && list; number--)
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    *out = list;
    return list ? strcspn(list, ",") : 0;
}

static void close_labels(labels *of)
{
    if (of->is_open)
        gsai_decode_close(&of->stream);
    gsai_free(of->env, of->name);
    of->name = NULL;
    of->is_open = false;
}

/* Opens the labels of the input's file, unless a call was stopped, and checks that there are as many as the file has
 * rows. */
static gsa_status open_labels(labels *of, const gsai_format_input *input, uint64_t n_rows, gsa_error *error)
{
    const gsa_file_source *files = input->options->files;
    const char *name;
    const size_t name_size = find_name(input->options->labels, input->file, &name);
    unsigned char head[GSAI_DECODE_START];
    if (name_size == 0)
        return gsai_fail_param(error, "labels", GSA_ARGUMENT, "%s holds rows without labels: give its labels too",
                               input->name);
    if (!of->is_open) {
        gsai_source source;
        of->name = gsai_alloc_zeroed(of->env, name_size + 1, 1);
        GSAI_TRY_MEMORY(of->name, of->env, error, "no memory for a name");
        memcpy(of->name, name, name_size);
        GSA_TRY(files ? gsai_source_open_given(files, of->name, of->env, &source, error)
                      : gsai_source_open_file(of->name, of->env, &source, error));
        GSA_TRY(gsai_decode_open(&of->stream, &source, of->env, 0, error));
        of->is_open = true;
    }
    GSA_TRY(gsai_decode_peek(&of->stream, error));
    GSA_TRY(parse_header(&of->stream, of->name, &of->header, error));
    if (of->header.width != 1)
        return gsai_fail(error, GSA_ARGUMENT, "%s has %" PRIu64 " columns: expected one label per row", of->name,
                         of->header.width);
    if (of->header.n_rows != n_rows)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s has %" PRIu64 " rows and %s has %" PRIu64 " labels: expected the same number", input->name,
                         n_rows, of->name, of->header.n_rows);
    of->filled = 0;
    return fill_from(&of->stream, of->name, head, of->header.size, &of->filled, error);
}

/* The text of an item, without the NULs that fill it; its size is above GSAI_LABEL_SIZE if it is too long. */
static size_t take_text(const labels *of, const unsigned char *item, char text[GSAI_LABEL_SIZE + 4])
{
    bool is_wide = of->header.kind == 'U', is_big = of->header.is_big;
    size_t size = 0, step = is_wide ? 4 : 1;
    for (size_t at = 0, end = 0; at < of->header.item && end <= GSAI_LABEL_SIZE; at += step) {
        uint32_t c = 0;
        for (size_t i = 0; i < step; i++)
            c |= (uint32_t)item[at + i] << 8 * (is_big ? step - 1 - i : i);
        if (is_wide)
            end = (size_t)(gsai_put_utf8(c <= 0x10FFFF ? c : 0xD800, text + end) - text); /* a surrogate is not text */
        else
            text[end++] = (char)c;
        size = c != 0 ? end : size;
    }
    return size;
}

/* Fills in label i: a number or, if *word is not negative, a word of rows. GSA_INPUT if it is neither. */
static gsa_status take_label(const labels *of, size_t i, gsai_rows *rows, double *label, int32_t *word,
                             gsa_error *error)
{
    const char kind = of->header.kind;
    *word = -1;
    *label = 0;
    if (kind != 'U' && kind != 'S') {
        *label = number_at(&of->header, of->item, i) + 0.0; /* -0 is 0 */
        bool is_exact = strchr("fhb", kind) || fabs(*label) < 0x1p53;
        return isfinite(*label) && is_exact ? GSA_OK
                                            : gsai_fail(error, GSA_INPUT, "its label in %s is %s", of->name,
                                                        is_exact ? "not a finite number" : "beyond 2^53");
    }
    char text[GSAI_LABEL_SIZE + 4];
    size_t size = take_text(of, of->item + i * of->header.item, text);
    const char *objection = gsai_label_objection(text, size);
    if (objection)
        return gsai_fail(error, GSA_INPUT, "its label in %s: %s", of->name, objection);
    return gsai_words_enter(&rows->words, text, size, word, error);
}

gsa_status gsai_npy_labels_check(const gsai_format_input *input, size_t n_files, const gsai_env *env, gsa_error *error)
{
    labels its = {.env = env};
    header found;
    const char *more;
    if (find_name(input->options->labels, (uint32_t)n_files, &more) > 0)
        return gsai_fail_param(error, "labels", GSA_ARGUMENT, "there are more files of labels than of rows (%zu)",
                               n_files);
    GSA_TRY(parse_header(input->stream, input->name, &found, error));
    gsa_status status = open_labels(&its, input, found.n_rows, error);
    close_labels(&its);
    return status;
}

/* ---- offsets ---------------------------------------------------------------------------------------------------- */

/* Returns the statistics of a column in the held rows. */
static gsai_column_stats see(const npy *parser, size_t column)
{
    size_t width = (size_t)parser->header.width;
    gsai_column_stats seen = {0};
    for (size_t i = column; i < parser->held_size / parser->header.item; i += width)
        gsai_stats_add_number(&seen, number_at(&parser->header, parser->held, i), 1);
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
    return fill_from(parser->input->stream, parser->input->name, to, size, &parser->filled, error);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void close_npy(void *memory)
{
    npy *parser = memory;
    close_labels(&parser->labels);
    gsai_free(parser->env, parser->labels.item);
    gsai_free(parser->env, parser->piece);
    gsai_free(parser->env, parser->held);
    gsai_free(parser->env, parser);
}

static void begin_npy(void *memory, gsai_format_input *input)
{
    npy *parser = memory;
    parser->labels.env = parser->env;
    close_labels(&parser->labels);
    parser->input = input;
    parser->has_head = parser->is_begun = false;
    parser->n_rows = 0;
    parser->n_piece = 0;
    parser->held_size = parser->held_at = 0;
}

/* The header, the labels beside it, and what the rows of the first file are measured from. */
static gsa_status prepare_npy(void *memory, gsa_error *error)
{
    npy *parser = memory;
    gsai_format_input *input = parser->input;
    const gsai_schema *schema = input->schema;
    const header *head = &parser->header;
    const char *name = input->name;
    if (parser->is_begun)
        return GSA_OK;
    if (!parser->has_head) { /* else a call was stopped */
        unsigned char bytes[GSAI_DECODE_START];
        size_t filled = 0;
        uint64_t max = gsai_memory_limit(parser->env) / 16;
        GSA_TRY(parse_header(input->stream, name, &parser->header, error));
        if (head->kind == 'U' || head->kind == 'S')
            return gsai_fail(error, GSA_ARGUMENT, "%s holds texts: rows are numbers, labels are given beside them",
                             name);
        if (head->width == 0 || head->width > (uint64_t)GSA_MAX_ID + 1 || head->width > max / sizeof(double))
            return gsai_fail(error, GSA_ARGUMENT, "%s has %" PRIu64 " columns: expected at least one%s", name,
                             head->width, head->width > 0 ? ", and fewer than memory has room for" : "");
        if (parser->width > 0 && head->width != parser->width)
            return gsai_fail(error, GSA_ARGUMENT,
                             "%s has %" PRIu64 " columns and the file before it %" PRIu64 ": expected the same number",
                             name, head->width, parser->width);
        if (!input->options->without_labels)
            GSA_TRY(open_labels(&parser->labels, input, head->n_rows, error));
        GSA_TRY(fill_from(input->stream, name, bytes, head->size, &filled, error));
        parser->has_head = true;
    }
    bool may_decide = !schema->text && input->file == 0 && !parser->is_decided;
    if (may_decide && !input->options->without_offsets && head->width <= MAX_MEASURED)
        GSA_TRY(decide(parser, error));
    if (schema->text && schema->n_numbers != head->width)
        return gsai_fail(error, GSA_ARGUMENT, "%s has %" PRIu64 " columns, and %s %zu", name, head->width,
                         input->schema_from, schema->n_numbers);
    parser->has_offsets = schema->text != NULL;
    parser->width = head->width;
    parser->is_begun = true;
    return GSA_OK;
}

static void convert(const npy *parser, unsigned char *items, size_t n, float *out)
{
    const header *of = &parser->header;
    const gsai_schema *schema = parser->input->schema;
    if (parser->has_offsets) {
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(number_at(of, items, i) - schema->field[schema->number[i % (size_t)of->width]].offset);
    } else if (of->item == 2 && (of->kind == 'f' || of->kind == 'h')) {
        if (of->is_big == gsai_machine_is_little_endian())
            gsai_swap_bytes(items, n, 2);
        gsa_half_read(of->kind == 'h' ? GSA_HALF_BF16 : GSA_HALF_F16, (const uint16_t *)(const void *)items, n, out);
    } else {
        for (size_t i = 0; i < n; i++)
            out[i] = (float)number_at(of, items, i);
    }
}

/* Reads the next piece, of which there is at least one row. Floats of the machine are read to where they stay. */
static gsa_status read_piece(npy *parser, gsai_rows *rows, gsa_error *error)
{
    const header *head = &parser->header;
    labels *its = &parser->labels;
    const size_t width = (size_t)head->width;
    if (parser->n_piece == 0) {
        size_t left = rows->max_rows - rows->n_rows, n = (rows->max_values - rows->n_values) / width + 1;
        n = n < left ? n : left;
        parser->n_piece = head->n_rows - parser->n_rows < n ? (size_t)(head->n_rows - parser->n_rows) : n;
        parser->filled = its->filled = 0;
    }
    const size_t n_rows = parser->n_piece, n = n_rows * width, size = n * head->item;
    const size_t labels_size = its->is_open ? n_rows * its->header.item : 0;
    const bool is_plain = head->kind == 'f' && head->item == sizeof(float) &&
                          head->is_big != gsai_machine_is_little_endian() && !parser->has_offsets;
    GSA_TRY(gsai_rows_reserve_dense(rows, n_rows, width, error));
    float *value = rows->value + rows->n_values;
    GSAI_TRY_MEMORY(is_plain || gsai_reserve(parser->env, &parser->piece, &parser->capacity, size, 1), parser->env,
                    error, "no memory for %zu rows of %zu values", n_rows, width);
    GSA_TRY(fill(parser, is_plain ? (unsigned char *)value : parser->piece, size, error));
    GSAI_TRY_MEMORY(gsai_reserve(its->env, &its->item, &its->capacity, labels_size, 1), its->env, error,
                    "no memory for %zu labels", n_rows);
    if (its->is_open)
        GSA_TRY(fill_from(&its->stream, its->name, its->item, labels_size, &its->filled, error));
    if (!is_plain)
        convert(parser, parser->piece, n, value);
    return GSA_OK;
}

/* Row i of the piece, whose values are behind those of the finished rows or, after bad ones, further on. */
static gsa_status take_row(npy *parser, gsai_rows *rows, size_t i, const float *value, gsa_error *error)
{
    size_t width = rows->width, column = 0;
    double label = 0;
    int32_t word = -1;
    int n_bad = 0;
    uint64_t row = ++parser->n_rows;
    gsai_rows_begin_texts(rows);
    for (size_t c = 0; c < width; c++)
        n_bad |= !isfinite(value[c]);
    if (n_bad) {
        while (isfinite(value[column]))
            column++;
        return gsai_fail_line(error, GSA_INPUT, row, UINT64_MAX, "column %zu holds %s: values must be finite",
                              column + 1, isnan(value[column]) ? "no number (NaN)" : "an infinite number");
    }
    if (parser->labels.is_open) {
        gsa_status status = take_label(&parser->labels, i, rows, &label, &word, error);
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
            GSA_TRY(end_stream(parser->input->stream, parser->input->name, error));
            if (parser->labels.is_open)
                GSA_TRY(end_stream(&parser->labels.stream, parser->labels.name, error));
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

const gsai_format gsai_format_npy = {.title = "an array (.npy)",
                                     .size = sizeof(npy),
                                     .begin = begin_npy,
                                     .read = read_npy,
                                     .close = close_npy,
                                     .prepare = prepare_npy};
