/* What rows mean to a state: labels, weights, chunks, the held-out sample's place in learning. */
#define MAX_ROWS 10240 /* more than whole numbers that are classes */
#include "rows.h"

#include "learn/inside.h"
#include "learn/learner.h"

#include <math.h>

static void same_models(const gsa_state *a, const gsa_state *b)
{
    gsa_model *x = model_of(a), *y = model_of(b);
    gsa_model_info info = {.size = sizeof info}, other = {.size = sizeof other};
    gsa_model_get_info(x, &info);
    gsa_model_get_info(y, &other);
    assert_int_equal(info.n_features, other.n_features);
    assert_int_equal(info.n_outputs, other.n_outputs);
    for (uint64_t i = 0; i < info.n_features; i++)
        for (size_t k = 0; k < info.n_outputs; k++)
            assert_true(gsa_model_weight(x, i, k) == gsa_model_weight(y, i, k));
    for (size_t k = 0; k < info.n_outputs; k++)
        assert_true(gsa_model_intercept(x, k) == gsa_model_intercept(y, k));
    gsa_model_free(x);
    gsa_model_free(y);
}

static void chunks_of_any_size_give_the_same_bits(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"logistic", "softmax", "squared", "hinge", "squared_hinge"};
    for (size_t kind = 0; kind < 10; kind++) {
        size_t l = kind % 5;
        const char *method = kind < 5 ? "paper" : "auto";
        rows *r = rows_random(3, 500, 40, l == 0 ? 2 : l == 2 ? 0 : 6);
        gsa_batch batch = rows_batch(r);
        gsa_state *whole = state_with("loss", losses[l], "max_held_out", "20", "method", method, NULL);
        learn(whole, &batch);
        for (size_t chunk = 1; chunk < 120; chunk += 37) {
            gsa_state *pieces = state_with("loss", losses[l], "max_held_out", "20", "method", method, NULL);
            for (size_t from = 0; from < batch.n_rows; from += chunk) {
                gsa_batch delta = rows_slice(&batch, from, from + chunk < 500 ? chunk : 500 - from);
                learn(pieces, &delta);
            }
            same_models(whole, pieces);
            gsa_state_free(pieces);
        }
        gsa_state_free(whole);
        free(r);
    }
}

/* A table's count has 31 bits; before it is full it goes to the carried totals. */
static void two_billion_rows_of_a_feature_are_counted(void **unused)
{
    (void)unused;
    const int64_t start[] = {0, 1};
    const uint32_t index[] = {0};
    const double label[] = {1};
    gsa_batch row = {.n_rows = 1, .row_start = start, .index = index, .label = label};
    gsa_state *state = state_with("method", "auto", "loss", "logistic", "scale", "none", "holdout", "none", NULL);
    learn(state, &row);
    state->n_counted = state->rows_behind = state->n_rows = ((uint64_t)1 << 31) - 3;
    for (size_t slot = 0; slot < 2; slot++)
        gsai_table_slot(&state->table, slot)[gsai_table_count(&state->table)].u = (uint32_t)state->n_counted;
    for (int i = 0; i < 6; i++) {
        float before = gsai_table_slot(&state->table, 1)->f;
        learn(state, &row);
        close_group(state);
        assert_int_equal(gsai_state_n_seen(state, 1), state->rows_behind);
        float after = gsai_table_slot(&state->table, 1)->f;
        assert_true(isfinite(after) && after != before);
    }
    gsa_state_free(state);
}

/* Rows to come are looked at while others are learned; a call that fails must not leave that to the next one. */
static void nothing_is_kept_of_a_batch_that_failed(void **unused)
{
    (void)unused;
    const float value[] = {1, 2};
    const double label[] = {1};
    gsa_error error = {0};
    rows *r = rows_random(5, 40, 40, 2);
    gsa_batch sparse = rows_batch(r), dense = {.n_rows = 1, .width = 2, .value = value, .label = label};
    r->label[3] = 0.5;
    gsa_state *state = state_with("loss", "logistic", NULL);
    assert_int_equal(gsai_state_learn_rows(state, &sparse, NULL, sparse.n_rows, &error), GSA_LABEL);
    free(r); /* reading it again is an error that the sanitizer finds */
    must_be_ok(gsai_state_learn_rows(state, &dense, NULL, dense.n_rows, &error), &error);
    gsa_state_free(state);
}

static void dense_rows_give_the_bits_of_sparse_ones(void **unused)
{
    (void)unused;
    enum { WIDTH = 40, ROWS = 300 };
    rows *r = rows_random(4, ROWS, WIDTH, 2);
    gsa_batch sparse = rows_batch(r), dense = sparse;
    float *values = calloc(WIDTH * ROWS, sizeof *values);
    for (size_t row = 0; row < ROWS; row++)
        for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
            values[row * WIDTH + r->index[e]] = r->value[e];
    dense.index = NULL;
    dense.row_start = NULL;
    dense.value = values;
    dense.width = WIDTH;
    gsa_state *a = state_with("loss", "logistic", NULL), *b = state_with("loss", "logistic", NULL);
    learn(a, &sparse);
    learn(b, &dense);
    same_models(a, b);
    free_states(a, b);
    free(values);
    free(r);
}

static void a_missing_value_array_means_ones(void **unused)
{
    (void)unused;
    rows *r = rows_random(4, 300, 30, 3);
    for (size_t e = 0; e < r->n_entries; e++)
        r->value[e] = 1;
    gsa_batch with = rows_batch(r), without = with;
    without.value = NULL;
    gsa_state *a = state_with("loss", "softmax", NULL), *b = state_with("loss", "softmax", NULL);
    learn(a, &with);
    learn(b, &without);
    same_models(a, b);
    free_states(a, b);
    free(r);
}

static const char *decided(const double *labels, size_t n, gsa_error *error)
{
    static char loss[16];
    rows *r = rows_new();
    for (size_t i = 0; i < n; i++) {
        rows_entry(r, 0, 1);
        rows_end(r, labels[i]);
    }
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with(NULL);
    gsa_status status = gsa_state_prepare(state, &batch, error);
    gsa_summary summary = state_summary(state);
    strcpy(loss, status == GSA_OK ? summary.loss : "refused");
    gsa_state_free(state);
    free(r);
    return loss;
}

static void labels_of_the_first_rows_decide_the_loss(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    static double many[10001], years[500];
    for (int i = 0; i < 10001; i++)
        many[i] = i;
    for (int i = 0; i < 500; i++)
        years[i] = 1922 + i % 90;
    assert_string_equal(decided((double[]){1, -1, 1}, 3, &error), "logistic");
    assert_string_equal(decided((double[]){5}, 1, &error), "logistic");
    assert_string_equal(decided((double[]){1, 2, 3}, 3, &error), "softmax");
    assert_string_equal(decided((double[]){1, 2, 2.5}, 3, &error), "squared");
    assert_string_equal(decided(years, 500, &error), "squared");
    assert_string_equal(decided(many, 10000, &error), "softmax");
    assert_string_equal(decided(many, 10001, &error), "refused");
    assert_int_equal(error.status, GSA_LABEL);
    assert_non_null(strstr(error.message, "squared loss"));
    assert_non_null(strstr(error.message, "softmax loss"));
}

static gsa_status update_label(gsa_state *state, double label, const char *word, gsa_error *error)
{
    const int64_t start[] = {0, 1};
    const uint32_t index[] = {0};
    const int32_t number = 0;
    gsa_batch batch = {.n_rows = 1, .row_start = start, .index = index, .label = &label};
    if (word) {
        batch.word = &number;
        batch.words = &word;
        batch.n_words = 1;
    }
    return gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, error);
}

static void a_later_contradiction_names_the_row_and_the_flag(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *classes = state_with(NULL), *numbers = state_with(NULL), *two = state_with("loss", "logistic", NULL);
    must_be_ok(update_label(classes, 1, NULL, &error), &error);
    assert_int_equal(update_label(classes, 2.5, NULL, &error), GSA_LABEL);
    assert_int_equal(error.row, 0);
    assert_non_null(strstr(error.message, "squared loss"));
    must_be_ok(update_label(numbers, 1.5, NULL, &error), &error);
    assert_int_equal(update_label(numbers, 0, "spam", &error), GSA_LABEL);
    assert_non_null(strstr(error.message, "'spam'"));
    assert_non_null(strstr(error.message, "softmax loss"));
    must_be_ok(update_label(two, 1, NULL, &error), &error);
    must_be_ok(update_label(two, 2, NULL, &error), &error);
    assert_int_equal(update_label(two, 3, NULL, &error), GSA_LABEL);
    assert_non_null(strstr(error.message, "choose softmax"));
    assert_string_equal(error.param, "loss");
    free_states(classes, numbers, two);
}

static void words_and_numbers_are_classes_side_by_side(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *state = state_with(NULL);
    must_be_ok(update_label(state, 0, "spam", &error), &error);
    must_be_ok(update_label(state, 1, NULL, &error), &error);
    must_be_ok(update_label(state, 0, "ham", &error), &error);
    gsa_model *model = model_of(state);
    assert_string_equal(gsa_model_label(model, 0), "1");
    assert_string_equal(gsa_model_label(model, 1), "ham");
    assert_string_equal(gsa_model_label(model, 2), "spam");
    assert_null(gsa_model_label(model, 3));
    gsa_model_free(model);
    gsa_state_free(state);
}

static void a_row_of_weight_zero_is_as_if_it_were_not_there(void **unused)
{
    (void)unused;
    rows *r = rows_random(9, 200, 30, 2), *half = rows_new();
    for (size_t row = 0; row < 200; row++) {
        if (row % 3 == 0) {
            r->weight[row] = 0;
            continue;
        }
        for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
            rows_entry(half, r->index[e], r->value[e]);
        rows_end(half, r->label[row]);
    }
    gsa_batch all = rows_batch(r), some = rows_batch(half);
    all.weight = r->weight;
    gsa_state *a = state_with("loss", "logistic", NULL), *b = state_with("loss", "logistic", NULL);
    learn(a, &all);
    learn(b, &some);
    gsa_summary x = state_summary(a), y = state_summary(b);
    assert_int_equal(x.n_rows, y.n_rows);
    assert_true(x.step == y.step && x.loss_sum == y.loss_sum);
    free_states(a, b);
    free(r);
    free(half);
}

/* The root of m = start + a / (1 + e^m), by halving. */
static double implicit_end(double start, double a)
{
    double low = start, high = start + a;
    for (int i = 0; i < 200; i++) {
        double m = (low + high) / 2;
        if (m < start + a / (1 + exp(m)))
            low = m;
        else
            high = m;
    }
    return low;
}

/* One feature, no intercept, p = 1/2: mean step eta, gradient 1/2. A row of weight c moves by eta / 2, and by an
 * implicit step of length (c - 1) eta from there. */
static void a_heavy_row_moves_further_but_not_past_its_minimum(void **unused)
{
    (void)unused;
    const double lambda = 2 * 0.45 / (0.95 * (exp(0.5) - 1) + 0.5 * (exp(0.5) - 1));
    const double weights[] = {0.5, 1, 2, 1000};
    const double expected[] = {0.5 * lambda / 2, lambda / 2, implicit_end(lambda / 2, lambda),
                               implicit_end(lambda / 2, 999 * lambda)};
    for (size_t i = 0; i < 4; i++) {
        const int64_t start[] = {0, 1};
        const uint32_t index[] = {0};
        const double label = 1;
        gsa_batch batch = {.n_rows = 1, .row_start = start, .index = index, .label = &label};
        gsa_state *state = state_with("loss", "logistic", "intercept", "off", "average", "last", NULL);
        gsa_error error = {0};
        prepare(state, &batch);
        gsai_row row = gsai_row_at(&batch, 0);
        must_be_ok(gsai_state_learn(state, &row, NULL, 0, 0, weights[i], &error), &error);
        gsa_model *model = model_of(state);
        /* The only label is class 0 of the logistic form: its margin falls. */
        assert_close(-(double)gsa_model_weight(model, 0, 0), expected[i], 1e-6);
        gsa_summary summary = state_summary(state);
        assert_close(summary.step, lambda, 1e-12);
        assert_close(summary.loss_sum, weights[i] * log(2), 1e-5);
        gsa_model_free(model);
        gsa_state_free(state);
    }
}

static void bad_weights_and_values_are_refused_with_their_row(void **unused)
{
    (void)unused;
    rows *r = rows_random(2, 10, 20, 2);
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    gsa_error error = {0};
    const float bad_weights[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        gsa_state *state = state_with("loss", "logistic", NULL);
        r->weight[4] = bad_weights[i];
        assert_int_equal(gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error), GSA_INPUT);
        assert_int_equal(error.row, 4);
        gsa_summary summary = state_summary(state);
        assert_int_equal(summary.n_rows, 4); /* the rows before it were learned */
        gsa_state_free(state);
    }
    r->weight[4] = 1;
    gsa_state *state = state_with("loss", "logistic", NULL);
    r->value[r->row_start[6]] = INFINITY;
    assert_int_equal(gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error), GSA_INPUT);
    assert_int_equal(error.row, 6);
    r->value[r->row_start[6]] = 1;
    r->label[7] = NAN;
    assert_int_equal(gsai_state_learn_rows(state, &batch, NULL, batch.n_rows, &error), GSA_INPUT);
    assert_int_equal(error.row, 7);
    gsa_state_free(state);
    free(r);
}

static void held_out_rows_are_learned_or_kept_and_never_both(void **unused)
{
    (void)unused;
    rows *r = rows_random(12, 1000, 30, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "gsa", "loss", "logistic", "max_held_out", "50", NULL);
    learn(state, &batch);
    gsa_summary summary = state_summary(state);
    assert_int_equal(summary.n_held_out, 50); /* of a hundred or so below the first threshold */
    assert_int_equal(summary.n_rows, 950);
    assert_int_equal(summary.pass_rows, 1000);
    end_pass(state);
    learn(state, &batch);
    summary = state_summary(state);
    assert_int_equal(summary.n_held_out, 50);
    assert_int_equal(summary.n_rows, 1900);
    gsa_state_free(state);
    gsa_state *tenth = state_with("method", "gsa", "loss", "logistic", "max_held_out", "4096", NULL);
    learn(tenth, &batch);
    summary = state_summary(tenth);
    assert_in_range(summary.n_held_out, 70, 130);
    assert_int_equal(summary.n_rows + summary.n_held_out, 1000);
    gsa_state_free(tenth);
    free(r);
}

/* 2000 rows of 200 kinds, with both labels: some kinds are held, in both passes, and the others learned. */
static void rows_with_equal_features_are_all_held_or_all_learned(void **unused)
{
    (void)unused;
    rows *kinds = rows_random(1, 200, 30, 2), *r = rows_new();
    for (size_t i = 0; i < 2000; i++) {
        for (int64_t e = kinds->row_start[i % 200]; e < kinds->row_start[i % 200 + 1]; e++)
            rows_entry(r, kinds->index[e], kinds->value[e]);
        rows_end(r, (double)(i / 200 % 3 == 0));
    }
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "gsa", "loss", "logistic", "max_held_out", "1000", NULL);
    gsa_summary summary = {.size = sizeof summary};
    learn(state, &batch);
    summary = state_summary(state);
    assert_in_range(summary.n_held_out, 2, 70);
    assert_int_equal(summary.n_held_out % 2, 0);
    for (size_t i = 0; i < state->sample.n; i += 2) { /* ten rows of a kind, four of them with label 1 */
        const gsai_held_row *a = state->sample.at[i], *b = state->sample.at[i + 1];
        assert_true(a->hash == b->hash && a->weight + b->weight == 10 && fabs(a->weight - b->weight) == 2);
    }
    assert_int_equal(summary.n_rows + 5 * summary.n_held_out, 2000);
    end_pass(state);
    learn(state, &batch);
    summary = state_summary(state);
    assert_int_equal(summary.n_rows + 2 * 5 * summary.n_held_out, 4000);
    gsa_state_free(state);
    free(kinds);
    free(r);
}

/* Nothing to learn but how many rows each class has: without features, with zeros, and with values that do not vary.
 * One output has an offset of its own; several have a scale only, and come near. */
static void rows_that_are_all_alike_keep_the_shares_of_the_classes(void **unused)
{
    (void)unused;
    const double shares[][3] = {{0.7, 0.3, 0}, {0.97, 0.03, 0}, {0.6, 0.3, 0.1}};
    gsa_error error = {0};
    for (size_t s = 0; s < 3; s++)
        for (uint32_t features = 0; features < 12; features++) { /* none, two zeros, and ten hashes */
            rows *r = rows_new();
            for (size_t i = 0; i < 1000; i++) {
                double at = (double)(i * 387 % 1000) / 1000;
                for (uint32_t id = 0; id < 2 && features > 0; id++)
                    rows_entry(r, id, (float)(features - 1) / 4);
                rows_end(r, at < shares[s][0] ? 0 : at < shares[s][0] + shares[s][1] ? 1 : 2);
            }
            gsa_batch batch = rows_batch(r), first = rows_slice(&batch, 0, 1);
            gsa_state *state = state_with("method", "gsa", "loss", s < 2 ? "logistic" : "softmax", NULL);
            gsa_model *model;
            double found[3] = {0};
            learn(state, &batch);
            assert_true(!isnan(gsa_state_held_out_loss(state)));
            must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
            must_be_ok(gsa_model_predict(model, &first, found, &error), &error);
            for (size_t k = 0; k < (s < 2 ? 2u : 3u); k++)
                assert_close(found[k], shares[s][k], (s < 2 ? 0.01 : 0.06) * shares[s][k]);
            gsa_model_free(model);
            gsa_state_free(state);
            free(r);
        }
}

static void a_state_knows_the_rows_it_began_with(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 1500, 20, 2), *other = rows_random(2, 1500, 20, 2);
    gsa_batch batch = rows_batch(r), different = rows_batch(other), few = rows_slice(&batch, 0, 1000);
    gsa_state *state = state_with("loss", "logistic", NULL);
    learn(state, &batch);
    assert_true(gsa_state_run_matches(state, &batch));
    assert_false(gsa_state_run_matches(state, &different));
    assert_false(gsa_state_run_matches(state, &few));
    gsa_state_free(state);
    free(r);
    free(other);
}

static void a_label_that_was_refused_is_not_remembered(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 40, 10, 2);
    gsa_batch batch = rows_batch(r), last = rows_slice(&batch, 39, 1);
    gsa_state *state = state_with("loss", "logistic", NULL);
    gsa_error error = {0};
    gsa_summary summary = {.size = sizeof summary};
    r->label[39] = 2;
    for (int again = 0; again < 2; again++) {
        assert_int_equal(gsa_state_update(state, again ? &last : &batch, &error), GSA_LABEL);
        assert_non_null(strstr(error.message, "label '2' is the third"));
        summary = state_summary(state);
        assert_int_equal(summary.n_rows, 39);
        assert_int_equal(summary.n_classes, 2);
    }
    gsa_state *prepared = state_with("loss", "logistic", NULL);
    assert_int_equal(gsa_state_prepare(prepared, &batch, &error), GSA_LABEL);
    summary = state_summary(prepared);
    assert_int_equal(summary.n_classes, 0);
    free_states(prepared, state);
    free(r);
}

static void a_bad_row_leaves_no_label_and_no_feature_behind(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 40, 10, 2);
    gsa_batch batch = rows_batch(r), all_but_one = rows_slice(&batch, 0, 39);
    gsa_state *state = state_with("loss", "auto", NULL), *quiet = state_with("loss", "auto", NULL);
    gsa_error error = {0};
    learn(state, &all_but_one);
    learn(quiet, &all_but_one);
    r->label[39] = 7;
    r->index[r->row_start[39]] = 5000;
    r->value[r->row_start[39]] = NAN;
    gsa_batch bad = rows_slice(&batch, 39, 1);
    assert_int_equal(gsai_state_learn_rows(state, &bad, NULL, bad.n_rows, &error), GSA_INPUT);
    same_models(state, quiet);
    gsa_summary summary = state_summary(state);
    assert_int_equal(summary.n_classes, 2);
    assert_string_equal(summary.loss, "logistic");
    free_states(state, quiet);
    free(r);
}

static void a_loss_that_is_set_before_the_first_row_is_learned_with(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"squared", "logistic", "softmax", "hinge", "squared_hinge"};
    rows *r = rows_random(1, 100, 20, 2);
    gsa_batch batch = rows_batch(r);
    for (size_t i = 0; i < 5; i++) {
        gsa_error error = {0};
        gsa_summary summary = {.size = sizeof summary};
        gsa_state *set = state_with(NULL), *made = state_with("loss", losses[i], NULL);
        must_be_ok(gsa_state_set(set, "loss", losses[i], &error), &error);
        learn(set, &batch);
        learn(made, &batch);
        summary = state_summary(set);
        assert_string_equal(summary.loss, losses[i]);
        same_models(set, made);
        free_states(set, made);
    }
    free(r);
}

static void a_zero_is_an_absent_feature_in_sparse_rows_too(void **unused)
{
    (void)unused;
    rows *r = rows_new(), *s = rows_new();
    rows_entry(r, 3, 1);
    rows_entry(r, GSA_MAX_ID, 0);
    rows_end(r, 1);
    rows_entry(s, 3, 1);
    rows_end(s, 1);
    gsa_batch with_zero = rows_batch(r), without = rows_batch(s);
    gsa_state *a = state_with(NULL), *b = state_with(NULL);
    learn(a, &with_zero);
    learn(b, &without);
    same_models(a, b);
    free_states(a, b);
    free(r);
    free(s);
}

static void rows_of_weight_zero_are_among_those_a_state_began_with(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 50, 20, 2);
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    r->weight[0] = r->weight[7] = 0;
    gsa_state *state = state_with("loss", "logistic", NULL);
    learn(state, &batch);
    assert_true(gsa_state_run_matches(state, &batch));
    r->label[7] = 1 - r->label[7];
    assert_false(gsa_state_run_matches(state, &batch));
    gsa_state_free(state);
    free(r);
}

/* partial_fit is told the classes before it meets them. */
static void labels_that_are_told_ahead_are_no_rows_of_the_input(void **unused)
{
    (void)unused;
    const double label[] = {4, 3, 2, 1, 0};
    gsa_error error = {0};
    rows *r = rows_random(9, 300, 20, 5);
    gsa_batch batch = rows_batch(r);
    gsa_state *told = state_with("loss", "softmax", NULL), *whole = state_with("loss", "softmax", NULL);
    must_be_ok(gsa_state_add_labels(told, label, NULL, 5, &error), &error);
    prepare(whole, &batch);
    learn(told, &batch);
    learn(whole, &batch);
    same_models(told, whole);
    assert_true(gsa_state_run_matches(told, &batch));
    free_states(told, whole);
    free(r);
}

static void labels_are_added_in_sorted_order_behind_those_that_are_known(void **unused)
{
    (void)unused;
    const char *words[] = {"no", "maybe"};
    gsa_error error = {0};
    gsa_state *state = state_with(NULL);
    must_be_ok(gsa_state_add_labels(state, (double[]){7, 3}, NULL, 2, &error), &error);
    assert_string_equal(state_summary(state).loss, "logistic");
    must_be_ok(gsa_state_add_labels(state, NULL, words, 2, &error), &error);
    must_be_ok(gsa_state_add_labels(state, (double[]){3, 1}, NULL, 2, &error), &error);
    must_be_ok(gsa_state_add_labels(state, NULL, NULL, 0, &error), &error);
    const char *expected[] = {"3", "7", "maybe", "no", "1"};
    for (size_t k = 0; k < 5; k++)
        assert_string_equal(gsa_state_label(state, k), expected[k]);
    assert_null(gsa_state_label(state, 5));
    assert_string_equal(state_summary(state).loss, "softmax");
    gsa_state_free(state);
}

static void labels_that_cannot_be_classes_are_refused_and_nothing_is_kept(void **unused)
{
    (void)unused;
    const char *bad[] = {"fine", "a\tb"};
    gsa_error error = {0};
    gsa_state *state = state_with(NULL), *numbers = state_with("loss", "squared", NULL);
    assert_int_equal(gsa_state_add_labels(state, (double[]){1, 0.5}, NULL, 2, &error), GSA_LABEL);
    assert_true(error.row == 1);
    assert_string_equal(error.param, "loss");
    assert_int_equal(gsa_state_add_labels(state, (double[]){NAN}, NULL, 1, &error), GSA_LABEL);
    assert_int_equal(gsa_state_add_labels(state, NULL, bad, 2, &error), GSA_INPUT);
    assert_int_equal(gsa_state_add_labels(state, NULL, NULL, 2, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_state_add_labels(state, (double[]){1}, bad, 1, &error), GSA_ARGUMENT);
    assert_string_equal(state_summary(state).loss, "auto");
    assert_null(gsa_state_label(state, 0));
    assert_int_equal(gsa_state_add_labels(numbers, (double[]){1}, NULL, 1, &error), GSA_ARGUMENT);
    assert_string_equal(error.param, "loss");
    free_states(state, numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_any_size_give_the_same_bits),
        cmocka_unit_test(dense_rows_give_the_bits_of_sparse_ones),
        cmocka_unit_test(nothing_is_kept_of_a_batch_that_failed),
        cmocka_unit_test(two_billion_rows_of_a_feature_are_counted),
        cmocka_unit_test(a_missing_value_array_means_ones),
        cmocka_unit_test(labels_of_the_first_rows_decide_the_loss),
        cmocka_unit_test(a_later_contradiction_names_the_row_and_the_flag),
        cmocka_unit_test(words_and_numbers_are_classes_side_by_side),
        cmocka_unit_test(a_row_of_weight_zero_is_as_if_it_were_not_there),
        cmocka_unit_test(a_heavy_row_moves_further_but_not_past_its_minimum),
        cmocka_unit_test(bad_weights_and_values_are_refused_with_their_row),
        cmocka_unit_test(held_out_rows_are_learned_or_kept_and_never_both),
        cmocka_unit_test(rows_with_equal_features_are_all_held_or_all_learned),
        cmocka_unit_test(rows_that_are_all_alike_keep_the_shares_of_the_classes),
        cmocka_unit_test(a_state_knows_the_rows_it_began_with),
        cmocka_unit_test(a_label_that_was_refused_is_not_remembered),
        cmocka_unit_test(a_bad_row_leaves_no_label_and_no_feature_behind),
        cmocka_unit_test(a_loss_that_is_set_before_the_first_row_is_learned_with),
        cmocka_unit_test(a_zero_is_an_absent_feature_in_sparse_rows_too),
        cmocka_unit_test(labels_are_added_in_sorted_order_behind_those_that_are_known),
        cmocka_unit_test(labels_that_cannot_be_classes_are_refused_and_nothing_is_kept),
        cmocka_unit_test(rows_of_weight_zero_are_among_those_a_state_began_with),
        cmocka_unit_test(labels_that_are_told_ahead_are_no_rows_of_the_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
