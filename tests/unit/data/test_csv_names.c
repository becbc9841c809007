/* What readers of tables remember beside the rows: names of words, and cells. */
#include "unit/data/tables.h"

#include "base/memory.h"

static void words_are_remembered_by_column_and_text(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .remember_names = 1, .bits = 20};
    gsa_reader *reader = open_table("y,a,c\n1,2,red\n0,,blue\n1,2,red\n", &options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    uint64_t red = 2 + (gsai_hash("c\0red", 5, 0) & 0xFFFFF), blue = 2 + (gsai_hash("c\0blue", 6, 0) & 0xFFFFF);
    assert_string_equal(gsa_reader_name(reader, 0), "a");
    assert_string_equal(gsa_reader_name(reader, 1), "a is missing");
    assert_string_equal(gsa_reader_name(reader, red), "c=red");
    assert_string_equal(gsa_reader_name(reader, blue), "c=blue");
    assert_null(gsa_reader_name(reader, blue + 1));
    assert_null(gsa_reader_name(reader, UINT64_MAX));
    assert_true(gsa_reader_collision_rate(reader) == 2.0 / (1 << 20));
    gsa_reader_close(reader);
    gsa_schema_info info = {.size = sizeof info};
    assert_int_equal(gsa_schema_get_info(model, &info, NULL), GSA_OK);
    assert_true(info.bits == 24 && info.n_numbers == 2 && info.n_words == 1 && info.first_word == 4);
    assert_int_equal(gsa_schema_get_info("rubbish", &info, NULL), GSA_FORMAT);
}

/* Batches do not tell a zero from an absent cell, nor the column of a word; and a row that is left out leaves nothing.
 */
static void cells_are_kept_for_whoever_asks(void **state)
{
    (void)state;
    const char text[] = "y,c,a,b\n1,red,0,5\n0,,,6\n1,blue,3,inf\n0,NA, 2 ,\n1,blue,nan,0\n";
    uint64_t red = gsai_hash("c\0red", 5, 0), blue = gsai_hash("c\0blue", 6, 0);
    const uint64_t expected[] = {1, 1, red, 0, 1, 0, 1, 0, 0, 0, 1, blue};
    gsa_reader_options options = {.size = sizeof options, .keep_cells = 1, .skip_bad_rows = 1, .bits = 10};
    gsa_reader *reader = open_table(text, &options, NULL);
    gsa_batch batch;
    size_t n_columns = 77;
    assert_null(gsa_reader_cells(reader, &n_columns));
    assert_int_equal(n_columns, 0);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    const uint64_t *cell = gsa_reader_cells(reader, &n_columns);
    assert_int_equal(batch.n_rows, 4);
    assert_int_equal(n_columns, 3);
    assert_memory_equal(cell, expected, sizeof expected);
    assert_int_equal(batch.index[1], 4 + (red & 1023)); /* the zero of a is not there */
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_END);
    assert_null(gsa_reader_cells(reader, &n_columns));
    gsa_reader_close(reader);
    options.keep_cells = 0;
    reader = open_table(text, &options, NULL);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_null(gsa_reader_cells(reader, &n_columns));
    gsa_reader_close(reader);
}

/* Parts of dates follow with their column and feature; bad rows that are kept have no cells. */
static void cells_tell_the_parts_of_dates(void **state)
{
    (void)state;
    const char text[] = "y,c,a,day\n1,red,0,2024-03-01\n0,,inf,2024-03-02\n1,red,2,\n";
    const uint64_t red = gsai_hash("c\0red", 5, 0), column = UINT64_C(1) << 32;
    const uint64_t friday = gsai_hash("day weekday\0Fri", 15, 0) & 1023,
                   march = gsai_hash("day month\0Mar", 13, 0) & 1023;
    const uint64_t expected[] = {1, 1, red, column + 4 + friday, column + 4 + march, 0, 0, 0, 0, 0, 0, 0, 1, 0, red,
                                 0, 0, 0};
    gsa_reader_options options = {
        .size = sizeof options, .keep_cells = 1, .skip_bad_rows = 1, .keep_bad_rows = 1, .bits = 10};
    gsa_reader *reader = open_table(text, &options, NULL);
    gsa_batch batch;
    size_t n_cells;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    const uint64_t *cell = gsa_reader_cells(reader, &n_cells);
    assert_int_equal(batch.n_rows, 3);
    assert_int_equal(n_cells, 6);
    assert_memory_equal(cell, expected, sizeof expected);
    gsa_reader_close(reader);
}

/* Absent cells take room too: a batch of a wide table of few values ends by them. */
static void kept_cells_bound_a_batch(void **state)
{
    (void)state;
    const gsai_reader_sizes sizes = {.batch_values = 8};
    gsa_reader *reader = open_table("y,a,b,c\n1,,,\n1,,,4\n0,,,\n0,,,2\n",
                                    &(gsa_reader_options){.size = sizeof(gsa_reader_options), .keep_cells = 1}, &sizes);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.n_rows, 3);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.n_rows, 1);
    gsa_reader_close(reader);
}

/* A long file with more words than are remembered: those that came first have their names, all are counted. */
static void names_are_kept_first_come_while_there_is_room(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_feature_names book = {0};
    size_t n = GSA_MAX_NAMES + 100;
    assert_int_equal(gsai_feature_names_begin(&book, 24, &env, NULL), GSA_OK);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = i * 7;
        char word[16];
        assert_true(gsai_feature_names_is_new(&book, id));
        gsai_feature_names_enter(&book, id, "column", 3, word, (size_t)snprintf(word, sizeof word, "%u", i));
        assert_false(gsai_feature_names_is_new(&book, id));
    }
    assert_int_equal(book.n_came, n);
    assert_string_equal(gsai_feature_names_find(&book, 7 * 12345), "col=12345");
    assert_string_equal(gsai_feature_names_find(&book, 7 * (GSA_MAX_NAMES - 1)), "col=1048575");
    assert_null(gsai_feature_names_find(&book, 7 * GSA_MAX_NAMES));
    assert_null(gsai_feature_names_find(&book, 8));
    gsai_feature_names_free(&book);
}

/* A word that comes first in the middle of a file may be in every row of a chunk. */
static void a_list_has_a_name_once_and_begins_anew(void **state)
{
    (void)state;
    gsai_feature_names book = {0}, list;
    gsai_env env = gsai_env_resolve(NULL);
    assert_int_equal(gsai_feature_names_begin(&book, 24, &env, NULL), GSA_OK);
    assert_true(gsai_feature_names_list(&list, &book, &env));
    for (uint32_t round = 1; round <= 2; round++) {
        for (uint32_t i = 0; i < 30000; i++)
            gsai_feature_names_enter(&list, round * 1000 + i % 3, "column", 6, "word", 4);
        assert_int_equal(list.n, 3);
        gsai_feature_names_take(&book, &list);
        gsai_feature_names_clear(&list);
        assert_true(book.n == 3 * round && !gsai_feature_names_is_new(&list, round * 1000));
    }
    gsai_feature_names_free(&list);
    gsai_feature_names_free(&book);
}

static void names_of_words_come_by_number_as_they_came(void **state)
{
    (void)state;
    static const char text[] = "y,n,a\n1,2,x\n0,3,x\n1,2,o\0d\n0,2,y\n", *const names[] = {"a=x", "", "a=y"};
    const gsai_reader_sizes sizes = {0};
    gsa_reader_options options = {.size = sizeof options, .remember_names = 1};
    gsa_reader *reader;
    gsa_batch batch;
    uint64_t feature = 0;
    assert_int_equal(
        gsai_reader_open_bytes(text, sizeof text - 1, "t.csv", NULL, &options, &sizes, NULL, &reader, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.n_rows, 4);
    for (size_t i = 0; i < 3; i++) {
        size_t row = i == 0 ? 0 : i + 1;
        assert_string_equal(gsa_reader_name_at(reader, i, &feature), names[i]);
        assert_int_equal(feature, batch.index[batch.row_start[row] + 1]);
        if (names[i][0])
            assert_string_equal(gsa_reader_name(reader, feature), names[i]);
        else
            assert_null(gsa_reader_name(reader, feature));
    }
    assert_null(gsa_reader_name_at(reader, 3, &feature));
    gsa_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_remembered_by_column_and_text),
        cmocka_unit_test(cells_are_kept_for_whoever_asks),
        cmocka_unit_test(cells_tell_the_parts_of_dates),
        cmocka_unit_test(kept_cells_bound_a_batch),
        cmocka_unit_test(a_list_has_a_name_once_and_begins_anew),
        cmocka_unit_test(names_of_words_come_by_number_as_they_came),
        cmocka_unit_test(names_are_kept_first_come_while_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
