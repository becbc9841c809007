/* Tables as Arrow streams, made of fuzzed bytes: columns of all types, with nulls, offsets, dictionaries and lists.
 * Buffers are as long as the arrays say, which is what the interface has to trust; what is in them is not.
 *
 *   W1  how the rows are cut into batches does not matter;
 *   W2  a stream that can be opened again gives the same rows again;
 *   W3  rows that were read can be written to a cache and read back equal;
 *   W4  schema, arrays and streams are released once each. */
#include "rows.h"

#include "unit/data/arrow_nodes.h"

enum { MOST_COLUMNS = 6, MOST_ROWS = 20, MOST_CHILD = 64, NAME = 15 };

typedef struct column {
    char name[NAME + 1], format[8];
    const char *child_format; /* of lists and dictionaries; NULL: a column of cells */
    bool is_dictionary, has_nulls;
    _Alignas(16) unsigned char valid[16], cells[16 * (MOST_CHILD + 8)], text[256], child[16 * (MOST_CHILD + 8)];
    int64_t sizes[1]; /* of the buffers of views */
    const void *buffer[4], *child_buffer[3];
    int64_t n_buffers, n_child;
} column;

typedef struct table {
    column column[MOST_COLUMNS];
    size_t n_columns, n_rows;
} table;

/* ---- a table of bytes -------------------------------------------------------------------------------------------- */

static void take_bytes(fuzz_input *in, void *out, size_t size)
{
    fuzz_input part = fuzz_part(in, size);
    memcpy(out, part.at, part.left);
    memset((unsigned char *)out + part.left, 0, size - part.left);
}

/* Offsets that mostly ascend and never leave what they point into. */
static void take_offsets(fuzz_input *in, void *out, size_t n, bool is_large, int64_t most)
{
    bool climbs = fuzz_byte(in) < 224;
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        at = climbs ? at + fuzz_byte(in) % 5 : fuzz_byte(in);
        at = at > most ? most : at;
        int32_t small = (int32_t)at;
        if (is_large)
            memcpy((char *)out + 8 * i, &at, 8);
        else
            memcpy((char *)out + 4 * i, &small, 4);
    }
}

static void take_views(fuzz_input *in, column *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t view[4] = {fuzz_byte(in) % 24, 0, fuzz_byte(in) % 4 == 3, fuzz_byte(in) % 240};
        if (view[0] <= 12)
            take_bytes(in, &view[1], 12);
        memcpy(c->cells + 16 * i, view, 16);
    }
    c->sizes[0] = sizeof c->text;
}

/* Cells of the scalar type in `format`, n of them. */
static int64_t take_cells(fuzz_input *in, column *c, const char *format, unsigned char *cells, const void **buffer,
                          size_t n)
{
    static const unsigned char width[] = {['c'] = 1, ['C'] = 1, ['s'] = 2, ['S'] = 2, ['i'] = 4, ['I'] = 4,
                                          ['l'] = 8, ['L'] = 8, ['f'] = 4, ['g'] = 8, ['b'] = 1};
    buffer[0] = c->has_nulls ? c->valid : NULL;
    buffer[1] = cells;
    if (*format == 'n')
        return 0;
    if (strcmp(format, "vu") == 0) {
        take_views(in, c, n);
        buffer[2] = c->text;
        buffer[3] = c->sizes;
        return 4;
    }
    if (*format == 'u' || *format == 'U') {
        take_offsets(in, cells, n + 1, *format == 'U', (int64_t)sizeof c->text);
        buffer[2] = c->text;
        return 3;
    }
    take_bytes(in, cells, n * width[(unsigned char)*format]);
    return 2;
}

static void take_dictionary(fuzz_input *in, column *c, size_t n)
{
    static const char *const indices[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
    static const char *const words[] = {"u", "U", "g", "i"};
    c->is_dictionary = true;
    c->child_format = words[fuzz_byte(in) % 4];
    c->n_child = 1 + fuzz_byte(in) % 8;
    snprintf(c->format, sizeof c->format, "%s", indices[fuzz_byte(in) % 8]);
    c->n_buffers = take_cells(in, c, c->format, c->cells, c->buffer, n);
    bool had_nulls = c->has_nulls;
    c->has_nulls = false;
    take_cells(in, c, c->child_format, c->child, c->child_buffer, (size_t)c->n_child);
    c->has_nulls = had_nulls;
}

static void take_list(fuzz_input *in, column *c, size_t n)
{
    static const char *const cells[] = {"i", "I", "l", "f", "g", "c"};
    uint8_t kind = fuzz_byte(in);
    c->child_format = cells[fuzz_byte(in) % 6];
    c->n_child = MOST_CHILD;
    c->buffer[0] = c->has_nulls ? c->valid : NULL;
    c->buffer[1] = c->cells;
    c->n_buffers = 2;
    if (kind % 3 == 2) {
        snprintf(c->format, sizeof c->format, "+w:%d", kind / 3 % 4);
        c->n_buffers = 1;
    } else {
        snprintf(c->format, sizeof c->format, kind % 3 ? "+L" : "+l");
        take_offsets(in, c->cells, n + 1, kind % 3 == 1, MOST_CHILD);
    }
    take_cells(in, c, c->child_format, c->child, c->child_buffer, MOST_CHILD);
    c->child_buffer[0] = NULL;
}

static void take_table(fuzz_input *in, table *out)
{
    static const char *const formats[] = {"n", "b", "c", "C", "s",  "S", "i", "I",   "l", "L",
                                          "f", "g", "u", "U", "vu", "g", "i", "tdD", "z"};
    static const char *const names[] = {"y", "a", "b", "w", "indices", "values", "label"};
    memset(out, 0, sizeof *out);
    out->n_columns = 1 + fuzz_byte(in) % MOST_COLUMNS;
    out->n_rows = fuzz_byte(in) % (MOST_ROWS + 1);
    for (size_t i = 0; i < out->n_columns; i++) {
        column *c = &out->column[i];
        uint8_t kind = fuzz_byte(in), name = fuzz_byte(in);
        if (name < 200)
            snprintf(c->name, sizeof c->name, "%s", names[(i + name) % 7]);
        else
            fuzz_text(in, c->name, NAME);
        c->has_nulls = kind & 64;
        take_bytes(in, c->valid, 3);
        take_bytes(in, c->text, 24);
        for (size_t k = 24; k < sizeof c->text; k++)
            c->text[k] = c->text[k - 24];
        if (kind >= 224) {
            take_list(in, c, out->n_rows);
        } else if (kind >= 192) {
            take_dictionary(in, c, out->n_rows);
        } else {
            snprintf(c->format, sizeof c->format, "%s", formats[kind % 64 % 19]);
            bool is_cell = (strlen(c->format) == 1 && *c->format != 'z') || *c->format == 'v';
            c->n_buffers = is_cell ? take_cells(in, c, c->format, c->cells, c->buffer, out->n_rows) : 2;
        }
    }
}

/* ---- a stream of it ---------------------------------------------------------------------------------------------- */

typedef struct source {
    const table *of;
    size_t at, step; /* rows of a batch */
    arrow_count count;
} source;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    source *from = stream->private_data;
    *out = arrow_schema_of("+s", "", (int64_t)from->of->n_columns);
    out->private_data = &from->count;
    for (size_t i = 0; i < from->of->n_columns; i++) {
        const column *c = &from->of->column[i];
        bool is_list = c->child_format && !c->is_dictionary;
        out->children[i] = arrow_new_schema(arrow_schema_of(c->format, c->name, is_list ? 1 : 0));
        if (is_list)
            out->children[i]->children[0] = arrow_new_schema(arrow_schema_of(c->child_format, "item", 0));
        else if (c->is_dictionary)
            out->children[i]->dictionary = arrow_new_schema(arrow_schema_of(c->child_format, "", 0));
    }
    from->count.n_open++;
    return 0;
}

static struct ArrowArray *array_of(const column *c, size_t at, size_t n)
{
    bool is_list = c->child_format && !c->is_dictionary;
    struct ArrowArray *out =
        arrow_new_array(arrow_array_of((int64_t)n, (int64_t)at, c->n_buffers, c->buffer, is_list ? 1 : 0));
    struct ArrowArray *child = NULL;
    if (c->child_format)
        child = arrow_new_array(arrow_array_of(
            c->n_child, 0, *c->child_format == 'u' || *c->child_format == 'U' ? 3 : 2, c->child_buffer, 0));
    if (!c->has_nulls)
        out->null_count = 0;
    if (is_list)
        out->children[0] = child;
    else
        out->dictionary = child;
    return out;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static const void *const no_nulls[1];
    source *from = stream->private_data;
    size_t left = from->of->n_rows - from->at, n = left < from->step ? left : from->step;
    *out = (struct ArrowArray){0};
    if (n == 0)
        return 0;
    *out = arrow_array_of((int64_t)n, 0, 1, no_nulls, (int64_t)from->of->n_columns);
    out->null_count = 0;
    out->private_data = &from->count;
    for (size_t i = 0; i < from->of->n_columns; i++)
        out->children[i] = array_of(&from->of->column[i], from->at, n);
    from->count.n_open++;
    from->at += n;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "no error";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    ((source *)stream->private_data)->count.n_open--;
    stream->release = NULL;
}

static int open_stream(void *ctx, struct ArrowArrayStream *out)
{
    source *from = ctx;
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, from};
    from->at = 0;
    from->count.n_open++;
    return 0;
}

/* ---- the properties ---------------------------------------------------------------------------------------------- */

static gsa_reader *open_arrow(source *from, const gsa_reader_options *options)
{
    struct ArrowArrayStream stream;
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    const gsa_arrow_again again = {.size = sizeof again, open_stream, NULL, from};
    open_stream(from, &stream);
    gsa_status status =
        gsa_reader_open_arrow(&stream, &again, options, &fuzz_env.memory, &fuzz_env.call, &reader, &error);
    fuzz_must(status == GSA_OK && !stream.release, "a stream can be opened", error.message);
    return reader;
}

static void check_again(gsa_reader *reader, const fuzz_told *whole)
{
    static fuzz_told other;
    gsa_error error = {0};
    fuzz_must(gsa_reader_rewind(reader, &error) == GSA_OK, "a stream that can be opened again is", error.message);
    fuzz_tell_nothing(&other);
    fuzz_tell_rest(&other, reader);
    fuzz_must_be_same(whole, &other, "a stream opened again has the same rows");
}

static void check_cuts(const table *of, const gsa_reader_options *options, const fuzz_told *whole, size_t step)
{
    static fuzz_told other;
    source from = {.of = of, .step = step};
    gsa_reader *reader = open_arrow(&from, options);
    fuzz_tell_nothing(&other);
    fuzz_tell_rest(&other, reader);
    gsa_reader_close(reader);
    fuzz_must(from.count.n_open == 0, "what was got is released", NULL);
    fuzz_must((whole->status == GSA_END) == (other.status == GSA_END), "in batches it is read or refused alike",
              whole->status == GSA_END ? other.error.message : whole->error.message);
    if (whole->status == GSA_END)
        fuzz_must(fuzz_same(&whole->rows, &other.rows) && whole->n_bad_rows == other.n_bad_rows,
                  "batches do not matter", NULL);
}

static void check_cache(const table *of, const gsa_reader_options *options, const fuzz_told *whole)
{
    static fuzz_bytes file;
    static fuzz_told back;
    source from = {.of = of, .step = MOST_ROWS};
    gsa_error error = {0};
    gsa_status status = fuzz_convert(open_arrow(&from, options), "gsac", &file, &error);
    fuzz_must(status == GSA_OK, "what was read can be written", error.message);
    const fuzz_source written = {file.data, file.size, "written", NULL, {0}, false};
    fuzz_tell(&written, &fuzz_sizes, false, &back);
    fuzz_must(back.status == GSA_END && fuzz_same(&back.rows, &whole->rows), "a cache of it reads back equal",
              back.error.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {NULL, "y", "a", "1", "w", "label", "b,w", "values"};
    static table drawn;
    static fuzz_told whole;
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), how = fuzz_byte(&in), more = fuzz_byte(&in);
    const gsa_reader_options options = {.size = sizeof options,
                                        .label = names[how & 7],
                                        .weight = how & 8 ? "w" : NULL,
                                        .ignore = names[how >> 4 & 7],
                                        .categorical = more & 1 ? "a" : NULL,
                                        .cross = more & 2 ? "a:b" : NULL,
                                        .bits = more & 4 ? 4 : 0,
                                        .skip_bad_rows = more >> 3 & 1,
                                        .without_labels = more >> 4 & 1};
    take_table(&in, &drawn);
    source from = {.of = &drawn, .step = MOST_ROWS};
    gsa_reader *reader = open_arrow(&from, &options);
    fuzz_tell_nothing(&whole);
    fuzz_tell_rest(&whole, reader);
    if (what % 4 == 0 && whole.status == GSA_END)
        check_again(reader, &whole);
    gsa_reader_close(reader);
    fuzz_must(from.count.n_open == 0, "what was got is released", NULL);
    if (what % 4 == 1)
        check_cuts(&drawn, &options, &whole, 1 + what / 4 % 5);
    if (what % 4 == 2 && whole.status == GSA_END && !options.without_labels)
        check_cache(&drawn, &options, &whole);
    return 0;
}
