/* Rows that a caller hands in, in every shape a batch may have, and what the engine refuses. */
#include "runs.h"

#include <math.h>

#define N_ROWS 6000
#define WIDTH 7

/* The same numbers as sparse rows, as sparse rows that name some of the zeros, and as dense ones. */
typedef struct shape {
    int64_t row_start[N_ROWS + 1];
    uint32_t index[N_ROWS * WIDTH];
    float value[N_ROWS * WIDTH];
    double label[N_ROWS];
    gsa_batch batch;
    size_t at, rows_a_batch, n_rows, n_later; /* n_later: rows of every pass but the first */
} shape;

enum { SPARSE, WITH_ZEROS, DENSE, SHAPES };

static shape *make_shape(int kind)
{
    shape *s = calloc(1, sizeof *s);
    gsai_rng rng = gsai_rng_of(11, 1, 1);
    size_t n = 0;
    for (size_t row = 0; row < N_ROWS; row++) {
        double score = 0;
        for (uint32_t j = 0; j < WIDTH; j++) {
            double unit = gsai_rng_unit(&rng);
            float x = unit < 0.4 ? 0 : (float)(unit * 4 - 2);
            score += (double)x * ((double)j - 2.5);
            if (x == 0 && (kind == SPARSE || (kind == WITH_ZEROS && j % 2 == 1)))
                continue;
            s->index[n] = j;
            s->value[n++] = x;
        }
        s->label[row] = score + gsai_rng_unit(&rng) > 0;
        s->row_start[row + 1] = (int64_t)n;
    }
    s->batch = (gsa_batch){.value = s->value, .label = s->label};
    if (kind == DENSE)
        s->batch.width = WIDTH;
    else
        s->batch.index = s->index;
    s->n_rows = s->n_later = N_ROWS;
    s->rows_a_batch = 700;
    return s;
}

static gsa_status next_rows(void *ctx, gsa_batch *out, gsa_error *error)
{
    shape *s = ctx;
    (void)error;
    if (s->at == s->n_rows)
        return GSA_END;
    *out = s->batch;
    out->n_rows = s->n_rows - s->at < s->rows_a_batch ? s->n_rows - s->at : s->rows_a_batch;
    out->label += s->at;
    if (s->batch.index)
        out->row_start = s->row_start + s->at;
    else
        out->value += s->at * WIDTH;
    s->at += out->n_rows;
    return GSA_OK;
}

static gsa_status rewind_rows(void *ctx, gsa_error *error)
{
    shape *s = ctx;
    (void)error;
    s->at = 0;
    s->n_rows = s->n_later;
    return GSA_OK;
}

static gsa_reader *reader_of(shape *s, int can_rewind)
{
    const gsa_row_source source = {
        .size = sizeof source, .ctx = s, .next = next_rows, .rewind = can_rewind ? rewind_rows : NULL};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    return reader;
}

static bytes trained(int kind, const char *method, const char *passes, const char *order)
{
    shape *s = make_shape(kind);
    gsa_reader *reader = reader_of(s, 1);
    gsa_state *state = state_with("method", method, "passes", passes, "order", order, NULL);
    gsa_error error = {0};
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    bytes out = state_bytes(state);
    gsa_state_free(state);
    gsa_reader_close(reader);
    free(s);
    return out;
}

static void dense_rows_and_rows_that_name_zeros_learn_to_the_same_bytes(void **unused)
{
    (void)unused;
    static const char *const runs[][3] = {
        {"paper", "2", "shuffled"}, {"paper", "1", "file"}, {"auto", "2", "shuffled"}};
    for (size_t i = 0; i < 3; i++) {
        bytes sparse = trained(SPARSE, runs[i][0], runs[i][1], runs[i][2]);
        for (int kind = WITH_ZEROS; kind < SHAPES; kind++) {
            bytes other = trained(kind, runs[i][0], runs[i][1], runs[i][2]);
            assert_same_bytes(other, sparse);
            free(other.data);
        }
        free(sparse.data);
    }
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void must_refuse(gsa_status status, gsa_status expected, const gsa_error *error, const char *message)
{
    if (status != expected || error->status != expected || !strstr(error->message, message))
        fail_msg("status %d, '%s', expected %d, '%s'", (int)status, error->message, (int)expected, message);
}

static void shards_need_rows_that_can_be_read_again_from_the_beginning(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    shape *s = make_shape(SPARSE);
    gsa_state *state = state_with("shards", "2", "passes", "1", NULL);
    gsa_reader *stream = reader_of(s, 0);
    must_refuse(gsa_train(state, stream, NULL, NULL, &error), GSA_ARGUMENT, &error,
                "can be read only once; give a file");
    gsa_reader_close(stream);
    gsa_reader *empty = text_reader("", NULL);
    must_refuse(gsa_train(state, empty, NULL, NULL, &error), GSA_INPUT, &error,
                "no rows in test.svm: nothing to learn");
    gsa_reader_close(empty);
    gsa_reader *bad = text_reader("2.5 1:1\nsunny 1:1\n", NULL);
    must_refuse(gsa_train(state, bad, NULL, NULL, &error), GSA_LABEL, &error, "test.svm:1 (byte 0): label 2.5 is");
    gsa_reader_close(bad);
    gsa_summary summary = state_summary(state);
    assert_int_equal(summary.n_rows, 0);
    gsa_state_free(state);

    state = state_with("shards", "2", "passes", "1", NULL);
    s->at = 0;
    gsa_reader *reader = reader_of(s, 1);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    must_refuse(gsa_train(state, reader, NULL, NULL, &error), GSA_ARGUMENT, &error, "cannot resume a run with shards");
    gsa_reader_close(reader);
    gsa_state_free(state);
    free(s);
}

/* Which input it is, is known by its first rows; that it has fewer, when they are missed. */
static void an_input_that_has_shrunk_is_found_out(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    shape *s = make_shape(SPARSE);
    gsa_reader *reader = reader_of(s, 1);
    gsa_state *state = state_with("passes", "1", "order", "shuffled", NULL);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    s->n_later = 10; /* fewer than the run began with */
    must_be_ok(gsa_state_set(state, "passes", "2", &error), &error);
    must_be_ok(gsa_reader_rewind(reader, &error), &error);
    must_refuse(gsa_train(state, reader, NULL, NULL, &error), GSA_CONFLICT, &error,
                "does not begin with the rows that the run began with");
    gsa_state_free(state);
    gsa_reader_close(reader);
    free(s);
}

static void a_merged_state_is_not_resumed(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *a = state_with("holdout", "none", NULL), *b = state_with("holdout", "none", NULL), *both;
    gsa_reader *x = generated(500, 2, 1), *y = generated(500, 2, 2);
    must_be_ok(gsa_train(a, x, NULL, NULL, &error), &error);
    must_be_ok(gsa_train(b, y, NULL, NULL, &error), &error);
    const gsa_state *pair[] = {a, b};
    must_be_ok(gsa_state_merge(pair, 2, NULL, NULL, &both, &error), &error);
    bytes before = state_bytes(both);
    must_be_ok(gsa_reader_rewind(x, &error), &error);
    must_refuse(gsa_train(both, x, NULL, NULL, &error), GSA_CONFLICT, &error,
                "a merged state has no place in an input to resume at; start a new run from it");
    same_bytes(&before, both);
    free(before.data);
    gsa_state *all[] = {a, b, both};
    for (size_t i = 0; i < 3; i++)
        gsa_state_free(all[i]);
    gsa_reader_close(x);
    gsa_reader_close(y);
}

static void a_first_block_that_cannot_be_learned_is_named_by_its_line(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"paper", "gsa", "auto"};
    for (size_t i = 0; i < 3; i++) {
        gsa_error error = {0};
        gsa_state *state = state_with("method", methods[i], NULL);
        gsa_reader *reader = text_reader("1 1:1\n2.5 1:1\nsunny 1:1\n", NULL);
        must_refuse(gsa_train(state, reader, NULL, NULL, &error), GSA_LABEL, &error,
                    "test.svm:2 (byte 6): label 2.5 is a fraction while other labels are words");
        assert_int_equal(error.line, 2);
        gsa_state_free(state);
        gsa_reader_close(reader);
    }
}

static void a_block_beyond_the_memory_limit_is_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_memory memory = {.size = sizeof memory, .budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = 2 << 20}};
    gsa_reader *reader = generated(50000, 2, 1);
    gsa_config *config = config_with("passes", "1", NULL);
    gsa_state *state;
    must_be_ok(gsa_state_new(config, &memory, &state, &error), &error);
    gsa_config_free(config);
    must_refuse(gsa_train(state, reader, NULL, NULL, &error), GSA_LIMIT, &error, "and the memory limit is 2.0 MiB");
    gsa_summary summary = state_summary(state);
    assert_int_equal(summary.n_rows, 0);
    gsa_state_free(state);
    gsa_reader_close(reader);
}

static void an_evaluation_stops_on_request_and_names_bad_rows(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_reader *rows_to_learn = generated(500, 2, 1);
    gsa_state *state = state_with("passes", "1", NULL), *numbers = state_with("loss", "squared", NULL);
    must_be_ok(gsa_train(state, rows_to_learn, NULL, NULL, &error), &error);
    gsa_model *model = model_of(state);
    gsa_metrics *metrics;
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    unsigned left = 0;
    gsa_call call = {.size = sizeof call, .should_stop = stop_after, .ctx = &left};
    must_be_ok(gsa_reader_rewind(rows_to_learn, &error), &error);
    must_refuse(gsa_evaluate(metrics, rows_to_learn, &call, &error), GSA_STOPPED, &error, "stopped on request");
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_reader_close(rows_to_learn);

    gsa_reader *few = text_reader("1 1:1\n2 1:2\n", NULL), *bad = text_reader("1 1:1\nsunny 1:1\n", NULL);
    must_be_ok(gsa_train(numbers, few, NULL, NULL, &error), &error);
    model = model_of(numbers);
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    must_refuse(gsa_evaluate(metrics, bad, NULL, &error), GSA_LABEL, &error,
                "test.svm:2 (byte 6): the label is no number: expected one, as the model learned");
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_reader_close(few);
    gsa_reader_close(bad);
    gsa_state_free(state);
    gsa_state_free(numbers);
}

static void a_batch_is_learned_like_a_reader_of_its_rows(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"auto", "gsa", "paper"};
    for (int kind = 0; kind < SHAPES; kind++)
        for (size_t m = 0; m < 3; m++) {
            gsa_error error = {0};
            shape *s = make_shape(kind);
            gsa_config *config;
            must_be_ok(gsa_config_new(NULL, &config, &error), &error);
            must_be_ok(gsa_config_set(config, "method", methods[m], &error), &error);
            gsa_state *by_reader, *by_batch;
            must_be_ok(gsa_state_new(config, NULL, &by_reader, &error), &error);
            gsa_reader *reader = reader_of(s, 1);
            must_be_ok(gsa_train(by_reader, reader, NULL, NULL, &error), &error);
            gsa_reader_close(reader);
            gsa_batch all = s->batch;
            all.n_rows = N_ROWS;
            all.row_start = all.index ? s->row_start : NULL;
            must_be_ok(gsa_train_batch(&all, config, NULL, NULL, &by_batch, &error), &error);
            bytes a = state_bytes(by_reader), b = state_bytes(by_batch);
            assert_same_bytes(a, b);
            free(a.data);
            free(b.data);
            gsa_state_free(by_reader);
            gsa_state_free(by_batch);
            gsa_config_free(config);
            free(s);
        }
}

static void a_batch_that_is_refused_names_its_row(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *state = NULL;
    shape *s = make_shape(DENSE);
    gsa_batch all = s->batch;
    all.n_rows = N_ROWS;
    s->value[4321 * WIDTH] = INFINITY;
    assert_int_equal(gsa_train_batch(&all, NULL, NULL, NULL, &state, &error), GSA_INPUT);
    assert_int_equal(error.row, 4321);
    assert_null(state);
    all.n_rows = 0;
    assert_int_not_equal(gsa_train_batch(&all, NULL, NULL, NULL, &state, &error), GSA_OK);
    assert_null(state);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_rows_and_rows_that_name_zeros_learn_to_the_same_bytes),
        cmocka_unit_test(shards_need_rows_that_can_be_read_again_from_the_beginning),
        cmocka_unit_test(an_input_that_has_shrunk_is_found_out),
        cmocka_unit_test(a_merged_state_is_not_resumed),
        cmocka_unit_test(a_first_block_that_cannot_be_learned_is_named_by_its_line),
        cmocka_unit_test(a_block_beyond_the_memory_limit_is_refused),
        cmocka_unit_test(a_batch_is_learned_like_a_reader_of_its_rows),
        cmocka_unit_test(a_batch_that_is_refused_names_its_row),
        cmocka_unit_test(an_evaluation_stops_on_request_and_names_bad_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
