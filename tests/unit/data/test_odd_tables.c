/* Tables as spreadsheets and databases write them: bars between cells, a line that declares the separator, separators
 * at the ends of rows, titles above the header. */
#include "unit/data/tables.h"

/* The schema and rows do not depend on where buffers end; `expected` as records have it, with commas and no oddity. */
static void expect_like(const char *text, const char *expected)
{
    gsa_status status;
    gsa_reader *reader = open_table(expected, NULL, NULL);
    free(dump_reader(reader, &status, NULL));
    assert_int_equal(status, GSA_END);
    char *schema = strdup(gsa_reader_schema(reader));
    gsa_reader_close(reader);
    char *first = NULL;
    for (size_t buffer = 1; buffer < 40; buffer++) {
        gsa_error error = {0};
        reader = open_table(text, NULL, &(gsai_reader_sizes){.buffer = buffer, .read = 1 + buffer % 7});
        char *dump = dump_reader(reader, &status, &error);
        if (status != GSA_END)
            fail_msg("%s: %s", text, error.message);
        assert_string_equal(gsa_reader_schema(reader), schema);
        if (first)
            assert_string_equal(dump, first);
        else
            first = strdup(dump);
        free(dump);
        gsa_reader_close(reader);
    }
    size_t n_rows = 0;
    for (const char *p = first; (p = strstr(p, "0:")); p++)
        n_rows++;
    assert_int_equal(n_rows, 3);
    free(first);
    free(schema);
}

static void bars_separate_cells(void **state)
{
    (void)state;
    const char *plain = "a,b,y\n1.5,x,0\n2.5,y,1\n3,x,1\n";
    expect_like("a|b|y\n1.5|x|0\n2.5|y|1\n3|x|1\n", plain);
    expect_like("a|b|y\r\n1.5|\"x\"|0\r\n2.5|y|1\r\n3|x|1", plain);
    expect_like("b,y\np|q,0\nr|s,1\nt|u,1\n", "b,y\nx,0\ny,1\nx,1\n");
}

static void a_first_line_declares_the_separator(void **state)
{
    (void)state;
    const char *plain = "a,b,y\n1.5,x,0\n2.5,y,1\n3,x,1\n";
    expect_like("sep=;\na;b;y\n1.5;x;0\n2.5;y;1\n3;x;1\n", plain);
    expect_like("\xEF\xBB\xBFsep=,\r\na,b,y\r\n1.5,x,0\r\n2.5,y,1\r\n3,x,1\r\n", plain);
    expect_like("sep=\t\ra\tb\ty\r1.5\tx\t0\r2.5\ty\t1\r3\tx\t1\r", plain);
    expect_like("sep=|\na|b|y\n1.5|x;z|0\n2.5|y;z|1\n3|x;z|1\n", plain);
    /* a column of this name */
    expect_like("sep=,y\n1,0\n2,1\n3,0\n", "sep=,y\n1,0\n2,1\n3,0\n");
    expect_schema("sep=;\ny;a\n1;2\n", NULL, "columns named\nbits 24\nlabel y\nnumber a\n");
    gsa_reader *reader = open_table("sep=;\ny;a\n1;inf\n", NULL, NULL);
    gsa_batch batch;
    gsa_error error = {0};
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_INPUT);
    assert_string_equal(error.message, "t.csv:3 (byte 12): column 'a' holds 'inf': values must be finite");
    gsa_reader_close(reader);
}

static void empty_columns_at_the_end_are_dropped(void **state)
{
    (void)state;
    const char *plain = "a,b,y\n1.5,x,0\n2.5,y,1\n3,x,1\n";
    expect_like("a,b,y,\n1.5,x,0,\n2.5,y,1,\n3,x,1,\n", plain);
    expect_like("a,b,y,,,\n1.5,x,0,,,\n2.5,y,1,,,\n3,x,1,,,\n", plain);
    expect_like("a,b,y\n1.5,x,0,\n2.5,y,1,\n3,x,1,\n", plain);
    expect_like("a;b;y;\n1.5;x;0; \n2.5;y;1; \n3;x;1; \n", plain);
    /* one with a name, or a value, stays */
    expect_schema("y,a,b\n1,2,\n0,3,\n", NULL, "columns named\nbits 24\nlabel y\nnumber a\nnumber b\n");
    expect_schema("y,a,\n1,2,\n0,3,5\n", NULL, "columns named\nbits 24\nlabel y\nnumber a\nnumber 3\n");
    expect_failure("y,a,b\n1,2,3,4\n", NULL, GSA_INPUT, "t.csv:2 (byte 6): the row has 4 cells, the first line has 3");
}

static void a_model_reads_what_ends_with_separators(void **state)
{
    (void)state;
    static const char *const texts[] = {"y,a,c,b,\n1,2,x,3,\n", "1,2,x,3,\n", "b;c;a;y;;\n3;x;2;1;;\n",
                                        "sep=|\nb|c|a|y\n3|x|2|1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gsa_reader *reader = open_table(texts[i], NULL, NULL);
        gsa_batch batch;
        gsa_error error = {0};
        assert_int_equal(gsa_reader_set_schema(reader, model, NULL), GSA_OK);
        gsa_status status = gsa_reader_next(reader, &batch, &error);
        if (status != GSA_OK)
            fail_msg("%s: %s", texts[i], error.message);
        assert_int_equal(batch.n_rows, 1);
        assert_true(batch.value[0] == 2 && batch.value[1] == 3);
        gsa_reader_close(reader);
    }
}

static void titles_above_the_header_are_refused_with_a_remedy(void **state)
{
    (void)state;
#define REMEDY "remove lines before the header, and name every column in it"
    expect_failure("Sales\n\na,b,y\n1,2,3\n4,5,6\n", NULL, GSA_ARGUMENT,
                   "t.csv: the first line has 1 cell, and the others have 3: " REMEDY);
    expect_failure("Sales\nof March\na;b;y\n1;2;3\n4;5;6\n", NULL, GSA_ARGUMENT,
                   "t.csv: the first line has 1 cell, and the others have 3: " REMEDY);
    expect_failure("Sales, March\na,b,y\n1,2,3\n", NULL, GSA_ARGUMENT,
                   "t.csv: the first line has 2 cells, and the others have 3: " REMEDY);
    gsa_reader_options options = {.size = sizeof options, .label = "y"};
    expect_failure("Sales,,\na,b,y\n1,2,3\n4,5,6\n", &options, GSA_ARGUMENT,
                   "t.csv: there is no column 'y'; the columns are 1 to 3, by number, since there is no header; "
                   "remove lines before the header");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_separate_cells),
        cmocka_unit_test(a_first_line_declares_the_separator),
        cmocka_unit_test(empty_columns_at_the_end_are_dropped),
        cmocka_unit_test(a_model_reads_what_ends_with_separators),
        cmocka_unit_test(titles_above_the_header_are_refused_with_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
