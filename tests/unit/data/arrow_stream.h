/* Arrow streams of columns that lie in static memory, for tests: against the same table as text, or refused. */
#ifndef GSA_TESTS_DATA_ARROW_STREAM_H
#define GSA_TESTS_DATA_ARROW_STREAM_H

#include "unit/data/arrow_nodes.h"
#include "unit/data/support.h"

#include <errno.h>
#include <math.h>

/* ---- a stream --------------------------------------------------------------------------------------------------- */

typedef struct plan {
    const char *name, *format;
    int64_t length, offset, n_buffers;
    const void *buffer[4];
    const struct plan *child, *dictionary;
} plan;

typedef struct source {
    const plan *column; /* n_columns of the first batch, then those of the next */
    int64_t n_columns, n_batches;
    int64_t length[4], offset[4]; /* of batches */
    int64_t at, fail_at;          /* fail_at: the batch that fails, from 1; -1: the schema */
    int n_streams;                /* released */
    arrow_count count;
} source;

static inline struct ArrowSchema make_schema(const plan *of)
{
    struct ArrowSchema out = arrow_schema_of(of->format, of->name, of->child ? 1 : 0);
    if (of->child)
        out.children[0] = arrow_new_schema(make_schema(of->child));
    if (of->dictionary)
        out.dictionary = arrow_new_schema(make_schema(of->dictionary));
    return out;
}

static inline struct ArrowArray make_array(const plan *of)
{
    struct ArrowArray out = arrow_array_of(of->length, of->offset, of->n_buffers, of->buffer, of->child ? 1 : 0);
    if (of->child)
        out.children[0] = arrow_new_array(make_array(of->child));
    if (of->dictionary)
        out.dictionary = arrow_new_array(make_array(of->dictionary));
    return out;
}

static inline int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    source *from = stream->private_data;
    if (from->fail_at == -1)
        return EIO;
    *out = arrow_schema_of("+s", NULL, from->n_columns);
    out->private_data = &from->count;
    for (int64_t i = 0; i < from->n_columns; i++)
        out->children[i] = arrow_new_schema(make_schema(&from->column[i]));
    from->count.n_open++;
    return 0;
}

static inline int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static const void *const no_nulls[1];
    source *from = stream->private_data;
    *out = (struct ArrowArray){0};
    if (from->at == from->n_batches)
        return 0;
    int64_t batch = from->at++;
    if (from->at == from->fail_at)
        return EIO;
    *out = arrow_array_of(from->length[batch], from->offset[batch], 1, no_nulls, from->n_columns);
    out->null_count = 0;
    out->private_data = &from->count;
    for (int64_t i = 0; i < from->n_columns; i++)
        out->children[i] = arrow_new_array(make_array(&from->column[batch * from->n_columns + i]));
    from->count.n_open++;
    return 0;
}

static inline const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the disk is full of ducks";
}

static inline void release_stream(struct ArrowArrayStream *stream)
{
    ((source *)stream->private_data)->n_streams++;
    stream->release = NULL;
}

static inline gsa_status open_arrow(source *from, const gsa_reader_options *options, const gsai_env *env,
                                    gsa_reader **out, gsa_error *error)
{
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, from};
    gsa_status status = gsa_reader_open_arrow(&stream, NULL, options, memory_of(env), call_of(env), out, error);
    assert_null(stream.release);
    return status;
}

/* All of a reader, without places; closes it. */
static inline char *dump(gsa_reader *reader, gsa_status *status, gsa_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    gsa_batch batch;
    while ((*status = gsa_reader_next(reader, &batch, error)) == GSA_OK) {
        batch.place = NULL;
        for (size_t r = 0; r < batch.n_rows && batch.weight; r++)
            fprintf(out, "%a ", (double)batch.weight[r]);
        dump_batch(out, &batch);
        dump_cells(out, reader, batch.n_rows);
    }
    fprintf(out, "%s", gsa_reader_schema(reader) ? gsa_reader_schema(reader) : "no schema");
    fclose(out);
    gsa_reader_close(reader);
    return text;
}

static inline char *dump_arrow(source *from, const gsa_reader_options *options)
{
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_status status = open_arrow(from, options, NULL, &reader, &error);
    assert_int_equal(status, GSA_OK);
    char *text = dump(reader, &status, &error);
    if (status != GSA_END)
        print_message("%s\n", error.message);
    assert_int_equal(status, GSA_END);
    assert_int_equal(from->n_streams, 1);
    assert_int_equal(from->count.n_schemas, 1);
    assert_int_equal(from->count.n_open, 0);
    return text;
}

static inline void assert_same_as_csv(source *from, const char *table, const gsa_reader_options *options)
{
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_status status;
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", options, NULL, NULL, &reader, &error),
                     GSA_OK);
    char *csv = dump(reader, &status, &error);
    if (status != GSA_END)
        print_message("%s\n", error.message);
    assert_int_equal(status, GSA_END);
    char *arrow = dump_arrow(from, options);
    assert_string_equal(arrow, csv);
    free(arrow);
    free(csv);
}

/* Fails with this status and a message that has both parts in it, and releases all. */
static inline void assert_refused(source *from, const gsa_reader_options *options, gsa_status expected,
                                  const char *part, const char *other)
{
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_status status = open_arrow(from, options, NULL, &reader, &error);
    if (status == GSA_OK)
        free(dump(reader, &status, &error));
    if (status != expected || !strstr(error.message, part) || !strstr(error.message, other))
        print_message("%s\n", error.message);
    assert_int_equal(status, expected);
    assert_non_null(strstr(error.message, part));
    assert_non_null(strstr(error.message, other));
    assert_int_equal(from->n_streams, 1);
    assert_int_equal(from->count.n_open, 0);
}

#define N(array) (sizeof(array) / sizeof *(array))
/* Of one batch without an offset. */
#define SOURCE(columns, rows)                                                                      \
    {                                                                                              \
        .column = (columns), .n_columns = (int64_t)N(columns), .n_batches = 1, .length = {(rows) } \
    }

static const int32_t labels[] = {1, 0, 1, 0, 1, 1};
#define LABEL(rows)                                                                              \
    {                                                                                            \
        .name = "y", .format = "i", .length = (rows), .n_buffers = 2, .buffer = { NULL, labels } \
    }

static const char words[] = "oslo"
                            "rome"
                            "NaN"
                            "a rather long name of a town"
                            "rome";
static const int32_t word_at[] = {0, 4, 8, 11, 11, 39, 43};
static const int64_t word_at_large[] = {0, 4, 8, 11, 11, 39, 43};

static const int32_t ids[] = {0, 4, 9, 5, 5, 1, 3};
static const float values[] = {1, 0.5f, NAN, 2, 3, 1, 7};
static const plan id_items = {"item", "i", 7, 0, 2, {NULL, ids}, NULL, NULL};
static const plan value_items = {"item", "f", 7, 0, 2, {NULL, values}, NULL, NULL};
static const int32_t list_at[] = {0, 3, 3, 6, 7};
static const int64_t list_at_large[] = {0, 3, 3, 6, 7};
static const uint8_t not_the_last[] = {7};

#endif
