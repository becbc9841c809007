/* Files that fit one block, learned by a team: the same bytes whatever disturbs the run, all sizes, all losses. */
#include "runs.h"

#include "base/memory.h"
#include "core/state.h"
#include "engine/team.h"
#include "support/failing_memory.h"

#include <greedystep/train.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>

/* Rows as libsvm text, with their weights where asked for; the caller frees it. */
static char *text_of(const rows *r, const char *const *words)
{
    char *out = calloc(r->n_entries * 32 + r->n_rows * 32 + 1, 1), *at = out;
    for (size_t row = 0; row < r->n_rows; row++) {
        at += words ? sprintf(at, "%s", words[(size_t)r->label[row]]) : sprintf(at, "%.17g", r->label[row]);
        for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
            at += sprintf(at, " %u:%.9g", r->index[e] + 1, (double)r->value[e]);
        at += sprintf(at, "\n");
    }
    return out;
}

static void train(gsa_state *state, gsa_reader *reader)
{
    gsa_error error = {0};
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
}

static double metric_of(const gsa_state *state, gsa_reader *reader, const char *name)
{
    gsa_error error = {0};
    gsa_model *model = model_of(state);
    gsa_metrics *metrics;
    gsa_metric metric;
    double value = NAN;
    must_be_ok(gsa_metrics_new(model, NULL, &metrics, &error), &error);
    must_be_ok(gsa_evaluate(metrics, reader, NULL, &error), &error);
    must_be_ok(gsa_metrics_finish(metrics, &error), &error);
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric); i++)
        if (strcmp(metric.name, name) == 0)
            value = metric.value;
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_reader_close(reader);
    return value;
}

/* ---- the same bytes ------------------------------------------------------------------------------------------------
 */

static void a_run_gives_the_same_bytes_again_and_another_seed_other_weights(void **unused)
{
    (void)unused;
    gsa_state *one = state_with("method", "auto", NULL), *again = state_with("method", "auto", NULL);
    gsa_state *other = state_with("method", "auto", "seed", "1", NULL);
    gsa_state *in_order = state_with("method", "auto", "order", "file", NULL);
    train(one, generated(1000, 3, 1));
    train(again, generated(1000, 3, 1));
    train(other, generated(1000, 3, 1));
    train(in_order, generated(1000, 3, 1));
    same_states(one, again);
    gsa_model *a = model_of(one), *b = model_of(other), *c = model_of(in_order);
    assert_true(gsa_model_weight(a, 3, 0) != gsa_model_weight(b, 3, 0));
    assert_true(gsa_model_weight(a, 3, 0) != gsa_model_weight(c, 3, 0));
    gsa_model_free(a);
    gsa_model_free(b);
    gsa_model_free(c);
    gsa_state_free(one);
    gsa_state_free(again);
    gsa_state_free(other);
    gsa_state_free(in_order);
}

/* Threads that asked whether to stop: those that learned. */
typedef struct seen_threads {
    pthread_mutex_t lock;
    pthread_t at[16];
    size_t n;
} seen_threads;

static int note_thread(void *ctx)
{
    seen_threads *seen = ctx;
    size_t i = 0;
    pthread_mutex_lock(&seen->lock);
    while (i < seen->n && !pthread_equal(seen->at[i], pthread_self()))
        i++;
    if (i == seen->n && seen->n < 16)
        seen->at[seen->n++] = pthread_self();
    pthread_mutex_unlock(&seen->lock);
    return 0;
}

/* Few rows are a team's; of many, in one order or the other, the next block is read while the last is learned. */
static void trained_with_threads(uint64_t n_rows, uint64_t n_classes, const char *order)
{
    static const unsigned threads[] = {1, 2, 3, 8};
    gsa_error error = {0};
    gsa_state *alone = NULL;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        seen_threads seen = {.n = 0};
        pthread_mutex_init(&seen.lock, NULL);
        gsa_env env = {.should_stop = note_thread, .stop_ctx = &seen, .n_threads = threads[i]};
        gsa_state *state = state_with("method", "auto", "order", order, "passes", "2", NULL);
        gsa_reader *reader = generated(n_rows, n_classes, 1);
        must_be_ok(gsa_train(state, reader, NULL, &env, &error), &error);
        gsa_reader_close(reader);
        pthread_mutex_destroy(&seen.lock);
        if (n_rows < GSA_BLOCK_ROWS)
            assert_true(threads[i] == 1 ? seen.n == 1 : seen.n >= 2);
        if (i == 0) {
            alone = state;
            continue;
        }
        same_states(alone, state);
        gsa_state_free(state);
    }
    assert_int_equal(state_summary(alone).pass, 2);
    gsa_state_free(alone);
}

static void the_number_of_threads_changes_no_bit(void **unused)
{
    (void)unused;
    trained_with_threads(6000, 3, "shuffled");
    trained_with_threads(150000, 2, "shuffled");
    trained_with_threads(150000, 2, "file");
}

/* All that an interrupted run of a team leaves behind is that the labels have been looked at. */
static void a_stop_leaves_the_state_as_it_was_and_a_later_run_is_undisturbed(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *quiet = state_with("method", "auto", NULL);
    train(quiet, generated(600, 3, 1));
    gsa_state *looked_at = NULL, *stopped = state_with("method", "auto", NULL);
    for (unsigned after = 1; after < 4000; after = 2 * after + 1) {
        unsigned left = after;
        gsa_env env = {.should_stop = stop_after, .stop_ctx = &left, .n_threads = 1};
        gsa_reader *reader = generated(600, 3, 1);
        gsa_status status = gsa_train(stopped, reader, NULL, &env, &error);
        gsa_reader_close(reader);
        if (status == GSA_OK)
            break;
        assert_int_equal(status, GSA_STOPPED);
        assert_int_equal(state_summary(stopped).n_rows, 0);
        assert_int_equal(state_summary(stopped).pass, 0);
        if (looked_at)
            same_states(looked_at, stopped);
        else if (state_summary(stopped).n_classes == 3)
            must_be_ok(gsa_state_fork(stopped, 1, NULL, &looked_at, &error), &error);
    }
    assert_non_null(looked_at);
    same_states(stopped, quiet);
    gsa_state *resumed = reread(looked_at);
    train(resumed, generated(600, 3, 1));
    same_states(resumed, quiet);
    gsa_state_free(looked_at);
    gsa_state_free(stopped);
    gsa_state_free(resumed);
    gsa_state_free(quiet);
}

/* A run that has ended has nothing left to do: resuming it must not read on. */
static void a_finished_run_that_is_resumed_does_nothing(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t n_rows;
        const char *passes;
    } kinds[] = {{500, "0"}, {500, "2"}, {3, "0"}, {66000, "0"}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        gsa_state *state = state_with("method", "auto", "passes", kinds[kind].passes, NULL), *before;
        gsa_error error = {0};
        train(state, generated(kinds[kind].n_rows, 2, 1));
        must_be_ok(gsa_state_fork(state, 1, NULL, &before, &error), &error);
        train(state, generated(kinds[kind].n_rows, 2, 1));
        assert_int_equal(state_summary(state).pass, state_summary(before).pass);
        same_states(state, before);
        gsa_state_free(before);
        gsa_state_free(state);
    }
}

/* Nobody has to rewind a reader for a second run. */
static void a_reader_that_was_read_before_is_read_from_its_start(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_reader *reader = generated(300, 2, 1);
    gsa_state *one = state_with("method", "auto", NULL), *other = state_with("method", "auto", NULL);
    gsa_batch batch;
    must_be_ok(gsa_train(one, reader, NULL, NULL, &error), &error);
    must_be_ok(gsa_train(other, reader, NULL, NULL, &error), &error);
    same_states(one, other);
    gsa_state_free(other);
    gsa_reader_close(reader);
    reader = generated(3000, 2, 1);
    must_be_ok(gsa_reader_next(reader, &batch, &error), &error);
    other = state_with("method", "auto", "passes", "1", NULL);
    must_be_ok(gsa_train(other, reader, NULL, NULL, &error), &error);
    assert_int_equal(state_summary(other).n_rows, 3000);
    gsa_reader_close(reader);
    gsa_state_free(one);
    gsa_state_free(other);
}

/* ---- sizes, losses, labels ------------------------------------------------------------------------------------------
 */

static void every_small_number_of_rows_can_be_learned(void **unused)
{
    (void)unused;
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 15, 16, 17, 64, 65};
    for (uint64_t n_classes = 1; n_classes < 4; n_classes++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            gsa_state *state = state_with("method", "auto", "passes", "2", NULL);
            train(state, generated(sizes[i], n_classes, i));
            gsa_summary summary = state_summary(state);
            assert_int_equal(summary.n_rows, 2 * sizes[i]);
            assert_int_equal(summary.pass, 2);
            assert_int_equal(summary.pass_rows, 0);
            assert_int_equal(summary.n_held_out, 0);
            gsa_model *model = model_of(state);
            gsa_model_info info;
            gsa_model_get_info(model, &info);
            for (size_t k = 0; k < info.n_outputs; k++)
                for (uint64_t f = 0; f < info.n_features; f++)
                    assert_true(isfinite(gsa_model_weight(model, f, k)));
            gsa_model_free(model);
            gsa_state_free(state);
        }
}

static void passes_are_as_many_as_asked_for(void **unused)
{
    (void)unused;
    static const char *const passes[] = {"1", "3", "25"};
    static const uint64_t n[] = {1, 3, 25};
    for (size_t i = 0; i < 3; i++) {
        gsa_state *state = state_with("method", "auto", "passes", passes[i], NULL);
        train(state, generated(200, 2, 1));
        assert_int_equal(state_summary(state).pass, n[i]);
        assert_int_equal(state_summary(state).n_rows, 200 * n[i]);
        gsa_state_free(state);
    }
    gsa_state *state = state_with("method", "auto", NULL);
    train(state, generated(200, 2, 1));
    assert_true(state_summary(state).pass >= 1 && state_summary(state).pass <= 20);
    assert_int_equal(state_summary(state).n_rows, 200 * state_summary(state).pass);
    gsa_state_free(state);
}

static void classes_are_told_apart_and_words_are_labels(void **unused)
{
    (void)unused;
    static const char *const words[] = {"red", "green", "blue"};
    rows *r = rows_random(3, 600, 24, 3);
    char *named = text_of(r, words), *numbered = text_of(r, NULL);
    static const char *const losses[] = {"auto", "softmax", "hinge", "squared_hinge"};
    for (size_t i = 0; i < 4; i++) {
        const char *weighted = i % 2 ? "balanced" : "none";
        gsa_state *state = state_with("method", "auto", "loss", losses[i], "class_weight", weighted, NULL);
        gsa_state *twin = state_with("method", "auto", "loss", losses[i], "class_weight", weighted, NULL);
        train(state, text_reader(named, NULL));
        train(twin, text_reader(numbered, NULL));
        double accuracy = metric_of(state, text_reader(named, NULL), "accuracy");
        assert_true(accuracy > 0.85);
        assert_close(metric_of(twin, text_reader(numbered, NULL), "accuracy"), accuracy, 0.02);
        gsa_model *model = model_of(state);
        assert_string_equal(gsa_model_label(model, 0), "blue");
        gsa_model_free(model);
        gsa_state_free(state);
        gsa_state_free(twin);
    }
    free(named);
    free(numbered);
    free(r);
}

static void numbers_are_predicted(void **unused)
{
    (void)unused;
    rows *r = rows_random(4, 800, 24, 0);
    for (size_t row = 0; row < r->n_rows; row++) {
        r->label[row] += 7;
        for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
            r->label[row] += (double)r->value[e] * ((double)(r->index[e] % 7) - 2.6);
    }
    char *text = text_of(r, NULL);
    gsa_state *state = state_with("method", "auto", NULL);
    train(state, text_reader(text, NULL));
    assert_string_equal(state_summary(state).loss, "squared");
    assert_true(metric_of(state, text_reader(text, NULL), "r2") > 0.95);
    gsa_state_free(state);
    free(text);
    free(r);
}

/* Labels that no feature explains: no confidence in any of them. */
static void noise_is_learned_as_what_it_is(void **unused)
{
    (void)unused;
    rows *r = rows_random(5, 1000, 24, 2), *other = rows_random(6, 1000, 24, 2);
    gsa__rng rng = gsa__rng_of(9, 9, 9);
    for (size_t row = 0; row < 1000; row++) {
        r->label[row] = gsa__rng_unit(&rng) < 0.3;
        other->label[row] = gsa__rng_unit(&rng) < 0.3;
    }
    char *text = text_of(r, NULL), *unseen = text_of(other, NULL);
    gsa_state *state = state_with("method", "auto", NULL);
    train(state, text_reader(text, NULL));
    double entropy = -0.3 * log(0.3) - 0.7 * log(0.7);
    assert_true(metric_of(state, text_reader(unseen, NULL), "log_loss") < 1.03 * entropy);
    gsa_state_free(state);
    free(text);
    free(unseen);
    free(r);
    free(other);
}

/* Four strong features that tell the label, and many rare weak ones that do not: their units are right. */
static rows *with_meaningful_units(uint64_t seed, size_t n)
{
    rows *r = rows_new();
    gsa__rng rng = gsa__rng_of(seed, 1, 2);
    for (size_t row = 0; row < n; row++) {
        double m = 0;
        for (uint32_t i = 0; i < 4; i++) {
            double x = 2 * gsa__rng_unit(&rng) - 1;
            rows_entry(r, i, (float)x);
            m += 4 * x;
        }
        for (uint32_t i = 0; i < 30; i++) {
            uint32_t id = 4 + 30 * i + (uint32_t)gsa__rng_below(&rng, 30);
            rows_entry(r, id, gsa__rng_unit(&rng) < 0.5 ? -0.02f : 0.02f);
        }
        rows_end(r, gsa__rng_unit(&rng) < 1 / (1 + exp(-m)));
    }
    return r;
}

/* The same number of rows, and features in units from 1 to 10000. */
static rows *with_arbitrary_units(uint64_t seed, size_t n)
{
    rows *r = rows_random(seed, n, 24, 2);
    for (size_t e = 0; e < r->n_entries; e++)
        r->value[e] *= powf(10, (float)(r->index[e] % 5));
    return r;
}

static void units_are_chosen_by_the_rows_that_were_left_out(void **unused)
{
    (void)unused;
    for (int meaningful = 0; meaningful < 2; meaningful++) {
        rows *r = meaningful ? with_meaningful_units(7, 800) : with_arbitrary_units(7, 800);
        char *text = text_of(r, NULL);
        gsa_state *state = state_with("method", "auto", NULL), *alone[2];
        train(state, text_reader(text, NULL));
        for (int i = 0; i < 2; i++) {
            alone[i] = state_with("method", "auto", "units", i ? "free" : "given", NULL);
            train(alone[i], text_reader(text, NULL));
        }
        double given = gsa_state_held_out_loss(alone[0]), unbound = gsa_state_held_out_loss(alone[1]);
        assert_true(meaningful ? given < 0.97 * unbound : unbound < 0.97 * given);
        assert_close(gsa_state_held_out_loss(state), given < unbound ? given : unbound, 0);
        assert_int_equal(state->units_free, !meaningful);
        assert_string_equal(gsa_state_get(state, "units"), "auto");
        for (int i = 0; i < 2; i++)
            gsa_state_free(alone[i]);
        gsa_state_free(state);
        free(text);
        free(r);
    }
}

static gsa_status train_on(gsa_state *state, const gsa_batch *batch, uint64_t passes, gsa_error *error)
{
    gsa_reader *reader = generated(1, 2, 1);
    gsa__job run = {.state = state, .reader = reader, .env = gsa__env_resolve(NULL)};
    gsa__assignment job = {&run, batch, batch, 0, passes, 1, NULL, 0};
    must_be_ok(gsa_state_prepare(state, batch, error), error);
    gsa_status status = gsa__team_train(&job, error);
    gsa_reader_close(reader);
    return status;
}

/* Every fourth row says the opposite of the others: as often as they weigh, whatever their number. */
static void weights_of_rows_are_heeded(void **unused)
{
    (void)unused;
    static const float weights[][2] = {{1, 1}, {1, 9}, {0, 1}};
    static const double expected[] = {0.75, 0.25, 0};
    for (size_t kind = 0; kind < 3; kind++) {
        rows *r = rows_random(1, 2000, 24, 2);
        for (size_t row = 0; row < r->n_rows; row++) {
            r->label[row] = row % 4 != 0;
            r->weight[row] = weights[kind][row % 4 == 0];
        }
        gsa_batch batch = rows_batch(r);
        batch.weight = r->weight;
        gsa_state *state = state_with("method", "auto", NULL);
        gsa_error error = {0};
        must_be_ok(train_on(state, &batch, 3, &error), &error);
        assert_int_equal(state_summary(state).n_rows, kind == 2 ? 1500 : 6000);
        gsa_model *model = model_of(state);
        double p = 1 / (1 + exp(-gsa_model_intercept(model, 0)));
        assert_close(p, expected[kind], 0.05);
        gsa_model_free(model);
        gsa_state_free(state);
        free(r);
    }
}

static void rows_of_no_weight_at_all_teach_nothing(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 40, 24, 2);
    memset(r->weight, 0, sizeof r->weight);
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    gsa_state *state = state_with("method", "auto", NULL);
    gsa_error error = {0};
    must_be_ok(train_on(state, &batch, 0, &error), &error);
    assert_int_equal(state_summary(state).n_rows, 0);
    assert_true(isnan(gsa_state_held_out_loss(state)));
    gsa_state_free(state);
    free(r);
}

/* ---- where there is no team ----------------------------------------------------------------------------------------
 */

/* Of rows of weight 1, some of which are equal. */
static uint64_t rows_held(const gsa_state *state)
{
    double sum = 0;
    for (size_t i = 0; i < state->sample.n; i++)
        sum += state->sample.at[i]->weight;
    return (uint64_t)sum;
}

static void more_rows_than_a_block_are_learned_by_one_state_that_holds_rows_out(void **unused)
{
    (void)unused;
    gsa_state *state = state_with("method", "auto", "passes", "1", NULL);
    train(state, generated(70000, 2, 1));
    gsa_summary summary = state_summary(state);
    assert_in_range(rows_held(state), 6500, 7500);
    assert_int_equal(summary.n_rows + rows_held(state), 70000);
    gsa_state *all = state_with("method", "auto", "passes", "1", "holdout", "0", NULL);
    train(all, generated(70000, 2, 1));
    assert_int_equal(state_summary(all).n_held_out, 0);
    assert_int_equal(state_summary(all).n_rows, 70000);
    gsa_state_free(state);
    gsa_state_free(all);
}

static void a_block_that_is_not_full_is_a_teams(void **unused)
{
    (void)unused;
    for (uint64_t more = 0; more < 2; more++) {
        gsa_generator what = {
            .n_rows = GSA_BLOCK_ROWS - 1 + more, .n_features = 60, .nnz = 3, .n_classes = 2, .seed = 3};
        gsa_reader *reader;
        gsa_error error = {0};
        gsa_state *state = state_with("method", "auto", "passes", "1", "units", "given", NULL);
        must_be_ok(gsa_reader_open_generated(&what, NULL, &reader, &error), &error);
        train(state, reader);
        assert_int_equal(state_summary(state).n_held_out > 0, more);
        assert_int_equal(state_summary(state).n_rows + rows_held(state), GSA_BLOCK_ROWS - 1 + more);
        gsa_state_free(state);
    }
}

/* More rows than a team takes, passes by the held-out rows: stopped wherever, the bytes of a quiet run. */
static void a_long_run_that_judges_its_passes_is_resumed_to_the_same_bytes(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *quiet = state_with("method", "auto", NULL), *stopped = state_with("method", "auto", NULL);
    train(quiet, generated(66000, 2, 4));
    gsa_status status = GSA_STOPPED;
    unsigned n_stops = 0;
    for (; status == GSA_STOPPED; n_stops++) {
        unsigned left = 77;
        gsa_env env = {.should_stop = stop_after, .stop_ctx = &left, .n_threads = 1};
        gsa_state *saved = reread(stopped);
        gsa_state_free(stopped);
        stopped = saved;
        gsa_reader *reader = generated(66000, 2, 4);
        status = gsa_train(stopped, reader, NULL, &env, &error);
        gsa_reader_close(reader);
    }
    must_be_ok(status, &error);
    assert_true(n_stops > 3);
    assert_int_equal(state_summary(stopped).pass, state_summary(quiet).pass);
    same_states(stopped, quiet);
    gsa_state_free(quiet);
    gsa_state_free(stopped);
}

/* Rows that are hard first and easy then, in the order of the file: in the midst of the second pass the loss has risen.
 * That the second pass was worth beginning was decided before. */
static void a_second_pass_that_was_begun_is_ended_by_a_resumed_run(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    char *text = calloc(80000, 8), *at = text;
    gsa__rng rng = gsa__rng_of(3, 2, 1);
    for (int row = 0; row < 80000; row++) {
        unsigned feature = (unsigned)gsa__rng_below(&rng, 8),
                 noise = (unsigned)gsa__rng_below(&rng, row < 50000 ? 2 : 9);
        at += sprintf(at, "%u %u:1\n", row < 50000 ? noise : noise == 0 ? feature / 4 : feature % 2, feature + 1);
    }
    gsa_state *quiet = state_with("method", "auto", "order", "file", NULL);
    gsa_state *stopped = state_with("method", "auto", "order", "file", NULL);
    train(quiet, text_reader(text, NULL));
    assert_true(state_summary(quiet).pass > 1);
    unsigned left = (80000 + 40000) / 256;
    gsa_env env = {.should_stop = stop_after, .stop_ctx = &left, .n_threads = 1};
    gsa_reader *reader = text_reader(text, NULL);
    assert_int_equal(gsa_train(stopped, reader, NULL, &env, &error), GSA_STOPPED);
    assert_int_equal(state_summary(stopped).pass, 1);
    assert_true(state_summary(stopped).pass_rows > 0 && state_summary(stopped).falling < 0);
    must_be_ok(gsa_train(stopped, reader, NULL, NULL, &error), &error);
    same_states(stopped, quiet);
    gsa_reader_close(reader);
    gsa_state_free(quiet);
    gsa_state_free(stopped);
    free(text);
}

/* ---- starting from, hooks, troubles -------------------------------------------------------------------------------
 */

static void a_run_that_starts_from_a_model_keeps_its_units(void **unused)
{
    (void)unused;
    for (int units_free = 0; units_free < 2; units_free++) {
        gsa_error error = {0};
        gsa_state *old = state_with("method", "auto", "units", units_free ? "free" : "given", NULL), *next = NULL;
        gsa_config *config;
        train(old, generated(400, 2, 1));
        must_be_ok(gsa_config_new(NULL, &config, &error), &error);
        must_be_ok(gsa_state_start_from(old, config, NULL, &next, &error), &error);
        gsa_config_free(config);
        assert_string_equal(gsa_state_get(next, "units"), "auto");
        train(next, generated(400, 2, 1));
        assert_int_equal(next->units_free, units_free);
        assert_int_equal(state_summary(next).n_rows, 400 * state_summary(next).pass);
        gsa_state_free(old);
        gsa_state_free(next);
    }
}

typedef struct heard {
    unsigned passes, most;
    double last_loss;
    uint64_t last_pass;
    int falling;
} heard;

static gsa_status hear_pass(void *ctx, const gsa_state *state, gsa_error *error)
{
    heard *h = ctx;
    double loss = gsa_state_held_out_loss(state);
    (void)error;
    h->falling = h->falling && !(loss >= h->last_loss) && state_summary(state).pass > h->last_pass;
    h->last_loss = loss;
    h->last_pass = state_summary(state).pass;
    return ++h->passes == h->most ? GSA_STOPPED : GSA_OK;
}

static void the_hook_hears_of_better_and_better_passes_and_can_end_the_run(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    heard h = {.last_loss = INFINITY, .falling = 1};
    gsa_train_hooks hooks = {.ctx = &h, .pass_ended = hear_pass};
    gsa_state *state = state_with("method", "auto", "units", "given", NULL);
    gsa_reader *reader = generated(500, 3, 1);
    must_be_ok(gsa_train(state, reader, &hooks, NULL, &error), &error);
    assert_true(h.falling && h.passes > 1);
    assert_int_equal(h.last_pass, state_summary(state).pass);
    assert_close(gsa_state_held_out_loss(state), h.last_loss, 0);
    gsa_state_free(state);
    state = state_with("method", "auto", "passes", "4", NULL);
    must_be_ok(gsa_reader_rewind(reader, &error), &error);
    h = (heard){.last_loss = INFINITY};
    must_be_ok(gsa_train(state, reader, &hooks, NULL, &error), &error);
    assert_int_equal(h.passes, 4);
    gsa_state_free(state);
    state = state_with("method", "auto", "passes", "4", NULL);
    must_be_ok(gsa_reader_rewind(reader, &error), &error);
    h = (heard){.last_loss = INFINITY, .most = 2};
    assert_int_equal(gsa_train(state, reader, &hooks, NULL, &error), GSA_STOPPED);
    assert_int_equal(state_summary(state).n_rows, 0);
    gsa_state_free(state);
    gsa_reader_close(reader);
}

/* How often it was asked whether to stop: a few times for every member that learns. */
typedef struct asked {
    unsigned n, at_end[64], n_passes;
} asked;

static int ask(void *ctx)
{
    ((asked *)ctx)->n++;
    return 0;
}

static gsa_status note_asked(void *ctx, const gsa_state *state, gsa_error *error)
{
    asked *a = ctx;
    (void)state;
    (void)error;
    a->at_end[a->n_passes++] = a->n;
    return GSA_OK;
}

/* The candidate without units is behind, and gains with every pass. */
static void a_candidate_that_is_behind_has_a_part_of_the_passes_asked_for_to_catch_up(void **unused)
{
    (void)unused;
    static const char *const passes[] = {"6", "60"};
    rows *r = with_meaningful_units(7, 800);
    char *text = text_of(r, NULL);
    for (size_t i = 0; i < 2; i++) {
        gsa_error error = {0};
        asked a = {0};
        gsa_env env = {.should_stop = ask, .stop_ctx = &a, .n_threads = 1};
        gsa_train_hooks hooks = {.ctx = &a, .pass_ended = note_asked};
        gsa_state *state = state_with("method", "auto", "passes", passes[i], NULL);
        gsa_reader *reader = text_reader(text, NULL);
        must_be_ok(gsa_train(state, reader, &hooks, &env, &error), &error);
        unsigned of_both = a.at_end[1] - a.at_end[0], of_sixth = a.at_end[5] - a.at_end[4];
        assert_int_equal(of_sixth, i == 0 ? of_both / 2 : of_both);
        gsa_reader_close(reader);
        gsa_state_free(state);
    }
    free(text);
    free(r);
}

static void a_row_that_is_wrong_is_named_by_its_line(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *state = state_with("method", "auto", "loss", "logistic", NULL);
    gsa_reader *reader = text_reader("1 1:1\n0 2:1\n1 1:2\n0 2:3\n7 1:1\n1 1:1\n0 2:2\n1 1:1\n", NULL);
    assert_int_equal(gsa_train(state, reader, NULL, NULL, &error), GSA_LABEL);
    assert_int_equal(error.line, 5);
    assert_int_equal(state_summary(state).n_rows, 0);
    gsa_reader_close(reader);
    gsa_state_free(state);
}

/* The run has an allocator of its own: what the state becomes is still the state's own memory. */
static void a_state_stays_in_the_memory_it_was_made_in(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    failing own = {SIZE_MAX, 0}, runs = {SIZE_MAX, 0};
    gsa_env own_env = failing_env(&own), run_env = failing_env(&runs);
    gsa_state *state, *twin = state_with("method", "auto", NULL);
    must_be_ok(gsa_state_new(NULL, &own_env, &state, &error), &error);
    gsa_reader *reader = generated(100, 2, 1);
    must_be_ok(gsa_train(state, reader, NULL, &run_env, &error), &error);
    gsa_reader_close(reader);
    assert_int_equal(runs.live, 0);
    assert_true(own.live > 1);
    train(twin, generated(100, 2, 1));
    same_states(state, twin);
    gsa_state_free(state);
    assert_int_equal(own.live, 0);
    gsa_state_free(twin);
}

static void no_memory_at_any_time_is_a_status_and_leaves_the_state_as_it_was(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    failing memory = {SIZE_MAX, 0};
    gsa_env env = failing_env(&memory);
    gsa_state *state, *quiet = state_with("method", "auto", "passes", "2", NULL), *looked_at = NULL;
    must_be_ok(gsa_state_new(NULL, &env, &state, &error), &error);
    must_be_ok(gsa_state_set(state, "passes", "2", &error), &error);
    gsa_reader *reader = generated(12, 2, 1);
    gsa_status status = GSA_MEMORY;
    size_t n = 0, settled = 0;
    for (; status != GSA_OK; n++) {
        must_be_ok(gsa_reader_rewind(reader, &error), &error);
        memory.left = n;
        status = gsa_train(state, reader, NULL, &env, &error);
        assert_true(status == GSA_OK || status == GSA_MEMORY);
        memory.left = SIZE_MAX;
        if (status == GSA_OK)
            break;
        assert_int_equal(state_summary(state).n_rows, 0);
        if (!looked_at && state_summary(state).n_classes == 2) {
            must_be_ok(gsa_state_fork(state, 1, NULL, &looked_at, &error), &error);
            settled = memory.live;
        } else if (looked_at) {
            same_states(looked_at, state);
            assert_int_equal(memory.live, settled);
        }
    }
    assert_true(n > 200);
    train(quiet, generated(12, 2, 1));
    same_states(state, quiet);
    gsa_reader_close(reader);
    gsa_state_free(state);
    assert_int_equal(memory.live, 0);
    gsa_state_free(looked_at);
    gsa_state_free(quiet);
}

/* test_team [PATTERN]: those whose names match; the thread sanitizer takes minutes for all of them. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_gives_the_same_bytes_again_and_another_seed_other_weights),
        cmocka_unit_test(a_stop_leaves_the_state_as_it_was_and_a_later_run_is_undisturbed),
        cmocka_unit_test(a_finished_run_that_is_resumed_does_nothing),
        cmocka_unit_test(a_reader_that_was_read_before_is_read_from_its_start),
        cmocka_unit_test(every_small_number_of_rows_can_be_learned),
        cmocka_unit_test(passes_are_as_many_as_asked_for),
        cmocka_unit_test(classes_are_told_apart_and_words_are_labels),
        cmocka_unit_test(numbers_are_predicted),
        cmocka_unit_test(noise_is_learned_as_what_it_is),
        cmocka_unit_test(units_are_chosen_by_the_rows_that_were_left_out),
        cmocka_unit_test(weights_of_rows_are_heeded),
        cmocka_unit_test(rows_of_no_weight_at_all_teach_nothing),
        cmocka_unit_test(more_rows_than_a_block_are_learned_by_one_state_that_holds_rows_out),
        cmocka_unit_test(a_block_that_is_not_full_is_a_teams),
        cmocka_unit_test(a_long_run_that_judges_its_passes_is_resumed_to_the_same_bytes),
        cmocka_unit_test(a_second_pass_that_was_begun_is_ended_by_a_resumed_run),
        cmocka_unit_test(a_run_that_starts_from_a_model_keeps_its_units),
        cmocka_unit_test(the_hook_hears_of_better_and_better_passes_and_can_end_the_run),
        cmocka_unit_test(a_candidate_that_is_behind_has_a_part_of_the_passes_asked_for_to_catch_up),
        cmocka_unit_test(a_row_that_is_wrong_is_named_by_its_line),
        cmocka_unit_test(the_number_of_threads_changes_no_bit),
        cmocka_unit_test(a_state_stays_in_the_memory_it_was_made_in),
        cmocka_unit_test(no_memory_at_any_time_is_a_status_and_leaves_the_state_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
