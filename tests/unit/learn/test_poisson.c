/* The Poisson loss: its definition, and what states and the solver learn from counts and rates. */
#define MAX_ROWS 16384
#include "bytes.h"

#include "learn/inside.h"
#include "learn/loss/loss_rows.h"
#include "solve/kernel/solve_kernels.h"

#include "base/real.h"

#include "greedystep/train.h"

#include <math.h>

#define FEATURES 4u
static const double planted[FEATURES + 1] = {0.5, -0.4, 0.25, 0, 1.25};

/* Margin, label, half the deviance, gradient, and the step to the label or to a twentieth of the mean: by mpmath with
 * 50 digits, from the definitions. */
static const struct {
    double m, y, loss, g, lambda;
} known[] = {
    {0.0, 1.0, 0.0, 0.0, 1.0},
    {0.5, 1.0, 0.14872127070012815, 0.64872127070012815, 0.77074704126839914},
    {0.0001, 1.0, 5.0001666708334171e-9, 0.00010000500016667084, 0.99995000083333333},
    {-3.0, 0.0, 0.049787068367863943, 0.049787068367863943, 60.170891192453625},
    {2.25, 0.0, 9.4877358363585257, 9.4877358363585257, 0.3157478586275415},
    {-8.0, 3.0, 24.296172328632232, -2.9996645373720975, 3.0332099390817514},
    {7.0, 1200.0, 4.7253613597686132, -103.3668415715414, 0.00087142873291478531},
    {13.8155, 1000000.0, 5.5735108655494464e-5, -10.557908538881766, 1.0000052789914262e-6},
    {-20.0, 0.001, 0.012092246782171486, -0.00099999793884637758, 13092.271706201116},
    {3.0, 0.125, 19.325606730477688, 19.960536923187668, 0.15008275003233616},
    {40.0, 2.0, 2.353852668370199e+17, 2.3538526683701998e+17, 1.2726931952067444e-17},
    {1.0000000000000001e-9, 1.0, 5.0000000016666673e-19, 1.0000000005000001e-9, 0.9999999995},
    {-700.0, 1.0000000000000001e-5, 0.0068748707453502983, -1.0000000000000001e-5, 68848707.453502972},
    {3.5, 33.25, 0.00027296482926336446, -0.13454804130768625, 0.030136203117150186},
};
#define N_KNOWN (sizeof known / sizeof *known)

static void the_loss_is_half_the_deviance(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < N_KNOWN; i++)
        for (double origin = -4; origin < 5; origin += 4) {
            /* rounding of the margin less the logarithm of the label, which has to be subtracted */
            double apart = 1e-15 * (fabs(known[i].m) + fabs(log(known[i].y > 0 ? known[i].y : 1)) + fabs(origin));
            double unit = gsai_exp(origin), at = known[i].m - origin;
            gsai_target target = {.y = known[i].y, .origin = origin};
            double value = gsai_loss_poisson.value(&at, 1, &target);
            assert_close(value, known[i].loss, 1e-14 * known[i].loss + 2 * apart * fabs(known[i].g));
            gsai_greedy_step step = gsai_loss_poisson.greedy_step(&at, 1, &target);
            double rounding = 2 * apart * (fabs(known[i].g) + known[i].y);
            assert_close(step.g * unit, known[i].g, 1e-14 * fabs(known[i].g) + rounding);
            assert_close(step.lambda / unit, known[i].lambda, 1e-6 * known[i].lambda);
            assert_true(step.loss == value && at == step.g);
        }
}

static void margins_of_any_size_give_numbers(void **unused)
{
    (void)unused;
    static const double margins[] = {-1e40, -1e4, -745, -100, 0, 299, 301, 700, 1e4, 1e40};
    static const double labels[] = {0, 1e-300, 1e-9, 1, 1e6, 1e250};
    for (size_t i = 0; i < sizeof margins / sizeof *margins; i++)
        for (size_t j = 0; j < sizeof labels / sizeof *labels; j++) {
            gsai_target target = {.y = labels[j]};
            double at = margins[i];
            gsai_greedy_step step = gsai_loss_poisson.greedy_step(&at, 1, &target);
            assert_true(isfinite(step.loss) && step.loss >= 0 && isfinite(step.g) && isfinite(step.lambda));
            assert_true(step.lambda >= 0);
        }
}

/* Rows in floats against the same in doubles, on every kernel to the same bits. */
static void many_rows_are_as_single_ones(void **unused)
{
    (void)unused;
    enum { N = 1000 };
    static float y[N], c[N], m[N], z[N], g[2][N], h[2][N], loss[2][N];
    gsai_rng rng = gsai_rng_of(5, 0, 0);
    const gsai_solve_kernels *kernels;
    for (size_t i = 0; i < N; i++) {
        y[i] = i % 3 == 0 ? 0 : (float)gsai_exp(12 * gsai_rng_unit(&rng) - 6);
        m[i] = i % 7 == 1 ? (float)gsai_log((double)(y[i] + 1e-3F)) : (float)(8 * gsai_rng_unit(&rng) - 4);
        z[i] = (float)gsai_rng_unit(&rng) - 0.5F;
        c[i] = 0.5F + (float)gsai_rng_unit(&rng);
    }
    gsai_rows_at first = {0};
    for (size_t k = 0; (kernels = gsai_solve_kernels_at(k)); k++) {
        size_t to = k > 0;
        gsai_rows_at at = {&kernels->math, N,     1,     1,        y, c, m, z, NULL, 0.5F, 0, 0,
                           NULL,           g[to], h[to], loss[to], 0, 0, 0};
        gsai_loss_poisson.rows(&at);
        double value = 0, slope = 0, bending = 0;
        for (size_t i = 0; i < N; i++) {
            double w = (double)c[i], direction = (double)z[i], margin = (double)(m[i] + 0.5F * z[i]);
            gsai_target target = {.y = (double)y[i]};
            double one = gsai_loss_poisson.value(&margin, 1, &target), e = gsai_exp(margin);
            assert_close((double)loss[to][i], w * one, 2e-6 * w * (one + fabs(e - target.y) + 1e-3 * e));
            assert_close((double)g[to][i], w * (e - target.y), 2e-6 * w * (e + target.y));
            assert_close((double)h[to][i], w * e, 4e-6 * w * e);
            value += w * one;
            slope += w * (e - target.y) * direction;
            bending += w * e * direction * direction;
        }
        assert_close(at.value, value, 1e-5 * value);
        assert_close(at.slope, slope, 1e-5 * value);
        assert_close(at.bending, bending, 1e-5 * bending);
        first = k == 0 ? at : first;
        assert_true(at.value == first.value && at.slope == first.slope && at.bending == first.bending);
        assert_memory_equal(g[0], g[to], sizeof g[0]);
        assert_memory_equal(h[0], h[to], sizeof h[0]);
    }
}

/* c rows of weight 1, one after the other, in steps so small that their order does not matter. */
static void a_heavy_row_moves_as_many_rows_would(void **unused)
{
    (void)unused;
    for (double y = 0; y < 9; y += 4)
        for (double c = 1.5; c < 200; c *= 1.7)
            for (double m = -1; m < 3; m += 0.7) {
                const double e = 1e-3;
                gsai_target target = {.y = y};
                double at = m, moved = m;
                gsai_greedy_step step = gsai_loss_poisson.greedy_step(&at, 1, &target);
                for (int i = 0; i < (int)(c * 100); i++)
                    moved -= e / 100 * (gsai_exp(moved) - y);
                double steps = gsai_loss_poisson.repeats(&at, 1, &target, &step, e, c);
                assert_close(m - steps * e * step.g, moved, 0.3 * fabs(m - moved) + 1e-3);
            }
}

static double gaussian(gsai_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += gsai_rng_unit(rng);
    return sum;
}

/* A draw by multiplication (Knuth 1969), of means that are not large. */
static double poisson(gsai_rng *rng, double mean)
{
    double p = gsai_rng_unit(rng), end = gsai_exp(-mean), n = 0;
    for (; p > end; n++)
        p *= gsai_rng_unit(rng);
    return n;
}

/* Rates of counts: each label is so many units. */
static rows *planted_rows(size_t n, double unit)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(11, 0, 0);
    for (size_t i = 0; i < n; i++) {
        double m = planted[FEATURES];
        for (uint32_t j = 0; j < FEATURES; j++) {
            float x = (float)gaussian(&rng);
            rows_entry(r, j, x);
            m += planted[j] * (double)x;
        }
        rows_end(r, unit * poisson(&rng, gsai_exp(m)));
    }
    return r;
}

static gsa_state *new_state(const char *method)
{
    gsa_error error = {0};
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    must_be_ok(gsa_config_new(NULL, &config, &error), &error);
    must_be_ok(gsa_config_set(config, "loss", "poisson", &error), &error);
    must_be_ok(gsa_config_set(config, "method", method, &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &state, &error), &error);
    gsa_config_free(config);
    return state;
}

static gsa_state *learned(const rows *r, size_t from, size_t n, size_t chunk, bool saves)
{
    gsa_error error = {0};
    gsa_state *state = new_state("gsa");
    gsa_batch all = rows_batch(r);
    for (size_t end = from + n; from < end; from += chunk) {
        gsa_batch some = rows_slice(&all, from, end - from < chunk ? end - from : chunk);
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

struct source {
    const rows *left;
    bool is_weighted;
};

static gsa_status next(void *ctx, gsa_batch *out, gsa_error *error)
{
    (void)error;
    struct source *source = ctx;
    if (!source->left)
        return GSA_END;
    *out = rows_batch(source->left);
    out->weight = source->is_weighted ? source->left->weight : NULL;
    source->left = NULL;
    return GSA_OK;
}

static gsa_state *solved(const rows *r, bool is_weighted)
{
    gsa_error error = {0};
    gsa_reader *reader = NULL;
    gsa_state *state = new_state("optimum");
    struct source rest = {r, is_weighted};
    gsa_row_source source = {.size = sizeof source, .ctx = &rest, .next = next};
    must_be_ok(gsa_reader_open_rows(&source, NULL, NULL, &reader, &error), &error);
    must_be_ok(gsa_train(state, reader, NULL, NULL, &error), &error);
    gsa_reader_close(reader);
    return state;
}

/* The largest distance of a weight from one of another model, or from the planted one. */
static double off_by(const gsa_state *state, const gsa_state *other, double unit)
{
    gsa_error error = {0};
    gsa_model *model = NULL, *like = NULL;
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    if (other)
        must_be_ok(gsa_state_finish(other, NULL, &like, &error), &error);
    double intercept = like ? gsa_model_intercept(like, 0) : planted[FEATURES];
    double most = fabs(gsa_model_intercept(model, 0) - gsai_log(unit) - intercept);
    for (uint32_t j = 0; j < FEATURES; j++) {
        double weight = like ? (double)gsa_model_weight(like, j, 0) : planted[j];
        most = fmax(most, fabs((double)gsa_model_weight(model, j, 0) - weight));
    }
    gsa_model_free(model);
    gsa_model_free(like);
    return most;
}

static void planted_rates_are_found_by_solver_and_stream(void **unused)
{
    (void)unused;
    rows *r = planted_rows(16000, 1);
    gsa_state *optimum = solved(r, false), *stream = learned(r, 0, 16000, 4096, false);
    assert_true(off_by(optimum, NULL, 1) < 0.02);
    assert_true(off_by(stream, NULL, 1) < 0.1);
    gsa_state_free(optimum);
    gsa_state_free(stream);
    free(r);
}

static void the_unit_of_the_label_moves_the_intercept_alone(void **unused)
{
    (void)unused;
    rows *a = planted_rows(6000, 1);
    gsa_state *stream = learned(a, 0, 6000, 4096, false), *optimum = solved(a, false);
    for (double unit = 1e-9; unit < 1e10; unit *= 1e6) {
        rows *b = planted_rows(6000, unit);
        gsa_state *other = learned(b, 0, 6000, 4096, false), *solution = solved(b, false);
        assert_close(off_by(solution, optimum, unit), 0, 1e-4);
        assert_close(off_by(other, stream, unit), 0, 1e-4);
        gsa_state_free(other);
        gsa_state_free(solution);
        free(b);
    }
    gsa_state_free(stream);
    gsa_state_free(optimum);
    free(a);
}

static void weights_are_repetitions(void **unused)
{
    (void)unused;
    rows *r = planted_rows(2000, 1), *all = rows_new();
    for (size_t i = 0; i < r->n_rows; i++) {
        r->weight[i] = (float)(1 + i % 3);
        for (size_t k = 0; k < 1 + i % 3; k++) {
            for (int64_t e = r->row_start[i]; e < r->row_start[i + 1]; e++)
                rows_entry(all, r->index[e], r->value[e]);
            rows_end(all, r->label[i]);
        }
    }
    gsa_state *weighted = solved(r, true), *repeated = solved(all, false);
    assert_close(off_by(weighted, repeated, 1), 0, 1e-3);
    gsa_state_free(weighted);
    gsa_state_free(repeated);
    free(r);
    free(all);
}

static void chunks_and_saves_change_no_bit(void **unused)
{
    (void)unused;
    rows *r = planted_rows(700, 1);
    gsa_state *whole = learned(r, 0, 700, 4096, false);
    for (size_t chunk = 1; chunk < 400; chunk = 3 * chunk + 4)
        for (int saves = 0; saves < 2; saves++) {
            gsa_state *other = learned(r, 0, 700, chunk, saves);
            same_states(whole, other);
            gsa_state_free(other);
        }
    gsa_state_free(whole);
    free(r);
}

static void merged_halves_are_near_the_whole(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    rows *r = planted_rows(16000, 1e-3);
    gsa_state *half[2] = {learned(r, 0, 8000, 4096, false), learned(r, 8000, 8000, 4096, false)}, *merged = NULL;
    must_be_ok(gsa_state_merge((const gsa_state *const *)half, 2, NULL, NULL, &merged, &error), &error);
    assert_true(off_by(merged, NULL, 1e-3) < 0.1);
    gsa_state *again = reread(merged);
    same_states(merged, again);
    gsa_state_free(again);
    gsa_state_free(merged);
    gsa_state_free(half[0]);
    gsa_state_free(half[1]);
    free(r);
}

static double predicted(const gsa_state *state, double x)
{
    gsa_error error = {0};
    gsa_model *model = NULL;
    const int64_t start[] = {0, 1};
    const uint32_t index = 0;
    float value = (float)x;
    double out = NAN;
    gsa_batch batch = {.n_rows = 1, .row_start = start, .index = &index, .value = &value};
    must_be_ok(gsa_state_finish(state, NULL, &model, &error), &error);
    must_be_ok(gsa_model_predict(model, &batch, &out, &error), &error);
    gsa_model_free(model);
    return out;
}

static void counts_that_are_all_0_or_huge_have_their_mean(void **unused)
{
    (void)unused;
    static const double counts[] = {0, 1, 1e6, 1e15, 1e200};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        rows *r = rows_new();
        gsai_rng rng = gsai_rng_of(2, k, 0);
        for (size_t i = 0; i < 3000; i++) {
            rows_entry(r, 0, (float)gsai_rng_unit(&rng));
            rows_end(r, counts[k]);
        }
        gsa_state *state[2] = {solved(r, false), learned(r, 0, 3000, 4096, false)};
        for (int i = 0; i < 2; i++) {
            double mean = predicted(state[i], 0.5);
            assert_close(mean, counts[k], counts[k] > 0 ? 1e-4 * counts[k] : 1e-3);
            assert_true(mean > 0);
            gsa_state_free(state[i]);
        }
        free(r);
    }
}

static void a_row_far_from_all_others_does_not_stop_a_stream(void **unused)
{
    (void)unused;
    rows *r = planted_rows(8000, 1);
    for (size_t at = 30; at < 60; at += 10) /* means of about e^30; one may be held out */
        r->value[r->row_start[at]] = 60;
    gsa_state *state = learned(r, 0, 8000, 4096, false);
    assert_true(off_by(state, NULL, 1) < 0.3);
    gsa_state_free(state);
    free(r);
}

static void labels_below_0_are_refused_by_row(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    rows *r = planted_rows(10, 1);
    gsa_state *state = new_state("gsa");
    r->label[7] = -1;
    gsa_batch all = rows_batch(r);
    assert_int_equal(gsai_state_learn_rows(state, &all, NULL, all.n_rows, &error), GSA_LABEL);
    assert_int_equal(error.row, 7);
    assert_non_null(strstr(error.message, "label -1 is below 0"));
    gsa_state_free(state);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_is_half_the_deviance),
        cmocka_unit_test(margins_of_any_size_give_numbers),
        cmocka_unit_test(many_rows_are_as_single_ones),
        cmocka_unit_test(a_heavy_row_moves_as_many_rows_would),
        cmocka_unit_test(planted_rates_are_found_by_solver_and_stream),
        cmocka_unit_test(the_unit_of_the_label_moves_the_intercept_alone),
        cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(chunks_and_saves_change_no_bit),
        cmocka_unit_test(merged_halves_are_near_the_whole),
        cmocka_unit_test(counts_that_are_all_0_or_huge_have_their_mean),
        cmocka_unit_test(a_row_far_from_all_others_does_not_stop_a_stream),
        cmocka_unit_test(labels_below_0_are_refused_by_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
