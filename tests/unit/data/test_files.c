/* Files, pipes and memory as inputs: sequence, rewinding, progress, places, interruption. */
#include "unit/data/support.h"

#include "base/error.h"
#include "support/failing_memory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

static gsa_status open_paths(const char *const *paths, size_t n, const gsai_env *env, gsa_reader **reader,
                             gsa_error *error)
{
    *reader = NULL;
    return gsa_reader_open(paths, n, NULL, memory_of(env), call_of(env), reader, error);
}

static char *dump_to_end(gsa_reader *reader)
{
    gsa_status status;
    gsa_error error;
    char *dump = dump_reader(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    return dump;
}

static void files_are_read_one_after_the_other(void **state)
{
    (void)state;
    char a[PATH_SIZE], b[PATH_SIZE], c[PATH_SIZE];
    make_file(a, "1 1:1\nx 2:1", 11); /* no newline at the end */
    make_file(b, "", 0);
    make_file(c, "# c\n0 3:1\n", 10);
    const char *paths[] = {a, b, c};
    gsa_reader *reader;
    gsa_error error;
    assert_int_equal(open_paths(paths, 3, NULL, &reader, &error), GSA_OK);
    char *dump = dump_to_end(reader);
    assert_string_equal(dump, "0:1@0 0x1p+0 0\n0:2@6 'x' 1\n-- ones words\n2:2@4 0x0p+0 2\n-- ones\n");
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(gsa_reader_file(reader, i), paths[i]);
    assert_string_equal(gsa_reader_file(reader, 3), "unknown file");
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_rows, 3);
    assert_int_equal(progress.bytes_read, 21);
    assert_int_equal(progress.bytes_total, 21);
    assert_false(progress.is_stream);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.n_rows, 0);
    assert_int_equal(progress.bytes_read, 0);
    char *again = dump_to_end(reader);
    assert_string_equal(again, dump);
    free(again);
    free(dump);
    gsa_reader_close(reader);
    unlink(a);
    unlink(b);
    unlink(c);
}

/* A store with one object, whose connection breaks after some bytes. */
typedef struct object_store {
    const char *bytes;
    size_t size, breaks_after;
    int n_open;
} object_store;

typedef struct object {
    object_store *in;
    size_t at;
} object;

static gsa_status open_object(void *ctx, const char *path, void **file, uint64_t *n_bytes, gsa_error *error)
{
    object_store *store = ctx;
    if (strcmp(path, "store://object") != 0)
        return gsai_fail(error, GSA_IO, "cannot open %s: no such object", path);
    object *opened = calloc(1, sizeof *opened);
    assert_non_null(opened);
    opened->in = store;
    store->n_open++;
    *file = opened;
    *n_bytes = store->size;
    return GSA_OK;
}

static gsa_status read_object(void *file, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    (void)error;
    object *from = file;
    size_t left = from->in->breaks_after - from->at;
    *got = size < left ? size : left;
    memcpy(bytes, from->in->bytes + from->at, *got);
    from->at += *got;
    return GSA_OK;
}

static gsa_status seek_object(void *file, uint64_t at, gsa_error *error)
{
    (void)error;
    ((object *)file)->at = (size_t)at;
    return GSA_OK;
}

static void close_object(void *file)
{
    ((object *)file)->in->n_open--;
    free(file);
}

static gsa_status open_stored(object_store *store, const char *path, gsa_reader **reader, gsa_error *error)
{
    const gsa_file_source files = {sizeof files, store, open_object, read_object, seek_object, close_object};
    const gsa_reader_options options = {.size = sizeof options, .files = &files};
    *reader = NULL;
    return gsa_reader_open(&path, 1, &options, NULL, NULL, reader, error);
}

static void files_of_the_caller_are_read_as_those_of_the_system(void **state)
{
    (void)state;
    static const char rows[] = "1 1:1\n0 2:1\n";
    object_store store = {rows, sizeof rows - 1, sizeof rows - 1, 0};
    gsa_reader *reader;
    gsa_error error;
    assert_int_equal(open_stored(&store, "store://none", &reader, &error), GSA_IO);
    assert_string_equal(error.message, "cannot open store://none: no such object");
    assert_int_equal(open_stored(&store, "store://object", &reader, &error), GSA_OK);
    for (int pass = 0; pass < 2; pass++) {
        char *dump = dump_to_end(reader);
        assert_string_equal(dump, "0:1@0 0x1p+0 0\n0:2@6 0x0p+0 1\n-- ones\n");
        free(dump);
        gsa_reader_progress progress = {.size = sizeof progress};
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.bytes_total, sizeof rows - 1);
        assert_false(progress.is_stream);
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    }
    gsa_reader_close(reader);
    assert_int_equal(store.n_open, 0);
}

static void a_file_that_ends_before_its_size_is_an_error_that_names_it(void **state)
{
    (void)state;
    static const char rows[] = "1 1:1\n0 2:1\n";
    object_store store = {rows, sizeof rows - 1, 6, 0};
    gsa_reader *reader;
    gsa_error error;
    assert_int_equal(open_stored(&store, "store://object", &reader, &error), GSA_OK);
    gsa_status status;
    free(dump_reader(reader, &status, &error));
    assert_int_equal(status, GSA_IO);
    assert_string_equal(error.message, "cannot read store://object: it ended after 6 of 12 bytes");
    gsa_reader_close(reader);
    assert_int_equal(store.n_open, 0);
}

static void files_can_be_rewound_in_the_middle_and_after_a_failure(void **state)
{
    (void)state;
    const char text[] = "1 1:1\n1 2:1\n1 3:1\n1 bad\n";
    gsai_reader_sizes sizes = {.batch_rows = 2, .buffer = 8};
    gsa_reader *reader = open_text(text, strlen(text), &sizes, 0, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_OK);
    gsa_status status;
    gsa_error error;
    char *first = dump_reader(reader, &status, &error);
    assert_int_equal(status, GSA_INPUT);
    assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_OK);
    char *second = dump_reader(reader, &status, &error);
    assert_int_equal(status, GSA_INPUT);
    assert_string_equal(first, second);
    assert_string_equal(first, "0:1@0 0x1p+0 0\n0:2@6 0x1p+0 1\n-- ones\n0:3@12 0x1p+0 2\n-- ones\n");
    free(first);
    free(second);
    gsa_reader_close(reader);
}

static void files_count_bad_rows_anew_after_rewinding(void **state)
{
    (void)state;
    const char text[] = "1 bad\n1 1:1\nbad:\n";
    gsa_reader *reader = open_text(text, strlen(text), NULL, 1, NULL);
    for (int pass = 0; pass < 2; pass++) {
        free(dump_to_end(reader));
        gsa_reader_progress progress = {.size = sizeof progress};
        gsa_reader_get_progress(reader, &progress);
        assert_int_equal(progress.n_bad_rows, 2);
        assert_int_equal(progress.n_rows, 1);
        assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_OK);
    }
    gsa_reader_close(reader);
}

static void files_that_cannot_be_opened_are_reported_at_once(void **state)
{
    (void)state;
    char a[PATH_SIZE];
    make_file(a, "1 1:1\n", 6);
    gsa_reader *reader;
    gsa_error error;
    const char *missing[] = {a, "/tmp/gsa-there-is-no-such-file"};
    assert_int_equal(open_paths(missing, 2, NULL, &reader, &error), GSA_IO);
    assert_non_null(strstr(error.message, "cannot open /tmp/gsa-there-is-no-such-file: "));
    const char *directory[] = {a, "/tmp"};
    assert_int_equal(open_paths(directory, 2, NULL, &reader, &error), GSA_IO);
    assert_string_equal(error.message, "/tmp is a directory; give the files in it by name");
    const char *twice[] = {"-", a};
    assert_int_equal(open_paths(twice, 2, NULL, &reader, &error), GSA_ARGUMENT);
    assert_int_equal(open_paths(twice, 0, NULL, &reader, &error), GSA_ARGUMENT);
    assert_int_equal(open_paths(missing, 2, NULL, &reader, NULL), GSA_IO);
    unlink(a);
}

static void files_that_vanish_before_their_turn_fail_then(void **state)
{
    (void)state;
    char a[PATH_SIZE], b[PATH_SIZE];
    make_file(a, "1 1:1\n", 6);
    make_file(b, "1 2:1\n", 6);
    const char *paths[] = {a, b};
    gsa_reader *reader;
    gsa_error error;
    assert_int_equal(open_paths(paths, 2, NULL, &reader, &error), GSA_OK);
    unlink(b);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 1);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_IO);
    assert_non_null(strstr(error.message, b));
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_IO);
    gsa_reader_close(reader);
    unlink(a);
}

/* Standard input becomes fd for the duration of one reader. */
static void standard_input_is_a_stream(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1 1:1\n1 1:x\n", 12), 12);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    const char *paths[] = {"-"};
    gsa_reader *reader;
    gsa_error error;
    assert_int_equal(open_paths(paths, 1, NULL, &reader, &error), GSA_OK);
    gsa_status status;
    char *dump = dump_reader(reader, &status, &error);
    assert_int_equal(status, GSA_INPUT);
    assert_string_equal(dump, "0:1@0 0x1p+0 0\n-- ones\n");
    assert_true(strncmp(error.message, "standard input:2 (byte 10): ", 28) == 0);
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.is_stream);
    assert_int_equal(progress.bytes_total, 0);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* not ours to close */
    dup2(saved, STDIN_FILENO);
    close(saved);
    free(dump);
}

static void standard_input_from_a_file_has_a_size(void **state)
{
    (void)state;
    char a[PATH_SIZE];
    make_file(a, "skipped\n1 1:1\n", 14);
    int saved = dup(STDIN_FILENO), fd = open(a, O_RDONLY);
    lseek(fd, 8, SEEK_SET);
    dup2(fd, STDIN_FILENO);
    close(fd);
    const char *paths[] = {"-"};
    gsa_reader *reader;
    gsa_error error;
    assert_int_equal(open_paths(paths, 1, NULL, &reader, &error), GSA_OK);
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    assert_int_equal(progress.bytes_total, 6);
    assert_true(progress.is_stream);
    char *dump = dump_to_end(reader);
    assert_string_equal(dump, "0:1@0 0x1p+0 0\n-- ones\n");
    free(dump);
    gsa_reader_close(reader);
    dup2(saved, STDIN_FILENO);
    close(saved);
    unlink(a);
}

static void a_named_pipe_is_a_stream_and_is_opened_once(void **state)
{
    (void)state;
    char name[PATH_SIZE];
    make_file(name, "", 0);
    unlink(name);
    assert_int_equal(mkfifo(name, 0600), 0);
    const char *paths[] = {name};
    gsa_reader *reader;
    gsa_error error;
    assert_int_equal(open_paths(paths, 1, NULL, &reader, &error), GSA_OK); /* does not wait for a writer */
    pid_t child = fork();
    if (child == 0) {
        int fd = open(name, O_WRONLY);
        ssize_t n = write(fd, "1 1:1\n", 6);
        _exit(n == 6 ? 0 : 1);
    }
    assert_true(child > 0);
    char *dump = dump_to_end(reader);
    assert_string_equal(dump, "0:1@0 0x1p+0 0\n-- ones\n");
    free(dump);
    int exited;
    assert_int_equal(waitpid(child, &exited, 0), child);
    assert_int_equal(exited, 0);
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.is_stream);
    assert_int_equal(progress.bytes_total, 0);
    assert_int_equal(progress.bytes_read, 6);
    assert_int_equal(gsa_reader_rewind(reader, NULL), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
    unlink(name);
}

static void rows_of_a_pipe_are_delivered_when_it_falls_silent(void **state)
{
    (void)state;
    static const char *const pieces[] = {"1 1:1\n", "2 2:1 # no more\n3 3:1\n4", " 1:1\n\n"};
    static const size_t n_rows[] = {1, 2, 1};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const char *paths[] = {path};
    gsa_reader *reader;
    gsa_batch batch;
    assert_int_equal(open_paths(paths, 1, NULL, &reader, NULL), GSA_OK);
    alarm(10); /* instead of waiting for ever */
    for (size_t i = 0, row = 0; i < 3; i++) {
        ssize_t size = (ssize_t)strlen(pieces[i]);
        assert_int_equal(write(ends[1], pieces[i], (size_t)size), size);
        assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
        assert_int_equal(batch.n_rows, n_rows[i]);
        for (size_t j = 0; j < batch.n_rows; j++)
            assert_true(batch.label[j] == (double)++row);
    }
    close(ends[1]);
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_END);
    alarm(0);
    gsa_reader_close(reader);
    close(ends[0]);
}

/* A signal that comes while read() waits for a pipe; its handler writes the pipe's next piece. */
static volatile sig_atomic_t pipe_end, n_signals;

static void on_alarm(int number)
{
    (void)number;
    if (++n_signals < 3)
        return; /* only interrupts */
    static const char text[] = "1 2:1\n";
    ssize_t written = write(pipe_end, text, sizeof text - 1);
    (void)written;
    close(pipe_end);
    struct itimerval none = {0};
    setitimer(ITIMER_REAL, &none, NULL);
}

static int stop_at_first(void *ctx)
{
    int *was_stopped = ctx;
    if (n_signals == 0 || *was_stopped)
        return 0;
    *was_stopped = 1;
    return 1;
}

static int stop_never(void *ctx)
{
    (void)ctx;
    return 0;
}

static void read_interrupted(int stop)
{
    int ends[2], was_stopped = 0, n_stops = 0;
    assert_int_equal(pipe(ends), 0);
    pipe_end = ends[1];
    n_signals = 0;
    assert_int_equal(write(ends[1], "1 1:1\n1", 7), 7);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const char *paths[] = {path};
    gsai_env env = {ENV_SIZES, .call.should_stop = stop ? stop_at_first : stop_never, .call.ctx = &was_stopped};
    gsa_reader *reader;
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(open_paths(paths, 1, &env, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK); /* what is there comes at once */
    assert_int_equal(batch.n_rows, 1);
    struct sigaction action = {.sa_handler = on_alarm}, before;
    sigaction(SIGALRM, &action, &before); /* without SA_RESTART */
    struct itimerval often = {{0, 20000}, {0, 20000}};
    setitimer(ITIMER_REAL, &often, NULL);
    gsa_status status;
    while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_STOPPED) {
        n_stops++;
        assert_true(n_signals < 3); /* stopped while it waited, not after the last piece came */
    }
    assert_int_equal(status, GSA_OK);
    assert_int_equal(batch.n_rows, 1);
    assert_true(batch.label[0] == 11); /* "1" of the first piece and "1 2:1" of the second */
    assert_int_equal(batch.index[0], 1);
    sigaction(SIGALRM, &before, NULL);
    assert_int_equal(n_stops, stop);
    gsa_reader_close(reader);
    close(ends[0]);
}

static void an_interrupted_read_is_repeated(void **state)
{
    (void)state;
    read_interrupted(0);
}

static void an_interrupted_read_stops_on_request_and_goes_on(void **state)
{
    (void)state;
    read_interrupted(1);
}

static void locate_puts_the_place_in_front(void **state)
{
    (void)state;
    const char text[] = "1 1:1\n\n1 2:1\n";
    gsa_reader *reader = open_text(text, strlen(text), NULL, 0, NULL);
    gsa_batch batch;
    assert_int_equal(gsa_reader_next(reader, &batch, NULL), GSA_OK);
    gsa_error error;
    assert_int_equal(gsai_fail_row(&error, GSA_LABEL, 1, "label 1 is odd"), GSA_LABEL);
    gsa_reader_locate(reader, &batch, &error);
    assert_string_equal(error.message, "text:3 (byte 7): label 1 is odd");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.byte, 7);
    assert_int_equal(error.status, GSA_LABEL);
    assert_int_equal(gsai_fail(&error, GSA_MEMORY, "no memory"), GSA_MEMORY);
    gsa_reader_locate(reader, &batch, &error);
    assert_string_equal(error.message, "no memory");
    assert_int_equal(gsai_fail_row(&error, GSA_LABEL, 0, "odd"), GSA_LABEL);
    batch.place = NULL;
    gsa_reader_locate(reader, &batch, &error);
    assert_string_equal(error.message, "odd");
    gsa_reader_locate(reader, &batch, NULL);
    gsa_reader_close(reader);
    gsa_reader_close(NULL);
}

/* One run that allocates in every way: words, growing lines, growing rows, a codec. True if it came through. */
static bool run_with_faults(failing *f, const void *bytes, size_t size, const gsa_reader_options *options)
{
    gsai_env env = failing_env(f);
    gsai_reader_sizes sizes = {.buffer = 16};
    gsa_reader *reader = NULL;
    gsa_error error;
    gsa_batch batch;
    gsa_status status = gsai_reader_open_bytes(bytes, size, "text", NULL, options, &sizes, &env, &reader, &error);
    while (status == GSA_OK)
        status = gsa_reader_next(reader, &batch, &error);
    gsa_reader_close(reader);
    assert_true(status == GSA_END || status == GSA_MEMORY);
    assert_int_equal(f->live, 0);
    return status == GSA_END;
}

static void a_failed_allocation_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    char text[4000];
    size_t size = 0;
    for (int i = 0; i < 100; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "word%d 1:1 2:1 3:1 4:0.5 5:0.5\n", i);
    /* "1 1:1\n" */
    static const unsigned char gzip[] = {0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0x54, 0x30,
                                         0xB4, 0x32, 0xE4, 0x02, 0x00, 0x81, 0x4B, 0xC6, 0xF8, 0x06, 0x00, 0x00, 0x00};
    static const char table[] = "y,a,c\nyes,1,red\nno,2,\"b\"\"lue\"\nno,3,green\nyes,4,\n";
    static const char vw[] = "1 |a x y:2 |b z\n-1 |a y |b q\n";
    const gsa_reader_options columns = {
        .size = sizeof columns, .remember_names = 1, .label = "y", .ignore = "2", .cross = "c:c", .bits = 8};
    const gsa_reader_options spaces = {.size = sizeof spaces, .remember_names = 1, .cross = "a:b", .bits = 8};
    const struct {
        const void *bytes;
        size_t size;
        const gsa_reader_options *options;
        size_t least;
    } runs[] = {{text, size, NULL, 100},
                {table, sizeof table - 1, &columns, 30},
                {vw, sizeof vw - 1, &spaces, 20},
                {gzip, sizeof gzip, NULL, 10}};
    const char *version;
    (void)gsa_codec_at(0, &version);
    for (int kind = 0; kind < (version ? 4 : 3); kind++) {
        size_t n = 0;
        bool came_through = false;
        for (; !came_through; n++) {
            failing f = {.left = n};
            came_through = run_with_faults(&f, runs[kind].bytes, runs[kind].size, runs[kind].options);
        }
        assert_true(n > runs[kind].least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_one_after_the_other),
        cmocka_unit_test(files_of_the_caller_are_read_as_those_of_the_system),
        cmocka_unit_test(a_file_that_ends_before_its_size_is_an_error_that_names_it),
        cmocka_unit_test(files_can_be_rewound_in_the_middle_and_after_a_failure),
        cmocka_unit_test(files_count_bad_rows_anew_after_rewinding),
        cmocka_unit_test(files_that_cannot_be_opened_are_reported_at_once),
        cmocka_unit_test(files_that_vanish_before_their_turn_fail_then),
        cmocka_unit_test(standard_input_is_a_stream),
        cmocka_unit_test(standard_input_from_a_file_has_a_size),
        cmocka_unit_test(rows_of_a_pipe_are_delivered_when_it_falls_silent),
        cmocka_unit_test(a_named_pipe_is_a_stream_and_is_opened_once),
        cmocka_unit_test(an_interrupted_read_is_repeated),
        cmocka_unit_test(an_interrupted_read_stops_on_request_and_goes_on),
        cmocka_unit_test(locate_puts_the_place_in_front),
        cmocka_unit_test(a_failed_allocation_is_an_error_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
