/* Pieces that fall anywhere, lines that are too long, and stopping in between. */
#include "unit/data/support.h"

#include "base/memory.h"

/* Everything that straddles: words, UTF-8, numbers of both paths, comments, \r\n, blank lines, no newline at the end.
 */
static const char mixed[] = "1 1:0.5 20:1234567.25 300:1\r\n"
                            "# a comment of some length\n"
                            "na\xC3\xAFve\t5:0.30000000000000004441 6:1e-3 # tail\n"
                            "\r\n"
                            "-17.125 4294967294:-1\n"
                            "\n"
                            "dog 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n"
                            "2.5";

static void lines_give_the_same_rows_whatever_the_buffers(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 3; rows++) {
        gsai_reader_sizes whole = {.batch_rows = rows};
        char *expected = dump_text(mixed, strlen(mixed), &whole, NULL);
        for (size_t buffer = 1; buffer < 60; buffer++) {
            for (size_t read = 1; read < 40; read += read < 8 ? 1 : 7) {
                gsai_reader_sizes sizes = {.buffer = buffer, .read = read, .batch_rows = rows};
                char *dump = dump_text(mixed, strlen(mixed), &sizes, NULL);
                assert_string_equal(dump, expected);
                free(dump);
            }
        }
        free(expected);
    }
}

static void lines_name_the_same_byte_whatever_the_buffers(void **state)
{
    (void)state;
    const char text[] = "1 1:1\n1 2:1 3:1 # c\n\n1 2:0.5 7:1e5 3:1\n1 1:1\n";
    for (size_t buffer = 1; buffer < 50; buffer++) {
        for (size_t read = 1; read < 50; read++) {
            gsai_reader_sizes sizes = {.buffer = buffer, .read = read};
            gsa_reader *reader = open_text(text, strlen(text), &sizes, 0, NULL);
            gsa_error error;
            gsa_status status;
            free(dump_reader(reader, &status, &error));
            assert_int_equal(status, GSA_INPUT);
            assert_int_equal(error.line, 4);
            assert_int_equal(error.byte, 35);
            assert_string_equal(error.message, "text:4 (byte 35): index 3 after 7: indices must ascend");
            gsa_reader_close(reader);
        }
    }
}

/* Stops at every question but each n-th. */
typedef struct stopper {
    unsigned asked, every;
} stopper;

static int stop_often(void *ctx)
{
    stopper *stop = ctx;
    return ++stop->asked % stop->every != 0;
}

static void lines_go_on_after_every_stop(void **state)
{
    (void)state;
    gsai_reader_sizes whole = {.batch_rows = 2};
    char *expected = dump_text(mixed, strlen(mixed), &whole, NULL);
    for (unsigned every = 1; every < 6; every++) {
        stopper stop = {0, every};
        gsai_env env = {ENV_SIZES, .call.should_stop = stop_often, .call.ctx = &stop};
        gsai_reader_sizes sizes = {.buffer = 5, .read = 3, .batch_rows = 2};
        char *dump = dump_text(mixed, strlen(mixed), &sizes, &env);
        assert_string_equal(dump, expected);
        assert_true(stop.asked >= strlen(mixed) / 3 * every);
        free(dump);
    }
    free(expected);
}

/* An allocator that knows the most that was taken at a time. */
typedef struct meter {
    size_t now, most;
    gsa_budget budget;
} meter;

static void *count_alloc(void *ctx, size_t size)
{
    meter *m = ctx;
    size_t *memory = malloc(size + 16);
    if (!memory)
        return NULL;
    *memory = size;
    m->now += size;
    m->most = m->now > m->most ? m->now : m->most;
    return memory + 16 / sizeof *memory;
}

static void *count_alloc_zeroed(void *ctx, size_t size)
{
    void *memory = count_alloc(ctx, size);
    return memory ? memset(memory, 0, size) : NULL;
}

static void count_release(void *ctx, void *memory)
{
    size_t *start = (size_t *)memory - 16 / sizeof *start;
    ((meter *)ctx)->now -= *start;
    free(start);
}

static void *count_resize(void *ctx, void *memory, size_t size)
{
    size_t old = ((size_t *)memory)[-(ptrdiff_t)(16 / sizeof(size_t))];
    void *wider = count_alloc(ctx, size);
    if (!wider)
        return NULL;
    memcpy(wider, memory, old < size ? old : size);
    count_release(ctx, memory);
    return wider;
}

static gsai_env metered(meter *m, uint64_t limit)
{
    m->budget.size = sizeof m->budget;
    m->budget.limit = limit;
    return (gsai_env){
        .call.size = sizeof(gsa_call),
        .memory = {sizeof(gsa_memory), count_alloc, count_alloc_zeroed, count_resize, count_release, m, &m->budget}};
}

/* "1 1:1\n", a line of `size` bytes, "0 2:1\n"; the caller frees. */
static char *with_long_line(size_t size, size_t *total)
{
    *total = 6 + size + 1 + 6;
    char *text = malloc(*total);
    assert_non_null(text);
    memcpy(text, "1 1:1\n", 6);
    memset(text + 6, '7', size);
    memcpy(text + 6 + size, "\n0 2:1\n", 7);
    return text;
}

static void lines_refuse_a_line_beyond_a_quarter_of_the_memory_limit(void **state)
{
    (void)state;
    const uint64_t limit = 4 << 20;
    for (size_t size = limit / 4 - 1; size <= limit / 4 + 2; size++) {
        size_t total;
        char *text = with_long_line(size, &total);
        memset(text + 6, ' ', size); /* a blank line, if it is a line at all */
        gsai_env env = {ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = limit}};
        gsai_reader_sizes sizes = {.buffer = 100};
        gsa_reader *reader = open_text(text, total, &sizes, 0, &env);
        gsa_error error = {0};
        gsa_status status;
        free(dump_reader(reader, &status, &error));
        assert_int_equal(status, size <= limit / 4 ? GSA_END : GSA_INPUT);
        if (status == GSA_INPUT) {
            assert_int_equal(error.line, 2);
            assert_int_equal(error.byte, 6);
            assert_string_equal(error.message, "text:2 (byte 6): the line is longer than 1.0 MiB (a quarter of the "
                                               "memory limit): is this text with one row per line?");
        }
        gsa_reader_close(reader);
        free(text);
    }
}

static void lines_skip_a_line_that_is_too_long(void **state)
{
    (void)state;
    size_t total;
    char *text = with_long_line(1 << 20, &total);
    for (size_t buffer = 40; buffer <= (2 << 20); buffer *= 32) {
        gsai_env env = {ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = (4 << 20) - 8}};
        gsai_reader_sizes sizes = {.buffer = buffer};
        gsa_reader *reader = open_text(text, total, &sizes, 1, &env);
        gsa_error error;
        gsa_status status;
        char *dump = dump_reader(reader, &status, &error);
        assert_int_equal(status, GSA_END);
        assert_string_equal(dump, "0:1@0 0x1p+0 0\n0:3@1048583 0x0p+0 1\n-- ones\n");
        gsa_reader_progress progress = {.size = sizeof progress};
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.n_bad_rows, 1);
        assert_int_equal(progress.bytes_read, total);
        free(dump);
        gsa_reader_close(reader);
    }
    free(text);
}

static void lines_skip_a_line_that_is_too_long_and_last(void **state)
{
    (void)state;
    size_t total;
    char *text = with_long_line(1 << 20, &total);
    gsai_env env = {ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = 3 << 20}};
    gsa_reader *reader = open_text(text, total - 7, NULL, 1, &env); /* no newline after it */
    gsa_error error;
    gsa_status status;
    char *dump = dump_reader(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_string_equal(dump, "0:1@0 0x1p+0 0\n-- ones\n");
    free(dump);
    gsa_reader_close(reader);
    free(text);
}

static void lines_take_no_memory_for_a_line_that_never_ends(void **state)
{
    (void)state;
    size_t size = (size_t)300 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '1', size);
    for (int skip = 0; skip < 2; skip++) {
        meter m = {0};
        gsai_env env = metered(&m, 0);
        gsa_reader *reader = open_text(text, size, NULL, skip, &env);
        gsa_error error;
        gsa_status status;
        free(dump_reader(reader, &status, &error));
        assert_int_equal(status, skip ? GSA_END : GSA_INPUT);
        if (!skip)
            assert_non_null(strstr(error.message, "longer than 128.0 MiB: is this"));
        /* The old and the new buffer meet while it grows. */
        assert_true(m.most < ((size_t)192 << 20) + (2 << 20));
        gsa_reader_close(reader);
        assert_int_equal(m.now, 0);
    }
    free(text);
}

static void lines_take_memory_that_does_not_depend_on_the_length_of_the_file(void **state)
{
    (void)state;
    size_t most[2];
    for (int i = 0; i < 2; i++) {
        size_t n_rows = i ? 200000 : 20000;
        char *text = malloc(n_rows * 16);
        assert_non_null(text);
        for (size_t r = 0; r < n_rows; r++)
            memcpy(text + 16 * r, "1 1:0.5 2:0.125\n", 16);
        meter m = {0};
        gsai_env env = metered(&m, 0);
        gsa_reader *reader = open_text(text, n_rows * 16, NULL, 0, &env);
        gsa_batch batch;
        while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
            ;
        gsa_reader_close(reader);
        most[i] = m.most;
        free(text);
    }
    assert_int_equal(most[0], most[1]);
    assert_true(most[0] < 2 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_give_the_same_rows_whatever_the_buffers),
        cmocka_unit_test(lines_name_the_same_byte_whatever_the_buffers),
        cmocka_unit_test(lines_go_on_after_every_stop),
        cmocka_unit_test(lines_refuse_a_line_beyond_a_quarter_of_the_memory_limit),
        cmocka_unit_test(lines_skip_a_line_that_is_too_long),
        cmocka_unit_test(lines_skip_a_line_that_is_too_long_and_last),
        cmocka_unit_test(lines_take_no_memory_for_a_line_that_never_ends),
        cmocka_unit_test(lines_take_memory_that_does_not_depend_on_the_length_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
