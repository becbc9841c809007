/* Tables with the columns of another file or of a model, and caches that keep what the columns were. */
#include "unit/data/tables.h"

static gsa_status read_following(const char *text, const gsa_reader_options *options, gsa_batch *batch,
                                 gsa_reader **reader, gsa_error *error)
{
    *reader = open_table(text, options, NULL);
    assert_int_equal(gsa_reader_set_schema(*reader, model, error), GSA_OK);
    return gsa_reader_next(*reader, batch, error);
}

static void columns_are_found_by_name_whatever_their_order(void **state)
{
    (void)state;
    static const char *const texts[] = {"y,a,c,b\n1,2,red,3\n", "c;b;y;a\nred;3;1;2\n", "1,2,red,3\n",
                                        "b,zz,c,a,y\n3,9,red,2,1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gsa_reader *reader;
        gsa_batch batch;
        gsa_error error = {0};
        gsa_reader_options options = {.size = sizeof options, .ignore = i == 3 ? "zz" : NULL};
        assert_int_equal(read_following(texts[i], &options, &batch, &reader, &error), GSA_OK);
        assert_int_equal(batch.n_rows, 1);
        assert_int_equal(batch.row_start[1], 3);
        assert_true(batch.label[0] == 1 && batch.value[0] == 2 && batch.value[1] == 3);
        assert_int_equal(batch.index[2], 4 + (gsai_hash("c\0red", 5, 0) & 0xFFFFFF));
        gsa_reader_close(reader);
    }
}

static void labels_may_be_missing_where_they_are_not_needed(void **state)
{
    (void)state;
    static const char *const texts[] = {"a,c,b\n2,red,3\n", "2,red,3\n", "y,a,c,b\n,2,red,3\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gsa_reader *reader;
        gsa_batch batch;
        gsa_error error = {0};
        gsa_reader_options options = {.size = sizeof options, .without_labels = 1};
        assert_int_equal(read_following(texts[i], &options, &batch, &reader, &error), GSA_OK);
        assert_null(batch.label);
        assert_int_equal(batch.row_start[1], 3);
        gsa_reader_close(reader);
    }
}

static void columns_that_do_not_fit_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"y,a,b\n1,2,3\n", "t.csv has no column 'c', which the model has; its columns are y, a, b"},
        {"a,c,b\n1,2,3\n", "t.csv has no column 'y', which the model has; its columns are a, c, b"},
        {"z,a,d,e\n1,2,x,3\n", "t.csv has no columns 'y', 'c', 'b', which the model has; its columns are z, a, d, e"},
        {"n,o,p,q\n1,2,x,3\n",
         "t.csv has no columns 'y', 'a', 'c' and 1 more, which the model has; its columns are n, o, p, q"},
        {"n,o,p,q\n", "t.csv has no columns 'y', 'a', 'c' and 1 more, which the model has; its columns are n, o, p, q"},
        {"n,o,p\nx,2,3\n",
         "t.csv has no columns 'y', 'a', 'c' and 1 more, which the model has; its columns are n, o, p"},
        {"1,x,red,3\n", "t.csv:1 (byte 2): column 'a' holds 'x': the model was trained with numbers in it"},
        {"y,a,c,b,d\n1,2,x,3,4\n", "t.csv has a column 'd' that the model does not have; ignore it"},
        {"1,2,3\n", "t.csv has 3 columns and no header with their names, the model has 4: expected the same columns"},
        {"y,a,c,b\n1,x,red,3\n", "t.csv:2 (byte 10): column 'a' holds 'x': the model was trained with numbers in it"},
        {"1 3:4\n", "t.csv is libsvm text, and a table was expected, which the model was trained on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa_reader *reader;
        gsa_batch batch;
        gsa_error error = {0};
        assert_int_not_equal(read_following(cases[i].text, NULL, &batch, &reader, &error), GSA_OK);
        assert_string_equal(error.message, cases[i].message);
        gsa_reader_close(reader);
    }
    gsa_reader *reader;
    gsa_batch batch;
    gsa_error error = {0};
    gsa_reader_options options = {.size = sizeof options, .categorical = "b"};
    assert_int_equal(read_following("y,a,c,b\n1,2,red,3\n", &options, &batch, &reader, &error), GSA_ARGUMENT);
    assert_string_equal(error.message, "t.csv: a categorical column contradicts the model about 'b'; leave it out");
    gsa_reader_close(reader);
}

static void files_of_one_run_are_of_one_sort(void **state)
{
    (void)state;
    char table[PATH_SIZE], other[PATH_SIZE], more[PATH_SIZE];
    make_file(table, "y,a\n1,2\n", 8);
    make_file(more, "a,y\n5,0\n", 8);
    make_file(other, "1 3:4\n", 6);
    const char *const good[] = {table, more}, *const bad[] = {table, other}, *const worse[] = {other, table};
    gsa_reader *reader;
    gsa_error error = {0};
    gsa_status status;
    assert_int_equal(gsa_reader_open(good, 2, NULL, NULL, NULL, &reader, NULL), GSA_OK);
    char *dump = dump_reader(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_string_equal(dump, "0:2@4 0x1p+0 0=0x1p+1\n-- values\n1:2@4 0x0p+0 0=0x1.4p+2\n-- values\n");
    free(dump);
    gsa_reader_close(reader);
    assert_int_equal(gsa_reader_open(bad, 2, NULL, NULL, NULL, &reader, NULL), GSA_OK);
    free(dump_reader(reader, &status, &error));
    assert_int_equal(status, GSA_ARGUMENT);
    assert_non_null(strstr(error.message, "their rows do not have the same features"));
    gsa_reader_close(reader);
    assert_int_equal(gsa_reader_open(worse, 2, NULL, NULL, NULL, &reader, NULL), GSA_OK);
    free(dump_reader(reader, &status, &error));
    assert_int_equal(status, GSA_ARGUMENT);
    assert_non_null(strstr(error.message, "their rows do not have the same features"));
    gsa_reader_close(reader);
    unlink(table);
    unlink(more);
    unlink(other);
}

/* The cache of a table, as bytes; freed by the caller. */
static char *cache_of(const char *text, size_t *size)
{
    char path[PATH_SIZE + 5];
    make_file(path, "", 0);
    unlink(path);
    strcat(path, ".gsac");
    gsa_reader *reader = open_table(text, NULL, NULL);
    gsa_writer *writer;
    gsa_batch batch;
    assert_int_equal(gsa_writer_open(path, NULL, NULL, NULL, &writer, NULL), GSA_OK);
    assert_int_equal(gsa_reader_begin(reader, NULL), GSA_OK);
    assert_int_equal(gsa_writer_set_schema(writer, gsa_reader_schema(reader), NULL), GSA_OK);
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
        assert_int_equal(gsa_writer_write(writer, &batch, NULL), GSA_OK);
    assert_int_equal(gsa_writer_close(writer, NULL), GSA_OK);
    gsa_reader_close(reader);
    return load_and_unlink(path, size);
}

static void a_cache_keeps_the_schema_and_damage_to_it_is_found(void **state)
{
    (void)state;
    size_t size;
    char *bytes = cache_of("y,a,c\n1,2,red\n0,3,blue\n", &size);
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(gsa_reader_open_memory(bytes, size, "c", NULL, NULL, NULL, &reader, NULL), GSA_OK);
        if (pass == 1)
            assert_int_equal(gsa_reader_set_schema(reader, model, NULL), GSA_OK);
        gsa_status status = gsa_reader_begin(reader, &error);
        assert_int_equal(status, pass == 0 ? GSA_OK : GSA_ARGUMENT);
        if (pass == 0)
            assert_string_equal(gsa_reader_schema(reader),
                                "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nnumber a\tmean=2.5\nwords c\n");
        else
            assert_string_equal(error.message, "c is a cache of rows with other columns than the model");
        gsa_reader_close(reader);
    }
    for (size_t i = 8; i < 200; i++) {
        gsa_batch batch;
        bytes[i] ^= 1;
        assert_int_equal(gsa_reader_open_memory(bytes, size, "c", NULL, NULL, NULL, &reader, NULL), GSA_OK);
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_FORMAT);
        gsa_reader_close(reader);
        bytes[i] ^= 1;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name_whatever_their_order),
        cmocka_unit_test(labels_may_be_missing_where_they_are_not_needed),
        cmocka_unit_test(columns_that_do_not_fit_are_named),
        cmocka_unit_test(files_of_one_run_are_of_one_sort),
        cmocka_unit_test(a_cache_keeps_the_schema_and_damage_to_it_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
