/* The default method against a plain second implementation: dense arrays of double, sums instead of means, libm. */
#define MAX_ROWS 16384
#include "learn/inside.h"

#include "inverse_frequency.h"
#include "rows.h"

#include <math.h>

#define FEATURES 24
#define SLOTS (FEATURES + 1)
#define CLASSES 4
#define GROUP 8

typedef struct oracle {
    size_t n_classes, t;
    int standardised;
    double w[SLOTS][CLASSES], q[SLOTS], n[SLOTS], step_weights, step_sum, loss;
    double column_n[SLOTS], column_sum[SLOTS], column_square[SLOTS]; /* while present in nine rows of ten */
} oracle;

static int is_dense(const oracle *o, size_t i)
{
    return o->n[i] + 1 >= 0.9 * (double)(o->t + 1) && i < FEATURES;
}

/* Rows that are learned together see what there was before them, but for means and variances of dense columns. */
static void oracle_learn(oracle *o, double x[][SLOTS], const size_t *label, size_t n)
{
    double p[GROUP][CLASSES], direction[GROUP][SLOTS] = {{0}};
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < FEATURES; i++)
            if (x[r][i] != 0 && is_dense(o, i)) {
                o->column_n[i]++;
                o->column_sum[i] += x[r][i];
                o->column_square[i] += x[r][i] * x[r][i];
            }
    for (size_t r = 0; r < n; r++) {
        double total = 0, s = 0, xdx = 0;
        for (size_t k = 0; k < o->n_classes; k++) {
            double m = 0;
            for (size_t i = 0; i < SLOTS; i++)
                m += o->w[i][k] * x[r][i];
            p[r][k] = exp(m);
            total += p[r][k];
        }
        for (size_t k = 0; k < o->n_classes; k++) {
            p[r][k] /= total;
            s += p[r][k] * exp(p[r][k]);
        }
        for (size_t i = 0; i < SLOTS; i++) {
            if (x[r][i] == 0)
                continue;
            double d = straight_inverse_frequency(o->n[i]) * pow((double)o->t + 2, 0.375), origin = 0;
            if (o->standardised && is_dense(o, i)) {
                origin = o->column_sum[i] / o->column_n[i];
                double variance = o->column_square[i] / o->column_n[i] - origin * origin;
                d = variance > 1e-12 ? d / variance : 0;
            } else if (o->standardised) {
                d *= (o->n[i] + 1) / (o->q[i] + x[r][i] * x[r][i]);
            }
            direction[r][i] += d * (x[r][i] - origin);
            direction[r][FEATURES] -= d * (x[r][i] - origin) * origin;
            xdx += d * (x[r][i] - origin) * (x[r][i] - origin);
        }
        double own = p[r][label[r]];
        double eta = (0.95 - own) / (0.95 * (s - 1) + own * (exp(1 - own) - 1)) / xdx;
        o->loss -= log(own);
        o->step_weights += 1 - own;
        o->step_sum += (1 - own) * eta;
    }
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < SLOTS; i++) {
            for (size_t k = 0; k < o->n_classes; k++)
                o->w[i][k] -= o->step_sum / o->step_weights * direction[r][i] * (p[r][k] - (k == label[r]));
            o->q[i] += x[r][i] * x[r][i];
            o->n[i] += x[r][i] != 0;
        }
    o->t += n;
}

static double model_weight(const gsa_model *model, size_t i, size_t k)
{
    return (double)(i == FEATURES ? gsa_model_intercept(model, k) : gsa_model_weight(model, i, k));
}

static void compare_with_oracle(size_t n_classes, const char *scale, int standardised)
{
    rows *r = rows_random(20 + n_classes, n_classes == 2 ? 4001 : 16001, FEATURES, (unsigned)n_classes);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "auto", "scale", scale, "average", "last", "holdout", "none", NULL);
    prepare(state, &batch);
    learn(state, &batch);
    oracle *o = calloc(1, sizeof *o);
    o->n_classes = n_classes;
    o->standardised = standardised;
    for (size_t row = 0, n; row < batch.n_rows; row += n) {
        double x[GROUP][SLOTS];
        size_t label[GROUP], most = 1 + row / (n_classes == 2 ? 512 : 2048); /* groups grow with the rows learned */
        for (n = 0; n < GROUP && n < most && row + n < batch.n_rows; n++) {
            rows_dense(&batch, row + n, FEATURES, x[n]);
            label[n] = (size_t)batch.label[row + n];
        }
        oracle_learn(o, x, label, n);
    }
    gsa_model *model = model_of(state);
    for (size_t i = 0; i < SLOTS; i++)
        for (size_t k = 0; k < (n_classes == 2 ? 1 : n_classes); k++) {
            double expected = n_classes == 2 ? o->w[i][1] - o->w[i][0] : o->w[i][k];
            assert_close(model_weight(model, i, k), expected, 1e-4 * (1 + fabs(expected)));
        }
    gsa_model_free(model);
    gsa_state_free(state);
    free(o);
    free(r);
}

static void votes_and_metric_follow_their_formulas(void **unused)
{
    (void)unused;
    compare_with_oracle(2, "none", 0);
    compare_with_oracle(2, "standard", 1);
    compare_with_oracle(4, "none", 0);
    compare_with_oracle(4, "standard", 1);
}

static double final_loss(const char *scale, rows *r)
{
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "auto", "scale", scale, "holdout", "none", NULL);
    gsa_summary summary = {.size = sizeof summary};
    learn(state, &batch);
    end_pass(state);
    learn(state, &batch);
    summary = state_summary(state);
    gsa_state_free(state);
    return summary.loss_sum / summary.loss_weight;
}

/* Features of wildly different units: standard wins. Units that carry the weight: none wins. */
static void the_better_scaling_is_chosen(void **unused)
{
    (void)unused;
    for (int meaningful = 0; meaningful < 2; meaningful++) {
        rows *r = rows_random(7, 3000, FEATURES, 2);
        for (size_t e = 0; e < r->n_entries; e++)
            r->value[e] *= meaningful ? (r->index[e] < 6 ? 1.0f : 0.01f) : powf(10, (float)(r->index[e] % 5));
        gsa_batch batch = rows_batch(r);
        gsa_state *state = state_with("method", "auto", NULL);
        update(state, &batch);
        close_group(state);
        assert_int_equal(state->standardised, final_loss("standard", r) < final_loss("none", r));
        gsa_state_free(state);
        free(r);
    }
}

/* Rows that come sorted by label tell nothing about the next one: a constant is as good as any model. */
static void rows_sorted_by_label_do_not_hide_the_better_units(void **unused)
{
    (void)unused;
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(6, 6, 6);
    for (size_t row = 0; row < 3000; row++) {
        bool is_second = row >= 500 && row < 800;
        for (uint32_t i = 0; i < 4; i++) {
            double x = gsai_rng_unit(&rng) + gsai_rng_unit(&rng) - 1;
            rows_entry(r, i, (float)((1 + x + (is_second ? (3 - i) * 0.2 : 0)) * pow(10, (double)i)));
        }
        rows_end(r, is_second);
    }
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "auto", NULL);
    update(state, &batch);
    end_pass(state);
    assert_true(state->standardised);
    gsa_state_free(state);
    free(r);
}

/* With scale standard, a feature scaled by any factor has its weight scaled by the inverse: the margins stay. */
static void free_units_do_not_depend_on_units(void **unused)
{
    (void)unused;
    rows *scaled = rows_random(5, 800, FEATURES, 3);
    for (size_t e = 0; e < scaled->n_entries; e++)
        scaled->value[e] *= scaled->index[e] % 2 ? 1024.0f : 0x1p-20f;
    gsa_batch b = rows_batch(scaled);
    gsa_state *one = state_with("method", "auto", "scale", "standard", "holdout", "none", NULL);
    gsa_state *other = state_with("method", "auto", "scale", "standard", "holdout", "none", NULL);
    learn_random(one, 5, 800, FEATURES, 3);
    learn(other, &b);
    gsa_summary x = state_summary(one), y = state_summary(other);
    assert_close(x.loss_sum, y.loss_sum, 1e-3 * x.loss_sum);
    free_states(one, other);
    free(scaled);
}

/* Standardised features do not depend on their origin: columns that are there in every row, moved far away, are learned
 * as before. */
static void free_units_do_not_depend_on_the_origin(void **unused)
{
    (void)unused;
    rows *r[2] = {rows_new(), rows_new()};
    for (int moved = 0; moved < 2; moved++) {
        gsai_rng rng = gsai_rng_of(4, 4, 4);
        for (size_t row = 0; row < 2000; row++) {
            double m = 0;
            for (uint32_t i = 0; i < 5; i++) {
                double x = gsai_rng_unit(&rng) + gsai_rng_unit(&rng) - 0.9;
                m += x * (i - 1.5);
                rows_entry(r[moved], i, (float)(x + (moved ? 300.0 * (i + 1) : 0)));
            }
            rows_end(r[moved], m + gsai_rng_unit(&rng) - 0.5 > 0);
        }
    }
    double loss[2][2];
    for (int moved = 0; moved < 2; moved++) {
        loss[moved][0] = final_loss("none", r[moved]);
        loss[moved][1] = final_loss("standard", r[moved]);
        free(r[moved]);
    }
    assert_true(loss[0][1] < 0.2 && loss[1][0] > 0.6);
    assert_close(loss[1][1], loss[0][1], 0.01 * loss[0][1]);
}

/* Row lengths that spread by 10^4 and targets of any size: the paper's rule diverges, the default does not. */
static void squared_loss_does_not_diverge(void **unused)
{
    (void)unused;
    static const double sizes[] = {1e-6, 1, 1e6};
    for (size_t s = 0; s < 3; s++) {
        rows *r = rows_random(1, 4000, 20, 0);
        double mean_square = 0;
        for (size_t row = 0; row < r->n_rows; row++) {
            float factor = row % 10 == 0 ? 100.0f : 0.01f;
            for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
                r->value[e] *= factor;
            r->label[row] *= sizes[s];
            mean_square += r->label[row] * r->label[row] / (double)r->n_rows;
        }
        gsa_batch batch = rows_batch(r);
        gsa_state *state = state_with("method", "auto", "loss", "squared", "holdout", "none", NULL);
        gsa_summary summary = {.size = sizeof summary};
        learn(state, &batch);
        end_pass(state);
        learn(state, &batch);
        summary = state_summary(state);
        assert_true(2 * summary.loss_sum / summary.loss_weight < 10 * mean_square);
        gsa_state_free(state);
        free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(votes_and_metric_follow_their_formulas),
        cmocka_unit_test(the_better_scaling_is_chosen),
        cmocka_unit_test(rows_sorted_by_label_do_not_hide_the_better_units),
        cmocka_unit_test(free_units_do_not_depend_on_units),
        cmocka_unit_test(free_units_do_not_depend_on_the_origin),
        cmocka_unit_test(squared_loss_does_not_diverge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
