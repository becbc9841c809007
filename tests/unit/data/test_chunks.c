/* Text that several threads read: the same batches, words, names, counts and failures as with one. */
#include "unit/data/packed.h"

#include "base/hash.h"

#include <fcntl.h>
#include <signal.h>

static const unsigned all_threads[] = {2, 3, 7};
static const gsai_reader_sizes all_sizes[] = {
    {.buffer = 16, .batch_rows = 1},
    {.buffer = 64, .batch_rows = 3, .read = 50},
    {.buffer = 200, .batch_rows = 4, .batch_values = 11},
    {.buffer = 1000, .batch_rows = 20},
};
#define LEN(array) (sizeof(array) / sizeof *(array))

/* ---- what a reader says ------------------------------------------------------------------------------------------ */

static void dump_names(FILE *out, const gsa_reader *reader)
{
    uint64_t feature;
    const char *name;
    for (size_t i = 0; (name = gsa_reader_name_at(reader, i, &feature)); i++)
        fprintf(out, "%" PRIu64 " %s\n", feature, name);
    fprintf(out, "colliding %a\n", gsa_reader_collision_rate(reader));
}

/* All of it, from where the reader is: batches, the failure, the progress and the names. */
static char *dump_rest(gsa_reader *reader)
{
    gsa_status status;
    gsa_error error = {0};
    gsa_reader_progress progress = {.size = sizeof progress};
    char *rows = dump_reader(reader, &status, &error), *all = NULL;
    size_t size;
    FILE *out = open_memstream(&all, &size);
    assert_non_null(out);
    gsa_reader_get_progress(reader, &progress);
    fprintf(out, "%s%d %s\n%" PRIu64 " rows, %" PRIu64 " bad, %" PRIu64 " recoded\n", rows, (int)status,
            status == GSA_END ? "" : error.message, progress.n_rows, progress.n_bad_rows, progress.n_recoded);
    dump_names(out, reader);
    fclose(out);
    free(rows);
    return all;
}

typedef struct input {
    const char *const *paths; /* NULL: memory */
    size_t n_paths;
    const char *text;
    size_t size;
    const gsai_format *format;
    gsa_reader_options options;
} input;

static gsa_reader *open_input(const input *in, const gsai_reader_sizes *sizes, const gsai_env *env)
{
    gsa_reader *reader = NULL;
    gsa_error error;
    gsa_status status =
        in->paths
            ? gsai_reader_open_files(in->paths, in->n_paths, in->format, &in->options, sizes, env, &reader, &error)
            : gsai_reader_open_bytes(in->text, in->size, "text", in->format, &in->options, sizes, env, &reader, &error);
    if (status != GSA_OK)
        fail_msg("%s", error.message);
    return reader;
}

static char *dump_with(const input *in, const gsai_reader_sizes *sizes, unsigned n_threads)
{
    gsa_budget budget = {.size = sizeof budget};
    const gsai_env env = {ENV_SIZES, .call.n_threads = n_threads, .memory.budget = &budget};
    gsa_reader *reader = open_input(in, sizes, &env);
    char *dump = dump_rest(reader);
    gsa_batch none;
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_status status = gsa_reader_next(reader, &none, NULL);
    gsa_reader_get_progress(reader, &progress);
    if (status == GSA_END)
        assert_int_equal(progress.bytes_read, progress.bytes_total);
    gsa_reader_close(reader);
    assert_int_equal(budget.used, 0);
    return dump;
}

static void assert_same(const input *in)
{
    for (size_t s = 0; s < LEN(all_sizes); s++) {
        char *one = dump_with(in, &all_sizes[s], 1);
        for (size_t t = 0; t < LEN(all_threads); t++) {
            char *many = dump_with(in, &all_sizes[s], all_threads[t]);
            assert_string_equal(many, one);
            free(many);
        }
        free(one);
    }
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

#define TEXT_SIZE 20000

/* n lines, one of each kind in turn, with their numbers in them where a %d asks for it. */
static size_t repeat(char text[TEXT_SIZE], const char *const *kind, size_t n_kinds, int n)
{
    size_t size = 0;
    for (int i = 0; i < n; i++)
        size += (size_t)snprintf(text + size, TEXT_SIZE - size, kind[(size_t)i % n_kinds], i);
    assert_true(size < TEXT_SIZE - 1);
    return size;
}

static const char *const libsvm_lines[] = {"red%d 1:1 2:1\n",
                                           "1 1:0.25 3:1.5 7:2e3\r\n",
                                           "# a comment\n",
                                           "blue 5:1 # a late one\n",
                                           "-1\n",
                                           "\n",
                                           "red0 2:1 4:1 6:1 8:1 10:1\n",
                                           "  2.5 9:%d\n"};
static const char *const vw_lines[] = {"1 |a x%d y:2 |b z\n", "-1 2.5 tag|a y |b:3 q r\n", "\n", "1 |c w:0.5 w:0.5\n",
                                       "-1 'tag |b n%d |a x0 x1 x2\n"};
/* Cells with line ends, separators and quotes in them, and quotes inside of cells that do not begin with one. */
static const char *const csv_lines[] = {"yes,1,red\n",
                                        "no,2.5,\"blue%d\"\n",
                                        "yes,,\"two\nlines, \"\"quoted\"\"\"\r\n",
                                        "\n",
                                        "no,-3,gr\"een\r\n",
                                        "\"no\",4,\r",
                                        "maybe%d,\"5\",a\n",
                                        "yes,7,\"a very long cell that is longer than the buffer\r\rof some\"\n"};
static const char *const plain_lines[] = {"1,2,red%d\n", "0,2.5,blue\n", "1,,\n", "0,-3,a\"b\"\r\n", "1,4,green\n"};

/* Windows-1252, the last of them far into the text. */
static const char *const recoded_lines[] = {"1,2,red%d\n", "0,2.5,bl\xC3\xA5\n", "1,,caf\xE9\n",
                                            "0,-3,\"a\"\"\x80\"\r\n",
                                            ("\xFC"
                                             "ber,4,\x85\xA0\n")};

static const char header[] = "y,number,word\n";
#define TABLE_OPTIONS                                                                          \
    (gsa_reader_options)                                                                       \
    {                                                                                          \
        .label = "y", .cross = "number:word", .bits = 10, .remember_names = 1, .keep_cells = 1 \
    }

static size_t make_table(char text[TEXT_SIZE], const char *const *kind, size_t n_kinds, int n)
{
    size_t size = sizeof header - 1;
    char rows[TEXT_SIZE];
    size_t n_bytes = repeat(rows, kind, n_kinds, n);
    assert_true(size + n_bytes < TEXT_SIZE);
    memcpy(text, header, size);
    memcpy(text + size, rows, n_bytes + 1);
    return size + n_bytes;
}

/* Text number `number` of those that tests run over; its options. */
static input make_text(char text[TEXT_SIZE], int number)
{
    input in = {.text = text, .format = &gsai_format_libsvm};
    if (number == 0) {
        in.size = repeat(text, libsvm_lines, LEN(libsvm_lines), 200);
    } else if (number == 1) {
        in.format = &gsai_format_vw;
        in.options =
            (gsa_reader_options){.size = sizeof(gsa_reader_options), .remember_names = 1, .cross = "a:b", .bits = 12};
        in.size = repeat(text, vw_lines, LEN(vw_lines), 150);
    } else {
        in.format = &gsai_format_table;
        in.options = TABLE_OPTIONS;
        in.size = number == 2   ? make_table(text, csv_lines, LEN(csv_lines), 150)
                  : number == 3 ? make_table(text, plain_lines, LEN(plain_lines), 200)
                                : make_table(text, recoded_lines, LEN(recoded_lines), 200);
    }
    return in;
}
#define N_TEXTS 5

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void rows_words_and_names_are_those_of_one_thread(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    for (int number = 0; number < N_TEXTS; number++) {
        input in = make_text(text, number);
        assert_same(&in);
        in.size--; /* no newline at the end */
        assert_same(&in);
        in.size = 0;
        if (number < 2)
            assert_same(&in);
    }
}

static void lines_that_end_with_cr_alone_are_those_of_one_thread(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    input in = make_text(text, 3);
    for (size_t i = 0; i < in.size; i++)
        text[i] = text[i] == '\n' ? '\r' : text[i];
    assert_same(&in);
}

/* A line of its own, of one that fails, in front of each of the first. */
static void a_bad_line_fails_and_is_skipped_as_with_one_thread(void **state)
{
    (void)state;
    static const struct {
        int text;
        const char *line;
    } bad[] = {{0, "1 2:1 1:1\n"},     {0, "x:y\r\n"},          {1, "1 |a x:none\n"}, {2, "yes,x,red\n"},
               {2, "no,1,\"red\"x\n"}, {2, "no,1,a,b,\"c\"\n"}, {3, "1,2\n"},         {3, "1,x,red\r\n"}};
    static char text[TEXT_SIZE], worse[TEXT_SIZE + 100];
    for (size_t b = 0; b < LEN(bad); b++) {
        input in = make_text(text, bad[b].text);
        size_t size = strlen(bad[b].line), n = 0;
        for (size_t at = in.size / 2; n < 12; n++) {
            at = (size_t)(strchr(text + at, '\n') - text) + 1; /* in a quoted cell, too: that is no less a test */
            memcpy(worse, text, at);
            memcpy(worse + at, bad[b].line, size);
            memcpy(worse + at + size, text + at, in.size - at);
            input with = in;
            with.text = worse;
            with.size = in.size + size;
            for (with.options.skip_bad_rows = 0; with.options.skip_bad_rows < 2; with.options.skip_bad_rows++)
                assert_same(&with);
        }
    }
}

static void a_quote_that_is_never_closed_fails_as_with_one_thread(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    input in = make_text(text, 3);
    memcpy(text + in.size, "1,\"2,red\n1,2,red\n", 18);
    in.size += 17;
    assert_same(&in);
    in.options.skip_bad_rows = 1;
    assert_same(&in);
}

static void labels_that_are_all_different_keep_their_numbers(void **state)
{
    (void)state;
    enum { LABELS = 3000 };
    char *text = malloc(LABELS * 2 * 20);
    assert_non_null(text);
    size_t size = 0;
    for (int i = 0; i < 2 * LABELS; i++)
        size += (size_t)sprintf(text + size, "w%d 1:1\n", i * 7 % LABELS);
    const input in = {.text = text, .size = size, .format = &gsai_format_libsvm};
    const gsai_reader_sizes sizes = {.buffer = 30000, .batch_rows = 4000}; /* more words than a chunk remembers */
    char *one = dump_with(&in, &sizes, 1), *two = dump_with(&in, &sizes, 2);
    assert_string_equal(two, one);
    free(one);
    free(two);
    free(text);
}

static void files_of_all_kinds_are_read_as_by_one_thread(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    for (int number = 0; number < N_TEXTS; number++) {
        char a[PATH_SIZE], b[PATH_SIZE], c[PATH_SIZE], d[PATH_SIZE];
        input in = make_text(text, number);
        make_file(a, text, in.size - 1);
        make_file(b, "", 0);
        size_t size = make_packed(c, text, in.size), whole;
        char *packed = load_file(c, &whole);
        make_file(d, packed, size / 2); /* ends in the middle */
        free(packed);
        const char *paths[] = {a, b, c, a, d};
        in.paths = paths;
        for (in.n_paths = 4; in.n_paths <= 5; in.n_paths++)
            assert_same(&in);
        for (size_t i = 0; i < 5; i++)
            unlink(paths[i]);
    }
}

static void a_codec_of_any_kind_is_read_as_by_one_thread(void **state)
{
    (void)state;
    static const char *const commands[] = {"gzip", "zstd -q", "xz", "bzip2"};
    static char text[TEXT_SIZE];
    input in = make_text(text, 0);
    for (size_t i = 0; i < LEN(commands); i++) {
        char path[PATH_SIZE], packed[PATH_SIZE], command[300];
        make_file(path, text, in.size);
        make_file(packed, "", 0);
        snprintf(command, sizeof command, "command -v %.5s > /dev/null 2>&1 && %s -c %s > %s", commands[i], commands[i],
                 path, packed);
        if (system(command) == 0) { /* NOLINT(cert-env33-c): the text is ours */
            const char *paths[] = {packed};
            in.paths = paths;
            in.n_paths = 1;
            assert_same(&in);
        }
        unlink(path);
        unlink(packed);
    }
}

static void a_reader_can_be_rewound_and_closed_at_any_time(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    for (int number = 0; number < N_TEXTS; number++) {
        input in = make_text(text, number);
        const gsai_env env = {ENV_SIZES, .call.n_threads = 3};
        char *expected = dump_with(&in, &all_sizes[1], 1);
        for (int n = 0; n < 20; n++) {
            gsa_batch batch;
            gsa_reader *reader = open_input(&in, &all_sizes[1], &env);
            for (int i = 0; i < n; i++)
                assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
            if (n % 2 == 0) {
                assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_OK);
                char *again = dump_rest(reader);
                assert_string_equal(again, expected);
                free(again);
            }
            gsa_reader_close(reader);
        }
        free(expected);
    }
}

static int stop_sometimes(void *ctx)
{
    return atomic_fetch_add((atomic_int *)ctx, 1) % 5 == 3;
}

static void a_reader_that_is_stopped_goes_on_without_losing_a_row(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    for (int number = 0; number < N_TEXTS; number++) {
        input in = make_text(text, number);
        char *expected = dump_with(&in, &all_sizes[1], 1);
        atomic_int n_asked = 0;
        const gsai_env env = {ENV_SIZES, .call.n_threads = 3, .call.should_stop = stop_sometimes, .call.ctx = &n_asked};
        gsa_reader *reader = open_input(&in, &all_sizes[1], &env);
        char *found = dump_rest(reader);
        assert_string_equal(found, expected);
        gsa_reader_close(reader);
        free(expected);
        free(found);
    }
}

static int stop_always(void *ctx)
{
    return atomic_load((atomic_int *)ctx);
}

/* What is in flight may still come, and the first 4096 bytes, which tell the format. */
static void a_stop_is_answered_after_a_few_batches(void **state)
{
    (void)state;
    enum { LINES = 20000, BATCHES = LINES / 20 };
    static char text[LINES * 6 + 1];
    for (size_t i = 0; i < LINES; i++)
        memcpy(text + i * 6, "1 1:1\n", 7);
    const input in = {.text = text, .size = sizeof text - 1, .format = &gsai_format_libsvm};
    atomic_int stops = 0;
    const gsai_env env = {ENV_SIZES, .call.n_threads = 2, .call.should_stop = stop_always, .call.ctx = &stops};
    gsa_reader *reader = open_input(&in, &all_sizes[3], &env);
    gsa_batch batch;
    for (int i = 0; i < 5; i++)
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    atomic_store(&stops, 1);
    int n = 0;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
        n++;
    assert_true(n < BATCHES / 5);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_STOPPED);
    gsa_reader_close(reader);
}

/* So many rows at once that threads begin, then one at a time: each comes before the next is written. */
static void rows_of_a_pipe_do_not_wait_for_those_after_them(void **state)
{
    (void)state;
    enum { MANY = 2000, FEW = 20 };
    static char text[MANY * 8 + 1];
    size_t size = 0;
    for (int i = 0; i < MANY; i++)
        size += (size_t)sprintf(text + size, "%d 1:1\n", i % 10);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const char *paths[] = {path};
    const input in = {.paths = paths, .n_paths = 1};
    const gsai_env env = {ENV_SIZES, .call.n_threads = 3};
    gsa_reader *reader = open_input(&in, &all_sizes[1], &env);
    alarm(20); /* instead of waiting for ever */
    gsa_batch batch;
    for (size_t step = 0, n = 0; step <= FEW; step++) {
        size_t more = step == 0 ? size : 6;
        assert_int_equal(write(ends[1], text, more), (ssize_t)more);
        for (size_t wanted = n + (step == 0 ? MANY : 1); n < wanted; n += batch.n_rows)
            assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        assert_int_equal(n, MANY + step);
    }
    gsa_reader_close(reader); /* while the pipe is open, and nothing comes */
    alarm(0);
    close(ends[0]);
    close(ends[1]);
}

static void chunks_count_in_the_budget_and_need_a_sixteenth_of_it(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    input in = make_text(text, 0);
    const gsai_reader_sizes sizes = {.buffer = 64, .batch_rows = 3};
    uint64_t used[3];
    for (int i = 0; i < 3; i++) { /* one thread; two without room for chunks; two with it */
        gsa_budget budget = {.size = sizeof budget, .limit = (uint64_t)(i == 1 ? 8 : 1024) << 20};
        const gsai_env env = {ENV_SIZES, .call.n_threads = i == 0 ? 1 : 2, .memory.budget = &budget};
        gsa_reader *reader = open_input(&in, &sizes, &env);
        gsa_batch batch;
        for (int n = 0; n < 3; n++)
            assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        used[i] = __atomic_load_n(&budget.used, __ATOMIC_RELAXED); /* threads are at work */
        gsa_reader_close(reader);
        assert_int_equal(budget.used, 0);
    }
    assert_int_equal(used[1], used[0]);
    assert_true(used[2] > used[0] + 2 * (256 << 10)); /* two threads alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_words_and_names_are_those_of_one_thread),
        cmocka_unit_test(lines_that_end_with_cr_alone_are_those_of_one_thread),
        cmocka_unit_test(a_bad_line_fails_and_is_skipped_as_with_one_thread),
        cmocka_unit_test(a_quote_that_is_never_closed_fails_as_with_one_thread),
        cmocka_unit_test(labels_that_are_all_different_keep_their_numbers),
        cmocka_unit_test(files_of_all_kinds_are_read_as_by_one_thread),
        cmocka_unit_test(a_codec_of_any_kind_is_read_as_by_one_thread),
        cmocka_unit_test(a_reader_can_be_rewound_and_closed_at_any_time),
        cmocka_unit_test(a_reader_that_is_stopped_goes_on_without_losing_a_row),
        cmocka_unit_test(a_stop_is_answered_after_a_few_batches),
        cmocka_unit_test(rows_of_a_pipe_do_not_wait_for_those_after_them),
        cmocka_unit_test(chunks_count_in_the_budget_and_need_a_sixteenth_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
