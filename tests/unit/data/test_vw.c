/* Vowpal Wabbit text: its documented examples, and what is refused. */
#include "unit/data/support.h"

#include "base/byte_order.h"
#include "base/hash.h"

#include <math.h>
#include <stdio.h>

static gsa_reader *open_vw(const char *text, const gsa_reader_options *options, const gsai_reader_sizes *sizes)
{
    static const gsai_reader_sizes defaults = {0};
    gsa_reader *reader = NULL;
    assert_int_equal(gsai_reader_open_bytes(text, strlen(text), "t.vw", NULL, options, sizes ? sizes : &defaults, NULL,
                                            &reader, NULL),
                     GSA_OK);
    return reader;
}

typedef struct entry {
    const char *space, *name;
    float value;
} entry;

/* The row has these features and no others. */
static void expect_row(const gsa_batch *batch, size_t row, double label, double weight, const entry *entries, size_t n)
{
    assert_true(batch->label[row] == label);
    assert_true(batch->weight ? (double)batch->weight[row] == weight : weight == 1);
    assert_int_equal(batch->row_start[row + 1] - batch->row_start[row], n);
    for (size_t e = 0; e < n; e++) {
        char text[128];
        size_t space = strlen(entries[e].space), name = strlen(entries[e].name);
        memcpy(text, entries[e].space, space + 1);
        memcpy(text + space + 1, entries[e].name, name);
        uint32_t id = (uint32_t)(gsai_hash(text, space + 1 + name, 0) & 0xFFFFFF);
        bool found = false;
        for (int64_t i = batch->row_start[row]; i < batch->row_start[row + 1]; i++)
            found = found ||
                    (batch->index[i] == id && fabsf((batch->value ? batch->value[i] : 1) - entries[e].value) <= 1e-6f);
        if (!found)
            print_message("row %zu lacks %s^%s\n", row, entries[e].space, entries[e].name);
        assert_true(found);
    }
}

#define N(entries) (sizeof(entries) / sizeof *(entries))

/* The first three are the house data set of VW's tutorial, the fourth is of its page on the input format. */
static void the_documented_examples_are_read(void **state)
{
    (void)state;
    const char text[] = "0 | price:.23 sqft:.25 age:.05 2006\n"
                        "1 2 'second_house | price:.18 sqft:.15 age:.35 1976\n"
                        "0 1 third_house| price:.53 sqft:.32 age:.87 1924\r\n"
                        "1 1.0 zebra|MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white stripes "
                        "|OtherFeatures NumberOfLegs:4.0 HasStripes\n"
                        "\n"
                        "-1 |a x x:2 |b x\n"
                        "1.5\n";
    for (size_t buffer = 1; buffer < 200; buffer += 13) {
        gsa_reader *reader = open_vw(text, NULL, &(gsai_reader_sizes){.buffer = buffer});
        gsa_batch batch;
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        assert_int_equal(batch.n_rows, 6);
        const entry first[] = {{"", "price", .23f}, {"", "sqft", .25f}, {"", "age", .05f}, {"", "2006", 1}};
        const entry second[] = {{"", "price", .18f}, {"", "sqft", .15f}, {"", "age", .35f}, {"", "1976", 1}};
        const entry third[] = {{"", "price", .53f}, {"", "sqft", .32f}, {"", "age", .87f}, {"", "1924", 1}};
        const entry zebra[] = {{"MetricFeatures", "height", 1.5f * 3.28f},
                               {"MetricFeatures", "length", 2 * 3.28f},
                               {"Says", "black", 1},
                               {"Says", "with", 1},
                               {"Says", "white", 1},
                               {"Says", "stripes", 1},
                               {"OtherFeatures", "NumberOfLegs", 4},
                               {"OtherFeatures", "HasStripes", 1}};
        const entry twice[] = {{"a", "x", 3}, {"b", "x", 1}};
        expect_row(&batch, 0, 0, 1, first, N(first));
        expect_row(&batch, 1, 1, 2, second, N(second));
        expect_row(&batch, 2, 0, 1, third, N(third));
        expect_row(&batch, 3, 1, 1, zebra, N(zebra));
        expect_row(&batch, 4, -1, 1, twice, N(twice));
        expect_row(&batch, 5, 1.5, 1, NULL, 0);
        assert_string_equal(gsa_reader_schema(reader), "greedystep schema 2\ncolumns namespaces\nbits 24\n");
        assert_string_equal(gsa_reader_description(reader), "t.vw: Vowpal Wabbit text; features hashed to 2^24 slots");
        gsa_reader_close(reader);
    }
}

static void what_is_not_supported_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1 1 0.5 | a\n", "t.vw:1 (byte 4): a third number before the bar '0.5': initial predictions are not "
                          "supported; a tag begins with ' or touches the bar"},
        {"1:0.5 2:1 | a\n", "t.vw:1 (byte 0): label '1:0.5': labels with costs or actions (csoaa, cb) are not "
                            "supported, only one number"},
        {"shared | a\n", "t.vw:1 (byte 0): label 'shared': examples of several lines (shared, ldf) are not supported"},
        {"dog | a\n", "t.vw:1 (byte 0): label 'dog': expected a number"},
        {"1 -2 | a\n", "t.vw:1 (byte 2): importance '-2': expected a finite number that is not negative"},
        {"1 | a b:x\n", "t.vw:1 (byte 6): feature 'b:x': expected a finite number after the colon"},
        {"1 | a b:\n", "t.vw:1 (byte 6): feature 'b:': expected a finite number after the colon"},
        {"1 | a b:1:2\n", "t.vw:1 (byte 6): feature 'b:1:2': expected a finite number after the colon"},
        {"1 | a b:nan\n", "t.vw:1 (byte 6): feature 'b:nan': expected a finite number after the colon"},
        {"1 |n:x a\n", "t.vw:1 (byte 3): namespace 'n:x': expected a number after the colon"},
        {"1 | a\n| a b\n", "t.vw:2 (byte 6): the line has no label before the bar, which only predict can do without"},
        {"1 |n:3e38 a:3e38\n", "t.vw:1 (byte 10): feature 'a:3e38': its value times the weight of its namespace is not "
                               "finite"},
        {"1 | a:3e38 a:3e38\n",
         "t.vw:1 (byte 0): the values of a feature that stands several times in the line, or of a "
         "cross, are not finite"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        gsa_reader *reader = open_vw(cases[i].text, NULL, NULL);
        gsa_error error = {0};
        gsa_status status;
        free(dump_reader(reader, &status, &error));
        assert_int_equal(status, GSA_INPUT);
        assert_string_equal(error.message, cases[i].message);
        gsa_reader_close(reader);
    }
}

static void labels_are_not_needed_to_predict(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .without_labels = 1, .skip_bad_rows = 1};
    gsa_reader *reader = open_vw("| a b\n'tag | a\n1 | c\nx | y\n", &options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_set_schema(reader, "greedystep schema 2\ncolumns namespaces\nbits 18\n", NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.n_rows, 3);
    assert_null(batch.label);
    for (int64_t i = 0; i < batch.row_start[3]; i++)
        assert_true(batch.index[i] < 1 << 18);
    gsa_reader_close(reader);
}

static void features_are_remembered_by_namespace_and_name(void **state)
{
    (void)state;
    gsa_reader *reader =
        open_vw("1 |ns a | b\n", &(gsa_reader_options){.size = sizeof(gsa_reader_options), .remember_names = 1}, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_string_equal(gsa_reader_name(reader, gsai_hash("ns\0a", 4, 0) & 0xFFFFFF), "ns=a");
    assert_string_equal(gsa_reader_name(reader, gsai_hash("\0b", 2, 0) & 0xFFFFFF), "b");
    gsa_reader_close(reader);
}

static uint64_t cross_hash(const char *a, size_t a_size, const char *b, size_t b_size)
{
    unsigned char both[16];
    gsai_store_u64(gsai_hash(a, a_size, 0), both);
    gsai_store_u64(gsai_hash(b, b_size, 0), both + 8);
    return gsai_hash(both, sizeof both, 0) & 0xFFFFFF;
}

static void namespaces_are_crossed_pair_by_pair(void **state)
{
    (void)state;
    gsa_reader_options options = {.size = sizeof options, .remember_names = 1, .cross = "u:i,u:u"};
    gsa_reader *reader = open_vw("1 |u x y:2 |i z:3 |uu q\n1 |i z\n", &options, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.row_start[1], 4 + 2 + 3);
    assert_int_equal(batch.row_start[2], 9 + 1);
    static const struct {
        const char *a, *b, *name;
        float value;
    } crosses[] = {{"u\0x", "i\0z", "u=x:i=z", 3},
                   {"u\0y", "i\0z", "u=y:i=z", 6},
                   {"u\0x", "u\0x", "u=x:u=x", 1},
                   {"u\0x", "u\0y", "u=x:u=y", 2},
                   {"u\0y", "u\0y", "u=y:u=y", 4}};
    for (size_t c = 0; c < N(crosses); c++) {
        uint64_t id = cross_hash(crosses[c].a, 3, crosses[c].b, 3);
        bool found = false;
        for (int64_t i = 0; i < batch.row_start[1]; i++)
            found = found || (batch.index[i] == id && batch.value[i] == crosses[c].value);
        assert_true(found);
        assert_string_equal(gsa_reader_name(reader, id), crosses[c].name);
    }
    assert_string_equal(gsa_reader_schema(reader),
                        "greedystep schema 2\ncolumns namespaces\nbits 24\ncross u\ti\ncross u\tu\n");
    gsa_reader_close(reader);
}

/* Found by fuzz_vw: the name of the namespace in --cross was read behind its end. */
static void a_namespace_that_goes_on_behind_a_nul_is_another(void **state)
{
    (void)state;
    const char text[] = "1 |u\0 x |u y\n1 |u\0v x |u y z\n";
    gsa_reader_options options = {.size = sizeof options, .cross = "u:u"};
    static const gsai_reader_sizes defaults = {0};
    gsa_reader *reader = NULL;
    gsa_batch batch;
    assert_int_equal(
        gsai_reader_open_bytes(text, sizeof text - 1, "t.vw", NULL, &options, &defaults, NULL, &reader, NULL), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    assert_int_equal(batch.row_start[1], 2 + 1);
    assert_int_equal(batch.row_start[2], 3 + 3 + 3);
    gsa_reader_close(reader);
}

/* "1 |a f0 f1 ..." with so many features; the caller frees it. */
static char *line_of_features(size_t n)
{
    char *text = malloc(16 * n + 16);
    size_t size = (size_t)sprintf(text, "1 |a");
    for (size_t i = 0; i < n; i++)
        size += (size_t)sprintf(text + size, " f%zu", i);
    memcpy(text + size, "\n", 2);
    return text;
}

static int is_over(void *left)
{
    return (*(int *)left)-- == 0;
}

/* Without the question in the loop the first call would come back with the row. */
static void crosses_of_a_long_line_can_be_stopped_and_begun_again(void **state)
{
    (void)state;
    int left = -1;
    char *text = line_of_features(1000);
    gsai_env env = {ENV_SIZES, .call.should_stop = is_over, .call.ctx = &left};
    gsa_reader *reader = NULL;
    gsa_batch batch;
    gsa_error error = {0};
    assert_int_equal(gsai_reader_open_bytes(text, strlen(text), "t.vw", NULL,
                                            &(gsa_reader_options){.size = sizeof(gsa_reader_options), .cross = "a:a"},
                                            &(gsai_reader_sizes){0}, &env, &reader, NULL),
                     GSA_OK);
    unsigned n_stops = 0;
    gsa_status status;
    for (left = 0; (status = gsa_reader_next(reader, &batch, &error)) == GSA_STOPPED; left = (int)n_stops)
        n_stops++;
    assert_int_equal(status, GSA_OK);
    assert_true(n_stops >= 7); /* 500,500 pairs, and a question every 65,536 */
    assert_int_equal(batch.n_rows, 1);
    gsa_reader_close(reader);
    free(text);
}

static void more_crosses_than_2_to_22_of_a_line_are_refused(void **state)
{
    (void)state;
    char *text = line_of_features(2900);
    gsa_reader *reader = open_vw(text, &(gsa_reader_options){.size = sizeof(gsa_reader_options), .cross = "a:a"}, NULL);
    gsa_batch batch;
    gsa_error error = {0};
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_LIMIT);
    assert_non_null(strstr(error.message, "more than 4194304 features"));
    assert_int_equal(error.line, 1);
    gsa_reader_close(reader);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_examples_are_read),
        cmocka_unit_test(what_is_not_supported_is_refused_by_name),
        cmocka_unit_test(labels_are_not_needed_to_predict),
        cmocka_unit_test(features_are_remembered_by_namespace_and_name),
        cmocka_unit_test(namespaces_are_crossed_pair_by_pair),
        cmocka_unit_test(crosses_of_a_long_line_can_be_stopped_and_begun_again),
        cmocka_unit_test(more_crosses_than_2_to_22_of_a_line_are_refused),
        cmocka_unit_test(a_namespace_that_goes_on_behind_a_nul_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
