/* libsvm text: what is read, and every error with its line and byte, in both modes. */
#include "unit/data/support.h"

static void reads(const char *text, const char *expected)
{
    char *dump = dump_text(text, strlen(text), NULL, NULL);
    assert_string_equal(dump, expected);
    free(dump);
}

static void libsvm_reads_labels_ids_and_values(void **state)
{
    (void)state;
    reads("1 1:0.5 3:2\n-1 2:1e3\n", "0:1@0 0x1p+0 0=0x1p-1 2=0x1p+1\n"
                                     "0:2@12 -0x1p+0 1=0x1.f4p+9\n-- values\n");
    reads("0.25\t4294967294:1\n", "0:1@0 0x1p-2 4294967293\n-- ones\n");
    reads("+1   7:+.5\t \t8:-5. \n", "0:1@0 0x1p+0 6=0x1p-1 7=-0x1.4p+2\n-- values\n");
}

static void libsvm_reads_empty_input_as_no_rows(void **state)
{
    (void)state;
    reads("", "");
    reads("\n\n \t\n\r\n", "");
    reads("# nothing here\n  # nor here", "");
}

static void libsvm_takes_any_end_of_line(void **state)
{
    (void)state;
    reads("1 1:1\r\n0 2:1\n\r\n\n1 3:1", "0:1@0 0x1p+0 0\n0:2@7 0x0p+0 1\n0:5@16 0x1p+0 2\n-- ones\n");
    reads("1 1:1\r", "0:1@0 0x1p+0 0\n-- ones\n");
    reads("1", "0:1@0 0x1p+0\n-- ones\n");
    reads("1\r\n", "0:1@0 0x1p+0\n-- ones\n");
}

static void libsvm_ignores_comments(void **state)
{
    (void)state;
    reads("# head\n1 1:1 # tail 2:1\n1 # 5:5\n1 1:2 #\n",
          "0:2@7 0x1p+0 0=0x1p+0\n0:3@24 0x1p+0\n0:4@32 0x1p+0 0=0x1p+1\n-- values\n");
}

static void libsvm_skips_a_byte_order_mark(void **state)
{
    (void)state;
    reads("\xEF\xBB\xBF"
          "1 1:1\n",
          "0:1@0 0x1p+0 0\n-- ones\n");
}

static void libsvm_drops_zeros_and_omits_ones(void **state)
{
    (void)state;
    reads("1 1:0 2:1 3:-0 4:0.000e5 5:1.0\n", "0:1@0 0x1p+0 1 4\n-- ones\n");
    reads("1 1:0\n", "0:1@0 0x1p+0\n-- ones\n");
    reads("1 1:1 2:1.5\n", "0:1@0 0x1p+0 0=0x1p+0 1=0x1.8p+0\n-- values\n");
}

static void libsvm_reads_words_as_labels(void **state)
{
    (void)state;
    reads("cat 1:1\ndog 2:1\ncat\n1 3:1\n1e 1:1\n0x1p3\n--1\nna\xC3\xAFve\n",
          "0:1@0 'cat' 0\n0:2@8 'dog' 1\n0:3@16 'cat'\n0:4@20 0x1p+0 2\n0:5@26 '1e' 0\n0:6@33 '0x1p3'\n"
          "0:7@39 '--1'\n0:8@43 'na\xC3\xAFve'\n-- ones words\n");
    reads("-0 1:1\n", "0:1@0 0x0p+0 0\n-- ones\n");
}

static void libsvm_numbers_words_once_and_for_all(void **state)
{
    (void)state;
    const char text[] = "b\na\nb\n1\nc\n";
    gsai_reader_sizes sizes = {.batch_rows = 2};
    gsa_reader *reader = open_text(text, strlen(text), &sizes, 0, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.word[0], 0);
    assert_int_equal(batch.word[1], 1);
    assert_int_equal(batch.n_words, 2);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.word[0], 0);
    assert_int_equal(batch.word[1], -1);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.word[0], 2);
    assert_string_equal(batch.words[2], "c");
    assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.word[0], 0);
    gsa_reader_close(reader);
}

static void libsvm_omits_words_from_a_batch_without_any(void **state)
{
    (void)state;
    const char text[] = "word\n1\n";
    gsai_reader_sizes sizes = {.batch_rows = 1};
    char *dump = dump_text(text, strlen(text), &sizes, NULL);
    assert_string_equal(dump, "0:1@0 'word'\n-- ones words\n0:2@5 0x1p+0\n-- ones\n");
    free(dump);
}

static void libsvm_rounds_values_to_float(void **state)
{
    (void)state;
    reads("1 1:0.1 2:16777217 3:1e-45 4:3.4028235e38\n",
          "0:1@0 0x1p+0 0=0x1.99999ap-4 1=0x1p+24 2=0x1p-149 3=0x1.fffffep+127\n-- values\n");
}

typedef struct bad_line {
    const char *text;
    size_t size; /* 0: up to its NUL */
    uint64_t byte;
    const char *message; /* what the message must hold */
} bad_line;

static const bad_line bad_lines[] = {
    {"1 1:nan", 0, 4, "value 'nan': values must be finite"},
    {"1 1:NaN 2:1", 0, 4, "'NaN'"},
    {"1 1:-inf", 0, 4, "'-inf': values must be finite"},
    {"1 1:Infinity", 0, 4, "values must be finite"},
    {"1 1:nan(123)", 0, 4, "values must be finite"},
    {"1 1:1.#INF", 0, 4, "value '1.#INF': expected a decimal number"},
    {"nan 1:1", 0, 0, "label 'nan': a label must be finite"},
    {"-Inf 1:1", 0, 0, "a label must be finite"},
    {"+INFINITY", 0, 0, "a label must be finite"},
    {"1e999 1:1", 0, 0, "label '1e999': the number does not fit a double"},
    {"1e-999 1:1", 0, 0, "label '1e-999': the number does not fit a double"},
    {"1 0:1", 0, 2, "index 0: libsvm indices start at 1"},
    {"1 4294967295:1", 0, 2, "index 4294967295: the highest index is 4294967294"},
    {"1 9999999999:1", 0, 2, "index 9999999999: the highest index is 4294967294"},
    {"1 18446744073709551617:1", 0, 2, "at most ten digits"},
    {"1 7:1 5:1", 0, 6, "index 5 after 7: indices must ascend"},
    {"1 7:1 7:1", 0, 6, "index 7 twice: indices must ascend"},
    {"1 7:0 7:1", 0, 6, "index 7 twice"},
    {"1 1:1x", 0, 4, "value '1x': expected a decimal number and then a blank"},
    {"1 1:0x1p3", 0, 4, "value '0x1p3'"},
    {"1 1:1e", 0, 4, "value '1e'"},
    {"1 1:1,5", 0, 4, "value '1,5'"},
    {"1 1:2:3", 0, 4, "value '2:3'"},
    {"1 1:0.5#c", 0, 4, "value '0.5#c'"},
    {"1 1:--1", 0, 4, "value '--1'"},
    {"1 1:.", 0, 4, "value '.'"},
    {"1 1:1\r2:1", 0, 4, "value '1\\x0D2:1'"},
    {"1 1:", 0, 4, "the value is missing after the colon"},
    {"1 1: 2:1", 0, 4, "the value is missing after the colon"},
    {"1 5", 0, 2, "feature '5': expected a colon and a value after the index"},
    {"1 5 6:1", 0, 2, "feature '5'"},
    {"1 5x:1", 0, 2, "feature '5x:1': expected a colon after the digits"},
    {"1 -5:1", 0, 2, "feature '-5:1': expected INDEX:VALUE"},
    {"1 +5:1", 0, 2, "feature '+5:1'"},
    {"1 :1", 0, 2, "feature ':1': expected INDEX:VALUE"},
    {"1 a:1", 0, 2, "feature 'a:1'"},
    {"1:0.5 2:1", 0, 0, "the line begins with '1:0.5': the label is missing"},
    {"  1:0.5", 0, 2, "the label is missing"},
    {"qid:3 1:1", 0, 0, "the label is missing"},
    {"1,2 1:1", 0, 0, "label '1,2': several labels a row are not supported"},
    {"a:b 1:1", 0, 0, "label 'a:b': a label cannot have a colon"},
    {"1# 1:1", 0, 0, "label '1#': a label cannot have a #"},
    {"\xEF\xBB\xBF"
     "1 1:1",
     0, 0, "a byte order mark stands at the beginning of a file only; were files joined?"},
    {"1 qid:3 1:1", 0, 2, "query id 'qid:3': qid: (ranking) is not supported"},
    {"1 1:1 \0 2:1", 11, 6, "a NUL byte"},
    {"1 1:1\0", 6, 5, "a NUL byte"},
    {"1\0 1:1", 6, 1, "a NUL byte"},
    {"\0", 1, 0, "a NUL byte"},
    {"1 1:1 # a\0b", 11, 9, "a NUL byte"},
    {"# a\0b", 5, 3, "a NUL byte"},
    {"1 1\0:1", 6, 3, "a NUL byte"},
    {"1 1:1e39", 0, 4, "value '1e39': it does not fit a float"},
    {"1 1:-3.4028236e38", 0, 4, "does not fit a float"},
    {"1 1:1e999", 0, 4, "does not fit a float"},
    {"1 1:1e-46", 0, 4, "value '1e-46': it does not fit a float"},
    {"1 1:7e-46", 0, 4, "does not fit a float"},
    {"1 1:1e-999", 0, 4, "does not fit a float"},
    {"\xFF\xFE 1:1", 0, 0, "label '\\xFF\\xFE': a label must be UTF-8"},
    {"a\xC0\x80 1:1", 0, 0, "a label must be UTF-8"},
    {"\xED\xA0\x80 1:1", 0, 0, "a label must be UTF-8"},
    {"\xF5\x80\x80\x80 1:1", 0, 0, "a label must be UTF-8"},
    {"\xE2\x82 1:1", 0, 0, "a label must be UTF-8"},
    {"a\x01"
     "b 1:1",
     0, 0, "label 'a\\x01b': a label cannot have control characters"},
    {"a\x7F 1:1", 0, 0, "control characters"},
    {"a\xC2\x85 1:1", 0, 0, "control characters"},
    {"\v1 1:1", 0, 0, "control characters"},
};

/* Three lines, the second of them bad. */
static size_t surround(const bad_line *bad, char out[256], uint64_t *start)
{
    static const char before[] = "1 1:0.5 3:1\n", after[] = "\n0 2:1\n";
    size_t size = bad->size ? bad->size : strlen(bad->text);
    memcpy(out, before, sizeof before - 1);
    memcpy(out + sizeof before - 1, bad->text, size);
    memcpy(out + sizeof before - 1 + size, after, sizeof after - 1);
    *start = sizeof before - 1;
    return sizeof before - 1 + size + sizeof after - 1;
}

static void libsvm_names_what_is_wrong_and_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
        char text[256], prefix[64];
        uint64_t start;
        size_t size = surround(&bad_lines[i], text, &start);
        gsa_reader *reader = open_text(text, size, NULL, 0, NULL);
        gsa_error error = {0};
        gsa_status status;
        char *dump = dump_reader(reader, &status, &error);
        uint64_t byte = start + bad_lines[i].byte;
        snprintf(prefix, sizeof prefix, "text:2 (byte %" PRIu64 "): ", byte);
        if (status != GSA_INPUT || error.line != 2 || error.byte != byte || error.row != GSA_NO_ROW ||
            error.status != GSA_INPUT || strncmp(error.message, prefix, strlen(prefix)) != 0 ||
            !strstr(error.message, bad_lines[i].message))
            fail_msg("%zu: %s; got %d %s", i, bad_lines[i].message, (int)status, error.message);
        /* The row before it is delivered first, and the failure stays. */
        assert_string_equal(dump, "0:1@0 0x1p+0 0=0x1p-1 2=0x1p+0\n-- values\n");
        gsa_batch batch;
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_INPUT);
        assert_int_equal(batch.n_rows, 0);
        free(dump);
        gsa_reader_close(reader);
    }
}

/* What the reader says of a text, after a first row that is like most or one that makes it take the slow way. */
static char *dump_after(const char first[12], const char *text, size_t size, char message[600])
{
    char *whole = malloc(12 + size);
    assert_non_null(whole);
    memcpy(whole, first, 12);
    memcpy(whole + 12, text, size);
    gsa_reader *reader = open_text(whole, 12 + size, NULL, 0, NULL);
    gsa_error error = {0};
    gsa_status status;
    char *dump = dump_reader(reader, &status, &error);
    snprintf(message, 600, "%d %s", (int)status, error.message);
    gsa_reader_close(reader);
    free(whole);
    return dump;
}

static void says_the_same_both_ways(const char *text, size_t size)
{
    char message[2][600];
    char *fast = dump_after("1 1:0.5 2:9\n", text, size, message[0]);
    char *slow = dump_after("1 1:-.5 2:9\n", text, size, message[1]);
    assert_string_equal(message[0], message[1]);
    assert_string_equal(strchr(fast, '\n'), strchr(slow, '\n'));
    free(fast);
    free(slow);
}

static void libsvm_says_the_same_in_the_fast_and_the_slow_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++)
        says_the_same_both_ways(bad_lines[i].text, bad_lines[i].size ? bad_lines[i].size : strlen(bad_lines[i].text));
    static const char *const pieces[] = {"1",
                                         "7:1",
                                         " ",
                                         "2:0.25",
                                         "12345678:1",
                                         "123456789:1",
                                         "3:-1",
                                         "4:1e3",
                                         "5:0",
                                         "6:1.",
                                         "8:.5",
                                         "\t",
                                         "#",
                                         "\r",
                                         "\n",
                                         "9:0.12345678",
                                         "10:0.123456789",
                                         "11:1234567.5",
                                         "12:12345678",
                                         "0013:1",
                                         ":",
                                         "-",
                                         "x",
                                         "14:"};
    uint64_t seed = 5;
    for (int i = 0; i < 20000; i++) {
        char text[512];
        size_t size = (size_t)snprintf(text, sizeof text, "1");
        for (uint64_t n = next_random(&seed) % 12; n > 0; n--) {
            const char *piece = pieces[next_random(&seed) % (sizeof pieces / sizeof *pieces)];
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", next_random(&seed) % 8 ? " " : "", piece);
        }
        says_the_same_both_ways(text, size);
    }
}

static void libsvm_skips_every_bad_row_when_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
        char text[256], expected[128];
        uint64_t start;
        size_t size = surround(&bad_lines[i], text, &start);
        gsa_reader *reader = open_text(text, size, NULL, 1, NULL);
        gsa_error error;
        gsa_status status;
        char *dump = dump_reader(reader, &status, &error);
        assert_int_equal(status, GSA_END);
        snprintf(expected, sizeof expected,
                 "0:1@0 0x1p+0 0=0x1p-1 2=0x1p+0\n0:3@%" PRIu64 " 0x0p+0 1=0x1p+0\n-- values\n", (uint64_t)(size - 6));
        assert_string_equal(dump, expected);
        gsa_reader_progress progress = {.size = sizeof progress};
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.n_bad_rows, 1);
        assert_int_equal(progress.n_rows, 2);
        free(dump);
        gsa_reader_close(reader);
    }
}

static void libsvm_leaves_no_trace_of_a_bad_row(void **state)
{
    (void)state;
    const char text[] = "a 1:1\nb 1:2 2:3 2:4\nc 1:1\n";
    gsa_reader *reader = open_text(text, strlen(text), NULL, 1, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_int_equal(batch.n_words, 2); /* a and c, not b */
    assert_null(batch.value);           /* the 2 and 3 are gone */
    assert_int_equal(batch.row_start[2], 2);
    gsa_reader_close(reader);
}

static void libsvm_limits_a_label_to_255_bytes(void **state)
{
    (void)state;
    char text[300];
    memset(text, 'x', sizeof text);
    memcpy(text + 255, " 1:1\n", 6);
    gsa_batch batch;
    gsa_error error;
    gsa_reader *reader = open_text(text, strlen(text), NULL, 0, NULL);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(strlen(batch.words[0]), 255);
    gsa_reader_close(reader);
    memset(text, 'x', sizeof text);
    memcpy(text + 256, " 1:1\n", 6);
    reader = open_text(text, strlen(text), NULL, 0, NULL);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_INPUT);
    assert_non_null(strstr(error.message, "a label has at most 255 bytes"));
    gsa_reader_close(reader);
}

static void libsvm_ends_batches_by_rows_and_by_values(void **state)
{
    (void)state;
    const char text[] = "1 1:1 2:1 3:1\n1\n1\n1 1:1 2:1\n1 1:1\n1 1:1\n";
    gsai_reader_sizes sizes = {.batch_rows = 3, .batch_values = 3};
    char *dump = dump_text(text, strlen(text), &sizes, NULL);
    assert_string_equal(dump, "0:1@0 0x1p+0 0 1 2\n-- ones\n"
                              "0:2@14 0x1p+0\n0:3@16 0x1p+0\n0:4@18 0x1p+0 0 1\n-- ones\n"
                              "0:5@28 0x1p+0 0\n0:6@34 0x1p+0 0\n-- ones\n");
    free(dump);
}

static void libsvm_delivers_4096_rows_at_a_time(void **state)
{
    (void)state;
    enum { ROWS = 10000 };
    char *text = malloc(ROWS * 6);
    for (size_t i = 0; i < ROWS; i++)
        memcpy(text + 6 * i, "1 1:1\n", 6);
    gsa_reader *reader = open_text(text, ROWS * 6, NULL, 0, NULL);
    gsa_batch batch;
    size_t sizes[] = {4096, 4096, ROWS - 8192};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        assert_int_equal(batch.n_rows, sizes[i]);
    }
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_END);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_END);
    gsa_reader_close(reader);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libsvm_reads_labels_ids_and_values),
        cmocka_unit_test(libsvm_reads_empty_input_as_no_rows),
        cmocka_unit_test(libsvm_takes_any_end_of_line),
        cmocka_unit_test(libsvm_ignores_comments),
        cmocka_unit_test(libsvm_skips_a_byte_order_mark),
        cmocka_unit_test(libsvm_drops_zeros_and_omits_ones),
        cmocka_unit_test(libsvm_reads_words_as_labels),
        cmocka_unit_test(libsvm_numbers_words_once_and_for_all),
        cmocka_unit_test(libsvm_omits_words_from_a_batch_without_any),
        cmocka_unit_test(libsvm_rounds_values_to_float),
        cmocka_unit_test(libsvm_names_what_is_wrong_and_where),
        cmocka_unit_test(libsvm_says_the_same_in_the_fast_and_the_slow_way),
        cmocka_unit_test(libsvm_skips_every_bad_row_when_asked),
        cmocka_unit_test(libsvm_leaves_no_trace_of_a_bad_row),
        cmocka_unit_test(libsvm_limits_a_label_to_255_bytes),
        cmocka_unit_test(libsvm_ends_batches_by_rows_and_by_values),
        cmocka_unit_test(libsvm_delivers_4096_rows_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
