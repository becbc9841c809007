/* libsvm text written: what was written reads back equal, and what could not is refused. */
#include "unit/data/support.h"

#include <math.h>

/* Writes batches to a new file and gives back its text, NUL-terminated; the caller frees. */
static char *written(const gsa_batch *batches, size_t n_batches, size_t *size)
{
    char path[PATH_SIZE];
    make_file(path, "", 0);
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open(path, NULL, NULL, NULL, &writer, &error), GSA_OK);
    for (size_t i = 0; i < n_batches; i++) {
        gsa_status status = gsa_writer_write(writer, &batches[i], &error);
        if (status != GSA_OK)
            fail_msg("%s", error.message);
    }
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    return load_and_unlink(path, size);
}

static void writes(const gsa_batch *batch, const char *expected)
{
    size_t size;
    char *text = written(batch, 1, &size);
    assert_string_equal(text, expected);
    free(text);
}

static void writer_writes_sparse_rows(void **state)
{
    (void)state;
    const int64_t start[] = {2, 4, 4, 7};
    const uint32_t index[] = {9, 9, 0, 4294967293u, 1, 2, 3};
    const float value[] = {9, 9, 0.5f, 1, 0, -0.1f, 1e-20f};
    const double label[] = {1, -0.0, 2.5};
    gsa_batch batch = {.n_rows = 3, .row_start = start, .index = index, .value = value, .label = label};
    writes(&batch, "1 1:0.5 4294967294:1\n0\n2.5 3:-0.1 4:1e-20\n");
    batch.value = NULL;
    writes(&batch, "1 1:1 4294967294:1\n0\n2.5 2:1 3:1 4:1\n");
}

static void writer_writes_dense_rows_without_zeros(void **state)
{
    (void)state;
    const float value[] = {0, 1, 2, 3, 0, -0.0f};
    const double label[] = {1, 1e-7};
    gsa_batch batch = {.n_rows = 2, .value = value, .width = 3, .label = label};
    writes(&batch, "1 2:1 3:2\n1e-7 1:3\n");
}

static void writer_sorts_ids(void **state)
{
    (void)state;
    const int64_t start[] = {0, 3};
    const uint32_t index[] = {7, 0, 3};
    const float value[] = {7, 1, 3};
    const double label[] = {1};
    gsa_batch batch = {.n_rows = 1, .row_start = start, .index = index, .value = value, .label = label};
    writes(&batch, "1 1:1 4:3 8:7\n");
}

static void writer_writes_words(void **state)
{
    (void)state;
    const int64_t start[] = {0, 1, 2};
    const uint32_t index[] = {0, 1};
    const double label[] = {0, 3};
    const int32_t word[] = {1, -1};
    const char *const words[] = {"cat", "na\xC3\xAFve"};
    gsa_batch batch = {
        .n_rows = 2, .row_start = start, .index = index, .label = label, .word = word, .words = words, .n_words = 2};
    writes(&batch, "na\xC3\xAFve 1:1\n3 2:1\n");
}

/* A batch of one row that must be refused, without a trace in the file. */
static void refuses(const gsa_batch *batch, gsa_status expected, uint64_t row, const char *message)
{
    char path[PATH_SIZE];
    make_file(path, "", 0);
    unlink(path);
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open(path, NULL, NULL, NULL, &writer, &error), GSA_OK);
    assert_int_equal(gsa_writer_write(writer, batch, &error), expected);
    assert_true(error.row == row);
    if (!strstr(error.message, message))
        fail_msg("%s", error.message);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    unlink(path);
}

static void writer_refuses_what_would_not_read_back(void **state)
{
    (void)state;
    int64_t start[] = {0, 2};
    uint32_t index[] = {0, 5};
    float value[] = {1, 1};
    double label[] = {1};
    float weight[] = {2};
    gsa_batch batch = {.n_rows = 1, .row_start = start, .index = index, .value = value, .label = label};
    value[1] = NAN;
    refuses(&batch, GSA_INPUT, 0, "feature 5 has the value nan");
    value[1] = -INFINITY;
    refuses(&batch, GSA_INPUT, 0, "-inf");
    value[1] = 1;
    index[1] = 4294967294u;
    refuses(&batch, GSA_ARGUMENT, 0, "feature id");
    index[1] = 0;
    refuses(&batch, GSA_INPUT, 0, "feature 0 stands twice");
    start[1] = -2;
    refuses(&batch, GSA_ARGUMENT, 0, "row_start has 0 and then -2");
    start[1] = 2;
    index[1] = 5;
    label[0] = NAN;
    refuses(&batch, GSA_INPUT, 0, "labels must be finite");
    label[0] = 1;
    batch.weight = weight;
    refuses(&batch, GSA_UNSUPPORTED, 0, "weight 2");
    batch.weight = NULL;
    batch.label = NULL;
    refuses(&batch, GSA_ARGUMENT, GSA_NO_ROW, "needs a label");
}

static void writer_refuses_words_that_would_not_read_back(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "a b", "a\tb", "1,2",  "a:b",  "#a",   "a#",   "12",
                                      "-.5", "1e5", "nan",  "-Inf", "\xFF", "a\nb", "a\x7F"};
    const int64_t start[] = {0, 0};
    const uint32_t index[] = {0};
    const double label[] = {0};
    const int32_t word[] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gsa_batch batch = {.n_rows = 1,
                           .row_start = start,
                           .index = index,
                           .label = label,
                           .word = word,
                           .words = &bad[i],
                           .n_words = 1};
        refuses(&batch, GSA_INPUT, 0, "label '");
    }
}

/* Random batches: every kind of float, label and word, rows empty and long. */
#define MOST_ROWS 40
#define MOST_VALUES 60
typedef struct random_batch {
    gsa_batch view;
    int64_t start[MOST_ROWS + 1];
    uint32_t index[MOST_ROWS * MOST_VALUES];
    float value[MOST_ROWS * MOST_VALUES];
    double label[MOST_ROWS];
    int32_t word[MOST_ROWS];
} random_batch;

static float random_value(uint64_t *seed)
{
    uint64_t kind = next_random(seed) % 4;
    float x = 1;
    if (kind == 0)
        x = (float)((double)(int64_t)(next_random(seed) % 2001 - 1000) / 8);
    else if (kind == 1)
        x = (float)((double)(next_random(seed) % 100000) / 1000);
    else if (kind == 2)
        do {
            uint32_t u = (uint32_t)(next_random(seed) >> 20);
            memcpy(&x, &u, sizeof x);
        } while (!isfinite(x));
    return x == 0 ? 1 : x;
}

static double random_label(uint64_t *seed)
{
    uint64_t u = next_random(seed);
    double x = (double)(int64_t)(u % 7) - 3;
    if (u % 3 == 0)
        do {
            u = next_random(seed);
            memcpy(&x, &u, sizeof x);
        } while (!isfinite(x));
    return x;
}

static void fill_random(random_batch *batch, uint64_t *seed, const char *const *words, size_t n_words)
{
    bool has_words = next_random(seed) % 2, has_values = next_random(seed) % 3 != 0;
    size_t n_rows = 1 + next_random(seed) % MOST_ROWS, n = 0;
    batch->start[0] = 0;
    for (size_t r = 0; r < n_rows; r++) {
        size_t n_values = next_random(seed) % MOST_VALUES;
        uint64_t id = 0;
        for (size_t i = 0; i < n_values; i++, n++) {
            id += 1 + next_random(seed) % (i % 10 ? 1000 : 70000000);
            if (id > (uint64_t)GSA_MAX_ID + 1)
                break;
            batch->index[n] = (uint32_t)(id - 1);
            batch->value[n] = random_value(seed);
        }
        batch->start[r + 1] = (int64_t)n;
        batch->label[r] = random_label(seed);
        batch->word[r] = -1;
        if (has_words && next_random(seed) % 2) {
            batch->word[r] = (int32_t)(next_random(seed) % n_words);
            batch->label[r] = 0;
        }
    }
    batch->view = (gsa_batch){.n_rows = n_rows,
                              .row_start = batch->start,
                              .index = batch->index,
                              .value = has_values ? batch->value : NULL,
                              .label = batch->label,
                              .word = has_words ? batch->word : NULL,
                              .words = words,
                              .n_words = n_words};
}

static float value_at(const gsa_batch *batch, int64_t i)
{
    return batch->value ? batch->value[i] : 1;
}

static void assert_rows_equal(const gsa_batch *a, const gsa_batch *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    for (size_t r = 0; r < a->n_rows; r++) {
        const char *a_word = a->word && a->word[r] >= 0 ? a->words[a->word[r]] : "";
        const char *b_word = b->word && b->word[r] >= 0 ? b->words[b->word[r]] : "";
        assert_string_equal(a_word, b_word);
        assert_true(a->label[r] == b->label[r]);
        int64_t n = a->row_start[r + 1] - a->row_start[r];
        assert_int_equal(n, b->row_start[r + 1] - b->row_start[r]);
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(a->index[a->row_start[r] + i], b->index[b->row_start[r] + i]);
            assert_true(value_at(a, a->row_start[r] + i) == value_at(b, b->row_start[r] + i));
        }
    }
}

static void writer_and_reader_are_inverse(void **state)
{
    (void)state;
    static const char *const words[] = {"cat", "dog", "\xE7\x8C\xAB", "--1", "0x10", "1e", "+", "a.b-c/d|e"};
    static random_batch batch;
    uint64_t seed = 20240607;
    for (int i = 0; i < 300; i++) {
        fill_random(&batch, &seed, words, sizeof words / sizeof *words);
        size_t size;
        char *text = written(&batch.view, 1, &size);
        gsa_reader *reader = open_text(text, size, NULL, 0, NULL);
        gsa_batch back;
        gsa_error error;
        if (gsa_reader_next(reader, &back, &error) != GSA_OK)
            fail_msg("%s", error.message);
        assert_rows_equal(&batch.view, &back);
        assert_int_equal(gsa_reader_next(reader, &back, &error), GSA_END);
        gsa_reader_close(reader);
        free(text);
    }
}

static void writer_joins_batches_and_long_rows(void **state)
{
    (void)state;
    enum { LONG = 50000 };
    static uint32_t index[LONG];
    static float value[LONG];
    for (uint32_t i = 0; i < LONG; i++) {
        index[i] = i * 3;
        value[i] = (float)(i % 1000 + 1) / 16;
    }
    const int64_t start[] = {0, LONG};
    const double label[] = {1};
    gsa_batch one = {.n_rows = 1, .row_start = start, .index = index, .value = value, .label = label};
    gsa_batch batches[] = {one, one, one};
    size_t size;
    char *text = written(batches, 3, &size);
    gsa_reader *reader = open_text(text, size, NULL, 0, NULL);
    gsa_batch back;
    assert_int_equal(gsa_reader_next(reader, &back, NULL), GSA_OK);
    assert_int_equal(back.n_rows, 3);
    for (int64_t i = 0; i < 3 * LONG; i++) {
        assert_int_equal(back.index[i], index[i % LONG]);
        assert_true(back.value[i] == value[i % LONG]);
    }
    gsa_reader_close(reader);
    free(text);
}

static void writer_leaves_no_file_when_discarded_or_unopenable(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    make_file(path, "", 0);
    unlink(path);
    gsa_writer *writer = NULL;
    gsa_error error;
    assert_int_equal(gsa_writer_open(path, NULL, NULL, NULL, &writer, &error), GSA_OK);
    gsa_writer_discard(writer);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(gsa_writer_open("/tmp/gsa-no-such-directory/x", NULL, NULL, NULL, &writer, &error), GSA_IO);
    gsa_writer_discard(NULL);
}

static void writer_reports_a_full_device(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    const int64_t start[] = {0, 0};
    const uint32_t index[] = {0};
    const double label[] = {1};
    gsa_batch batch = {.n_rows = 1, .row_start = start, .index = index, .label = label};
    gsa_writer *writer = NULL;
    gsa_error error = {0};
    assert_int_equal(gsa_writer_open("/dev/full", NULL, NULL, NULL, &writer, &error), GSA_OK);
    gsa_status status = GSA_OK;
    for (int i = 0; i < 200000 && status == GSA_OK; i++)
        status = gsa_writer_write(writer, &batch, &error);
    assert_int_equal(status, GSA_IO);
    assert_int_equal(gsa_writer_write(writer, &batch, &error), GSA_IO);
    assert_int_equal(gsa_writer_close(writer, &error), GSA_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writer_writes_sparse_rows),
        cmocka_unit_test(writer_writes_dense_rows_without_zeros),
        cmocka_unit_test(writer_sorts_ids),
        cmocka_unit_test(writer_writes_words),
        cmocka_unit_test(writer_refuses_what_would_not_read_back),
        cmocka_unit_test(writer_refuses_words_that_would_not_read_back),
        cmocka_unit_test(writer_and_reader_are_inverse),
        cmocka_unit_test(writer_joins_batches_and_long_rows),
        cmocka_unit_test(writer_leaves_no_file_when_discarded_or_unopenable),
        cmocka_unit_test(writer_reports_a_full_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
