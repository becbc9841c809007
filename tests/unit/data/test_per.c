/* Customers: an intercept and slopes per value of a column. */
#include "unit/data/tables.h"

#include <math.h>

static const char visits[] = "y,who,age,size\n1,ann,20,1\n0,bob,40,1\n1,ann,30,\n0,,30,1\n1,carl,30,1\n";

static void a_customer_has_an_intercept_and_slopes(void **state)
{
    (void)state;
    gsa_reader_options options = {
        .size = sizeof options, .remember_names = 1, .bits = 20, .keep_cells = 1, .per = "who"};
    gsa_reader *reader = open_table(visits, &options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_non_null(strstr(gsa_reader_schema(reader), "\nper who\nnumber age\tmean=30\tdeviation=6.3245554\n"));
    assert_non_null(strstr(gsa_reader_description(reader),
                           "2 numeric columns, an intercept and slopes per 'who' (hashed to 2^20 slots)"));
    gsa_schema_info info = {.size = sizeof info};
    assert_int_equal(gsa_schema_get_info(gsa_reader_schema(reader), &info, NULL), GSA_OK);
    assert_true(info.n_words == 1 && info.n_per == 1 && info.per == 2 && info.first_per == 4 + (1 << 20));
    const uint64_t n_customers = (1 << 20) / 3;
    const uint64_t ann = info.first_per + gsai_hash("who\0ann", 7, 0) % n_customers * 3;
    const uint64_t bob = info.first_per + gsai_hash("who\0bob", 7, 0) % n_customers * 3;
    /* age and size, or that it is missing, and of a customer the intercept and the slope of age: size does not vary */
    static const size_t n_entries[] = {4, 4, 4, 2, 3};
    for (size_t i = 0; i < batch.n_rows; i++)
        assert_int_equal(batch.row_start[i + 1] - batch.row_start[i], n_entries[i]);
    assert_true(batch.index[2] == ann && batch.value[2] == 1);
    assert_true(batch.index[3] == ann + 1 && fabs((double)batch.value[3] + 0.5 * 10 / 6.32455532) < 1e-6);
    assert_true(batch.index[6] == bob && batch.index[7] == bob + 1 && batch.value[7] == -batch.value[3]);
    assert_string_equal(gsa_reader_name(reader, ann), "who=ann");
    assert_string_equal(gsa_reader_name(reader, bob + 1), "who=bob:age");
    size_t n_cells;
    const uint64_t *cell = gsa_reader_cells(reader, &n_cells);
    assert_int_equal(n_cells, 3);
    assert_true(cell[2] == gsai_hash("who\0ann", 7, 0) && cell[3 * 3 + 2] == 0);
    gsa_reader_close(reader);
}

static void a_model_knows_its_customers(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .per = "who", .bits = 20};
    gsa_reader *reader = open_table(visits, &options, NULL);
    assert_int_equal(gsa_reader_begin(reader, NULL), GSA_OK);
    const char *const refused = "t.csv: a per column contradicts the model about 'who'; leave it out";
    gsa_reader *later = open_table("y,size,who,age\n1,2,ann,21\n", NULL, NULL), *other;
    assert_int_equal(gsa_reader_set_schema(later, gsa_reader_schema(reader), NULL), GSA_OK);
    gsa_batch first, batch;
    assert_int_equal(gsa_reader_next(reader, &first, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(later, &batch, NULL), GSA_OK);
    assert_int_equal(batch.row_start[1], 4);
    assert_true(batch.index[2] == first.index[2] && batch.index[3] == first.index[3]);
    gsa_error error = {0};
    options = (gsa_reader_options){.size = sizeof options, .per = "who"};
    other = open_table("y,who,age,size\n1,ann,20,1\n", &options, NULL);
    assert_int_equal(gsa_reader_set_schema(other,
                                           "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nwords who\n"
                                           "number age\nnumber size\n",
                                           NULL),
                     GSA_OK);
    assert_int_equal(gsa_reader_begin(other, &error), GSA_ARGUMENT);
    assert_string_equal(error.message, refused);
    gsa_reader_close(other);
    gsa_reader_close(later);
    gsa_reader_close(reader);
}

static void there_is_one_column_of_customers_and_room(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .per = "who,age"};
    expect_failure(visits, &options, GSA_ARGUMENT, "t.csv: more than one column of customers; name one");
    options = (gsa_reader_options){.size = sizeof options, .per = "who", .bits = 31};
    expect_failure(visits, &options, GSA_ARGUMENT,
                   "31 bits to hash to, with features per customer: expected fewer than 31, and enough for the 3 "
                   "features of one");
    options.bits = 1;
    expect_failure(visits, &options, GSA_ARGUMENT,
                   "1 bits to hash to, with features per customer: expected fewer than 31, and enough for the 3 "
                   "features of one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_customer_has_an_intercept_and_slopes),
                                       cmocka_unit_test(a_model_knows_its_customers),
                                       cmocka_unit_test(there_is_one_column_of_customers_and_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
