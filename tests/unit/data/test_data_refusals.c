/* Options, files and schemas that do not go together, and tables at their limits: what the message says, and that a
 * reader which has failed keeps saying it. */
#include "unit/data/support.h"

static const char schema_of_table[] = "greedystep schema 2\ncolumns named\nbits 10\nlabel y\nnumber a\nwords b\n";

/* Reads a text under a name, with the schema of a model if one is given; fails as expected, twice. */
static void expect_refusal(const char *name, const char *text, size_t size, const gsa_reader_options *options,
                           const char *schema, gsa_status expected, const char *message)
{
    gsa_reader *reader = NULL;
    gsa_error error = {0}, again = {0};
    gsa_batch batch;
    assert_int_equal(gsa_reader_open_memory(text, size, name, options, NULL, NULL, &reader, &error), GSA_OK);
    gsa_status status = gsa_reader_set_schema(reader, schema, &error);
    bool by_schema = status != GSA_OK;
    while (status == GSA_OK)
        status = gsa_reader_next(reader, &batch, &error);
    if (status != expected || !strstr(error.message, message))
        fail_msg("%s: status %d, '%s', expected %d, '%s'", name, (int)status, error.message, (int)expected, message);
    if (!by_schema) {
        assert_int_equal(gsa_reader_next(reader, &batch, &again), expected);
        assert_string_equal(again.message, error.message);
    }
    gsa_reader_close(reader);
}

static void refuse(const char *name, const char *text, const gsa_reader_options *options, const char *schema,
                   gsa_status expected, const char *message)
{
    expect_refusal(name, text, strlen(text), options, schema, expected, message);
}

static void options_that_do_not_fit_the_file_are_refused(void **state)
{
    (void)state;
    refuse("t.svm", "1 1:1\n", &(gsa_reader_options){.size = sizeof(gsa_reader_options), .cross = "a:b"}, NULL,
           GSA_ARGUMENT, "t.svm is libsvm text, which has neither columns nor namespaces: leave crosses out");
    refuse("t.csv", "y,a,b\n1,2,3\n", &(gsa_reader_options){.size = sizeof(gsa_reader_options), .label = "a,b"}, NULL,
           GSA_ARGUMENT, "t.csv: the label is a,b, expected one column");
    refuse("t.csv", "y,a,b\n1,2,3\n", &(gsa_reader_options){.size = sizeof(gsa_reader_options), .weight = "a,b"}, NULL,
           GSA_ARGUMENT, "t.csv: more than one column of weights; name one");
    expect_refusal("m", "\x40\0\0\0\0\0\0\0{\"__metadata__\"", 23, NULL, NULL, GSA_FORMAT,
                   "m is a model or state, not rows");
}

static void options_that_contradict_the_model_are_refused(void **state)
{
    (void)state;
    const char table[] = "y,a,b\n1,2,x\n";
    refuse("t.csv", table, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .cross = "a:b"}, schema_of_table,
           GSA_ARGUMENT, "crosses contradict the model; leave them out");
    refuse("t.csv", table, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .bits = 12}, schema_of_table,
           GSA_ARGUMENT, "12 bits contradict the model, which has 10; leave them out");
    refuse("t.csv", "y,a,b,a\n1,2,x,3\n", NULL, schema_of_table, GSA_ARGUMENT,
           "columns 2 and 4 have the same name 'a'");
    refuse("t.svm", "1 1:1\n", NULL, schema_of_table, GSA_ARGUMENT, "which the model was trained on");
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", NULL, NULL, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_set_schema(reader, schema_of_table, &error), GSA_ARGUMENT);
    assert_string_equal(error.message, "the reader knows its columns already");
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK); /* and has lost nothing */
    assert_int_equal(batch.n_rows, 1);
    gsa_reader_close(reader);
}

/* Crossing what the model has crossed, with the bits it has, is no contradiction. */
static void options_that_agree_with_the_model_are_welcome(void **state)
{
    (void)state;
    const char table[] = "y,a,b\n1,2,x\n";
    gsa_reader *reader = NULL, *first = NULL;
    gsa_error error = {0};
    gsa_reader_options options = {.size = sizeof options, .cross = "a:b", .bits = 10};
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", &options, NULL, NULL, &first, &error),
                     GSA_OK);
    assert_int_equal(gsa_reader_begin(first, &error), GSA_OK);
    assert_int_equal(gsa_reader_open_memory(table, strlen(table), "t.csv", &options, NULL, NULL, &reader, &error),
                     GSA_OK);
    assert_int_equal(gsa_reader_set_schema(reader, gsa_reader_schema(first), &error), GSA_OK);
    gsa_status status;
    char *one = dump_reader(first, &status, &error), *other = dump_reader(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_string_equal(one, other);
    free(one);
    free(other);
    gsa_reader_close(first);
    gsa_reader_close(reader);
}

/* ---- caches and what their columns were -------------------------------------------------------------------------- */

static void write_cache(char path[PATH_SIZE], const char *schema)
{
    static const int64_t row_start[] = {0, 1};
    static const uint32_t index[] = {0};
    static const double label[] = {1};
    const gsa_batch batch = {.n_rows = 1, .row_start = row_start, .index = index, .label = label};
    gsa_writer *writer = NULL;
    gsa_error error = {0};
    make_file(path, "", 0);
    assert_int_equal(gsa_writer_open(path, "gsac", NULL, NULL, &writer, &error), GSA_OK);
    assert_int_equal(gsa_writer_set_schema(writer, schema, &error), GSA_OK);
    assert_int_equal(gsa_writer_write(writer, &batch, &error), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
}

static void refuse_cache(const char *path, const gsa_reader_options *options, const char *schema, const char *message)
{
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    assert_int_equal(gsa_reader_open(&path, 1, options, NULL, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_set_schema(reader, schema, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_ARGUMENT);
    if (!strstr(error.message, message))
        fail_msg("'%s', expected '%s'", error.message, message);
    gsa_reader_close(reader);
}

static void a_cache_of_other_columns_is_refused(void **state)
{
    (void)state;
    static const char other[] = "greedystep schema 2\ncolumns named\nbits 10\nlabel y\nnumber c\n";
    char plain[PATH_SIZE], table[PATH_SIZE];
    write_cache(plain, NULL);
    write_cache(table, schema_of_table);
    refuse_cache(plain, NULL, schema_of_table, "is a cache that does not say what its columns were, and the model has");
    refuse_cache(table, NULL, other, "is a cache of rows with other columns than the model");
    refuse_cache(table, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .bits = 12}, NULL,
                 "was made with 10; leave them out, or make the cache");
    refuse_cache(table, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .cross = "a:b"}, NULL,
                 "neither columns nor namespaces");
    remove(plain);
    remove(table);
}

/* ---- tables at their limits -------------------------------------------------------------------------------------- */

static void a_table_of_a_hundred_columns_is_read_and_asked_about_briefly(void **state)
{
    (void)state;
    char text[4096];
    size_t n = 0;
    for (int line = 0; line < 3; line++)
        for (int i = 0; i < 100; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, line ? "%d%c" : "column%d%c", i, i < 99 ? ',' : '\n');
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    const gsa_reader_options options = {.size = sizeof options, .label = "column99"};
    assert_int_equal(gsa_reader_open_memory(text, n, "t.csv", &options, NULL, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_int_equal(batch.row_start[1], 98); /* a zero is absent */
    for (uint32_t i = 0; i < 98; i++) {
        assert_int_equal(batch.index[i], i + 1);
        assert_true(batch.value[i] == (float)(i + 1));
    }
    assert_string_equal(gsa_reader_name(reader, 77), "column77");
    gsa_reader_close(reader);
    expect_refusal("t.csv", text, n, NULL, NULL, GSA_ARGUMENT, "column2, column3");
    expect_refusal("t.csv", text, n, NULL, NULL, GSA_ARGUMENT, " ..."); /* not all hundred of them */
}

static void a_first_line_without_an_end_is_no_table(void **state)
{
    (void)state;
    size_t size = (size_t)33 << 20;
    char *text = malloc(size);
    memset(text, 'x', size);
    for (size_t i = 1; i < size; i += 50)
        text[i] = ',';
    expect_refusal("t.csv", text, size, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .label = "1"}, NULL,
                   GSA_LIMIT, "t.csv: the first line is longer than 32 MiB: is this a table?");
    free(text);
}

/* ---- Vowpal Wabbit text ------------------------------------------------------------------------------------------ */

static void vw_products_that_are_not_finite_are_refused_with_their_line(void **state)
{
    (void)state;
    const char text[] = "1 |a x:1 |b y:1\n1 |a x:1e30 |b y:1e30\n";
    refuse("t.vw", text, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .cross = "a:b"}, NULL, GSA_INPUT,
           "the values of a feature that stands several times in the line, or of a cross, are not finite");
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_batch batch;
    const gsa_reader_options skip = {.size = sizeof skip, .cross = "a:b", .skip_bad_rows = 1};
    assert_int_equal(gsa_reader_open_memory(text, strlen(text), "t.vw", &skip, NULL, NULL, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 1);
    assert_int_equal(batch.row_start[1], 3); /* x, y and their product */
    gsa_reader_progress progress = {.size = sizeof progress};
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_END);
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_bad_rows, 1);
    gsa_reader_close(reader);
}

static void a_byte_order_mark_before_vw_text_is_passed_over(void **state)
{
    (void)state;
    gsa_error error = {0};
    gsa_status status;
    char *dumps[2];
    for (int marked = 0; marked < 2; marked++) {
        const char *text = marked ? "\xEF\xBB\xBF-1 |a x y:2\n" : "-1 |a x y:2\n";
        gsa_reader *reader = NULL;
        assert_int_equal(gsa_reader_open_memory(text, strlen(text), "t.vw", NULL, NULL, NULL, &reader, &error), GSA_OK);
        dumps[marked] = dump_reader(reader, &status, &error);
        assert_int_equal(status, GSA_END);
        gsa_reader_close(reader);
    }
    assert_string_equal(dumps[1], dumps[0]);
    free(dumps[0]);
    free(dumps[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_do_not_fit_the_file_are_refused),
        cmocka_unit_test(options_that_contradict_the_model_are_refused),
        cmocka_unit_test(options_that_agree_with_the_model_are_welcome),
        cmocka_unit_test(a_cache_of_other_columns_is_refused),
        cmocka_unit_test(a_table_of_a_hundred_columns_is_read_and_asked_about_briefly),
        cmocka_unit_test(a_first_line_without_an_end_is_no_table),
        cmocka_unit_test(vw_products_that_are_not_finite_are_refused_with_their_line),
        cmocka_unit_test(a_byte_order_mark_before_vw_text_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
