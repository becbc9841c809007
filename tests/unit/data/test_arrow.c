/* Arrow streams made by hand: against the same table as text, in pieces, damaged, and released once. */
#include "support.h"

#include <greedystep/arrow.h>

#include <errno.h>
#include <math.h>

/* ---- a stream of columns that lie in static memory -------------------------------------------------------------- */

typedef struct plan {
    const char *name, *format;
    int64_t length, offset, n_buffers;
    const void *buffer[4];
    const struct plan *child, *dictionary;
} plan;

typedef struct source {
    const plan *column; /* n_columns of the first batch, then those of the next */
    int64_t n_columns, n_batches;
    int64_t length[4], offset[4];               /* of batches */
    int64_t at, fail_at;                        /* fail_at: the batch that fails, from 1; -1: the schema */
    int n_streams, n_schemas, n_arrays, n_open; /* released; those that are not, the stream without */
} source;

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->children);
    if (schema->private_data) {
        ((source *)schema->private_data)->n_schemas++;
        ((source *)schema->private_data)->n_open--;
    }
    schema->release = NULL;
}

static void make_schema(const plan *of, struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){.format = of->format, .name = of->name, .release = release_schema};
    if (of->child) {
        out->n_children = 1;
        out->children = calloc(1, sizeof *out->children);
        out->children[0] = calloc(1, sizeof **out->children);
        make_schema(of->child, out->children[0]);
    }
    if (of->dictionary) {
        out->dictionary = calloc(1, sizeof *out->dictionary);
        make_schema(of->dictionary, out->dictionary);
    }
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    if (array->dictionary)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    free(array->children);
    free(array->buffers);
    if (array->private_data) {
        ((source *)array->private_data)->n_arrays++;
        ((source *)array->private_data)->n_open--;
    }
    array->release = NULL;
}

static void make_array(const plan *of, struct ArrowArray *out)
{
    *out = (struct ArrowArray){.length = of->length,
                               .offset = of->offset,
                               .null_count = -1,
                               .n_buffers = of->n_buffers,
                               .buffers = calloc(4, sizeof *out->buffers),
                               .release = release_array};
    memcpy(out->buffers, of->buffer, sizeof of->buffer);
    if (of->child) {
        out->n_children = 1;
        out->children = calloc(1, sizeof *out->children);
        out->children[0] = calloc(1, sizeof **out->children);
        make_array(of->child, out->children[0]);
    }
    if (of->dictionary) {
        out->dictionary = calloc(1, sizeof *out->dictionary);
        make_array(of->dictionary, out->dictionary);
    }
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    source *from = stream->private_data;
    if (from->fail_at == -1)
        return EIO;
    *out = (struct ArrowSchema){.format = "+s",
                                .n_children = from->n_columns,
                                .children = calloc((size_t)from->n_columns, sizeof *out->children),
                                .release = release_schema,
                                .private_data = from};
    for (int64_t i = 0; i < from->n_columns; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        make_schema(&from->column[i], out->children[i]);
    }
    from->n_open++;
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    source *from = stream->private_data;
    *out = (struct ArrowArray){0};
    if (from->at == from->n_batches)
        return 0;
    int64_t batch = from->at++;
    if (from->at == from->fail_at)
        return EIO;
    *out = (struct ArrowArray){.length = from->length[batch],
                               .offset = from->offset[batch],
                               .n_buffers = 1,
                               .buffers = calloc(1, sizeof *out->buffers),
                               .n_children = from->n_columns,
                               .children = calloc((size_t)from->n_columns, sizeof *out->children),
                               .release = release_array,
                               .private_data = from};
    for (int64_t i = 0; i < from->n_columns; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        make_array(&from->column[batch * from->n_columns + i], out->children[i]);
    }
    from->n_open++;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the disk is full of ducks";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    ((source *)stream->private_data)->n_streams++;
    stream->release = NULL;
}

static gsa_status open_arrow(source *from, const gsa_reader_options *options, const gsa_env *env, gsa_reader **out,
                             gsa_error *error)
{
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, from};
    gsa_status status = gsa_reader_open_arrow(&stream, NULL, options, env, out, error);
    assert_null(stream.release);
    return status;
}

/* All of a reader, without places; closes it. */
static char *dump(gsa_reader *reader, gsa_status *status, gsa_error *error)
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

static char *dump_arrow(source *from, const gsa_reader_options *options)
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
    assert_int_equal(from->n_schemas, 1);
    assert_int_equal(from->n_open, 0);
    return text;
}

static void assert_same_as_csv(source *from, const char *table, const gsa_reader_options *options)
{
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_status status;
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", options, NULL, &reader, &error), GSA_OK);
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
static void assert_refused(source *from, const gsa_reader_options *options, gsa_status expected, const char *part,
                           const char *other)
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
    assert_int_equal(from->n_open, 0);
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

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static void arrow_numbers_of_every_type_are_those_of_text(void **state)
{
    (void)state;
    static const int8_t c[] = {-128, 127};
    static const uint8_t C[] = {255, 1}, b[] = {2};
    static const int16_t s[] = {-32768, 5};
    static const uint16_t S[] = {65535, 0};
    static const int32_t i[] = {-2147483647, 7};
    static const uint32_t I[] = {4294967295u, 8};
    static const int64_t l[] = {-9007199254740993, 16777217};
    static const uint64_t L[] = {18446744073709551615u, 9};
    static const float f[] = {0.1f, -1.5f};
    static const double g[] = {0.1, 1e-40};
    const plan columns[] = {LABEL(2),
                            {"c", "c", 2, 0, 2, {NULL, c}, NULL, NULL},
                            {"C", "C", 2, 0, 2, {NULL, C}, NULL, NULL},
                            {"s", "s", 2, 0, 2, {NULL, s}, NULL, NULL},
                            {"S", "S", 2, 0, 2, {NULL, S}, NULL, NULL},
                            {"i", "i", 2, 0, 2, {NULL, i}, NULL, NULL},
                            {"I", "I", 2, 0, 2, {NULL, I}, NULL, NULL},
                            {"l", "l", 2, 0, 2, {NULL, l}, NULL, NULL},
                            {"L", "L", 2, 0, 2, {NULL, L}, NULL, NULL},
                            {"f", "f", 2, 0, 2, {NULL, f}, NULL, NULL},
                            {"g", "g", 2, 0, 2, {NULL, g}, NULL, NULL},
                            {"b", "b", 2, 0, 2, {NULL, b}, NULL, NULL},
                            {"n", "n", 2, 0, 0, {NULL}, NULL, NULL}};
    source from = SOURCE(columns, 2);
    assert_same_as_csv(
        &from,
        "y,c,C,s,S,i,I,l,L,f,g,b,n\n"
        "1,-128,255,-32768,65535,-2147483647,4294967295,-9007199254740993,18446744073709551615,0.1,0.1,0,\n"
        "0,127,1,5,0,7,8,16777217,9,-1.5,1e-40,1,\n",
        NULL);
}

static void arrow_null_and_nan_are_absent_whatever_the_offset(void **state)
{
    (void)state;
    static const double a[] = {9, 9, 9, 1, 2, NAN, 4, 5};
    static const uint8_t a_valid[] = {0xEF}, b_valid[] = {0xFF, 0xFB}; /* a: not 4; b: not 10 */
    static const int32_t b[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 12, 13, 14, 15};
    const plan columns[] = {
        LABEL(5), {"a", "g", 5, 3, 2, {a_valid, a}, NULL, NULL}, {"b", "i", 5, 9, 2, {b_valid, b}, NULL, NULL}};
    source from = SOURCE(columns, 5);
    assert_same_as_csv(&from, "y,a,b\n1,1,11\n0,,\n1,,13\n0,4,14\n1,5,15\n", &(gsa_reader_options){.keep_cells = 1});
}

static const char words[] = "oslo"
                            "rome"
                            "NaN"
                            "a rather long name of a town"
                            "rome";
static const int32_t word_at[] = {0, 4, 8, 11, 11, 39, 43};
static const int64_t word_at_large[] = {0, 4, 8, 11, 11, 39, 43};
static const char table_of_words[] = "y,w\n1,oslo\n0,rome\n1,NaN\n0,\n1,a rather long name of a town\n1,rome\n";

static void arrow_text_is_words(void **state)
{
    (void)state;
    const gsa_reader_options options = {.remember_names = 1, .keep_cells = 1};
    const plan small[] = {LABEL(6), {"w", "u", 6, 0, 3, {NULL, word_at, words}, NULL, NULL}};
    const plan large[] = {LABEL(6), {"w", "U", 6, 0, 3, {NULL, word_at_large, words}, NULL, NULL}};
    source from = SOURCE(small, 6), from_large = SOURCE(large, 6);
    assert_same_as_csv(&from, table_of_words, &options);
    assert_same_as_csv(&from_large, table_of_words, &options);
}

typedef struct short_view {
    int32_t size;
    char text[12];
} short_view;

static void arrow_text_views_are_words(void **state)
{
    (void)state;
    short_view views[] = {{4, "oslo"}, {4, "rome"}, {3, "NaN"}, {0, ""}, {28, "a ra"}, {4, "rome"}};
    const int32_t where[] = {0, 2};
    memcpy(views[4].text + 4, where, sizeof where);
    static const char data[] = "xxa rather long name of a town";
    int64_t sizes[] = {30};
    plan columns[] = {LABEL(6), {"w", "vu", 6, 0, 4, {NULL, views, data, sizes}, NULL, NULL}};
    source from = SOURCE(columns, 6), again = SOURCE(columns, 6);
    assert_same_as_csv(&from, table_of_words, NULL);
    sizes[0] = 29;
    assert_refused(&again, NULL, GSA_FORMAT, "'w'", "views");
}

static void arrow_dictionaries_are_their_values(void **state)
{
    (void)state;
    static const plan towns = {NULL, "u", 4, 1, 3, {NULL, word_at, words}, NULL, NULL}; /* rome NaN "" long */
    static const double prices[] = {2.5, NAN};
    static const plan price = {NULL, "g", 2, 0, 2, {NULL, prices}, NULL, NULL};
    static const int8_t town_at[] = {3, 0, 1, 2, 99, 0};
    static const uint8_t valid[] = {0xEF};
    static const uint16_t price_at[] = {0, 0, 1, 0, 1, 0};
    const plan columns[] = {LABEL(6),
                            {"t", "c", 6, 0, 2, {valid, town_at}, NULL, &towns},
                            {"p", "S", 6, 0, 2, {NULL, price_at}, NULL, &price}};
    source from = SOURCE(columns, 6);
    assert_same_as_csv(&from, "y,t,p\n1,a rather long name of a town,2.5\n0,rome,2.5\n1,,\n0,,2.5\n1,,\n1,rome,2.5\n",
                       NULL);
}

static void an_arrow_dictionary_is_that_of_its_batch(void **state)
{
    (void)state;
    static const char text[] = "oslobergenrome";
    static const int32_t first_at[] = {0, 4, 10}, then_at[] = {4, 10, 14};
    static const plan first = {NULL, "u", 2, 0, 3, {NULL, first_at, text}, NULL, NULL};
    static const plan then = {NULL, "u", 2, 0, 3, {NULL, then_at, text}, NULL, NULL};
    static const double y[] = {1, 0, 1, 0};
    static const int32_t place[] = {0, 1, 1, 0};
    const plan columns[] = {{"y", "g", 4, 0, 2, {NULL, y}, NULL, NULL},
                            {"t", "i", 4, 0, 2, {NULL, place}, NULL, &first},
                            {"y", "g", 4, 0, 2, {NULL, y}, NULL, NULL},
                            {"t", "i", 4, 0, 2, {NULL, place}, NULL, &then}};
    source from = {.column = columns, .n_columns = 2, .n_batches = 2, .length = {4, 4}};
    assert_same_as_csv(&from, "y,t\n1,oslo\n0,bergen\n1,bergen\n0,oslo\n1,bergen\n0,rome\n1,rome\n0,bergen\n", NULL);
}

static void arrow_columns_taken_for_words_and_crossed_are_those_of_text(void **state)
{
    (void)state;
    static const int64_t id[] = {9007199254740993, -4};
    static const uint64_t wide[] = {18446744073709551615u, 3};
    static const float x[] = {2.5f, 0.5f};
    const plan columns[] = {LABEL(2),
                            {"id", "l", 2, 0, 2, {NULL, id}, NULL, NULL},
                            {"wide", "L", 2, 0, 2, {NULL, wide}, NULL, NULL},
                            {"x", "f", 2, 0, 2, {NULL, x}, NULL, NULL}};
    const gsa_reader_options options = {
        .categorical = "id,wide", .cross = "id*x,id*wide", .bits = 20, .remember_names = 1};
    source from = SOURCE(columns, 2);
    assert_same_as_csv(&from, "y,id,wide,x\n1,9007199254740993,18446744073709551615,2.5\n0,-4,3,0.5\n", &options);
}

static void arrow_labels_and_weights_are_those_of_text(void **state)
{
    (void)state;
    static const char text[] = "1yes2.5"; /* no byte between a number and what follows */
    static const int32_t at[] = {0, 1, 4, 5, 7};
    static const float w[] = {1, 0.5f, 2, 0};
    static const double x[] = {1, 2, 3, 4};
    const plan columns[] = {{"l", "u", 4, 0, 3, {NULL, at, text}, NULL, NULL},
                            {"w", "f", 4, 0, 2, {NULL, w}, NULL, NULL},
                            {"x", "g", 4, 0, 2, {NULL, x}, NULL, NULL},
                            {"when", "tsu:", 4, 0, 2, {NULL, x}, NULL, NULL}};
    const gsa_reader_options options = {.label = "l", .weight = "w", .ignore = "when"};
    source from = SOURCE(columns, 4);
    assert_same_as_csv(&from, "l,w,x,when\n1,1,1,a\nyes,0.5,2,b\n2,2,3,c\n.5,0,4,d\n", &options);
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static void arrow_batches_and_slices_make_one_table(void **state)
{
    (void)state;
    static const int32_t y[] = {7, 1, 0, 1, 7}, x[] = {9, 9, 1, 2, 3, 9};
    const plan columns[] = {
        {"y", "i", 5, 0, 2, {NULL, y}, NULL, NULL},    {"x", "i", 4, 1, 2, {NULL, x}, NULL, NULL},
        {"y", "i", 0, 0, 2, {NULL, NULL}, NULL, NULL}, {"x", "i", 0, 0, 2, {NULL, NULL}, NULL, NULL},
        {"y", "i", 1, 2, 2, {NULL, y}, NULL, NULL},    {"x", "i", 1, 5, 2, {NULL, x}, NULL, NULL}};
    source from = {.column = columns, .n_columns = 2, .n_batches = 3, .length = {3, 0, 1}, .offset = {1, 0, 0}};
    assert_same_as_csv(&from, "y,x\n1,1\n0,2\n1,3\n0,9\n", NULL);
    assert_int_equal(from.n_arrays, 3);
}

static void arrow_rows_fill_batches_as_text_does(void **state)
{
    (void)state;
    enum { ROWS = 10000 };
    static int32_t y[ROWS], x[ROWS];
    char *table = malloc(ROWS * 16), *end = table + sprintf(table, "y,x\n");
    for (int r = 0; r < ROWS; r++) {
        y[r] = r % 2;
        x[r] = r + 1;
        end += sprintf(end, "%d,%d\n", y[r], x[r]);
    }
    const plan columns[] = {{"y", "i", 4097, 0, 2, {NULL, y}, NULL, NULL},
                            {"x", "i", 4097, 0, 2, {NULL, x}, NULL, NULL},
                            {"y", "i", 5903, 4097, 2, {NULL, y}, NULL, NULL},
                            {"x", "i", 5903, 4097, 2, {NULL, x}, NULL, NULL}};
    source from = {.column = columns, .n_columns = 2, .n_batches = 2, .length = {4097, 5903}};
    assert_same_as_csv(&from, table, NULL);
    free(table);
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static const int32_t ids[] = {0, 4, 9, 5, 5, 1, 3};
static const float values[] = {1, 0.5f, NAN, 2, 3, 1, 7};
static const plan id_items = {"item", "i", 7, 0, 2, {NULL, ids}, NULL, NULL};
static const plan value_items = {"item", "f", 7, 0, 2, {NULL, values}, NULL, NULL};
static const int32_t list_at[] = {0, 3, 3, 6, 7};
static const int64_t list_at_large[] = {0, 3, 3, 6, 7};
static const uint8_t not_the_last[] = {7};

static void assert_rows(source *from, const gsa_reader_options *options, const char *expected)
{
    char *text = dump_arrow(from, options);
    assert_string_equal(text, expected);
    free(text);
}

static void arrow_lists_are_sparse_rows(void **state)
{
    (void)state;
    const char expected[] =
        "0x1p+0 0=0x1p+0 4=0x1p-1\n0x0p+0\n0x1p+0 1=0x1p+0 5=0x1.4p+2\n0x0p+0\n-- values\nno schema";
    const plan named[] = {LABEL(4),
                          {"other", "+l", 4, 0, 2, {NULL, list_at}, &id_items, NULL},
                          {"values", "+L", 4, 0, 2, {not_the_last, list_at_large}, &value_items, NULL},
                          {"indices", "+l", 4, 0, 2, {not_the_last, list_at}, &id_items, NULL}};
    const plan alone[] = {LABEL(4),
                          {"b", "+l", 4, 0, 2, {not_the_last, list_at}, &value_items, NULL},
                          {"a", "+L", 4, 0, 2, {not_the_last, list_at_large}, &id_items, NULL}};
    const gsa_reader_options ignore = {.ignore = "other"};
    source from = SOURCE(named, 4), from_alone = SOURCE(alone, 4), unclear = SOURCE(named, 4);
    assert_rows(&from, &ignore, expected);
    assert_rows(&from_alone, NULL, expected);
    assert_refused(&unclear, NULL, GSA_ARGUMENT, "'other'", "which lists");
}

static void arrow_list_of_fixed_size_is_a_dense_row(void **state)
{
    (void)state;
    const plan columns[] = {LABEL(2), {"v", "+w:3", 2, 0, 1, {NULL}, &value_items, NULL}};
    source from = SOURCE(columns, 2), crossed = SOURCE(columns, 2);
    assert_rows(&from, NULL, "0x1p+0 0=0x1p+0 1=0x1p-1\n0x0p+0 0=0x1p+1 1=0x1.8p+1 2=0x1p+0\n-- values\nno schema");
    const gsa_reader_options options = {.cross = "v*v"};
    assert_refused(&crossed, &options, GSA_ARGUMENT, "'v'", "list");
}

static void arrow_lists_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const int32_t descending[] = {0, 3, 2, 6, 7}, beyond[] = {0, 3, 3, 6, 8}, negative[] = {-1, 0, 0, 0, 0};
    static const int32_t bad_ids[] = {0, -4, 9, 5, 5, 1, 3}, other_at[] = {0, 2, 3, 6, 7};
    static const plan bad_items = {"item", "i", 7, 0, 2, {NULL, bad_ids}, NULL, NULL};
    const struct {
        const int32_t *at;
        const plan *items;
        gsa_status status;
        const char *part;
    } cases[] = {{descending, &id_items, GSA_FORMAT, "offsets"},
                 {beyond, &id_items, GSA_FORMAT, "offsets"},
                 {negative, &id_items, GSA_FORMAT, "offsets"},
                 {list_at, &bad_items, GSA_INPUT, "'-4'"},
                 {other_at, &id_items, GSA_INPUT, "2 ids and 3 values"}};
    for (size_t i = 0; i < N(cases); i++) {
        const plan columns[] = {LABEL(4),
                                {"indices", "+l", 4, 0, 2, {NULL, cases[i].at}, cases[i].items, NULL},
                                {"values", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
        source from = SOURCE(columns, 4);
        assert_refused(&from, NULL, cases[i].status, cases[i].part, "the Arrow stream");
    }
    const plan beside[] = {LABEL(4),
                           {"age", "i", 4, 0, 2, {NULL, ids}, NULL, NULL},
                           {"indices", "+l", 4, 0, 2, {NULL, list_at}, &id_items, NULL},
                           {"values", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
    const plan lonely[] = {LABEL(4), {"v", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
    const plan wide[] = {LABEL(3), {"v", "+w:3", 3, 0, 1, {NULL}, &value_items, NULL}};
    source from = SOURCE(beside, 4), from_lonely = SOURCE(lonely, 4), from_wide = SOURCE(wide, 3);
    assert_refused(&from, NULL, GSA_ARGUMENT, "'age'", "not in both");
    assert_refused(&from_lonely, NULL, GSA_ARGUMENT, "'v'", "which lists");
    assert_refused(&from_wide, NULL, GSA_FORMAT, "'v'", "fewer items");
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void arrow_types_that_are_not_read_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const types[][2] = {{"d:10,2", "decimal"}, {"tsu:UTC", "timestamp"}, {"tdD", "date"},
                                           {"e", "half float"},   {"z", "binary"},          {"+s", "struct"},
                                           {"w:4", "fixed-size"}, {"ttm", "time"},          {"+m", "map"}};
    static const double x[] = {1};
    for (size_t i = 0; i < N(types); i++) {
        const plan columns[] = {LABEL(1), {"price", types[i][0], 1, 0, 2, {NULL, x}, NULL, NULL}};
        source from = SOURCE(columns, 1);
        assert_refused(&from, NULL, GSA_ARGUMENT, "column 'price'", types[i][1]);
    }
}

/* A cell that cannot be what its column is: named with what it holds, as in text. */
static void arrow_cells_that_cannot_be_are_refused_by_what_they_hold(void **state)
{
    (void)state;
    static const char long_text[300] = "x";
    static const int32_t long_at[] = {0, 300}, town_at[] = {0, 4};
    static const double infinite[] = {-INFINITY}, large[] = {1e30};
    static const float one[] = {1};
    const plan long_label[] = {{"y", "u", 1, 0, 3, {NULL, long_at, long_text}, NULL, NULL},
                               {"x", "f", 1, 0, 2, {NULL, one}, NULL, NULL}};
    const plan word[] = {LABEL(1), {"x", "g", 1, 0, 2, {NULL, infinite}, NULL, NULL}};
    const plan product[] = {
        LABEL(1), {"a", "g", 1, 0, 2, {NULL, large}, NULL, NULL}, {"b", "g", 1, 0, 2, {NULL, large}, NULL, NULL}};
    const plan weight[] = {LABEL(1),
                           {"w", "u", 1, 0, 3, {NULL, town_at, words}, NULL, NULL},
                           {"x", "f", 1, 0, 2, {NULL, one}, NULL, NULL}};
    source of_label = SOURCE(long_label, 1), of_word = SOURCE(word, 1), of_product = SOURCE(product, 1),
           of_weight = SOURCE(weight, 1);
    assert_refused(&of_label, NULL, GSA_INPUT, "column 'y' holds 'x", "a label has at most 255 bytes");
    assert_refused(&of_word, &(gsa_reader_options){.categorical = "x"}, GSA_INPUT, "column 'x' holds '-inf'",
                   "values must be finite");
    assert_refused(&of_product, &(gsa_reader_options){.cross = "a*b"}, GSA_INPUT, "column 'a' holds '1e30'", "product");
    assert_refused(&of_weight, &(gsa_reader_options){.weight = "w"}, GSA_ARGUMENT, "column 'w'",
                   "it holds text, and a weight is a number");
}

static void arrow_floats_taken_for_words_are_those_of_text(void **state)
{
    (void)state;
    static const double zip[] = {10115, 0.5, NAN};
    static const float f[] = {1.5f, -2, 3};
    const plan columns[] = {
        LABEL(3), {"zip", "g", 3, 0, 2, {NULL, zip}, NULL, NULL}, {"f", "f", 3, 0, 2, {NULL, f}, NULL, NULL}};
    source from = SOURCE(columns, 3);
    assert_same_as_csv(&from, "y,zip,f\n1,10115,1.5\n0,0.5,-2\n1,,3\n",
                       &(gsa_reader_options){.categorical = "zip,f", .remember_names = 1});
}

static void arrow_items_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const int32_t at[] = {0, 2}, same_id[] = {3, 3}, descending[] = {3, 1};
    static const double beyond[] = {1, 1e300}, most[] = {3e38, 3e38};
    static const plan two_ids = {"item", "i", 2, 0, 2, {NULL, same_id}, NULL, NULL},
                      back = {"item", "i", 2, 0, 2, {NULL, descending}, NULL, NULL},
                      too_large = {"item", "g", 2, 0, 2, {NULL, beyond}, NULL, NULL},
                      large = {"item", "g", 2, 0, 2, {NULL, most}, NULL, NULL};
    const struct {
        const plan *ids, *values;
        const char *part;
    } cases[] = {{&back, &too_large, "column 'values' holds '1e300'"},
                 {&two_ids, &large, "values of one id have no finite sum"}};
    for (size_t i = 0; i < N(cases); i++) {
        const plan columns[] = {LABEL(1),
                                {"indices", "+l", 1, 0, 2, {NULL, at}, cases[i].ids, NULL},
                                {"values", "+l", 1, 0, 2, {NULL, at}, cases[i].values, NULL}};
        source from = SOURCE(columns, 1);
        assert_refused(&from, NULL, GSA_INPUT, cases[i].part, "the Arrow stream, row 1");
    }
}

/* What a producer may get wrong about its own arrays. */
static int next_without_columns(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int code = get_next(stream, out);
    if (code == 0 && out->release) {
        out->children[0]->release(out->children[0]);
        free(out->children[0]);
        out->n_children = 0;
    }
    return code;
}

static int next_without_items(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int code = get_next(stream, out);
    for (int64_t i = 0; code == 0 && out->release && i < out->n_children; i++) {
        struct ArrowArray *column = out->children[i];
        for (int64_t j = 0; j < column->n_children; j++) {
            column->children[j]->release(column->children[j]);
            free(column->children[j]);
        }
        column->n_children = 0;
        if (column->dictionary) {
            column->dictionary->release(column->dictionary);
            free(column->dictionary);
            column->dictionary = NULL;
        }
    }
    return code;
}

static void arrow_arrays_without_their_parts_are_refused(void **state)
{
    (void)state;
    static const int32_t at[] = {0, 1}, id[] = {3};
    static const int8_t number[] = {0};
    static const double index[] = {0};
    static const plan item = {"item", "i", 1, 0, 2, {NULL, id}, NULL, NULL};
    static const plan towns = {NULL, "u", 6, 0, 3, {NULL, word_at, words}, NULL, NULL};
    const plan alone[] = {LABEL(1)};
    const plan list[] = {LABEL(1),
                         {"indices", "+l", 1, 0, 2, {NULL, at}, &item, NULL},
                         {"values", "+l", 1, 0, 2, {NULL, at}, &item, NULL}};
    const plan words_of[] = {LABEL(1), {"town", "c", 1, 0, 2, {NULL, number}, NULL, &towns}};
    const plan by_float[] = {LABEL(1), {"town", "g", 1, 0, 2, {NULL, index}, NULL, &towns}};
    const plan unknown[] = {LABEL(1), {"town", "?!", 1, 0, 2, {NULL, index}, NULL, NULL}};
    source from_alone = SOURCE(alone, 1), from_list = SOURCE(list, 1), from_words = SOURCE(words_of, 1),
           from_float = SOURCE(by_float, 1), from_unknown = SOURCE(unknown, 1);
    const struct {
        source *from;
        int (*next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
        gsa_status status;
        const char *message;
    } cases[] = {{&from_alone, next_without_columns, GSA_FORMAT, "a batch does not have the columns of the schema"},
                 {&from_list, next_without_items, GSA_FORMAT, "the items of its list are missing"},
                 {&from_words, next_without_items, GSA_FORMAT, "column 'town'"},
                 {&from_float, get_next, GSA_ARGUMENT, "column 'town'"},
                 {&from_unknown, get_next, GSA_ARGUMENT, "?!"}};
    for (size_t i = 0; i < N(cases); i++) {
        struct ArrowArrayStream stream = {get_schema, cases[i].next, get_last_error, release_stream, cases[i].from};
        gsa_reader *reader = NULL;
        gsa_error error = {0};
        gsa_status status = gsa_reader_open_arrow(&stream, NULL, NULL, NULL, &reader, &error);
        if (status == GSA_OK)
            free(dump(reader, &status, &error));
        if (status != cases[i].status || !strstr(error.message, cases[i].message))
            fail_msg("case %zu: %d, %s", i, (int)status, error.message);
        assert_int_equal(cases[i].from->n_open, 0);
        assert_int_equal(cases[i].from->n_streams, 1);
    }
}

static int stop_once(void *ctx)
{
    return --*(int *)ctx == 0;
}

/* Whenever the stop comes, the rows that follow are those that had not come yet. */
static void arrow_and_generated_rows_stop_on_request_and_go_on(void **state)
{
    (void)state;
    static const double x[] = {1, 2};
    const plan columns[] = {
        LABEL(1), {"x", "g", 1, 0, 2, {NULL, x}, NULL, NULL}, LABEL(1), {"x", "g", 1, 0, 2, {NULL, x + 1}, NULL, NULL}};
    const gsa_generator what = {.n_rows = 10, .n_features = 5, .nnz = 2, .n_classes = 2};
    for (int generated = 0; generated < 2; generated++) {
        size_t n_stopped = 0;
        for (int moment = 1; moment < 9; moment++) {
            source from = {.column = columns, .n_columns = 2, .n_batches = 2, .length = {1, 1}};
            int left = moment;
            gsa_env env = {.should_stop = stop_once, .stop_ctx = &left};
            gsa_reader *reader = NULL;
            gsa_error error = {0};
            gsa_batch batch;
            gsa_status status = generated ? gsa_reader_open_generated(&what, &env, &reader, &error)
                                          : open_arrow(&from, NULL, &env, &reader, &error);
            assert_int_equal(status, GSA_OK);
            size_t n_rows = 0;
            while ((status = gsa_reader_next(reader, &batch, &error)) != GSA_END) {
                assert_true(status == GSA_OK || status == GSA_STOPPED);
                assert_true(status == GSA_OK || strstr(error.message, "stopped on request"));
                n_rows += status == GSA_OK ? batch.n_rows : 0;
                n_stopped += status == GSA_STOPPED;
            }
            assert_int_equal(n_rows, generated ? 10 : 2);
            gsa_reader_close(reader);
            assert_int_equal(from.n_open, 0);
        }
        assert_true(n_stopped > 0);
    }
}

/* Rows to predict need no label, and the column is not missed. */
static void arrow_rows_without_labels_are_read(void **state)
{
    (void)state;
    static const double x[] = {1, 2};
    const plan columns[] = {{"x", "g", 2, 0, 2, {NULL, x}, NULL, NULL}};
    source from = SOURCE(columns, 2);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(open_arrow(&from, &(gsa_reader_options){.without_labels = 1}, NULL, &reader, &error), GSA_OK);
    assert_int_equal(
        gsa_reader_set_schema(reader, "greedystep schema 1\ncolumns named\nbits 24\nnumber x\nlabel y\n", &error),
        GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_null(batch.label);
    assert_true(batch.value[1] == 2);
    gsa_reader_close(reader);
}

static void arrow_damage_is_refused_by_column(void **state)
{
    (void)state;
    static const int32_t descending[] = {0, 4, 3}, negative[] = {-2, 0, 1};
    static const int8_t outside[] = {0, 6}, below[] = {0, -1};
    static const plan towns = {NULL, "u", 6, 0, 3, {NULL, word_at, words}, NULL, NULL};
    const struct {
        plan column;
        const char *part;
    } cases[] = {{{"c", "u", 2, 0, 3, {NULL, descending, words}, NULL, NULL}, "offsets"},
                 {{"c", "u", 2, 0, 3, {NULL, negative, words}, NULL, NULL}, "offsets"},
                 {{"c", "u", 2, 0, 3, {NULL, word_at, NULL}, NULL, NULL}, "offsets"},
                 {{"c", "u", 2, 0, 2, {NULL, word_at}, NULL, NULL}, "buffers"},
                 {{"c", "i", 2, 0, 2, {NULL, NULL}, NULL, NULL}, "buffers"},
                 {{"c", "i", 1, 0, 2, {NULL, labels}, NULL, NULL}, "fewer rows"},
                 {{"c", "i", 2, -1, 2, {NULL, labels}, NULL, NULL}, "offset"},
                 {{"c", "i", 2, INT64_MAX, 2, {NULL, labels}, NULL, NULL}, "offset"},
                 {{"c", "c", 2, 0, 2, {NULL, outside}, NULL, &towns}, "dictionary"},
                 {{"c", "c", 2, 0, 2, {NULL, below}, NULL, &towns}, "dictionary"}};
    for (size_t i = 0; i < N(cases); i++) {
        const plan columns[] = {LABEL(2), cases[i].column};
        source from = SOURCE(columns, 2);
        assert_refused(&from, NULL, GSA_FORMAT, "column 'c'", cases[i].part);
    }
}

static void arrow_bad_rows_are_named_or_skipped(void **state)
{
    (void)state;
    static const double x[] = {1, INFINITY, 1e39, 4}, w[] = {1, 1, 1, -1};
    const plan columns[] = {LABEL(4), {"x", "g", 4, 0, 2, {NULL, x}, NULL, NULL}};
    const plan weighed[] = {LABEL(4), {"w", "g", 4, 0, 2, {NULL, w}, NULL, NULL}};
    const gsa_reader_options weigh = {.weight = "w"}, skip = {.skip_bad_rows = 1};
    source from = SOURCE(columns, 4), from_weighed = SOURCE(weighed, 4), skipped = SOURCE(columns, 4);
    assert_refused(&from, NULL, GSA_INPUT, "row 2: column 'x' holds 'inf'", "finite");
    assert_refused(&from_weighed, &weigh, GSA_INPUT, "row 4: column 'w' holds '-1'", "weight");
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    gsa_reader_progress progress;
    assert_int_equal(open_arrow(&skipped, &skip, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_int_equal(batch.place[1].line, 4);
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_bad_rows, 2);
    assert_int_equal(progress.is_stream, 1);
    error = (gsa_error){.row = 1, .message = "no"};
    gsa_reader_locate(reader, &batch, &error);
    assert_string_equal(error.message, "the Arrow stream, row 4: no");
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
    assert_int_equal(skipped.n_open, 0);
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static int always(void *ctx)
{
    return *(int *)ctx;
}

static void arrow_releases_once_whatever_happens(void **state)
{
    (void)state;
    const plan columns[] = {LABEL(2), {"x", "i", 2, 0, 2, {NULL, labels}, NULL, NULL}};
    const gsa_reader_options bad = {.bits = 40}, nobody = {.label = "nobody"};
    source opened = SOURCE(columns, 2), refused = SOURCE(columns, 2), unknown = SOURCE(columns, 2);
    source no_schema = SOURCE(columns, 2), no_batch = SOURCE(columns, 2), stopped = SOURCE(columns, 2);
    no_schema.fail_at = -1;
    no_batch.fail_at = 1;
    assert_refused(&refused, &bad, GSA_ARGUMENT, "40", "bits");
    assert_refused(&unknown, &nobody, GSA_ARGUMENT, "'nobody'", "x");
    assert_refused(&no_schema, NULL, GSA_IO, "ducks", "the Arrow stream");
    assert_refused(&no_batch, NULL, GSA_IO, "ducks", "the Arrow stream");
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    assert_int_equal(open_arrow(&opened, NULL, NULL, &reader, &error), GSA_OK);
    gsa_reader_close(reader);
    assert_int_equal(opened.n_streams, 1);
    int stop = 1;
    gsa_batch batch;
    const gsa_env env = {.should_stop = always, .stop_ctx = &stop};
    assert_int_equal(open_arrow(&stopped, NULL, &env, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_STOPPED);
    stop = 0;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    gsa_reader_close(reader);
    assert_int_equal(stopped.n_streams, 1);
    assert_int_equal(stopped.n_open, 0);
    struct ArrowArrayStream used = {0};
    assert_int_equal(gsa_reader_open_arrow(&used, NULL, NULL, NULL, &reader, &error), GSA_ARGUMENT);
}

static void arrow_follows_the_schema_of_a_model(void **state)
{
    (void)state;
    static const char schema[] =
        "greedystep schema 1\ncolumns named\nbits 24\nnumber a\nlabel y\nwords w\nignored id\n";
    static const double a[] = {1.5, 2};
    const plan columns[] = {
        {"w", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL}, LABEL(2), {"a", "g", 2, 0, 2, {NULL, a}, NULL, NULL}};
    const plan texts[] = {{"w", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL},
                          LABEL(2),
                          {"a", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL}};
    gsa_reader *readers[3] = {NULL};
    gsa_error error = {0};
    gsa_status status;
    const char table[] = "a,y,w,id\n1.5,1,oslo,7\n2,0,rome,8\n";
    source from = SOURCE(columns, 2), from_texts = SOURCE(texts, 2);
    assert_int_equal(open_arrow(&from, NULL, NULL, &readers[0], &error), GSA_OK);
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", NULL, NULL, &readers[1], &error), GSA_OK);
    assert_int_equal(open_arrow(&from_texts, NULL, NULL, &readers[2], &error), GSA_OK);
    char *rows[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gsa_reader_set_schema(readers[i], schema, &error), GSA_OK);
        rows[i] = dump(readers[i], &status, &error);
        assert_int_equal(status, i < 2 ? GSA_END : GSA_ARGUMENT);
    }
    assert_string_equal(rows[0], rows[1]);
    assert_non_null(strstr(error.message, "column 'a': it holds text"));
    for (int i = 0; i < 3; i++)
        free(rows[i]);
}

static void arrow_says_what_it_understood(void **state)
{
    (void)state;
    const plan columns[] = {LABEL(2), {"w", "u", 2, 0, 3, {NULL, word_at, words}, NULL, NULL}};
    const plan lists[] = {LABEL(4),
                          {"indices", "+l", 4, 0, 2, {NULL, list_at}, &id_items, NULL},
                          {"values", "+l", 4, 0, 2, {NULL, list_at}, &value_items, NULL}};
    const gsa_reader_options options = {.remember_names = 1};
    source from = SOURCE(columns, 2), from_lists = SOURCE(lists, 4);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(open_arrow(&from, &options, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_string_equal(gsa_reader_understood(reader),
                        "the Arrow stream: columns with types, found by name; label is 'y', 0 number and 1 word column "
                        "(hashed to 24 bits)");
    assert_string_equal(gsa_reader_name(reader, batch.index[0]), "w=oslo");
    gsa_reader_close(reader);
    assert_int_equal(open_arrow(&from_lists, &options, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_string_equal(gsa_reader_understood(reader),
                        "the Arrow stream: features are the list 'values' with the ids 'indices'");
    assert_null(gsa_reader_name(reader, 0));
    gsa_reader_close(reader);
}

/* ---- several passes --------------------------------------------------------------------------------------------- */

typedef struct store {
    source *of;
    int n_opened, n_released, fails;
} store;

static int open_again(void *ctx, struct ArrowArrayStream *out)
{
    store *from = ctx;
    from->n_opened++;
    from->of->at = 0;
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, from->of};
    return from->fails ? ENOENT : 0;
}

static void release_store(void *ctx)
{
    ((store *)ctx)->n_released++;
}

static const double passed[] = {1.5, 2};
static const plan passed_columns[] = {LABEL(2), {"a", "g", 2, 0, 2, {NULL, passed}, NULL, NULL}};

/* A reader of the store's rows; `open` is how it gets another stream of them. */
static gsa_reader *reader_of(store *rows, int (*open)(void *, struct ArrowArrayStream *))
{
    const gsa_arrow_again again = {open, release_store, rows};
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, rows->of};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    assert_int_equal(gsa_reader_open_arrow(&stream, &again, NULL, NULL, &reader, &error), GSA_OK);
    return reader;
}

static char *dump_pass(gsa_reader *reader, gsa_status *status, gsa_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    gsa_batch batch;
    while ((*status = gsa_reader_next(reader, &batch, error)) == GSA_OK) {
        for (size_t r = 0; r < batch.n_rows; r++)
            fprintf(out, "row %d ", (int)batch.place[r].line);
        batch.place = NULL;
        dump_batch(out, &batch);
    }
    fclose(out);
    return text;
}

static void arrow_streams_that_can_be_opened_again_are_read_in_every_pass(void **state)
{
    (void)state;
    static const int64_t other[] = {1, 2};
    const plan changed[] = {LABEL(2), {"a", "l", 2, 0, 2, {NULL, other}, NULL, NULL}};
    source from = SOURCE(passed_columns, 2), later = SOURCE(changed, 2);
    store rows = {.of = &from};
    gsa_reader *reader = reader_of(&rows, open_again);
    gsa_error error = {0};
    gsa_reader_progress progress;
    gsa_status status;
    gsa_reader_get_progress(reader, &progress);
    assert_false(progress.is_stream);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK); /* nothing was read: the first stream will do */
    char *first = dump_pass(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_int_equal(rows.n_opened, 0);
    for (int pass = 1; pass < 3; pass++) {
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
        char *next = dump_pass(reader, &status, &error);
        assert_int_equal(status, GSA_END);
        assert_string_equal(first, next);
        assert_int_equal(rows.n_opened, pass);
        assert_int_equal(from.n_streams, pass);
        free(next);
    }
    assert_non_null(strstr(first, "row 2"));
    free(first);
    rows.of = &later;
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    free(dump_pass(reader, &status, &error));
    assert_int_equal(status, GSA_CONFLICT);
    rows.fails = 1;
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    free(dump_pass(reader, &status, &error));
    assert_int_equal(status, GSA_IO);
    assert_int_equal(rows.n_released, 0);
    gsa_reader_close(reader);
    assert_int_equal(rows.n_released, 1);
    assert_int_equal(from.n_open + later.n_open, 0);
    assert_int_equal(from.n_streams, 3);
    assert_int_equal(later.n_streams, 1);
    struct ArrowArrayStream used = {0};
    const gsa_arrow_again again = {open_again, release_store, &rows};
    assert_int_equal(gsa_reader_open_arrow(&used, &again, NULL, NULL, &reader, &error), GSA_ARGUMENT);
    assert_int_equal(rows.n_released, 2);
}

static void arrow_streams_that_nobody_opens_again_are_read_once(void **state)
{
    (void)state;
    source from = SOURCE(passed_columns, 2);
    store rows = {.of = &from};
    gsa_reader *reader = reader_of(&rows, NULL);
    gsa_error error = {0};
    gsa_reader_progress progress;
    gsa_status status;
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.is_stream);
    assert_int_equal(gsa_reader_keep(reader, "/tmp", &error), GSA_OK); /* which it is not, and no harm is done */
    char *first = dump_pass(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_non_null(strstr(first, "row 2"));
    free(first);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
    assert_int_equal(rows.n_released, 1);
    assert_int_equal(from.n_open, 0);
}

static void arrow_rows_are_kept_between_passes(void **state)
{
    (void)state;
    source from = SOURCE(passed_columns, 2);
    store rows = {.of = &from};
    gsa_reader *reader = reader_of(&rows, open_again);
    gsa_error error = {0};
    gsa_reader_progress progress;
    gsa_status status;
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_keep(reader, "/tmp", &error), GSA_OK);
    char *first = dump_pass(reader, &status, &error);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.bytes_kept > 0);
    char *second = dump_pass(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_string_equal(first, second);
    assert_int_equal(rows.n_opened, 0);
    free(first);
    free(second);
    gsa_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrow_numbers_of_every_type_are_those_of_text),
        cmocka_unit_test(arrow_null_and_nan_are_absent_whatever_the_offset),
        cmocka_unit_test(arrow_text_is_words),
        cmocka_unit_test(arrow_text_views_are_words),
        cmocka_unit_test(arrow_dictionaries_are_their_values),
        cmocka_unit_test(an_arrow_dictionary_is_that_of_its_batch),
        cmocka_unit_test(arrow_columns_taken_for_words_and_crossed_are_those_of_text),
        cmocka_unit_test(arrow_labels_and_weights_are_those_of_text),
        cmocka_unit_test(arrow_batches_and_slices_make_one_table),
        cmocka_unit_test(arrow_rows_fill_batches_as_text_does),
        cmocka_unit_test(arrow_lists_are_sparse_rows),
        cmocka_unit_test(arrow_list_of_fixed_size_is_a_dense_row),
        cmocka_unit_test(arrow_lists_that_do_not_fit_are_refused),
        cmocka_unit_test(arrow_types_that_are_not_read_are_refused_by_name),
        cmocka_unit_test(arrow_cells_that_cannot_be_are_refused_by_what_they_hold),
        cmocka_unit_test(arrow_floats_taken_for_words_are_those_of_text),
        cmocka_unit_test(arrow_items_that_cannot_be_are_refused),
        cmocka_unit_test(arrow_arrays_without_their_parts_are_refused),
        cmocka_unit_test(arrow_and_generated_rows_stop_on_request_and_go_on),
        cmocka_unit_test(arrow_rows_without_labels_are_read),
        cmocka_unit_test(arrow_damage_is_refused_by_column),
        cmocka_unit_test(arrow_bad_rows_are_named_or_skipped),
        cmocka_unit_test(arrow_releases_once_whatever_happens),
        cmocka_unit_test(arrow_follows_the_schema_of_a_model),
        cmocka_unit_test(arrow_says_what_it_understood),
        cmocka_unit_test(arrow_streams_that_can_be_opened_again_are_read_in_every_pass),
        cmocka_unit_test(arrow_streams_that_nobody_opens_again_are_read_once),
        cmocka_unit_test(arrow_rows_are_kept_between_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
