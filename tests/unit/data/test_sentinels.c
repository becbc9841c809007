/* Numbers that mean a missing value, such as -999: which are taken for it, and which are not. */
#include "unit/data/tables.h"

#include <inttypes.h>

typedef struct column {
    double sentinel; /* in every row whose number is a multiple of `every` */
    size_t every, n_rows;
    double step; /* of the other values, which are 0, step, 2 step ... and begin again after n_values */
    size_t n_values;
} column;

/* A table with this column x; the sentinel is written so, NULL: as the cell is empty. */
static char *make_table(const column *of, const char *sentinel, const char *label)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "y,x\n");
    for (size_t i = 0; i < of->n_rows; i++) {
        bool is_missing = i % of->every == of->every - 1;
        fprintf(out, "%s,", label ? is_missing ? label : i % 3 ? "0.25" : "0.5" : i % 3 ? "0.25" : "0.5");
        if (is_missing)
            fprintf(out, "%s\n", sentinel ? sentinel : "");
        else
            fprintf(out, "%.10g\n", of->step * (double)(i % of->n_values));
    }
    fclose(out);
    return text;
}

/* Returns what the schema says of x, and the description of the file. */
static void expect(const column *of, const char *sentinel, const gsa_reader_options *options, const char *schema,
                   const char *description)
{
    char *text = make_table(of, sentinel, NULL);
    gsa_reader *reader = open_table(text, options, NULL);
    gsa_error error = {0};
    if (gsa_reader_begin(reader, &error) != GSA_OK)
        fail_msg("%s", error.message);
    const char *found = strstr(gsa_reader_schema(reader), "\nnumber x");
    assert_non_null(found);
    const char *missing = strstr(found, "\tmissing=");
    assert_string_equal(missing ? missing : "\n", schema);
    const char *said = strstr(gsa_reader_description(reader), "; label is");
    assert_non_null(said);
    const char *part = description ? strstr(said, description) : said;
    if (!part || (!description && (strstr(said, "missing") || strstr(said, " rows"))))
        fail_msg("%s", said);
    gsa_reader_close(reader);
    free(text);
}

static void numbers_far_from_all_others_are_missing(void **state)
{
    (void)state;
    const column wide = {.every = 10, .n_rows = 200, .step = 0.5, .n_values = 97};
    expect(&wide, "-999", NULL, "\tmissing=-999\n", "; -999 means missing in 'x' (20 rows); 20 missing values in 'x'");
    expect(&wide, "-999.0", NULL, "\tmissing=-999\n", "; -999 means missing in 'x' (20 rows)");
    expect(&wide, "9999", NULL, "\tmissing=9999\n", "; 9999 means missing in 'x' (20 rows)");
    expect(&wide, "99", NULL, "\tmissing=99\n", "; 99 means missing"); /* 0 to 48 */
    /* few other values must be ten times their range away */
    const column few = {.every = 10, .n_rows = 200, .step = 1, .n_values = 2};
    expect(&few, "99", NULL, "\tmissing=99\n", "; 99 means missing");
    expect(&few, "-9", NULL, "\n", NULL);
}

static void ordinary_numbers_stay(void **state)
{
    (void)state;
    const column wide = {.every = 10, .n_rows = 200, .step = 0.5, .n_values = 97};
    expect(&wide, "-1", NULL, "\n", NULL);
    expect(&wide, "-998", NULL, "\n", NULL);
    expect(&wide, "48.5", NULL, "\n", NULL);
    const column rare = {.every = 50, .n_rows = 200, .step = 0.5, .n_values = 97};
    expect(&rare, "-999", NULL, "\n", NULL); /* 4 rows */
    const column rarer = {.every = 200, .n_rows = 2000, .step = 0.5, .n_values = 97};
    expect(&rarer, "-999", NULL, "\n", NULL); /* 10 of 2000 */
    const column grown = {.every = 10, .n_rows = 2000, .step = 1, .n_values = 99};
    expect(&grown, "99", NULL, "\n", NULL); /* 0 to 98 */
    const column constant = {.every = 10, .n_rows = 200, .step = 0, .n_values = 2};
    expect(&constant, "99", NULL, "\n", NULL);
    const column prices = {.every = 10, .n_rows = 2000, .step = 1, .n_values = 600};
    expect(&prices, "999", NULL, "\n", "; 'x' is 999 in 200 rows: if that means missing, say so by the option missing");
}

static void options_decide(void **state)
{
    (void)state;
    const column wide = {.every = 10, .n_rows = 200, .step = 0.5, .n_values = 97};
    gsa_reader_options options = {.size = sizeof options, .missing = "none"};
    expect(&wide, "-999", &options, "\n", NULL);
    options.missing = "-1,7.25";
    expect(&wide, "-1.0", &options, "\tmissing=-1\tmissing=7.25\n", "; -1, 7.25 means missing in 'x' (20 rows)");
    expect(&wide, "-999", &options, "\tmissing=-1\tmissing=7.25\n", NULL);
    expect_failure("y,x\n1,2\n", &(gsa_reader_options){.size = sizeof options, .missing = "a"}, GSA_ARGUMENT,
                   "'a' as a missing value: expected a number, or none");
    expect_failure("y,x\n1,2\n", &(gsa_reader_options){.size = sizeof options, .missing = "1,2,3,4,5"}, GSA_ARGUMENT,
                   "too many missing values: expected at most 4");
}

static void rows_are_those_of_empty_cells(void **state)
{
    (void)state;
    const column of = {.every = 7, .n_rows = 300, .step = 0.37, .n_values = 91};
    static const char *const written[] = {"-999", "-999.0", "-999.00", "-9.99e2", " -999 "};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        char *texts[] = {make_table(&of, NULL, NULL), make_table(&of, written[i], NULL)}, *dumps[2];
        for (int k = 0; k < 2; k++) {
            gsa_status status;
            gsa_reader *reader = open_table(texts[k], NULL, NULL);
            dumps[k] = dump_reader(reader, &status, NULL);
            assert_int_equal(status, GSA_END);
            gsa_reader_close(reader);
            free(texts[k]);
        }
        const char *a = dumps[0], *b = dumps[1]; /* but for where rows stand: "0:2@8 " */
        while (*a && *b) {
            a = *a == '0' ? strchr(a, ' ') : a;
            b = *b == '0' ? strchr(b, ' ') : b;
            size_t size = strcspn(a, "\n");
            assert_int_equal(size, strcspn(b, "\n"));
            assert_memory_equal(a, b, size);
            a += size + 1;
            b += size + 1;
        }
        assert_int_equal(*a, *b);
        free(dumps[0]);
        free(dumps[1]);
    }
}

static void labels_are_left_alone(void **state)
{
    (void)state;
    const column of = {.every = 10, .n_rows = 200, .step = 0.5, .n_values = 97};
    char *text = make_table(&of, "3", "-999");
    gsa_reader_options options = {.size = sizeof options, .missing = "-999"};
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        gsa_reader *reader = open_table(text, by_hand ? &options : NULL, NULL);
        gsa_batch batch;
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        assert_int_equal(batch.n_rows, 200);
        assert_non_null(
            strstr(gsa_reader_description(reader), "; 'y' is -999 in 20 rows: if that means missing, leave them out"));
        gsa_reader_close(reader);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_far_from_all_others_are_missing),
        cmocka_unit_test(ordinary_numbers_stay),
        cmocka_unit_test(options_decide),
        cmocka_unit_test(rows_are_those_of_empty_cells),
        cmocka_unit_test(labels_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
