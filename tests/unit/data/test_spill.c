/* Rows that are kept between passes: the same ones, nothing left behind, and nothing lost where they cannot be kept. */
#include "unit/data/packed.h"

#include "support/failing_memory.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Rows with words, values, zeros and, every 100th, an error. */
static char *make_text(size_t n_rows, uint64_t seed)
{
    static const char *const labels[] = {"1", "-1.5", "red", "naive", "1e-300"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    uint64_t random = seed;
    for (size_t r = 0; r < n_rows; r++) {
        fputs(r % 100 == 99 ? "new 3:x" : labels[next_random(&random) % (r < 20 ? 4 : 5)], out);
        unsigned id = 0;
        for (uint64_t n = next_random(&random) % 7; n > 0; n--) {
            id += 1 + (unsigned)(next_random(&random) % 90000);
            fprintf(out, " %u:%g", id, (double)(next_random(&random) % 2000) / 997 - (n % 2 ? 1 : 0));
        }
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

/* As dump_reader, but without places and the ends of batches, which may be others, and words with their numbers. */
static char *dump_rows(gsa_reader *reader, gsa_status *status)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    gsa_batch batch;
    gsa_error error;
    while ((*status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
        for (size_t r = 0; r < batch.n_rows; r++) {
            int32_t word = batch.word ? batch.word[r] : -1;
            fprintf(out, "%d %s %a", word, word >= 0 ? batch.words[word] : "", batch.label[r]);
            for (int64_t i = batch.row_start[r]; i < batch.row_start[r + 1]; i++)
                fprintf(out, " %" PRIu32 "=%a", batch.index[i], batch.value ? (double)batch.value[i] : 1.0);
            fputc('\n', out);
        }
    fclose(out);
    return text;
}

static gsa_reader *open_skipping(const char *const *paths, size_t n_paths)
{
    gsa_reader *reader = NULL;
    gsa_reader_options options = {.size = sizeof options, .skip_bad_rows = 1};
    gsa_error error;
    assert_int_equal(gsa_reader_open(paths, n_paths, &options, NULL, NULL, &reader, &error), GSA_OK);
    return reader;
}

static gsa_reader_progress progress_of(const gsa_reader *reader)
{
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    return progress;
}

static void rewind_reader(gsa_reader *reader)
{
    gsa_error error;
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
}

static void expect_rows(gsa_reader *reader, const char *rows)
{
    gsa_status status;
    char *dump = dump_rows(reader, &status);
    assert_int_equal(status, GSA_END);
    assert_string_equal(dump, rows);
    free(dump);
}

static size_t count_entries(const char *folder)
{
    size_t n = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory))
        n++;
    closedir(directory);
    return n;
}

/* A folder for what is kept, two files of which the second is compressed, and the rows that are expected of them. */
typedef struct inputs {
    char folder[PATH_SIZE], plain[PATH_SIZE], packed[PATH_SIZE];
    const char *paths[2];
    char *rows;
    uint64_t n_rows;
} inputs;

static int make_inputs(void **state)
{
    inputs *in = calloc(1, sizeof *in);
    assert_non_null(in);
    snprintf(in->folder, PATH_SIZE, "/tmp/gsa-keep-test-XXXXXX");
    assert_non_null(mkdtemp(in->folder));
    char *a = make_text(500, 3), *b = make_text(100000, 5);
    make_file(in->plain, a, strlen(a));
    make_packed(in->packed, b, strlen(b));
    free(a);
    free(b);
    in->paths[0] = in->plain;
    in->paths[1] = in->packed;
    gsa_reader *reader = open_skipping(in->paths, 2);
    gsa_status status;
    in->rows = dump_rows(reader, &status);
    in->n_rows = progress_of(reader).n_rows;
    assert_int_equal(progress_of(reader).n_bad_rows, 1005);
    gsa_reader_close(reader);
    *state = in;
    return 0;
}

static int remove_inputs(void **state)
{
    inputs *in = *state;
    unlink(in->plain);
    unlink(in->packed);
    rmdir(in->folder);
    free(in->rows);
    free(in);
    return 0;
}

static void kept_rows_are_the_same_in_every_pass(void **state)
{
    inputs *in = *state;
    gsa_reader *reader = open_skipping(in->paths, 2);
    gsa_error error;
    assert_int_equal(gsa_reader_spill(reader, in->folder, &error), GSA_OK);
    expect_rows(reader, in->rows);
    assert_int_equal(progress_of(reader).bytes_kept, 0); /* which they are not yet read from */
    char elsewhere[2 * PATH_SIZE];                       /* so that nothing else can be */
    snprintf(elsewhere, sizeof elsewhere, "%s.moved", in->packed);
    assert_int_equal(rename(in->packed, elsewhere), 0);
    for (int pass = 0; pass < 3; pass++) {
        rewind_reader(reader);
        gsa_reader_progress progress = progress_of(reader);
        assert_true(progress.bytes_kept > 100000);
        assert_int_equal(progress.bytes_total, progress.bytes_kept);
        assert_int_equal(progress.bytes_read, 0);
        assert_int_equal(progress.n_rows, 0);
        assert_false(progress.is_stream);
        assert_false(progress.keep_failed);
        expect_rows(reader, in->rows);
        progress = progress_of(reader);
        assert_int_equal(progress.bytes_read, progress.bytes_total);
        assert_int_equal(progress.n_rows, in->n_rows);
        assert_int_equal(progress.n_bad_rows, 1005);
    }
    assert_int_equal(rename(elsewhere, in->packed), 0);
    gsa_reader_close(reader);
}

static void the_file_of_kept_rows_never_has_a_name(void **state)
{
    inputs *in = *state;
    gsa_reader *reader = open_skipping(in->paths, 2);
    gsa_error error;
    assert_int_equal(gsa_reader_spill(reader, in->folder, &error), GSA_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(count_entries(in->folder), 2); /* . and .. */
        expect_rows(reader, in->rows);
        assert_int_equal(count_entries(in->folder), 2);
        rewind_reader(reader);
    }
    assert_true(progress_of(reader).bytes_kept > 0);
    gsa_reader_close(reader);
    assert_int_equal(count_entries(in->folder), 2);
}

static void a_pass_that_was_left_is_kept_from_its_beginning(void **state)
{
    inputs *in = *state;
    gsa_reader *reader = open_skipping(in->paths, 2);
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(gsa_reader_spill(reader, in->folder, &error), GSA_OK);
    for (int i = 0; i < 20; i++) /* past what is written as a block */
        assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    rewind_reader(reader);
    assert_int_equal(progress_of(reader).bytes_kept, 0);
    assert_int_equal(progress_of(reader).n_bad_rows, 0);
    expect_rows(reader, in->rows);
    rewind_reader(reader);
    assert_true(progress_of(reader).bytes_kept > 0);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK); /* and so may a pass over the kept rows be */
    rewind_reader(reader);
    expect_rows(reader, in->rows);
    gsa_reader_close(reader);
}

/* Nothing may be written over this limit; a signal that tells of it is not ours to meet. */
static void limit_files(rlim_t most)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void expect_original(const inputs *in, rlim_t limit_before, rlim_t limit_after)
{
    gsa_reader *reader = open_skipping(in->paths, 2);
    gsa_error error;
    limit_files(limit_before);
    assert_int_equal(gsa_reader_spill(reader, in->folder, &error), GSA_OK);
    limit_files(limit_after);
    expect_rows(reader, in->rows);
    limit_files(RLIM_INFINITY);
    assert_true(progress_of(reader).keep_failed);
    rewind_reader(reader);
    expect_rows(reader, in->rows);
    assert_int_equal(progress_of(reader).bytes_kept, 0);
    assert_int_equal(progress_of(reader).n_bad_rows, 1005);
    gsa_reader_close(reader);
}

static void where_there_is_no_room_the_original_is_read(void **state)
{
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    expect_original(*state, RLIM_INFINITY, 100000); /* writing fails */
    signal(SIGXFSZ, SIG_DFL);
    expect_original(*state, 1500000, 1500000); /* it is not tried: half of that is full after a block */
    signal(SIGXFSZ, before);
}

static void a_folder_that_does_not_exist_is_reported_and_the_reader_lives_on(void **state)
{
    inputs *in = *state;
    gsa_reader *reader = open_skipping(in->paths, 2);
    gsa_error error = {0};
    assert_int_equal(gsa_reader_spill(reader, "/nonexistent/folder", &error), GSA_IO);
    assert_string_equal(error.message, "cannot make a temporary file in /nonexistent/folder");
    expect_rows(reader, in->rows);
    rewind_reader(reader);
    expect_rows(reader, in->rows);
    gsa_reader_close(reader);
}

static void plain_text_and_memory_are_not_kept(void **state)
{
    inputs *in = *state;
    gsa_reader *readers[] = {open_skipping(in->paths, 1), open_text("1 1:1\n", 6, NULL, 0, NULL)};
    gsa_error error;
    for (size_t i = 0; i < 2; i++) {
        gsa_status status;
        assert_int_equal(gsa_reader_spill(readers[i], "/nonexistent", &error), GSA_OK);
        char *first = dump_rows(readers[i], &status);
        rewind_reader(readers[i]);
        expect_rows(readers[i], first);
        assert_int_equal(progress_of(readers[i]).bytes_kept, 0);
        assert_false(progress_of(readers[i]).keep_failed);
        free(first);
        gsa_reader_close(readers[i]);
    }
}

static void a_row_that_was_kept_is_named_by_its_number(void **state)
{
    inputs *in = *state;
    gsa_reader *reader = open_skipping(in->paths + 1, 1);
    gsa_error error;
    gsa_batch batch;
    assert_int_equal(gsa_reader_spill(reader, in->folder, &error), GSA_OK);
    while (gsa_reader_next(reader, &batch, &error) == GSA_OK) {
    }
    rewind_reader(reader);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    error = (gsa_error){.status = GSA_INPUT, .row = 7, .message = "strange"};
    gsa_reader_locate(reader, &batch, &error);
    assert_int_equal(strncmp(error.message, "the rows of the input:8 (byte ", 30), 0);
    gsa_reader_close(reader);
}

/* Whichever allocation fails: an error of the reader itself, or rows that are not kept. */
static void a_failed_allocation_never_changes_the_rows_and_leaks_nothing(void **state)
{
    inputs *in = *state;
    char *text = make_text(400, 9), path[PATH_SIZE];
    make_packed(path, text, strlen(text));
    const char *paths[] = {path};
    gsa_reader *plain = open_text(text, strlen(text), NULL, 1, NULL);
    gsa_status status;
    char *rows = dump_rows(plain, &status);
    gsa_reader_close(plain);
    size_t n_kept = 0;
    for (size_t n = 0; n < 1000 && n_kept == 0; n++) {
        failing memory = {n, 0};
        gsai_env env = failing_env(&memory);
        gsa_reader *reader = NULL;
        gsa_reader_options options = {.size = sizeof options, .skip_bad_rows = 1};
        gsa_error error;
        status = gsa_reader_open(paths, 1, &options, &env.memory, &env.call, &reader, &error);
        if (status == GSA_OK)
            status = gsa_reader_spill(reader, in->folder, &error);
        for (int pass = 0; pass < 2 && (status == GSA_OK || status == GSA_END); pass++) {
            rewind_reader(reader);
            char *dump = dump_rows(reader, &status);
            if (status == GSA_END) {
                assert_string_equal(dump, rows);
                n_kept += pass > 0 && progress_of(reader).bytes_kept > 0;
            }
            free(dump);
        }
        assert_true(status == GSA_END || status == GSA_MEMORY);
        gsa_reader_close(reader);
        assert_int_equal(memory.live, 0);
    }
    assert_true(n_kept > 0);
    unlink(path);
    free(rows);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_rows_are_the_same_in_every_pass),
        cmocka_unit_test(the_file_of_kept_rows_never_has_a_name),
        cmocka_unit_test(a_pass_that_was_left_is_kept_from_its_beginning),
        cmocka_unit_test(where_there_is_no_room_the_original_is_read),
        cmocka_unit_test(a_folder_that_does_not_exist_is_reported_and_the_reader_lives_on),
        cmocka_unit_test(plain_text_and_memory_are_not_kept),
        cmocka_unit_test(a_row_that_was_kept_is_named_by_its_number),
        cmocka_unit_test(a_failed_allocation_never_changes_the_rows_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, make_inputs, remove_inputs);
}
