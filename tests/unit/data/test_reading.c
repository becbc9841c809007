/* Numbers with units and separators, dates, and what a column is taken for by its cells. */
#include "unit/data/tables.h"

#include "data/format/column.h"

/* The kinds and readings of column `a`, one cell a line, beside a label. */
static void expect_kind(const char *cells, const gsa_reader_options *options, const char *expected)
{
    char text[4096] = "y\ta\n", schema[512];
    for (const char *p = cells; *p; p += *p == '\n') {
        size_t size = strcspn(p, "\n"), n = strlen(text);
        snprintf(text + n, sizeof text - n, "1\t%.*s\n", (int)size, p);
        p += size;
    }
    snprintf(schema, sizeof schema, "columns named\nbits 24\nlabel y\n%s\n", expected);
    expect_schema(text, options, schema);
}

static void odd_numbers_are_numbers(void **state)
{
    (void)state;
    expect_kind("$1,234.50\n$7\n-$12.25\n", NULL, "number a\tgroup=,\tunit=$");
    expect_kind("1.234,5\n12,5\n3\n", NULL, "number a\tdecimal=,\tgroup=.");
    expect_kind("12 %\n7.5%\n", NULL, "number a\tunit=%");
    expect_kind("1'234'567.5\n2\n", NULL, "number a\tgroup='");
    expect_kind("1 234,5 €\n2,25\n", NULL, "number a\tdecimal=,\tgroup= \tunit=€");
    expect_kind("1,234,567\n2,345\n", NULL, "number a\tgroup=,");
    expect_kind("0,123\n0,5\n", NULL, "number a\tdecimal=,");
    expect_kind("USD 1,500\n7 USD\nUSD7.5\n", NULL, "number a\tgroup=,\tunit=USD");
    expect_kind("(1,200.50)\n3\n", NULL, "number a\tgroup=,");
    expect_kind("(12)\n3\n", NULL, "number a\tformatted");
    expect_kind("1.2k\n3M\n950\n", NULL, "number a\tformatted");
    expect_kind("$1.2k\n$3M\n", NULL, "number a\tunit=$");
    expect_kind("3.2 kg\n4kg\nunknown\n5 kg\n1 kg\n1 kg\n1 kg\n1 kg\n1 kg\n1 kg\n1 kg\n", NULL,
                "number a\tunit=kg\tmissing=unknown");
    expect_kind("36 months\n60 months\n", NULL, "number a\tunit=months");
    expect_kind("3,5 °C\n-4,5 °C\n", NULL, "number a\tdecimal=,\tunit=°C");
    /* What contradicts itself is words. */
    expect_kind("3.2 kg\n4 lb\n", NULL, "words a");
    expect_kind("12\n14\n12A\n", NULL, "words a");
    expect_kind("1st\n2nd\n3rd\n", NULL, "words a");
    expect_kind("EURO 5\nEURO 6\n", NULL, "words a");
    expect_kind("(-5)\n(6\n", NULL, "words a");
    expect_kind("5 Main St\n6 Main St\n", NULL, "words a");
    expect_kind("1,5\n1,234.5\n", NULL, "words a");
    expect_kind("$5\n7 €\n", NULL, "words a");
    expect_kind("A12\nA13\n", NULL, "words a");
    expect_kind("1-2\n3-4\n", NULL, "words a");
}

static void digits_behind_a_zero_are_codes(void **state)
{
    (void)state;
    expect_kind("00501\n10001\n90210\n", NULL, "words a");
    expect_kind("00501\n\n90210\nNA\n", NULL, "words a");
    expect_kind("01\n1\n12\n", NULL, "words a");
    expect_kind("0.5\n0\n-0.25\n00.5\n", NULL, "number a");
    expect_kind("10\n2\n3\n4\n5\n6\n7\n8\n9\n1\n07\n", NULL, "number a");
}

static void blanks_around_a_cell_do_not_count(void **state)
{
    (void)state;
    expect_kind("\" 1.5 \"\n  2\n", NULL, "number a");
    expect_kind("\" $1 \"\n$2 \n", NULL, "number a\tunit=$");
}

static void a_few_words_among_numbers_are_missing(void **state)
{
    (void)state;
    expect_kind("1\n2\n3\n-\n?\nN/A\nNone\n4\n", NULL, "number a");
    expect_kind("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\nunknown\n", NULL, "number a\tmissing=unknown");
    expect_kind("1\n2\n3\n4\nunknown\n", NULL, "words a");
    expect_kind("1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n",
                &(gsa_reader_options){.size = sizeof(gsa_reader_options), .categorical = "a"}, "words a");
}

static void two_readings_are_never_guessed(void **state)
{
    (void)state;
    gsa_reader_options point = {.size = sizeof point, .decimal = "point"},
                       comma = {.size = sizeof comma, .decimal = "comma"};
    const char text[] = "y;a\n1;1,234\n0;999\n";
    expect_failure(text, NULL, GSA_ARGUMENT,
                   "t.csv: column 'a' holds '1,234', which is ambiguous: the comma may separate thousands or "
                   "decimals; say which mark comes before decimals, point or comma");
    expect_schema(text, &point, "columns named\nbits 24\nlabel y\nnumber a\tgroup=,\n");
    expect_schema(text, &comma, "columns named\nbits 24\nlabel y\nnumber a\tdecimal=,\n");
    expect_rows(text, &comma, "0:2@4 0x1p+0 0=0x1.3be76cp+0\n0:3@12 0x0p+0 0=0x1.f38p+9\n-- values\n");
    expect_rows(text, &point, "0:2@4 0x1p+0 0=0x1.348p+10\n0:3@12 0x0p+0 0=0x1.f38p+9\n-- values\n");
    /* So is a point, if it is asked for or other columns have decimals behind a comma. */
    expect_schema("y;a\n1;1.234\n0;2.500\n", &comma, "columns named\nbits 24\nlabel y\nnumber a\tdecimal=,\tgroup=.\n");
    expect_schema("y;a\n1;1.234\n0;2.500\n", NULL, "columns named\nbits 24\nlabel y\nnumber a\n");
    expect_failure("y;a;b\n1;1.234;2,5\n0;2.500;3,25\n", NULL, GSA_ARGUMENT,
                   "t.csv: column 'a' holds '1.234', which is ambiguous: the point may separate thousands or "
                   "decimals; say which mark comes before decimals, point or comma");
    expect_schema("y;a;b\n1;1.234;2,5\n0;2.5;3,25\n", NULL,
                  "columns named\nbits 24\nlabel y\nnumber a\nnumber b\tdecimal=,\n");
    /* Dates that may be either stay words. */
    expect_kind("3/4/2026\n5/6/2026\n", NULL, "words a");
    expect_kind("3/4/2026\n5/6/2026\n", &(gsa_reader_options){.size = sizeof(gsa_reader_options), .dates = "day-first"},
                "date a\torder=day");
    expect_kind("3/4/2026\n13/6/2026\n", NULL, "date a\torder=day");
    expect_kind("3/4/2026\n3/26/2026\n", NULL, "date a\torder=month");
    expect_kind("13/4/2026\n3/16/2026\n", NULL, "words a");
    expect_kind("1.4.2026\n2.3.2026\n", NULL, "date a\torder=day");
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    gsa_reader_options wrong = {.size = sizeof wrong, .decimal = "dot"};
    assert_int_equal(gsa_reader_open_memory("", 0, "t", &wrong, NULL, NULL, &reader, &error), GSA_ARGUMENT);
    assert_string_equal(error.message, "'dot': expected point or comma");
}

static void expect_date(const char *text, char order, int64_t days, uint32_t seconds)
{
    gsai_date date;
    assert_int_equal(gsai_read_date(&(gsai_reading){.order = order}, text, strlen(text), &date), GSAI_VALUE);
    assert_int_equal(date.days, days);
    assert_int_equal(date.seconds, seconds);
}

/* Days by Python's datetime.date.toordinal() - 719163. */
static void dates_are_days_and_seconds(void **state)
{
    (void)state;
    expect_date("1970-01-01", 0, 0, 0);
    expect_date("2000-02-29", 0, 11016, 0);
    expect_date("1969-12-31T23:59:59Z", 0, -1, 86399);
    expect_date("0001-01-01", 0, -719162, 0);
    expect_date("2100-03-01", 0, 47541, 0);
    expect_date("2026/11/17 8:05", 0, 20774, 29100);
    expect_date("2026-11-17 08:05:07.123456+02:00", 0, 20774, 29107);
    expect_date("11/17/2026 12:30 AM", 'm', 20774, 1800);
    expect_date("17.11.2026 12:30 PM", 'd', 20774, 45000);
    expect_date("Nov 17, 2026", 0, 20774, 0);
    expect_date("17-NOV-2026 8:05", 0, 20774, 29100);
    expect_date("17 November 2026", 0, 20774, 0);
    expect_date("Sept. 5 2026", 0, 20701, 0);
    static const char *const none[] = {
        "2026-02-29",   "2026-13-01",       "2026-1-1-1",      "26-01-01", "2026-01/01",
        "20260101",     "2026-01-01 25:00", "2026-01-01 noon", "1/2/26",   "2026-01-01T10:00+1",
        "Nov 31, 2026", "Nova 17, 2026",    "Nov 17, 26",      "17 Nov",   "Nov 2026"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        gsai_date date;
        assert_int_equal(gsai_read_date(&(gsai_reading){.order = 'd'}, none[i], strlen(none[i]), &date),
                         GSAI_VALUE_WRONG);
    }
}

static void parts_of_dates_are_categories(void **state)
{
    (void)state;
    static const struct {
        int64_t days;
        const char *weekday, *month;
    } cases[] = {
        {0, "Thu", "Jan"}, {-1, "Wed", "Dec"}, {11016, "Tue", "Feb"}, {20774, "Tue", "Nov"}, {-719162, "Mon", "Jan"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsai_date date = {cases[i].days, 13 * 3600 + 59};
        assert_string_equal(gsai_date_part(date, 0), cases[i].weekday);
        assert_string_equal(gsai_date_part(date, 1), cases[i].month);
        assert_string_equal(gsai_date_part(date, 2), "13");
    }
    const gsai_date far = {INT64_C(1) << 40, 0}, past = {-(INT64_C(1) << 40), 0};
    assert_string_equal(gsai_date_part(far, 1), "Dec");
    assert_string_equal(gsai_date_part(past, 1), "Jan");
    gsa_reader_options options = {.size = sizeof options, .remember_names = 1};
    gsa_reader *reader = open_table("y,when\n1,2026-11-17 13:00\n0,2026-11-18 14:30\n1,\n", &options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.row_start[1], 4); /* days from the 18th, weekday, month, hour */
    assert_true(batch.value[0] == (float)(13 / 24.0 - 1));
    assert_int_equal(batch.row_start[3] - batch.row_start[2], 2); /* the mean, and that it is missing */
    uint64_t hour = 2 + (gsai_hash("when hour\00013", 12, 0) & 0xFFFFFF);
    assert_string_equal(gsa_reader_name(reader, hour), "when hour=13");
    bool found = false;
    for (int64_t i = 0; i < 4; i++)
        found = found || batch.index[i] == hour;
    assert_true(found);
    gsa_reader_close(reader);
}

/* Weights are repetitions, in the mean too. */
static void means_count_rows_by_their_weights(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .weight = "w"};
    gsa_reader *reader = open_table("y,a,w\n1,1,3\n0,5,1\n1,,1\n", &options, NULL);
    assert_int_equal(gsa_reader_begin(reader, NULL), GSA_OK);
    assert_non_null(strstr(gsa_reader_schema(reader), "number a\tmean=2\n"));
    gsa_reader_close(reader);
    /* Without a header the column of weights is found by its number, whatever the first row holds. */
    gsa_reader_options numbered = {.size = sizeof numbered, .label = "1", .weight = "3"};
    reader = open_table("0,3,1\n1,1,3\n1,5,0\n", &numbered, NULL);
    assert_int_equal(gsa_reader_begin(reader, NULL), GSA_OK);
    assert_non_null(strstr(gsa_reader_schema(reader), "number 2\tmean=1.5\n"));
    gsa_reader_close(reader);
}

/* Nine tenths of the rows are counted by weights. */
static void kinds_count_rows_by_their_weights(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .weight = "w"};
    expect_schema("y,a,w\n1,1,9\n0,old,1\n", &options,
                  "columns named\nbits 24\nlabel y\nnumber a\tmissing=old\nweight w\n");
    expect_schema("y,a,w\n1,1,9\n0,old,3\n", &options, "columns named\nbits 24\nlabel y\nwords a\nweight w\n");
    /* Words of rows that do not count are words. */
    expect_schema("y,a,w\n1,b,0\n0,c,0\n0,d,0\n0,e,0\n0,f,0\n0,g,0\n0,h,0\n0,i,0\n0,j,0\n", &options,
                  "columns named\nbits 24\nlabel y\nwords a\nweight w\n");
}

static void a_column_that_a_model_needs_is_not_ignored(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .ignore = "a,zz"};
    static const char *const texts[] = {"y,a,zz\n1,2,3\n", "{\"y\":1,\"a\":2,\"zz\":3}\n"};
    for (int i = 0; i < 2; i++) {
        gsa_reader *reader = open_table(texts[i], &options, NULL);
        gsa_error error = {0};
        gsa_batch batch;
        assert_int_equal(
            gsa_reader_set_schema(reader, "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nnumber a\n", NULL),
            GSA_OK);
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_ARGUMENT);
        assert_string_equal(error.message, "t.csv: the model needs the column 'a': it cannot be ignored");
        gsa_reader_close(reader);
    }
}

/* A gap that comes for the first time with a model counts as the mean that the model has. */
static void a_later_gap_counts_as_the_mean_of_the_model(void **state)
{
    (void)state;
    gsa_reader *reader = open_table("y,a\n1,\n", NULL, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_set_schema(
                         reader, "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nnumber a\tmean=2.5\n", NULL),
                     GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.row_start[1], 2);
    assert_true(batch.value[0] == 2.5F && batch.index[1] == 1 && batch.value[1] == 1);
    gsa_reader_close(reader);
}

static void rows_without_a_label_are_left_out_and_counted(void **state)
{
    (void)state;
    /* None is missing among numbers, and may be a class among words. */
    static const char *const texts[] = {"y,a\n1,2\n,3\nNA,4\n0,5\nNone,6\n", "y,a\nmild,2\n,3\nNA,4\nbad,5\nNone,6\n"};
    for (size_t i = 0; i < 2; i++) {
        gsa_reader *reader = open_table(texts[i], NULL, NULL);
        gsa_batch batch;
        gsa_reader_progress progress = {.size = sizeof progress};
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        assert_int_equal(batch.n_rows, 2 + i);
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.n_unlabelled, 3 - i);
        assert_int_equal(progress.n_bad_rows, 0);
        gsa_reader_close(reader);
    }
}

/* The labels of a table, each a number or, in quotes, a word, and the line of the schema. */
static void expect_labels(const char *cells, const gsa_reader_options *options, const char *line, const char *expected)
{
    char text[1024] = "y\ta\n", found[1024] = "", schema[256];
    for (const char *p = cells; *p; p += *p == '\n') {
        size_t size = strcspn(p, "\n"), n = strlen(text);
        snprintf(text + n, sizeof text - n, "%.*s\t1\n", (int)size, p);
        p += size;
    }
    gsa_reader *reader = open_table(text, options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    for (size_t row = 0; row < batch.n_rows; row++) {
        bool is_word = batch.word && batch.word[row] >= 0;
        size_t n = strlen(found);
        if (is_word)
            snprintf(found + n, sizeof found - n, "'%s' ", batch.words[batch.word[row]]);
        else
            snprintf(found + n, sizeof found - n, "%.17g ", batch.label[row]);
    }
    assert_string_equal(found, expected);
    snprintf(schema, sizeof schema, "\n%s\n", line);
    assert_non_null(strstr(gsa_reader_schema(reader), schema));
    gsa_reader_close(reader);
}

static void labels_are_read_as_features_are(void **state)
{
    (void)state;
    expect_labels("21,5\n22,75\n", NULL, "label y\tnumber\tdecimal=,", "21.5 22.75 ");
    expect_labels("$1,200\n$1,200.50\n-$7\n", NULL, "label y\tnumber\tgroup=,\tunit=$", "1200 1200.5 -7 ");
    expect_labels("12 %\n7.5%\n", NULL, "label y\tnumber\tunit=%", "12 7.5 ");
    expect_labels("16777217\n$0.1\n", NULL, "label y\tnumber\tunit=$", "16777217 0.10000000000000001 ");
    /* Words among many numbers, or among fractions, are missing; among few whole numbers they are classes. */
    expect_labels("0.5\n2\n3\n4\n5\n6\n7\n8\n9\nx\n", NULL, "label y\tnumber\tmissing=x", "0.5 2 3 4 5 6 7 8 9 ");
    expect_labels("1\n2\n1\n2\n1\n2\n1\n2\n1\nx\n", NULL, "label y", "1 2 1 2 1 2 1 2 1 'x' ");
    /* Columns that are named as categorical are names of classes. */
    gsa_reader_options words = {.size = sizeof words, .categorical = "y"};
    expect_labels("01\n1\n2026-11-18\n", &words, "label y\twords", "'01' '1' '2026-11-18' ");
    expect_failure("y,a\n2026-11-17,1\n2026-11-18,1\n", NULL, GSA_ARGUMENT,
                   "t.csv: the label 'y' holds dates, and a label is a number or a class: make it a number, such as "
                   "days, or treat the column as categorical");
    expect_failure("y;a\n1,234;1\n2,345;1\n", NULL, GSA_ARGUMENT,
                   "t.csv: column 'y' holds '1,234', which is ambiguous: the comma may separate thousands or "
                   "decimals; say which mark comes before decimals, point or comma");
}

/* A model's schema says how labels are read, whatever the rows of a later file look like. */
static void labels_of_later_files_are_read_as_those_of_the_first(void **state)
{
    (void)state;
    gsa_reader *reader = open_table("y;a\n1,234;1\n7;1\nx;1\n", NULL, NULL);
    gsa_batch batch;
    gsa_error error = {0};
    assert_int_equal(
        gsa_reader_set_schema(
            reader, "greedystep schema 2\ncolumns named\nbits 24\nlabel y\tnumber\tdecimal=,\nnumber a\n", NULL),
        GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_true(batch.label[0] == 1.234 && batch.label[1] == 7);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_INPUT);
    assert_string_equal(error.message,
                        "t.csv:4 (byte 16): column 'y' holds 'x': expected a number that is written as the "
                        "labels of the first rows");
    gsa_reader_close(reader);
}

/* Says of a table, one line a row, that it has these words. */
static void expect_description(const char *text, const char *expected)
{
    gsa_reader *reader = open_table(text, NULL, NULL);
    assert_int_equal(gsa_reader_begin(reader, NULL), GSA_OK);
    const char *found = strchr(gsa_reader_description(reader), ';');
    assert_string_equal(found ? found : "", expected);
    gsa_reader_close(reader);
}

static void the_description_names_what_a_user_would_not_expect(void **state)
{
    (void)state;
    expect_description("y,a\n1,00501\n0,10001\n",
                       "; label is 'y', 0 numeric and 1 categorical column (hashed to 2^24 slots); 'a' is categorical, "
                       "since zeros stand before its digits");
    expect_description("y,a\n1,3 kg\n0,4 lb\n",
                       "; label is 'y', 0 numeric and 1 categorical column (hashed to 2^24 slots); 'a' is categorical, "
                       "since its numbers have different units, such as 'kg' and 'lb'");
    expect_description("y,a\nYes,1\nyes,2\nno,3\nYES,4\n",
                       "; label is 'y', 1 numeric column; classes that differ in case only, and are different: 'Yes', "
                       "'yes', 'YES'");
    expect_description("y,a\nthe first of two long names,1\nthe second of two long names,2\nno,3\n",
                       "; label is 'y', 1 numeric column");
    expect_description(
        "y;a\n2,5;3 kg\n3,5;4 kg\n",
        "; label is 'y', 1 numeric column; 'y' is a number, decimals behind a comma; 'a' is a number in kg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_numbers_are_numbers),
        cmocka_unit_test(digits_behind_a_zero_are_codes),
        cmocka_unit_test(blanks_around_a_cell_do_not_count),
        cmocka_unit_test(a_few_words_among_numbers_are_missing),
        cmocka_unit_test(two_readings_are_never_guessed),
        cmocka_unit_test(dates_are_days_and_seconds),
        cmocka_unit_test(parts_of_dates_are_categories),
        cmocka_unit_test(means_count_rows_by_their_weights),
        cmocka_unit_test(kinds_count_rows_by_their_weights),
        cmocka_unit_test(a_column_that_a_model_needs_is_not_ignored),
        cmocka_unit_test(a_later_gap_counts_as_the_mean_of_the_model),
        cmocka_unit_test(rows_without_a_label_are_left_out_and_counted),
        cmocka_unit_test(labels_are_read_as_features_are),
        cmocka_unit_test(labels_of_later_files_are_read_as_those_of_the_first),
        cmocka_unit_test(the_description_names_what_a_user_would_not_expect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
