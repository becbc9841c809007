/* JSON lines are tables whose columns are the keys. */
#include "unit/data/tables.h"

#include "data/format/digits.h"

/* The same rows, labels and schema as a table in text has. */
static void expect_same(const char *json, const char *csv, const gsa_reader_options *options)
{
    const char *const text[] = {json, csv};
    char *rows[2], *schema[2];
    for (int i = 0; i < 2; i++) {
        gsa_reader *reader = open_table(text[i], options, NULL);
        gsa_error error = {0};
        gsa_status status;
        rows[i] = dump_reader(reader, &status, &error);
        if (status != GSA_END)
            print_message("%s\n", error.message);
        assert_int_equal(status, GSA_END);
        schema[i] = strdup(gsa_reader_schema(reader));
        gsa_reader_close(reader);
    }
    assert_string_equal(schema[0], schema[1]);
    /* Where rows stand differs, "0:2@8 " before each: what follows the first blank of a line does not. */
    const char *a = rows[0], *b = rows[1];
    while (*a && *b) {
        size_t a_size = strcspn(a, "\n"), b_size = strcspn(b, "\n");
        const char *a_row = a[0] == '0' ? strchr(a, ' ') : a, *b_row = b[0] == '0' ? strchr(b, ' ') : b;
        assert_int_equal(a + a_size - a_row, b + b_size - b_row);
        assert_memory_equal(a_row, b_row, (size_t)(a + a_size - a_row));
        a += a_size + 1;
        b += b_size + 1;
    }
    assert_true(*a == *b);
    for (int i = 0; i < 2; i++) {
        free(rows[i]);
        free(schema[i]);
    }
}

static void json_lines_are_tables(void **state)
{
    (void)state;
    expect_same(
        "{\"y\": 1, \"age\": 30, \"city\": \"Rome\"}\n{\"city\":\"Oslo\",\"y\":0,\"age\":-2.5e1}\n\n{ \"y\" : 1 }",
        "y,age,city\n1,30,Rome\n0,-25,Oslo\n1,,\n", NULL);
    expect_same(
        "{\"y\": \"no\", \"ok\": true, \"x\": null}\r\n{\"y\": \"yes\", \"ok\": false, \"x\": 4, \"late\": \"a\"}\n",
        "y,ok,x,late\nno,1,,\nyes,0,4,a\n", NULL);
    expect_same("{\"y\": 1, \"price\": \"$1,200.50\", \"when\": \"2026-11-17T08:00:00Z\"}\n",
                "y,price,when\n1,\"$1,200.50\",2026-11-17T08:00:00Z\n", NULL);
}

static void strings_have_escapes(void **state)
{
    (void)state;
    expect_same("{\"y\":1,\"c\":\"a\\\"b\\\\\\u00e9\\uD83D\\uDE00\"}\n{\"y\":1,\"c\":\"\\u004Bo\\/ln\"}\n",
                "y,c\n1,\"a\"\"b\\\xC3\xA9\xF0\x9F\x98\x80\"\n1,Ko/ln\n", NULL);
    expect_same("{\"y\":1,\"\\u0061 b\":\"x\"}\n", "y,a b\n1,x\n", NULL);
}

static void the_end_of_a_string_is_the_first_byte_that_ends_it(void **state)
{
    (void)state;
    uint64_t seed = 31;
    for (int i = 0; i < 200000; i++) {
        char text[8];
        size_t wanted = 8;
        for (size_t k = 8; k-- > 0;) {
            uint64_t r = next_random(&seed);
            text[k] = (char)(r % 4 ? "a!#[]\x7F\x80\xFF\xA2\xDC\x9F"[(r >> 8) % 11] : (char)(r >> 8));
            wanted = text[k] == '"' || text[k] == '\\' || (unsigned char)text[k] < ' ' ? k : wanted;
        }
        uint64_t ends = gsai_string_ends(gsai_load_word(text));
        assert_int_equal(ends == 0 ? 8 : __builtin_ctzll(ends) / 8, wanted);
    }
}

#define NO_NUMBER "not a number of JSON: digits without leading zeros, and digits on both sides of a point"
#define NO_CONTROL "a control character cannot stand in a string: write an escape, such as \\t or \\n"

static void what_is_no_flat_object_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"{\"y\":1,\"a\":{\"b\":2}}",
         "t.csv:2 (byte 19): a value is an object or a list: columns are flat; take such values apart with a query"},
        {"{\"y\":1,\"a\":[1]}",
         "t.csv:2 (byte 19): a value is an object or a list: columns are flat; take such values apart with a query"},
        {"{\"y\":1 \"a\":2}", "t.csv:2 (byte 15): expected a comma or the end of the object"},
        {"{\"y\":1,\"a\":2", "t.csv:2 (byte 20): expected a comma or the end of the object"},
        {"{\"y\":1,a:2}", "t.csv:2 (byte 15): expected a key in quotes and a colon"},
        {"{\"y\":1,\"a\":two}", "t.csv:2 (byte 19): expected a value: a string, a number, true, false or null"},
        {"{\"y\":1,\"a\":\"x}", "t.csv:2 (byte 19): the string that begins here does not end in this line"},
        {"{\"y\":1,\"a\":\"\\uD83D\"}", "t.csv:2 (byte 20): not an escape of JSON strings"},
        {"{\"y\":1,\"a\":\"\\u0000\"}", "t.csv:2 (byte 20): not an escape of JSON strings"},
        {"{\"y\":1,\"a\":01}", "t.csv:2 (byte 19): " NO_NUMBER},
        {"{\"y\":1,\"a\":-00.5}", "t.csv:2 (byte 19): " NO_NUMBER},
        {"{\"y\":1,\"a\":1.}", "t.csv:2 (byte 19): " NO_NUMBER},
        {"{\"y\":1,\"a\":-}", "t.csv:2 (byte 19): " NO_NUMBER},
        {"{\"y\":1,\"a\":1e}", "t.csv:2 (byte 19): " NO_NUMBER},
        {"{\"y\":1,\"a\":1,234}", "t.csv:2 (byte 21): expected a key in quotes and a colon"},
        {"{\"y\":1,\"a\":1_000}", "t.csv:2 (byte 19): " NO_NUMBER},
        {"{\"y\":1,\"a\":.5}", "t.csv:2 (byte 19): expected a value: a string, a number, true, false or null"},
        {"{\"y\":1,\"a\":\"x\ty\"}", "t.csv:2 (byte 21): " NO_CONTROL},
        {"{\"y\":1,\"a\":\"x\\\\\x01\"}", "t.csv:2 (byte 23): " NO_CONTROL},
        {"{\"y\":1,\"a\":\"\xE9\"}",
         "t.csv:2 (byte 19): the string that begins here is not UTF-8: save the file as UTF-8"},
        {"{\"y\":1,\"a\":2,\"y\":1}", "t.csv:2 (byte 21): the object has this key twice"},
        {"{\"a\":null,\"y\":1,\"\\u0061\":2}", "t.csv:2 (byte 24): the object has this key twice"},
        {"{\"y\":1,\"a\"}", "t.csv:2 (byte 18): expected a colon behind the key"},
        {"{\"y\":1} {", "t.csv:2 (byte 16): text after the object: expected one object per line"},
        {"[1]", "t.csv:2 (byte 8): expected an object per line: {\"name\": value, ...}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        gsa_reader_options skip = {.size = sizeof skip, .skip_bad_rows = 1};
        snprintf(text, sizeof text, "{\"y\":1}\n%s\n{\"y\":0,\"a\":3}\n", cases[i].line);
        expect_failure(text, NULL, GSA_INPUT, cases[i].message);
        gsa_reader *reader = open_table(text, &skip, NULL);
        gsa_batch batch;
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        assert_int_equal(batch.n_rows, 2);
        gsa_reader_close(reader);
    }
}

static void a_nul_in_a_string_is_refused(void **state)
{
    (void)state;
    const char text[] = "{\"y\":1,\"a\":\"x\0y\"}\n";
    gsa_reader *reader;
    gsa_batch batch;
    gsa_error error = {0};
    assert_int_equal(gsa_reader_open_memory(text, sizeof text - 1, "t.json", NULL, NULL, NULL, &reader, NULL), GSA_OK);
    assert_int_not_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_string_equal(error.message, "t.json:1 (byte 13): " NO_CONTROL);
    gsa_reader_close(reader);
}

static void keys_that_rows_lack_are_missing_for_a_model_too(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .without_labels = 1};
    gsa_reader *reader = open_table("{\"b\": 5}\n", &options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_set_schema(reader,
                                           "greedystep schema 2\ncolumns named\nbits 24\nlabel y\nnumber a\tmean=2\n"
                                           "number b\n",
                                           NULL),
                     GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.row_start[1], 3);
    assert_true(batch.value[0] == 2 && batch.value[1] == 5 && batch.index[2] == 2);
    gsa_reader_close(reader);
}

static void json_rows_do_not_depend_on_buffers(void **state)
{
    (void)state;
    const char text[] = "{\"y\":1,\"a\":\"x\\ny\"}\r\n\n{\"a\":\"\\\"\",\"y\":\"cat\"}\n{\"y\":0}";
    gsa_status status;
    gsa_reader *reader = open_table(text, NULL, NULL);
    char *expected = dump_reader(reader, &status, NULL);
    assert_int_equal(status, GSA_END);
    gsa_reader_close(reader);
    for (size_t buffer = 1; buffer < 60; buffer++) {
        reader = open_table(text, NULL, &(gsai_reader_sizes){.buffer = buffer, .read = 1 + buffer % 7});
        char *dump = dump_reader(reader, &status, NULL);
        assert_int_equal(status, GSA_END);
        assert_string_equal(dump, expected);
        free(dump);
        gsa_reader_close(reader);
    }
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_lines_are_tables),
        cmocka_unit_test(strings_have_escapes),
        cmocka_unit_test(the_end_of_a_string_is_the_first_byte_that_ends_it),
        cmocka_unit_test(what_is_no_flat_object_is_named),
        cmocka_unit_test(a_nul_in_a_string_is_refused),
        cmocka_unit_test(keys_that_rows_lack_are_missing_for_a_model_too),
        cmocka_unit_test(json_rows_do_not_depend_on_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
