/* What a solution says about itself: the penalty as others define it, metrics of rows that were held out. */
#include "planted.h"

#include "solve/best_penalty.h"

#include "model/model.h"

static int never(void *ctx)
{
    (void)ctx;
    return 0;
}

/* The standard deviation of feature j, which is in all rows. */
static double deviation_of(const rows *r, size_t d, size_t j)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        mean += (double)r->value[i * d + j] / (double)r->n_rows;
    for (size_t i = 0; i < r->n_rows; i++)
        squares += ((double)r->value[i * d + j] - mean) * ((double)r->value[i * d + j] - mean);
    return sqrt(squares / (double)r->n_rows);
}

/* Finds the optimum of a single penalty and checks that the gradient of C sum loss + |w|^2 / 2, or of half of the
 * squared errors and alpha |w|^2 / 2, vanishes on the features as they are said to be scaled. */
static void assert_penalty_is(size_t n_classes, bool standardised)
{
    enum { D = 4 };
    rows *r = planted(500, D, 1, n_classes);
    for (size_t i = 0; i < r->n_rows; i++)
        for (size_t j = 0; j < D; j++)
            r->value[i * D + j] *= (float)(1 << (3 * j));
    const gsai_loss *loss = n_classes ? &gsai_loss_logistic : &gsai_loss_squared;
    gsa_error error = {0};
    gsai_env env = gsai_env_resolve(NULL);
    env.call.should_stop = never;
    gsai_arena arena = {.env = &env};
    gsai_design design = DESIGN(r, "loss", n_classes ? "logistic" : "squared");
    gsai_problem problem = {.design = &design,
                            .loss = loss->rows,
                            .kernels = gsai_solve_kernels_best(),
                            .env = &env,
                            .asked = standardised ? GSAI_SCALE_STANDARD : GSAI_SCALE_NONE,
                            .n_strengths = 1,
                            .n_classes = n_classes,
                            .has_intercept = true,
                            .has_probabilities = n_classes > 0};
    gsai_optimum optimum = {.results = gsai_results_none()};
    must_be_ok(gsai_optimum_find(&problem, &arena, &optimum, &error), &error);
    const double *result = optimum.results.at;
    assert_true(result[GSAI_RESULT_penalties_tried] == 1 && result[GSAI_RESULT_penalties_averaged] == 1);
    assert_true(result[GSAI_RESULT_standardised] == (standardised ? 1 : 0));
    double w[D + 1], scale = result[GSAI_RESULT_calibration_scale], unit = design.margin_unit;
    w[D] = (optimum.weight[0] - result[GSAI_RESULT_calibration_shift]) / scale * unit + design.margin_origin;
    for (size_t j = 1; j <= D; j++) {
        w[design.id[j]] = optimum.weight[j] / scale * unit / design.unit[j];
        w[D] -= design.origin[j] * w[design.id[j]];
    }
    bool has_effect = false;
    for (size_t j = 0; j < D; j++) {
        double u = standardised ? deviation_of(r, D, j) : 1, gradient = 0, size = 0;
        for (size_t i = 0; i < r->n_rows; i++) {
            double m = w[D], y = r->label[i];
            for (size_t k = 0; k < D; k++)
                m += w[k] * (double)r->value[i * D + k];
            double slope = ((n_classes ? 1 / (1 + exp(-m)) : m) - y) * (double)r->value[i * D + j] / u;
            gradient += slope;
            size += fabs(slope);
        }
        double penalty = result[GSAI_RESULT_lambda] * w[j] * u;
        if (!(fabs(gradient + penalty) < 1e-3 * size + 1e-2 * fabs(penalty)))
            fail_msg("feature %zu: gradient %g, penalty %g", j, gradient, penalty);
        has_effect = has_effect || fabs(penalty) > 5e-2 * size;
    }
    assert_true(has_effect);
    gsai_arena_release(&arena);
    gsai_design_release(&design);
    free(r);
}

static void the_penalty_is_that_of_the_scaled_features(void **unused)
{
    (void)unused;
    assert_penalty_is(2, true);
    assert_penalty_is(2, false);
    assert_penalty_is(0, true);
    assert_penalty_is(0, false);
}

static double result_of(const gsa_model *model, const char *name)
{
    gsa_metric result;
    for (size_t i = 0; gsa_model_result_at(model, i, &result) == GSA_OK; i++)
        if (strcmp(result.name, name) == 0)
            return result.value;
    return (double)NAN;
}

/* Rows of the same rule that were not learned. */
static void held_out_metrics_are_those_of_new_rows(void **unused)
{
    (void)unused;
    static const char *const of_classes[] = {"accuracy", "auc"}, *const of_numbers[] = {"r2", "mae"};
    for (size_t n_classes = 0; n_classes <= 3; n_classes += n_classes ? 1 : 2) {
        rows *r = planted(6000, 6, 1, n_classes), *old = rows_new(), *new = rows_new();
        for (size_t i = 0; i < r->n_rows; i++)
            rows_copy(i < 1500 ? old : new, r, i);
        gsa_model *model = MODEL(old, "loss", n_classes == 0 ? "squared" : n_classes == 2 ? "logistic" : "softmax");
        gsa_metrics *metrics;
        gsa_metric metric;
        gsa_batch batch = rows_batch(new);
        gsa_error error = {0};
        size_t n_found = 0;
        must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
        must_be_ok(gsa_metrics_update(metrics, &batch, &error), &error);
        must_be_ok(gsa_metrics_finish(metrics, &error), &error);
        for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
            for (size_t k = 0; k < 2; k++)
                if (strcmp(metric.name, n_classes ? of_classes[k] : of_numbers[k]) == 0) {
                    double said = result_of(model, metric.name);
                    n_found++;
                    if (!(fabs(said - metric.value) < 0.025))
                        fail_msg("%s of new rows is %g, %g was said", metric.name, metric.value, said);
                }
        assert_int_equal(n_found, n_classes == 3 ? 1 : 2);
        assert_true(isnan(result_of(model, n_classes ? "alpha" : "C")));
        assert_true(result_of(model, n_classes ? "C" : "alpha") > 0);
        gsa_metrics_free(metrics);
        gsa_model_free(model);
        free(old);
        free(new);
        free(r);
    }
}

static void results_survive_files_and_end_with_the_next_row(void **unused)
{
    (void)unused;
    rows *r = rows_of(&DATA[0]);
    const char *params[] = {"loss", DATA[0].loss, NULL};
    gsai_env env = {ENV_SIZES, .call.n_threads = 1};
    gsa_error error = {0};
    gsa_state *state, *again;
    gsa_model *model, *other;
    gsa_metric a, b;
    must_be_ok(try_training(r, params, &env, &state, &error), &error);
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    bytes saved = state_bytes(state);
    must_be_ok(gsa_state_read(saved.data, saved.size, NULL, &again, &error), &error);
    must_be_ok(gsa_state_finish(again, NULL, &other, &error), &error);
    size_t n = 0;
    for (; gsa_model_result_at(model, n, &a) == GSA_OK; n++) {
        assert_int_equal(gsa_model_result_at(other, n, &b), GSA_OK);
        assert_string_equal(a.name, b.name);
        assert_true(a.value == b.value);
    }
    assert_true(n > 10 && gsa_model_result_at(other, n, &b) == GSA_END);
    gsa_model_free(other);
    gsa_batch batch = rows_batch(r);
    must_be_ok(gsa_state_update(again, &batch, &error), &error);
    must_be_ok(gsa_state_finish(again, NULL, &other, &error), &error);
    assert_true(isnan(result_of(other, "C")));
    gsa_model_free(other);
    gsa_model_free(model);
    gsa_state_free(again);
    gsa_state_free(state);
    free(saved.data);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_penalty_is_that_of_the_scaled_features),
        cmocka_unit_test(held_out_metrics_are_those_of_new_rows),
        cmocka_unit_test(results_survive_files_and_end_with_the_next_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
