/* Shards: an input learned in parts, which are merged once a pass, is what its parts give when they are read apart, as
 * the partitions of a cluster are. */
#include "runs.h"

#include "learn/inside.h"

#include <greedystep/train.h>

#include <math.h>
#include <string.h>

enum { ROWS = 150001, FEATURES = 500, BATCH = 777 };

static gsa_reader *all_rows(uint64_t n_classes)
{
    gsa_generator what = {
        .size = sizeof what, .n_rows = ROWS, .n_features = FEATURES, .nnz = 5, .n_classes = n_classes, .seed = 3};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
    return reader;
}

/* Rows [at, end) of the input, read anew from its beginning. */
typedef struct part {
    gsa_reader *all;
    uint64_t before, at, end; /* before: number of the first row of `rows` */
    gsa_batch rows;
} part;

static gsa_status next_of_part(void *ctx, gsa_batch *out, gsa_error *error)
{
    part *of = ctx;
    while (of->at >= of->before + of->rows.n_rows) {
        of->before += of->rows.n_rows;
        gsa_status status = gsa_reader_next(of->all, &of->rows, error);
        if (status != GSA_OK)
            return status;
    }
    if (of->at >= of->end)
        return GSA_END;
    size_t from = (size_t)(of->at - of->before);
    uint64_t end = of->end < of->before + of->rows.n_rows ? of->end : of->before + of->rows.n_rows;
    size_t n = end - of->at < BATCH ? (size_t)(end - of->at) : BATCH;
    *out = of->rows;
    out->n_rows = n;
    out->row_start += from;
    out->label += from;
    out->place = NULL;
    of->at += n;
    return GSA_OK;
}

static uint64_t bound(size_t s, size_t n_shards)
{
    return (uint64_t)ROWS * s / n_shards;
}

static void learn_part(gsa_state *copy, uint64_t n_classes, size_t shard, uint64_t from, uint64_t to,
                       uint64_t n_skipped)
{
    gsa_error error = {0};
    part of = {.all = all_rows(n_classes), .at = from, .end = to};
    const gsa_row_source source = {.size = sizeof source, &of, next_of_part, NULL};
    gsa_reader *reader;
    uint64_t n = 0;
    must_be_ok(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train_shard(copy, reader, shard, n_skipped, NULL, &n, &error), &error);
    assert_int_equal(n, to - from - n_skipped);
    gsa_reader_close(reader);
    gsa_reader_close(of.all);
}

/* The first rows of all parts, one after the other. */
typedef struct firsts {
    part of;
    size_t shard, n_shards;
} firsts;

static gsa_status next_first(void *ctx, gsa_batch *out, gsa_error *error)
{
    firsts *all = ctx;
    while (all->of.at == all->of.end && ++all->shard < all->n_shards) {
        all->of.at = bound(all->shard, all->n_shards);
        all->of.end = all->of.at + gsa_plan_first_rows(ROWS, all->n_shards);
    }
    return all->shard < all->n_shards ? next_of_part(&all->of, out, error) : GSA_END;
}

static gsa_state *after_first_rows(uint64_t n_classes, size_t n_shards)
{
    gsa_error error = {0};
    gsa_state *state = state_with("method", "auto", "passes", "2", "max_held_out", "2048", NULL);
    firsts all = {{.all = all_rows(n_classes)}, SIZE_MAX, n_shards};
    const gsa_row_source source = {.size = sizeof source, &all, next_first, NULL};
    gsa_reader *reader;
    gsa_batch begin;
    uint64_t n = 0;
    gsa_reader *labels = all_rows(n_classes);
    must_be_ok(gsa_reader_next(labels, &begin, &error), &error);
    must_be_ok(gsa_state_prepare(state, &begin, &error), &error);
    gsa_reader_close(labels);
    must_be_ok(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train_shard(state, reader, GSA_FIRST_SHARD, 0, NULL, &n, &error), &error);
    assert_int_equal(n, n_shards * gsa_plan_first_rows(ROWS, n_shards));
    end_pass(state);
    gsa_reader_close(reader);
    gsa_reader_close(all.of.all);
    return state;
}

static gsa_state *by_parts(uint64_t n_classes, size_t n_shards)
{
    gsa_error error = {0};
    gsa_state *state = after_first_rows(n_classes, n_shards), *copy[16], *merged;
    for (uint64_t pass = 0; pass < 2; pass++) {
        for (size_t s = 0; s < n_shards; s++) {
            uint64_t from = bound(s, n_shards), to = bound(s + 1, n_shards);
            must_be_ok(gsa_state_fork(state, (size_t)gsa_plan_replicas(ROWS, to - from), &copy[s], &error), &error);
            learn_part(copy[s], n_classes, s, from, to, pass == 0 ? gsa_plan_first_rows(ROWS, n_shards) : 0);
        }
        must_be_ok(gsa_state_merge((const gsa_state *const *)copy, n_shards, state, NULL, &merged, &error), &error);
        for (size_t s = 0; s < n_shards; s++)
            gsa_state_free(copy[s]);
        end_pass(merged);
        gsa_state_free(state);
        state = merged;
    }
    return state;
}

static gsa_state *by_shards(uint64_t n_classes, const char *n_shards)
{
    gsa_error error = {0};
    gsa_state *state = state_with("method", "auto", "passes", "2", "max_held_out", "2048", "shards", n_shards, NULL);
    gsa_reader *reader = all_rows(n_classes);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    return state;
}

static void assert_same_model(const gsa_state *a, const gsa_state *b)
{
    gsa_error error = {0};
    gsa_model *model[2];
    bytes saved[2] = {{0}, {0}};
    must_be_ok(gsa_state_finish(a, NULL, &model[0], &error), &error);
    must_be_ok(gsa_state_finish(b, NULL, &model[1], &error), &error);
    for (size_t i = 0; i < 2; i++) {
        must_be_ok(gsa_model_write(model[i], append, &saved[i], &error), &error);
        gsa_model_free(model[i]);
    }
    assert_same_bytes(saved[0], saved[1]);
    free(saved[0].data);
    free(saved[1].data);
}

/* 1: no merge; 3: merged whole; 12: in deltas, which by_parts does not use. */
static void shards_of_a_run_are_its_parts_read_apart(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t n_classes;
        size_t n_shards;
        const char *text;
    } cases[] = {{2, 1, "1"}, {2, 3, "3"}, {2, 12, "12"}, {4, 12, "12"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa_state *parts = by_parts(cases[i].n_classes, cases[i].n_shards);
        gsa_state *shards = by_shards(cases[i].n_classes, cases[i].text);
        gsa_summary a = state_summary(parts), b = state_summary(shards);
        assert_int_equal(a.n_rows, b.n_rows);
        assert_int_equal(a.n_held_out, b.n_held_out);
        assert_true(b.n_held_out > 1000);
        assert_same_model(parts, shards);
        gsa_state_free(parts);
        gsa_state_free(shards);
    }
}

/* Click rows: few features are in many rows, most in few. */
static gsa_reader *click_rows(void)
{
    gsa_generator what = {
        .size = sizeof what, .n_rows = 150000, .n_features = 50000, .nnz = 10, .n_classes = 2, .seed = 5, .skew = 1};
    gsa_reader *reader;
    gsa_error error = {0};
    must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
    return reader;
}

static gsa_status rewind_clicks(void *ctx, gsa_error *error)
{
    part *of = ctx;
    (void)error;
    gsa_reader_close(of->all);
    *of = (part){.all = click_rows(), .end = 120000};
    return GSA_OK;
}

static double test_loss_of_shards(const char *n_shards)
{
    gsa_error error = {0};
    part of = {.all = click_rows(), .end = 120000}, test = {.all = click_rows(), .at = 120000, .end = 150000};
    const gsa_row_source learned = {.size = sizeof learned, &of, next_of_part, rewind_clicks},
                         test_rows = {.size = sizeof test_rows, &test, next_of_part, NULL};
    gsa_state *state = state_with("method", "auto", "passes", "1", "shards", n_shards, NULL);
    gsa_reader *reader;
    gsa_model *model;
    gsa_metrics *metrics;
    must_be_ok(gsa_reader_open_rows(&learned, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    must_be_ok(gsa_reader_open_rows(&test_rows, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_evaluate(metrics, reader, NULL, &error), &error);
    must_be_ok(gsa_metrics_finish(metrics, &error), &error);
    double loss = 0;
    gsa_metric metric;
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
        loss = strcmp(metric.name, "log_loss") == 0 ? metric.value : loss;
    gsa_reader_close(reader);
    gsa_reader_close(of.all);
    gsa_reader_close(test.all);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_state_free(state);
    return loss;
}

/* A mean of 32 copies would be 2 % above: changes of rare features have to add up. */
static void many_shards_of_click_rows_cost_little_after_one_pass(void **unused)
{
    (void)unused;
    double one = test_loss_of_shards("1"), many = test_loss_of_shards("32");
    assert_true(one > 0.2 && many < 1.008 * one);
}

static void more_shards_than_rows_are_as_many_as_rows(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_generator what = {.size = sizeof what, .n_rows = 40, .n_features = 10, .nnz = 3, .n_classes = 2, .seed = 3};
    gsa_state *state[2];
    static const char *const shards[2] = {"40", "60000"};
    for (size_t i = 0; i < 2; i++) {
        gsa_reader *reader;
        must_be_ok(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), &error);
        state[i] = state_with("method", "auto", "shards", shards[i], NULL);
        must_be_ok(gsa_train(state[i], reader, NULL, NULL, &error), &error);
        gsa_reader_close(reader);
    }
    assert_same_model(state[0], state[1]);
    gsa_state_free(state[0]);
    gsa_state_free(state[1]);
}

/* Classes first, fractions in a later block: as one learner refuses them, so do shards. */
static void a_fraction_after_classes_is_refused_by_shards_too(void **unused)
{
    (void)unused;
    enum { WHOLE = 80000, LINE = 10 };
    char *text = malloc(WHOLE * LINE + LINE), *end = text;
    assert_non_null(text);
    for (int i = 0; i < WHOLE; i++)
        end += sprintf(end, "%d 1:%d\n", i % 2, 1 + i % 3);
    (void)sprintf(end, "1.5 1:1\n");
    for (int by_shards = 0; by_shards < 2; by_shards++) {
        gsa_error error = {0};
        gsa_reader *reader = text_reader(text, NULL);
        gsa_state *state = state_with("method", "gsa", "shards", by_shards ? "2" : "none", NULL);
        assert_int_equal(gsa_train(state, reader, NULL, NULL, &error), GSA_LABEL);
        assert_non_null(strstr(error.message, "test.svm:80001"));
        assert_non_null(strstr(error.message, "label 1.5 is a fraction"));
        gsa_state_free(state);
        gsa_reader_close(reader);
    }
    free(text);
}

static void replicas_of_rows_in_memory_refuse_what_they_cannot_learn(void **unused)
{
    (void)unused;
    static const int64_t row_start[] = {0, 1, 2};
    static const uint32_t index[] = {0, 1}, order[] = {0, 1};
    static const gsa_place place[] = {{1, 0, 0}, {2, 6, 0}};
    double label[] = {1, 0};
    gsa_error error = {0};
    gsa_batch batch = {.n_rows = 2, .row_start = row_start, .index = index, .label = label, .place = place};
    gsa_state *state = state_with("loss", "logistic", "method", "paper", NULL);
    must_be_ok(gsa_state_update(state, &batch, &error), &error);
    assert_int_equal(gsa_train_replicas(state, &batch, order, 2, 0, NULL, &error), GSA_ARGUMENT);
    bytes before = state_bytes(state);
    label[1] = (double)NAN;
    assert_int_equal(gsa_train_replicas(state, &batch, order, 2, 2, NULL, &error), GSA_INPUT);
    assert_int_equal(error.row, 1);
    bytes after = state_bytes(state);
    assert_same_bytes(before, after);
    label[1] = 0;
    must_be_ok(gsa_train_replicas(state, &batch, order, 2, 2, NULL, &error), &error);
    gsa_state_free(state);
    free(before.data);
    free(after.data);
}

static void how_many_shards_is_in_the_state_and_not_in_one_without(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *with = state_with("shards", "7", NULL), *without = state_with("passes", "3", NULL), *back;
    bytes saved = state_bytes(with), plain = state_bytes(without);
    must_be_ok(gsa_state_read(saved.data, saved.size, NULL, &back, &error), &error);
    assert_string_equal(gsa_state_get(back, "shards"), "7");
    gsa_state_free(back);
    must_be_ok(gsa_state_read(plain.data, plain.size, NULL, &back, &error), &error);
    assert_string_equal(gsa_state_get(back, "shards"), "none");
    for (size_t i = 0; i + 6 <= plain.size; i++)
        assert_true(memcmp(plain.data + i, "shards", 6) != 0); /* files are as before there were any */
    gsa_state_free(back);
    gsa_state_free(with);
    gsa_state_free(without);
    free(saved.data);
    free(plain.data);
}

static void a_stream_and_a_run_that_has_begun_are_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    part of = {.all = all_rows(2), .end = ROWS};
    const gsa_row_source once = {.size = sizeof once, &of, next_of_part, NULL};
    gsa_reader *reader;
    gsa_state *state = state_with("method", "auto", "shards", "2", NULL);
    must_be_ok(gsa_reader_open_rows(&once, NULL, NULL, &reader, &error), &error);
    assert_int_equal(gsa_train(state, reader, NULL, NULL, &error), GSA_ARGUMENT);
    assert_string_equal(error.param, "shards");
    gsa_reader_close(reader);
    gsa_reader_close(of.all);
    gsa_state_free(state);
    state = by_shards(2, "3");
    reader = all_rows(2);
    assert_int_equal(gsa_train(state, reader, NULL, NULL, &error), GSA_ARGUMENT);
    gsa_reader_close(reader);
    gsa_state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_of_a_run_are_its_parts_read_apart),
        cmocka_unit_test(many_shards_of_click_rows_cost_little_after_one_pass),
        cmocka_unit_test(more_shards_than_rows_are_as_many_as_rows),
        cmocka_unit_test(a_fraction_after_classes_is_refused_by_shards_too),
        cmocka_unit_test(replicas_of_rows_in_memory_refuse_what_they_cannot_learn),
        cmocka_unit_test(how_many_shards_is_in_the_state_and_not_in_one_without),
        cmocka_unit_test(a_stream_and_a_run_that_has_begun_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
