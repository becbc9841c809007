/* The Huber loss: its definition, its width, and what states and the solver learn where some labels are outliers. */
#define MAX_ROWS 16384
#include "bytes.h"

#include "learn/inside.h"
#include "learn/loss/loss.h"
#include "learn/residuals.h"

#include "greedystep/train.h"

#include <math.h>

#define FEATURES 4u
static const double planted[FEATURES + 1] = {2, -1, 0.5, 0, 7};

/* By its definition: the integral of the residual, clipped to the width. */
static double integral_of_clipped(double r, double width)
{
    enum { STEPS = 200000 };
    double sum = 0, h = fabs(r) / STEPS;
    for (int i = 0; i < STEPS; i++)
        sum += h * fmin((i + 0.5) * h, width);
    return sum;
}

static void the_loss_is_the_integral_of_the_clipped_residual(void **unused)
{
    (void)unused;
    static const double residuals[] = {0, 0.3, -0.999, 1, 1.001, -3, 250};
    for (size_t i = 0; i < sizeof residuals / sizeof *residuals; i++)
        for (double width = 0.25; width < 10; width *= 4) {
            gsai_target target = {.y = 5, .width = width};
            double m = 5 + residuals[i], at = m;
            double value = gsai_loss_huber.value(&at, 1, &target);
            assert_close(value, integral_of_clipped(residuals[i], width), 1e-6 * (1 + value));
            at = m;
            gsai_greedy_step step = gsai_loss_huber.greedy_step(&at, 1, &target);
            assert_close(step.g, copysign(fmin(fabs(residuals[i]), width), residuals[i]), 1e-12);
            assert_true(step.loss == value && step.lambda == 1 && at == step.g);
        }
}

/* c rows of weight 1, one after the other, in steps so small that their order does not matter. */
static void a_heavy_row_moves_as_many_rows_would(void **unused)
{
    (void)unused;
    gsai_target target = {.y = 0, .width = 1};
    for (double c = 1.5; c < 200; c *= 1.7)
        for (double m = 0.5; m < 9; m *= 2) {
            const double e = 1e-3;
            double at = m, moved = m;
            gsai_greedy_step step = gsai_loss_huber.greedy_step(&at, 1, &target);
            for (int i = 0; i < (int)(c * 100); i++)
                moved -= e / 100 * fmin(moved, 1);
            double steps = gsai_loss_huber.repeats(&at, 1, &target, &step, e, c);
            assert_close(m - steps * e * step.g, moved, 0.1 * (m - moved)); /* implicit steps end a little earlier */
        }
}

static double gaussian(gsai_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += gsai_rng_unit(rng);
    return sum;
}

static void the_width_of_gaussian_residuals_is_1345_deviations(void **unused)
{
    (void)unused;
    enum { N = 20000 };
    static double r[N];
    static float c[N];
    gsai_rng rng = gsai_rng_of(3, 0, 0);
    gsai_residuals one_by_one = {0};
    for (size_t i = 0; i < N; i++) {
        r[i] = 8 * gaussian(&rng);
        c[i] = 1;
        gsai_residuals_add(&one_by_one, r[i], 1);
    }
    assert_close(gsai_residuals_solve(r, c, N, INFINITY), 8 * 1.345, 0.3);
    assert_close(one_by_one.width, 8 * 1.345, 0.3);
    for (size_t i = 0; i < N; i += 20)
        r[i] = 1e9;
    assert_true(gsai_residuals_solve(r, c, N, 10) < 1.2 * 8 * 1.345);
}

/* Every `often`-th label is off by 1000 deviations; 0: none. */
static rows *planted_rows(size_t n, size_t often, double unit)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(11, 0, 0);
    for (size_t i = 0; i < n; i++) {
        double y = planted[FEATURES];
        for (uint32_t j = 0; j < FEATURES; j++) {
            float x = (float)gaussian(&rng);
            rows_entry(r, j, x);
            y += planted[j] * (double)x;
        }
        y += 0.25 * gaussian(&rng);
        rows_end(r, unit * (often > 0 && i % often == 3 ? y + 250 : y));
    }
    return r;
}

static gsa_state *new_state(const char *loss, const char *method)
{
    gsa_error error = {0};
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    must_be_ok(gsa_config_set(config, "loss", loss, &error), &error);
    must_be_ok(gsa_config_set(config, "method", method, &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    gsa_config_free(config);
    return state;
}

static gsa_state *learned(const char *loss, const rows *r, size_t chunk, bool saves)
{
    gsa_error error = {0};
    gsa_state *state = new_state(loss, "gsa");
    gsa_batch all = rows_batch(r);
    for (size_t from = 0; from < r->n_rows; from += chunk) {
        gsa_batch some = rows_slice(&all, from, r->n_rows - from < chunk ? r->n_rows - from : chunk);
        must_be_ok(gsai_state_learn_rows(state, &some, NULL, some.n_rows, &error), &error);
        gsa_state *again = saves ? reread(state) : NULL;
        if (again) {
            gsa_state_free(state);
            state = again;
        }
    }
    end_pass(state);
    return state;
}

/* The largest distance of a weight from the planted one. */
static double off_by(const gsa_state *state, double unit)
{
    gsa_error error = {0};
    gsa_model *model = NULL;
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    double most = fabs(gsa_model_intercept(model, 0) / unit - planted[FEATURES]);
    for (uint32_t j = 0; j < FEATURES; j++)
        most = fmax(most, fabs((double)gsa_model_weight(model, j, 0) / unit - planted[j]));
    gsa_model_free(model);
    return most;
}

static void a_stream_learns_in_spite_of_outliers(void **unused)
{
    (void)unused;
    rows *r = planted_rows(16000, 20, 1);
    gsa_state *huber = learned("huber", r, 4096, false), *squared = learned("squared", r, 4096, false);
    assert_true(off_by(huber, 1) < 0.1);
    assert_true(off_by(squared, 1) > 1);
    gsa_state_free(huber);
    gsa_state_free(squared);
    free(r);
}

static void chunks_and_saves_change_no_bit(void **unused)
{
    (void)unused;
    rows *r = planted_rows(700, 10, 1);
    gsa_state *whole = learned("huber", r, 4096, false);
    for (size_t chunk = 1; chunk < 400; chunk = 3 * chunk + 4)
        for (int saves = 0; saves < 2; saves++) {
            gsa_state *other = learned("huber", r, chunk, saves);
            same_states(whole, other);
            gsa_state_free(other);
        }
    gsa_state_free(whole);
    free(r);
}

static void the_width_follows_the_unit_of_the_label(void **unused)
{
    (void)unused;
    rows *a = planted_rows(3000, 12, 1), *b = planted_rows(3000, 12, 1024);
    gsa_state *of_a = learned("huber", a, 4096, false), *of_b = learned("huber", b, 4096, false);
    assert_close(off_by(of_b, 1024), off_by(of_a, 1), 1e-6);
    gsa_state_free(of_a);
    gsa_state_free(of_b);
    free(a);
    free(b);
}

static void merged_halves_keep_the_width(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    rows *r = planted_rows(8000, 20, 1);
    gsa_batch all = rows_batch(r);
    gsa_state *base = learned("huber", r, 4096, false), *half[2] = {NULL, NULL}, *merged = NULL;
    for (int i = 0; i < 2; i++) {
        gsa_batch some = rows_slice(&all, (size_t)i * 4000, 4000);
        must_be_ok(gsa_state_fork(base, 2, &half[i], &error), &error);
        assert_true(gsai_state_width(half[i]) == gsai_state_width(base));
        must_be_ok(gsai_state_learn_rows(half[i], &some, NULL, some.n_rows, &error), &error);
    }
    must_be_ok(gsa_state_merge((const gsa_state *const *)half, 2, base, NULL, &merged, &error), &error);
    double width = (gsai_state_width(half[0]) + gsai_state_width(half[1])) / 2;
    assert_close(gsai_state_width(merged), width, 0.05 * width);
    for (size_t i = 0; i < GSAI_RESIDUAL_BINS; i++) {
        const gsai_residuals *a = &half[0]->residuals, *b = &half[1]->residuals, *mean = &merged->residuals;
        assert_close(mean->late[i], (a->late[i] + b->late[i]) / 2, 1e-9 * mean->late[i]);
        assert_close(mean->earlier[i], (a->earlier[i] + b->earlier[i]) / 2, 1e-9 * mean->earlier[i]);
    }
    gsa_state *again = reread(merged);
    same_states(merged, again);
    gsa_state_free(again);
    gsa_state_free(merged);
    gsa_state_free(half[0]);
    gsa_state_free(half[1]);
    gsa_state_free(base);
    free(r);
}

static gsa_state *solved(const char *loss, const rows *r)
{
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    gsa_state *state = new_state(loss, "optimum");
    const rows *left = r;
    gsa_row_source source = {.size = sizeof source, .ctx = &left, .next = rows_next};
    must_be_ok(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    return state;
}

static void the_optimum_is_found_in_spite_of_outliers(void **unused)
{
    (void)unused;
    rows *r = planted_rows(2000, 10, 1), *clean = planted_rows(2000, 0, 1);
    gsa_state *huber = solved("huber", r), *squared = solved("squared", r);
    gsa_state *of_clean = solved("huber", clean), *squared_of_clean = solved("squared", clean);
    assert_true(off_by(huber, 1) < 0.1); /* a tenth of the rows, all off to one side, move the intercept */
    assert_true(off_by(squared, 1) > 5);
    assert_true(off_by(of_clean, 1) < 0.02 && off_by(squared_of_clean, 1) < 0.02);
    gsa_state *again = reread(huber);
    same_states(huber, again);
    gsa_state_free(again);
    gsa_state_free(huber);
    gsa_state_free(squared);
    gsa_state_free(of_clean);
    gsa_state_free(squared_of_clean);
    free(r);
    free(clean);
}

/* One row of 2000, or one of 20, wherever the first of them comes; two of three are off to one side. */
static void outliers_of_any_size_count_no_more_than_the_width(void **unused)
{
    (void)unused;
    static const double sizes[] = {1e9, 1e30};
    for (size_t often = 20; often <= 2000; often *= 100)
        for (size_t first = 0; first < 3; first++)
            for (size_t size = 0; size < 2; size++) {
                rows *r = planted_rows(2000, 0, 1);
                for (size_t i = first; i < r->n_rows; i += often)
                    r->label[i] = i % 3 == 0 ? -sizes[size] : sizes[size];
                gsa_state *of_memory = solved("huber", r), *of_stream = learned("huber", r, 4096, false);
                assert_true(off_by(of_memory, 1) < 0.06);
                assert_true(off_by(of_stream, 1) < 0.1);
                gsa_state_free(of_memory);
                gsa_state_free(of_stream);
                free(r);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_is_the_integral_of_the_clipped_residual),
        cmocka_unit_test(a_heavy_row_moves_as_many_rows_would),
        cmocka_unit_test(the_width_of_gaussian_residuals_is_1345_deviations),
        cmocka_unit_test(a_stream_learns_in_spite_of_outliers),
        cmocka_unit_test(chunks_and_saves_change_no_bit),
        cmocka_unit_test(the_width_follows_the_unit_of_the_label),
        cmocka_unit_test(merged_halves_keep_the_width),
        cmocka_unit_test(the_optimum_is_found_in_spite_of_outliers),
        cmocka_unit_test(outliers_of_any_size_count_no_more_than_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
