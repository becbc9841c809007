/* Models: what they say of themselves, weights from elsewhere, and rows they have not seen the like of. */
#include "../learn/rows.h"

#include <math.h>

static gsa_model *trained_model(unsigned n_classes, const char *loss, rows **out)
{
    rows *r = rows_random(3, 300, 20, n_classes);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("loss", loss, NULL);
    learn(state, &batch);
    gsa_model *model = model_of(state);
    gsa_state_free(state);
    *out = r;
    return model;
}

static void a_model_with_the_same_weights_predicts_the_same(void **unused)
{
    (void)unused;
    static const struct {
        const char *loss;
        unsigned n_classes;
    } kinds[] = {{"squared", 0}, {"logistic", 2}, {"softmax", 4}};
    for (size_t kind = 0; kind < 3; kind++) {
        rows *r;
        gsa_model *model = trained_model(kinds[kind].n_classes, kinds[kind].loss, &r), *twin;
        gsa_model_info info = {.size = sizeof info};
        gsa_error error = {0};
        gsa_batch batch = rows_batch(r);
        gsa_model_get_info(model, &info);
        float weights[20 * 4];
        double intercept[4];
        for (size_t k = 0; k < info.n_outputs; k++) {
            intercept[k] = gsa_model_intercept(model, k);
            for (uint64_t i = 0; i < info.n_features; i++)
                weights[i * info.n_outputs + k] = gsa_model_weight(model, i, k);
        }
        assert_memory_equal(gsa_model_weights(model), weights, info.n_features * info.n_outputs * sizeof *weights);
        must_be_ok(gsa_model_with_weights(model, info.n_features, weights, intercept, &twin, &error), &error);
        double *p = calloc(300 * 4, sizeof *p), *q = calloc(300 * 4, sizeof *q);
        must_be_ok(gsa_model_predict(model, &batch, p, &error), &error);
        must_be_ok(gsa_model_predict(twin, &batch, q, &error), &error);
        assert_memory_equal(p, q, 300 * 4 * sizeof *p);
        weights[3] = NAN;
        gsa_model *bad = NULL;
        assert_int_equal(gsa_model_with_weights(model, info.n_features, weights, NULL, &bad, &error), GSA_ARGUMENT);
        assert_null(bad);
        free(p);
        free(q);
        gsa_model_free(model);
        gsa_model_free(twin);
        free(r);
    }
}

/* The predictions of a state and of its model, which has the labels sorted; returns the largest difference. */
static double state_against_model(gsa_state *state, const gsa_batch *batch)
{
    gsa_error error = {0};
    gsa_model *model = model_of(state);
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    size_t width = info.n_classes > 1 ? (size_t)info.n_classes : 1;
    double *ours = calloc(batch->n_rows * width, sizeof *ours), *its = calloc(batch->n_rows * width, sizeof *its);
    must_be_ok(gsa_state_predict(state, batch, ours, &error), &error);
    must_be_ok(gsa_model_predict(model, batch, its, &error), &error);
    double difference = 0;
    for (size_t k = 0; k < width; k++) {
        size_t sorted = 0;
        while (info.n_classes > 0 && strcmp(gsa_model_label(model, sorted), gsa_state_label(state, k)) != 0)
            sorted++;
        for (size_t r = 0; r < batch->n_rows; r++)
            difference = fmax(difference, fabs(ours[r * width + k] - its[r * width + sorted]));
    }
    free(ours);
    free(its);
    gsa_model_free(model);
    return difference;
}

static void a_state_predicts_what_its_model_does(void **unused)
{
    (void)unused;
    static const struct {
        const char *loss, *method, *average;
        unsigned n_classes;
    } kinds[] = {{"squared", "gsa", "recent", 0}, {"huber", "gsa", "recent", 0},     {"logistic", "gsa", "recent", 2},
                 {"logistic", "gsa", "last", 2},  {"softmax", "paper", "suffix", 5}, {"logistic", "paper", "full", 2},
                 {"softmax", "gsa", "recent", 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        rows *r = rows_random(5, 3001, 20, kinds[i].n_classes);
        gsa_batch batch = rows_batch(r), begin = rows_slice(&batch, 0, 2999);
        gsa_state *state = state_with("loss", kinds[i].loss, "method", kinds[i].method, "average", kinds[i].average,
                                      "holdout", "none", NULL);
        r->label[0] = kinds[i].n_classes == 5 ? 4 : r->label[0];
        learn(state, &begin);
        close_group(state);
        assert_true(state_against_model(state, &batch) < 1e-5);
        gsa_state_free(state);
        free(r);
    }
}

static void a_row_that_waits_for_its_group_does_not_count_yet(void **unused)
{
    (void)unused;
    rows *r = rows_random(6, 3001, 20, 2);
    gsa_batch batch = rows_batch(r), begin = rows_slice(&batch, 0, 3000), next = rows_slice(&batch, 3000, 1);
    gsa_error error = {0};
    double before[2], waiting[2], after[2];
    gsa_state *state = state_with("method", "gsa", "loss", "logistic", "holdout", "none", NULL);
    learn(state, &begin);
    close_group(state);
    must_be_ok(gsa_state_predict(state, &next, before, &error), &error);
    learn(state, &next);
    must_be_ok(gsa_state_predict(state, &next, waiting, &error), &error);
    close_group(state);
    must_be_ok(gsa_state_predict(state, &next, after, &error), &error);
    assert_memory_equal(before, waiting, sizeof before);
    assert_true(before[0] != after[0]);
    gsa_state_free(state);
    free(r);
}

/* Calibrated weights that have learned these rows as well are near. */
static void held_out_rows_change_a_model_and_not_the_scores_of_its_state(void **unused)
{
    (void)unused;
    rows *r = rows_random(7, 3000, 20, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "gsa", "loss", "logistic", NULL);
    learn(state, &batch);
    assert_true(state_summary(state).n_held_out > 100);
    double difference = state_against_model(state, &batch);
    assert_true(difference > 1e-4 && difference < 0.5);
    gsa_state_free(state);
    free(r);
}

static void a_state_scores_rows_before_it_has_learned_any(void **unused)
{
    (void)unused;
    rows *r = rows_random(8, 3, 20, 2);
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    double p[6];
    gsa_state *state = state_with(NULL), *hinge = state_with("loss", "hinge", NULL);
    assert_int_equal(gsa_state_predict(state, &batch, p, &error), GSA_ARGUMENT);
    assert_int_equal(gsa_state_predict(hinge, &batch, p, &error), GSA_ARGUMENT);
    must_be_ok(gsa_state_add_labels(state, (double[]){0, 1}, NULL, 2, &error), &error);
    must_be_ok(gsa_state_predict(state, &batch, p, &error), &error);
    for (size_t i = 0; i < 6; i++)
        assert_true(p[i] == 0.5);
    r->value[0] = NAN;
    assert_int_equal(gsa_state_predict(state, &batch, p, &error), GSA_INPUT);
    assert_true(error.row == 0);
    must_be_ok(gsa_state_add_labels(hinge, (double[]){0, 1}, NULL, 2, &error), &error);
    gsa_batch rest = rows_slice(&batch, 1, 2);
    must_be_ok(gsa_state_predict(hinge, &rest, p, &error), &error);
    assert_true(p[0] == 0 && p[1] == 0);
    free_states(state, hinge);
    free(r);
}

static void classes_of_rows_are_places_in_the_sorted_labels(void **unused)
{
    (void)unused;
    rows *r;
    gsa_model *model = trained_model(4, "softmax", &r);
    gsa_batch batch = rows_batch(r);
    gsa_error error;
    for (size_t row = 0, found; row < 50; row++) {
        must_be_ok(gsa_model_class(model, &batch, row, &found, &error), &error);
        assert_int_equal(found, (size_t)r->label[row]);
    }
    r->label[3] = 99;
    size_t untouched = 77;
    assert_int_equal(gsa_model_class(model, &batch, 3, &untouched, &error), GSA_LABEL);
    assert_int_equal(error.row, 3);
    gsa_model_free(model);
    free(r);
    model = trained_model(0, "squared", &r);
    batch = rows_batch(r);
    assert_int_equal(gsa_model_class(model, &batch, 0, &untouched, &error), GSA_LABEL);
    assert_int_equal(untouched, 77);
    gsa_model_free(model);
    free(r);
}

static void features_beyond_the_model_count_as_absent(void **unused)
{
    (void)unused;
    rows *r;
    gsa_model *model = trained_model(2, "logistic", &r);
    const int64_t start[] = {0, 1, 3};
    const uint32_t index[] = {2, 2, GSA_MAX_ID};
    const float value[] = {1.5f, 1.5f, 7};
    gsa_batch batch = {.n_rows = 2, .row_start = start, .index = index, .value = value};
    double margins[2];
    gsa_error error = {0};
    must_be_ok(gsa_model_margins(model, &batch, margins, &error), &error);
    assert_true(margins[0] == margins[1]);
    assert_close(margins[0], 1.5 * (double)gsa_model_weight(model, 2, 0) + (double)gsa_model_intercept(model, 0),
                 1e-12);
    assert_true(gsa_model_weight(model, GSA_MAX_ID, 0) == 0 && gsa_model_weight(model, 0, 9) == 0);
    gsa_model_free(model);
    free(r);
}

static void values_that_are_not_finite_are_refused_with_their_row(void **unused)
{
    (void)unused;
    rows *r;
    gsa_model *model = trained_model(2, "logistic", &r);
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    double *p = calloc(600, sizeof *p);
    r->value[r->row_start[7]] = NAN;
    assert_int_equal(gsa_model_predict(model, &batch, p, &error), GSA_INPUT);
    assert_int_equal(error.row, 7);
    assert_int_equal(gsa_model_margins(model, &batch, p, &error), GSA_INPUT);
    assert_int_equal(error.row, 7);
    free(p);
    gsa_model_free(model);
    free(r);
}

/* The order of learn/kernel/kernel.h, K1 and K2: entry by entry, by the model's own words. */
static double margin_of(const gsa_model *model, const uint32_t *id, const float *x, size_t n)
{
    double lane[8] = {0};
    size_t position = 0;
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    for (size_t i = 0; i < n; i++)
        if (id[i] < info.n_features && x[i] != 0) {
            lane[position % 8] += (double)gsa_model_weight(model, id[i], 0) * (double)x[i];
            position++;
        }
    double even = (lane[0] + lane[4]) + (lane[2] + lane[6]), odd = (lane[1] + lane[5]) + (lane[3] + lane[7]);
    return (even + odd) + gsa_model_intercept(model, 0);
}

/* Rows of 0 to 20 entries: values; with a zero among them; ones; dense; with an unknown feature. To the bit. */
static void margins_are_sums_in_eight_lanes_whatever_the_row_has(void **unused)
{
    (void)unused;
    rows *r;
    gsa_model *model = trained_model(2, "logistic", &r);
    gsa_error error = {0};
    for (size_t form = 0; form < 5; form++)
        for (size_t n = 0; n <= 20; n++) {
            uint32_t id[20];
            float x[20];
            for (size_t i = 0; i < n; i++) {
                id[i] = (uint32_t)i;
                x[i] = form == 2 ? 1 : ldexpf(1 + 0.1f * (float)i, 13 * (int)(i * 7 % 5)); /* sums that round */
            }
            if (form == 1 && n > 5)
                x[n / 3] = 0;
            if (form == 4 && n > 0)
                id[n - 1] = 1000;
            const int64_t start[] = {0, (int64_t)n};
            gsa_batch batch = {.n_rows = 1, .row_start = start, .index = id, .value = form == 2 ? NULL : x};
            if (form == 3)
                batch = (gsa_batch){.n_rows = 1, .width = n, .value = x};
            double margin;
            must_be_ok(gsa_model_margins(model, &batch, &margin, &error), &error);
            assert_true(margin == margin_of(model, id, x, n));
        }
    gsa_model_free(model);
    free(r);
}

/* y = 2e-6 a + b + 0.5 c + noise-free: a has the deviation 1e6, b one of 0.1, c is 1 in every fifth row. */
static gsa_model *model_of_units(const char *scale)
{
    rows *r = rows_new();
    gsa_state *state = state_with("method", "gsa", "loss", "squared", "scale", scale, NULL);
    for (size_t i = 0; i < 500; i++) {
        double a = i % 2 ? 3e6 : 1e6, b = i / 2 % 2 ? 5.2 : 5.0;
        rows_entry(r, 0, (float)a);
        rows_entry(r, 1, (float)b);
        if (i % 5 == 0)
            rows_entry(r, 2, 1);
        rows_end(r, 2e-6 * a + b + (i % 5 == 0 ? 0.5 : 0));
    }
    gsa_batch batch = rows_batch(r);
    for (int pass = 0; pass < 20; pass++)
        learn(state, &batch);
    gsa_model *model = model_of(state);
    gsa_state_free(state);
    free(r);
    return model;
}

static void the_strongest_feature_moves_predictions_most_whatever_its_unit(void **unused)
{
    (void)unused;
    gsa_strong_feature top[4];
    gsa_model *model = model_of_units("standard");
    static const double deviation[] = {1e6, 0.1, 0.4};
    assert_int_equal(gsa_model_strongest(model, SIZE_MAX, top, 4), 3);
    assert_int_equal(top[0].feature, 0);
    assert_true(fabs(top[0].weight) < fabs(top[1].weight) && fabs(top[0].weight) < fabs(top[2].weight));
    for (size_t i = 0; i < 3; i++) {
        assert_close(top[i].importance, fabs(top[i].weight) * deviation[top[i].feature], 0.01 * top[i].importance);
        assert_true(i == 0 || top[i - 1].importance >= top[i].importance);
    }
    gsa_strong_feature first;
    assert_int_equal(gsa_model_strongest(model, 0, &first, 1), 1);
    assert_true(first.feature == 0 && first.importance == top[0].importance);
    gsa_model_free(model);
}

static void a_model_with_weights_from_elsewhere_ranks_by_weight(void **unused)
{
    (void)unused;
    const float weights[] = {0.5F, -2, 0, 1};
    gsa_strong_feature top[4];
    gsa_model *model = model_of_units("none"), *other = NULL;
    gsa_error error = {0};
    must_be_ok(gsa_model_with_weights(model, 4, weights, NULL, &other, &error), &error);
    assert_int_equal(gsa_model_strongest(other, SIZE_MAX, top, 2), 2);
    assert_true(top[0].feature == 1 && top[1].feature == 3 && top[0].weight == -2 && isnan(top[0].importance));
    gsa_model_free(model);
    gsa_model_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_with_the_same_weights_predicts_the_same),
        cmocka_unit_test(a_state_predicts_what_its_model_does),
        cmocka_unit_test(a_row_that_waits_for_its_group_does_not_count_yet),
        cmocka_unit_test(held_out_rows_change_a_model_and_not_the_scores_of_its_state),
        cmocka_unit_test(a_state_scores_rows_before_it_has_learned_any),
        cmocka_unit_test(classes_of_rows_are_places_in_the_sorted_labels),
        cmocka_unit_test(features_beyond_the_model_count_as_absent),
        cmocka_unit_test(values_that_are_not_finite_are_refused_with_their_row),
        cmocka_unit_test(margins_are_sums_in_eight_lanes_whatever_the_row_has),
        cmocka_unit_test(the_strongest_feature_moves_predictions_most_whatever_its_unit),
        cmocka_unit_test(a_model_with_weights_from_elsewhere_ranks_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
