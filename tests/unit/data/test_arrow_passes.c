/* The life of Arrow streams: released once whatever happens, stopped and gone on with, opened again and kept. */
#include "unit/data/arrow_stream.h"

static int stop_once(void *ctx)
{
    return --*(int *)ctx == 0;
}

/* Whenever the stop comes, the rows that follow are those that had not come yet. */
static void arrow_and_generated_rows_stop_on_request_and_go_on(void **state)
{
    (void)state;
    static const double x[] = {1, 2};
    const plan columns[] = {
        LABEL(1), {"x", "g", 1, 0, 2, {NULL, x}, NULL, NULL}, LABEL(1), {"x", "g", 1, 0, 2, {NULL, x + 1}, NULL, NULL}};
    const gsa_generator what = {.size = sizeof what, .n_rows = 10, .n_features = 5, .nnz = 2, .n_classes = 2};
    for (int generated = 0; generated < 2; generated++) {
        size_t n_stopped = 0;
        for (int moment = 1; moment < 9; moment++) {
            source from = {.column = columns, .n_columns = 2, .n_batches = 2, .length = {1, 1}};
            int left = moment;
            gsai_env env = {ENV_SIZES, .call.should_stop = stop_once, .call.ctx = &left};
            gsa_reader *reader = NULL;
            gsa_error error = {0};
            gsa_batch batch;
            gsa_status status = generated ? gsa_reader_open_generated(&what, NULL, &env.call, &reader, &error)
                                          : open_arrow(&from, NULL, &env, &reader, &error);
            assert_int_equal(status, GSA_OK);
            size_t n_rows = 0;
            while ((status = gsa_reader_next(reader, &batch, &error)) != GSA_END) {
                assert_true(status == GSA_OK || status == GSA_STOPPED);
                assert_true(status == GSA_OK || strstr(error.message, "stopped on request"));
                n_rows += status == GSA_OK ? batch.n_rows : 0;
                n_stopped += status == GSA_STOPPED;
            }
            assert_int_equal(n_rows, generated ? 10 : 2);
            gsa_reader_close(reader);
            assert_int_equal(from.count.n_open, 0);
        }
        assert_true(n_stopped > 0);
    }
}

static int always(void *ctx)
{
    return *(int *)ctx;
}

static void arrow_releases_once_whatever_happens(void **state)
{
    (void)state;
    const plan columns[] = {LABEL(2), {"x", "i", 2, 0, 2, {NULL, labels}, NULL, NULL}};
    const gsa_reader_options bad = {.size = sizeof bad, .bits = 40},
                             nobody = {.size = sizeof nobody, .label = "nobody"};
    source opened = SOURCE(columns, 2), refused = SOURCE(columns, 2), unknown = SOURCE(columns, 2);
    source no_schema = SOURCE(columns, 2), no_batch = SOURCE(columns, 2), stopped = SOURCE(columns, 2);
    no_schema.fail_at = -1;
    no_batch.fail_at = 1;
    assert_refused(&refused, &bad, GSA_ARGUMENT, "40", "bits");
    assert_refused(&unknown, &nobody, GSA_ARGUMENT, "'nobody'", "x");
    assert_refused(&no_schema, NULL, GSA_IO, "ducks", "the Arrow stream");
    assert_refused(&no_batch, NULL, GSA_IO, "ducks", "the Arrow stream");
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    assert_int_equal(open_arrow(&opened, NULL, NULL, &reader, &error), GSA_OK);
    gsa_reader_close(reader);
    assert_int_equal(opened.n_streams, 1);
    int stop = 1;
    gsa_batch batch;
    const gsai_env env = {ENV_SIZES, .call.should_stop = always, .call.ctx = &stop};
    assert_int_equal(open_arrow(&stopped, NULL, &env, &reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_STOPPED);
    stop = 0;
    assert_int_equal(gsa_reader_next(reader, &batch, &error), GSA_OK);
    assert_int_equal(batch.n_rows, 2);
    gsa_reader_close(reader);
    assert_int_equal(stopped.n_streams, 1);
    assert_int_equal(stopped.count.n_open, 0);
    struct ArrowArrayStream used = {0};
    assert_int_equal(gsa_reader_open_arrow(&used, NULL, NULL, NULL, NULL, &reader, &error), GSA_ARGUMENT);
}

/* ---- several passes --------------------------------------------------------------------------------------------- */

typedef struct store {
    source *of;
    int n_opened, n_released, fails;
} store;

static int open_again(void *ctx, struct ArrowArrayStream *out)
{
    store *from = ctx;
    from->n_opened++;
    from->of->at = 0;
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, from->of};
    return from->fails ? ENOENT : 0;
}

static void release_store(void *ctx)
{
    ((store *)ctx)->n_released++;
}

static const double passed[] = {1.5, 2};
static const plan passed_columns[] = {LABEL(2), {"a", "g", 2, 0, 2, {NULL, passed}, NULL, NULL}};

/* A reader of the store's rows; `open` is how it gets another stream of them. */
static gsa_reader *reader_of(store *rows, int (*open)(void *, struct ArrowArrayStream *))
{
    const gsa_arrow_again again = {.size = sizeof again, open, release_store, rows};
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, rows->of};
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    assert_int_equal(gsa_reader_open_arrow(&stream, &again, NULL, NULL, NULL, &reader, &error), GSA_OK);
    return reader;
}

static char *dump_pass(gsa_reader *reader, gsa_status *status, gsa_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    gsa_batch batch;
    while ((*status = gsa_reader_next(reader, &batch, error)) == GSA_OK) {
        for (size_t r = 0; r < batch.n_rows; r++)
            fprintf(out, "row %d ", (int)batch.place[r].line);
        batch.place = NULL;
        dump_batch(out, &batch);
    }
    fclose(out);
    return text;
}

static void arrow_streams_that_can_be_opened_again_are_read_in_every_pass(void **state)
{
    (void)state;
    static const int64_t other[] = {1, 2};
    const plan changed[] = {LABEL(2), {"a", "l", 2, 0, 2, {NULL, other}, NULL, NULL}};
    source from = SOURCE(passed_columns, 2), later = SOURCE(changed, 2);
    store rows = {.of = &from};
    gsa_reader *reader = reader_of(&rows, open_again);
    gsa_error error = {0};
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_status status;
    gsa_reader_get_progress(reader, &progress);
    assert_false(progress.is_stream);
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK); /* nothing was read: the first stream will do */
    char *first = dump_pass(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_int_equal(rows.n_opened, 0);
    for (int pass = 1; pass < 3; pass++) {
        assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
        char *next = dump_pass(reader, &status, &error);
        assert_int_equal(status, GSA_END);
        assert_string_equal(first, next);
        assert_int_equal(rows.n_opened, pass);
        assert_int_equal(from.n_streams, pass);
        free(next);
    }
    assert_non_null(strstr(first, "row 2"));
    free(first);
    rows.of = &later;
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    free(dump_pass(reader, &status, &error));
    assert_int_equal(status, GSA_CONFLICT);
    rows.fails = 1;
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    free(dump_pass(reader, &status, &error));
    assert_int_equal(status, GSA_IO);
    assert_int_equal(rows.n_released, 0);
    gsa_reader_close(reader);
    assert_int_equal(rows.n_released, 1);
    assert_int_equal(from.count.n_open + later.count.n_open, 0);
    assert_int_equal(from.n_streams, 3);
    assert_int_equal(later.n_streams, 1);
    struct ArrowArrayStream used = {0};
    const gsa_arrow_again again = {.size = sizeof again, open_again, release_store, &rows};
    assert_int_equal(gsa_reader_open_arrow(&used, &again, NULL, NULL, NULL, &reader, &error), GSA_ARGUMENT);
    assert_int_equal(rows.n_released, 2);
}

static void arrow_streams_that_nobody_opens_again_are_read_once(void **state)
{
    (void)state;
    source from = SOURCE(passed_columns, 2);
    store rows = {.of = &from};
    gsa_reader *reader = reader_of(&rows, NULL);
    gsa_error error = {0};
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_status status;
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.is_stream);
    assert_int_equal(gsa_reader_spill(reader, "/tmp", &error), GSA_OK); /* which it is not, and no harm is done */
    char *first = dump_pass(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_non_null(strstr(first, "row 2"));
    free(first);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_UNSUPPORTED);
    gsa_reader_close(reader);
    assert_int_equal(rows.n_released, 1);
    assert_int_equal(from.count.n_open, 0);
}

static void arrow_rows_are_kept_between_passes(void **state)
{
    (void)state;
    source from = SOURCE(passed_columns, 2);
    store rows = {.of = &from};
    gsa_reader *reader = reader_of(&rows, open_again);
    gsa_error error = {0};
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_status status;
    assert_int_equal(gsa_reader_begin(reader, &error), GSA_OK);
    assert_int_equal(gsa_reader_spill(reader, "/tmp", &error), GSA_OK);
    char *first = dump_pass(reader, &status, &error);
    assert_int_equal(gsa_reader_rewind(reader, &error), GSA_OK);
    gsa_reader_get_progress(reader, &progress);
    assert_true(progress.bytes_kept > 0);
    char *second = dump_pass(reader, &status, &error);
    assert_int_equal(status, GSA_END);
    assert_string_equal(first, second);
    assert_int_equal(rows.n_opened, 0);
    free(first);
    free(second);
    gsa_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrow_and_generated_rows_stop_on_request_and_go_on),
        cmocka_unit_test(arrow_releases_once_whatever_happens),
        cmocka_unit_test(arrow_streams_that_can_be_opened_again_are_read_in_every_pass),
        cmocka_unit_test(arrow_streams_that_nobody_opens_again_are_read_once),
        cmocka_unit_test(arrow_rows_are_kept_between_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
