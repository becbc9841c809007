/* The losses and their greedy steps: against the oracle (tests/golden/steps.csv), by their properties, at the ends. */
#include "learn/loss/loss.h"

#include "base/real.h"
#include "base/rng.h"
#include "golden/golden.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MAX_CLASSES 1000

static void check(const char *what, const char *where, double got, double expected, double relative, double absolute)
{
    if (got == expected)
        return;
    if (!(fabs(got - expected) <= relative * fabs(expected) + absolute))
        fail_msg("%s of %s is %.17g, expected %.17g: off by %g", what, where, got, expected, fabs(got - expected));
}

static double squared(double m, double y)
{
    return gsai_loss_squared.value(&m, 1, &(gsai_target){.y = y});
}

/* A row of the second class if y is 1. */
static gsai_greedy_step logistic(double m, int y)
{
    return gsai_loss_logistic.greedy_step(&m, 1, &(gsai_target){.class_number = (size_t)y});
}

static gsai_greedy_step squared_hinge(double m, int y)
{
    return gsai_loss_squared_hinge.greedy_step(&m, 1, &(gsai_target){.class_number = (size_t)y});
}

static double logistic_repeats(int y, const gsai_greedy_step *row, double e, double c)
{
    return gsai_loss_logistic.repeats(&row->g, 1, &(gsai_target){.class_number = (size_t)y}, row, e, c);
}

/* p: the probabilities that gsai_softmax left. */
static double softmax_repeats(const double *p, size_t n_classes, size_t k, const gsai_greedy_step *row, double e,
                              double c)
{
    return gsai_loss_softmax.repeats(p, n_classes, &(gsai_target){.class_number = k}, row, e, c);
}

static double hinge_repeats(const gsai_loss *loss, double lambda, double e, double c)
{
    return loss->repeats(NULL, 1, NULL, &(gsai_greedy_step){.lambda = lambda}, e, c);
}

static void softmax_probabilities(double *m_to_p, size_t n_classes)
{
    gsai_loss_softmax.predict(m_to_p, n_classes, m_to_p);
}

static FILE *open_golden(void)
{
    FILE *file = fopen(GSA_GOLDEN_DIR "/steps.csv", "r");
    if (!file)
        fail_msg("cannot open %s", GSA_GOLDEN_DIR "/steps.csv");
    return file;
}

/* ---- the oracle ------------------------------------------------------------------------------------------------- */

/* Tolerances. Loss, g and rest are relatively accurate everywhere; softmax subtracts margins that are some 30 apart
 * here, and half an ulp of the difference is a relative error of 2e-15 of its exponential. lambda has a zero at P_HAT,
 * where only the absolute error of p counts, over a denominator above 1 / K; its relative tolerance is 1e-13. */
static void logistic_agrees_with_the_oracle(void **state)
{
    (void)state;
    FILE *file = open_golden();
    golden_line line;
    size_t n = 0;
    for (; golden_next(file, "logistic", 9, &line); n++) {
        double m = golden_number(&line, 1);
        int y = atoi(line.field[2]);
        gsai_greedy_step row = logistic(m, y);
        double g = golden_number(&line, 4);
        check("loss", line.field[1], row.loss, golden_number(&line, 3), 4e-16, 0);
        check("g", line.field[1], row.g, g, 4e-16, 0);
        check("lambda", line.field[1], row.lambda, golden_number(&line, 5), 1e-15, 1e-15);
        check("repeats", line.field[1], logistic_repeats(y, &row, golden_number(&line, 6), golden_number(&line, 7)),
              golden_number(&line, 8), 1e-13, 0);
    }
    fclose(file);
    assert_true(n >= 40);
}

static void softmax_agrees_with_the_oracle(void **state)
{
    (void)state;
    FILE *file = open_golden();
    golden_line line;
    size_t n = 0;
    for (; golden_next(file, "softmax", 12, &line); n++) {
        size_t n_classes = strtoul(line.field[1], NULL, 10), k = strtoul(line.field[2], NULL, 10);
        assert_true(n_classes <= MAX_CLASSES && k < n_classes);
        double m[MAX_CLASSES];
        golden_margins(line.field[3], n_classes, k, (uint32_t)strtoul(line.field[4], NULL, 10), m);
        m[k] = golden_number(&line, 5);
        char where[64];
        snprintf(where, sizeof where, "%zu classes, %s, seed %s", n_classes, line.field[3], line.field[4]);

        gsai_greedy_step row = gsai_softmax(m, n_classes, k);
        double rest = golden_number(&line, 7);
        check("loss", where, row.loss, golden_number(&line, 6), 4e-15, 0);
        check("rest", where, row.g, rest, 4e-15, 0);
        check("lambda", where, row.lambda, golden_number(&line, 8), 1e-14, 1e-16 * (double)n_classes);
        check("repeats", where,
              softmax_repeats(m, n_classes, k, &row, golden_number(&line, 9), golden_number(&line, 10)),
              golden_number(&line, 11), 1e-11, 0);
    }
    fclose(file);
    assert_true(n >= 500);
}

/* ---- random rows ------------------------------------------------------------------------------------------------ */

typedef struct sample {
    double m[MAX_CLASSES];
    size_t n_classes, k;
} sample;

/* Margins of different spread, the own class anywhere from hopeless to certain. */
static void draw_row(gsai_rng *rng, size_t most_classes, sample *r)
{
    r->n_classes = 2 + (size_t)gsai_rng_below(rng, most_classes - 1);
    r->k = (size_t)gsai_rng_below(rng, r->n_classes);
    double spread = ldexp(1, (int)gsai_rng_below(rng, 8) - 3);
    for (size_t j = 0; j < r->n_classes; j++)
        r->m[j] = spread * (2 * gsai_rng_unit(rng) - 1);
    r->m[r->k] += 60 * gsai_rng_unit(rng) - 30;
}

static void softmax_steps_stay_in_their_bounds(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(3, 0, 0);
    sample r;
    for (int i = 0; i < 3000; i++) {
        draw_row(&rng, i % 3 ? 12 : MAX_CLASSES, &r);
        gsai_greedy_step out = gsai_softmax(r.m, r.n_classes, r.k);
        double sum = 0, growth = 0, least_growth = expm1(1.0 / (double)r.n_classes);
        for (size_t j = 0; j < r.n_classes; j++) {
            assert_true(r.m[j] >= 0 && r.m[j] <= 1);
            sum += r.m[j];
            growth += r.m[j] * expm1(r.m[j]);
        }
        double p = r.m[r.k];
        check("sum of p", "a row", sum, 1, 1e-13, 0);
        check("p[k]", "a row", p, 1 - out.g, 0, 2.3e-16);
        assert_true(growth >= least_growth * (1 - 1e-12)); /* sum p e^p >= e^(1/K), by Jensen */
        assert_true(fabs(out.lambda) <= fabs(GSAI_P_HAT - p) / (GSAI_P_HAT * least_growth) * (1 + 1e-12));
        assert_true(p < GSAI_P_HAT ? out.lambda > 0 : p > GSAI_P_HAT ? out.lambda < 0 : out.lambda == 0);
    }
}

/* The paper bounds the step by (P_HAT - p_k) / (e^(1/K) - 1), without the factor P_HAT in the denominator. That is so
 * up to 20 classes, and not beyond: here p_k is almost 0 and the others are uniform. */
static void the_printed_bound_holds_up_to_twenty_classes(void **state)
{
    (void)state;
    for (size_t n_classes = 2; n_classes <= 40; n_classes++) {
        double m[40] = {-60};
        double lambda = gsai_softmax(m, n_classes, 0).lambda;
        double printed = GSAI_P_HAT / expm1(1.0 / (double)n_classes);
        assert_true((lambda <= printed) == (n_classes <= 20));
    }
}

static double two_class_lambda(double p)
{
    double m[2] = {0, log(p) - log1p(-p)};
    return gsai_softmax(m, 2, 1).lambda;
}

static void two_class_steps_have_the_known_values(void **state)
{
    (void)state;
    for (double p = 1e-6; p < 1; p += 1e-4) {
        double lambda = two_class_lambda(p);
        assert_true(lambda > -0.031 && lambda < 0.616);
    }
    check("lambda", "p = 0", two_class_lambda(1e-300), 0.582, 0, 5e-4);
    check("lambda", "p = 1/2", two_class_lambda(0.5), 0.478, 0, 5e-4);
    check("lambda", "p = 0.95", two_class_lambda(0.95), 0, 0, 1e-15);
}

static void uniform_rows_step_by_a_third_of_the_classes(void **state)
{
    (void)state;
    double m[2] = {0, 0};
    check("lambda", "two equal classes", gsai_softmax(m, 2, 0).lambda, 2 * 0.239, 0, 5e-4 * 2);
    static double many[100000];
    for (size_t n = 1000; n <= 100000; n *= 10) {
        memset(many, 0, sizeof many);
        check("lambda", "equal classes", gsai_softmax(many, n, n / 2).lambda, 0.356 * (double)n, 5e-4, 0);
    }
}

static void logistic_is_softmax_of_two_classes(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(4, 0, 0);
    for (int i = 0; i < 20000; i++) {
        double spread = i % 2 ? 6 : 60, m = spread * (2 * gsai_rng_unit(&rng) - 1);
        int y = i % 4 / 2;
        double pair[2] = {0, m};
        gsai_greedy_step one = logistic(m, y);
        gsai_greedy_step two = gsai_softmax(pair, 2, (size_t)y);
        double e = 0.01 + gsai_rng_unit(&rng), c = 1 + 50 * gsai_rng_unit(&rng);
        check("repeats", "two classes", softmax_repeats(pair, 2, (size_t)y, &two, e / 2, c),
              logistic_repeats(y, &one, e, c), 1e-11, 0);
        check("loss", "two classes", two.loss, one.loss, 2e-15, 0);
        check("rest", "two classes", two.g, fabs(one.g), 2e-15, 0);
        check("lambda", "two classes", 2 * two.lambda, one.lambda, 2e-15, 1e-15);
        assert_true(one.lambda >= -0.062 && one.lambda <= 1.232);
    }
}

/* A row of margin m and weight c, and the length of a plain step. */
typedef struct heavy {
    double m, e, c;
} heavy;

static heavy draw_heavy(gsai_rng *rng)
{
    heavy h = {40 * gsai_rng_unit(rng) - 20, 2 * gsai_rng_unit(rng), 1 + 99 * gsai_rng_unit(rng)};
    return h;
}

/* m' = m - e g(m) - (c - 1) e g(m'). */
static void check_end(const char *loss, const heavy *h, double repeats, double g, double g_at_end)
{
    double end = h->m - repeats * h->e * g, implicit = h->m - h->e * g - (h->c - 1) * h->e * g_at_end;
    check("the end of the step", loss, end, implicit, 1e-9, 1e-9);
}

static double bend(void *ctx, double m, double y)
{
    (void)ctx;
    return sqrt(1 + (m - y) * (m - y)) - 1;
}

static double bend_slope(void *ctx, double m, double y)
{
    (void)ctx;
    return (m - y) / sqrt(1 + (m - y) * (m - y));
}

static void heavy_rows_take_an_implicit_step(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(5, 0, 0);
    const gsa_margin_loss custom = {.size = sizeof custom, bend, bend_slope, NULL};
    for (int i = 0; i < 2000; i++) {
        heavy h = draw_heavy(&rng);
        int y = i % 2;
        gsai_greedy_step row = logistic(h.m, y);
        double repeats = logistic_repeats(y, &row, h.e, h.c);
        check_end("logistic", &h, repeats, row.g, logistic(h.m - repeats * h.e * row.g, y).g);

        repeats = gsai_squared_repeats(h.e, h.c);
        check_end("squared", &h, repeats, h.m - 3, h.m - repeats * h.e * (h.m - 3) - 3);

        double g = bend_slope(NULL, h.m, 3);
        repeats = gsai_loss_custom.repeats(&g, 1, &(gsai_target){.y = 3, .custom = &custom},
                                           &(gsai_greedy_step){.m = h.m}, h.e, h.c);
        check_end("custom", &h, repeats, g, bend_slope(NULL, h.m - repeats * h.e * g, 3));

        gsai_greedy_step hinge = squared_hinge(h.m, y);
        if (hinge.g == 0)
            continue;
        repeats = hinge_repeats(&gsai_loss_squared_hinge, hinge.lambda, h.e, h.c);
        if (h.e < 1)
            check_end("squared hinge", &h, repeats, hinge.g, squared_hinge(h.m - repeats * h.e * hinge.g, y).g);
        else
            assert_true(repeats == 1);
    }
}

/* A hinge is straight up to its edge: c steps, or as many as it takes to be fitted. */
static void a_heavy_row_of_a_hinge_stops_at_its_edge(void **state)
{
    (void)state;
    assert_true(hinge_repeats(&gsai_loss_hinge, 2, 0.25, 3) == 3);
    assert_true(hinge_repeats(&gsai_loss_hinge, 2, 0.25, 50) == 8);
    assert_true(hinge_repeats(&gsai_loss_hinge, 2, 2.5, 50) == 1);
}

/* At c = 1 nothing jumps, and no weight is so large that the row is pushed past its minimum. */
static void repeats_begin_at_one_and_grow_without_overshooting(void **state)
{
    (void)state;
    for (int y = 0; y < 2; y++)
        for (double m = -30; m <= 30; m += 3) {
            gsai_greedy_step row = logistic(m, y);
            double last = 1;
            check("repeats", "c = 1", logistic_repeats(y, &row, 0.5, 1 + 1e-12), 1, 2e-12, 0);
            for (double c = 2; c < 1e30; c *= 100) {
                double now = logistic_repeats(y, &row, 0.5, c);
                assert_true(now >= last && now <= c && isfinite(now));
                last = now;
            }
        }
    check("repeats", "a row of all weight", 0.5 * gsai_squared_repeats(0.5, 1e30), 1, 1e-12, 0);
}

static void gradients_are_the_slopes_of_the_losses(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(6, 0, 0);
    sample r, up, down;
    const double h = 1e-5;
    for (int i = 0; i < 500; i++) {
        double m = 20 * gsai_rng_unit(&rng) - 10;
        int y = i % 2;
        double slope = (logistic(m + h, y).loss - logistic(m - h, y).loss) / (2 * h);
        check("g", "a logistic row", logistic(m, y).g, slope, 0, 1e-9);
        slope = (squared(m + h, 2) - squared(m - h, 2)) / (2 * h);
        check("g", "a squared row", m - 2, slope, 0, 1e-8);

        draw_row(&rng, 20, &r);
        size_t j = (size_t)gsai_rng_below(&rng, r.n_classes);
        up = down = r;
        up.m[j] += h;
        down.m[j] -= h;
        slope = (gsai_softmax(up.m, r.n_classes, r.k).loss - gsai_softmax(down.m, r.n_classes, r.k).loss) / (2 * h);
        double rest = gsai_softmax(r.m, r.n_classes, r.k).g;
        check("g", "a softmax row", j == r.k ? -rest : r.m[j], slope, 0, 1e-8);
    }
}

static void check_same(const gsai_greedy_step *a, const gsai_greedy_step *b)
{
    check("loss", "a changed row", a->loss, b->loss, 1e-11, 0);
    check("g", "a changed row", a->g, b->g, 1e-11, 0);
    check("lambda", "a changed row", a->lambda, b->lambda, 1e-11, 1e-11);
}

static void softmax_ignores_a_common_shift(void **state)
{
    (void)state;
    static const double shifts[] = {0.5, -3, 1e4, -1e4};
    gsai_rng rng = gsai_rng_of(7, 0, 0);
    sample r, s;
    for (int i = 0; i < 400; i++) {
        draw_row(&rng, 50, &r);
        s = r;
        for (size_t j = 0; j < r.n_classes; j++)
            s.m[j] += shifts[i % 4];
        gsai_greedy_step a = gsai_softmax(r.m, r.n_classes, r.k), b = gsai_softmax(s.m, r.n_classes, r.k);
        check_same(&b, &a);
    }
}

static void softmax_ignores_the_order_of_classes(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(8, 0, 0);
    sample r, s;
    for (int i = 0; i < 400; i++) {
        draw_row(&rng, 50, &r);
        size_t n = r.n_classes, turn = (size_t)gsai_rng_below(&rng, n);
        s.k = (n - 1 - r.k + turn) % n;
        for (size_t j = 0; j < n; j++)
            s.m[(n - 1 - j + turn) % n] = r.m[j];
        gsai_greedy_step a = gsai_softmax(r.m, n, r.k), b = gsai_softmax(s.m, n, s.k);
        check_same(&b, &a);
        check("p", "a changed row", s.m[(n - 1 + turn) % n], r.m[0], 1e-14, 0);
    }
}

/* The order of sums is part of the contract: class j in lane j mod 8, lanes combined in one way, class k last. */
static double sum_in_lanes(const double *e, size_t n, size_t skip)
{
    double lane[8] = {0};
    for (size_t j = 0; j < n; j++)
        lane[j % 8] += j == skip ? 0 : e[j];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void softmax_sums_in_eight_lanes(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(10, 0, 0);
    sample r, s;
    for (int i = 0; i < 200; i++) {
        draw_row(&rng, MAX_CLASSES, &r);
        size_t n = r.n_classes;
        double e[MAX_CLASSES] = {0}, top = r.m[0];
        for (size_t j = 0; j < n; j++)
            top = fmax(top, r.m[j]);
        for (size_t j = 0; j < n; j++)
            e[j] = gsai_exp(r.m[j] - top);
        s = r;
        softmax_probabilities(s.m, n);
        for (size_t j = 0; j < n; j++)
            assert_true(s.m[j] == e[j] / sum_in_lanes(e, n, n));
        double others = sum_in_lanes(e, n, r.k), total = others + e[r.k];
        assert_true(gsai_softmax(r.m, n, r.k).g == others / total);
        for (size_t j = 0; j < n; j++)
            assert_true(j == r.k || r.m[j] == e[j] / total);
    }
}

static void probabilities_are_those_of_the_step(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(9, 0, 0);
    sample r, s;
    for (int i = 0; i < 300; i++) {
        draw_row(&rng, 100, &r);
        s = r;
        (void)gsai_softmax(r.m, r.n_classes, r.k);
        softmax_probabilities(s.m, s.n_classes);
        for (size_t j = 0; j < r.n_classes; j++)
            check("p", "a row", s.m[j], r.m[j], 2e-15, 0);
    }
}

/* ---- the ends --------------------------------------------------------------------------------------------------- */

static void check_total(const double *margins, size_t n_classes)
{
    for (size_t k = 0; k < n_classes; k++) {
        double p[4];
        memcpy(p, margins, n_classes * sizeof *p);
        gsai_greedy_step row = gsai_softmax(p, n_classes, k);
        double repeats = n_classes > 1 ? softmax_repeats(p, n_classes, k, &row, 0.5, 9) : 1;
        assert_true(repeats >= 1 && repeats <= 9);
        assert_true(isfinite(row.loss) && row.loss >= 0);
        assert_true(row.g >= 0 && row.g <= 1 && isfinite(row.lambda));
        for (size_t j = 0; j < n_classes; j++)
            assert_true(p[j] >= 0 && p[j] <= 1);
        memcpy(p, margins, n_classes * sizeof *p);
        softmax_probabilities(p, n_classes);
        for (size_t j = 0; j < n_classes; j++)
            assert_true(p[j] >= 0 && p[j] <= 1);
    }
}

static void softmax_is_total(void **state)
{
    (void)state;
    static const double values[] = {0, -0.0, 1, -745, 1e4, -1e4, 1e300, -1e300, 5e-324};
    size_t n = sizeof values / sizeof *values;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            for (size_t c = 0; c < n; c++) {
                double m[4] = {values[a], values[b], values[c], values[a]};
                for (size_t n_classes = 1; n_classes <= 4; n_classes++)
                    check_total(m, n_classes);
            }
}

static void one_class_is_certain(void **state)
{
    (void)state;
    double m[1] = {-17};
    gsai_greedy_step row = gsai_softmax(m, 1, 0);
    assert_true(m[0] == 1 && row.loss == 0 && row.g == 0 && isfinite(row.lambda) && row.lambda < 0);
}

static void logistic_is_total(void **state)
{
    (void)state;
    static const double values[] = {0, -0.0, 1, 40, 745, 1e4, 1e300, 5e-324, 1.7e308};
    for (size_t i = 0; i < 2 * sizeof values / sizeof *values; i++)
        for (int y = 0; y < 2; y++) {
            double m = i % 2 ? -values[i / 2] : values[i / 2];
            gsai_greedy_step row = logistic(m, y);
            assert_true(isfinite(row.loss) && row.loss >= 0);
            assert_true(fabs(row.g) >= 0 && fabs(row.g) <= 1 && (y ? row.g <= 0 : row.g >= 0));
            assert_true(row.lambda >= -0.062 && row.lambda <= 1.232);
            double repeats = logistic_repeats(y, &row, 0.5, 9);
            assert_true(repeats >= 1 && repeats <= 9);
        }
}

static void squared_loss_is_half_the_square(void **state)
{
    (void)state;
    assert_true(squared(3, 1) == 2);
    assert_true(squared(1, 3) == 2);
    assert_true(squared(5, 5) == 0);
    assert_true(squared(1e300, -1e300) == INFINITY);
}

/* ---- every loss as a struct ------------------------------------------------------------------------------------- */

static double cosh_loss(void *ctx, double m, double y)
{
    (void)ctx;
    return cosh(m - y);
}

static double cosh_slope(void *ctx, double m, double y)
{
    (void)ctx;
    return sinh(m - y);
}

static const gsa_margin_loss cosh_functions = {.size = sizeof cosh_functions, cosh_loss, cosh_slope, NULL};

static double value_of(const gsai_loss *loss, const sample *r, const gsai_target *target)
{
    sample spent = *r;
    return loss->value(spent.m, r->n_classes, target);
}

static void check_steps(const gsai_loss *loss, size_t n_outputs, gsai_rng *rng)
{
    const double h = 1e-6;
    sample r, g, up, down;
    r.n_classes = n_outputs;
    for (size_t j = 0; j < n_outputs; j++)
        r.m[j] = 6 * gsai_rng_unit(rng) - 3;
    gsai_target target = {(size_t)gsai_rng_below(rng, n_outputs > 1 ? n_outputs : 2),
                          0.5,
                          &cosh_functions,
                          loss->has_quantile ? 1e-6 : 1,
                          0,
                          0.25}; /* hardly a corner */
    g = r;
    gsai_greedy_step step = loss->greedy_step(g.m, n_outputs, &target);
    check("value", loss->name, value_of(loss, &r, &target), step.loss, 1e-14, 1e-15);
    for (size_t j = 0; j < n_outputs; j++) {
        up = down = r;
        up.m[j] += h;
        down.m[j] -= h;
        double slope = (value_of(loss, &up, &target) - value_of(loss, &down, &target)) / (2 * h);
        check("gradient scale", loss->name, g.m[j], slope, 1e-7, 1e-7);
    }
    double most = 0, prediction[MAX_CLASSES + 1];
    for (size_t j = 0; j < n_outputs; j++)
        most = fmax(most, fabs(g.m[j]));
    check("size of the gradient", loss->name, fabs(step.g), most, 1e-12, 0);
    if (step.g != 0 && step.lambda > 0)
        assert_true(loss->repeats(g.m, n_outputs, &target, &step, 0.01, 2) >= 1);
    if (!gsai_loss_has_classes(loss))
        return;
    check("evaluate", loss->name, loss->evaluate(r.m, n_outputs, target.class_number, prediction), step.loss, 1e-14,
          1e-15);
    double unknown = loss->evaluate(r.m, n_outputs, SIZE_MAX, prediction);
    if (loss->has_probabilities) {
        assert_true(unknown == -gsai_log(1e-15) && loss->unknown_loss == unknown);
        return;
    }
    double runner_up = prediction[0], short_of;
    for (size_t j = 1; j < (n_outputs > 1 ? n_outputs : 2); j++)
        runner_up = fmax(runner_up, prediction[j]);
    short_of = fmax(0, 1 + runner_up); /* the margin of a class that is not known is 0 */
    assert_true(unknown == (loss == &gsai_loss_hinge ? short_of : short_of * short_of / 2));
}

static void every_loss_has_the_gradient_of_its_value(void **state)
{
    (void)state;
#define NAME(name) #name,
    static const char *const names[] = {GSAI_LOSSES(NAME) "custom"};
    gsai_rng rng = gsai_rng_of(9, 0, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gsai_loss *loss = gsai_loss_find(names[i]);
        assert_non_null(loss);
        assert_string_equal(loss->name, names[i]);
        for (size_t n_labels = 0; n_labels < 6; n_labels++) {
            bool has_place = gsai_loss_has_classes(loss) ? n_labels > 1 && n_labels <= loss->max_labels : n_labels == 0;
            for (int row = 0; row < 200 && has_place; row++)
                check_steps(loss, gsai_loss_outputs(loss, n_labels), &rng);
        }
    }
    assert_null(gsai_loss_find("auto"));
}

static void the_mean_of_squared_loss_is_reported_as_rmse(void **state)
{
    (void)state;
    double squared_mean = 8, log_mean = 0.25;
    assert_string_equal(gsa_loss_measure("squared", &squared_mean), "rmse");
    assert_true(squared_mean == 4);
    assert_string_equal(gsa_loss_measure("softmax", &log_mean), "log loss");
    assert_true(log_mean == 0.25);
    assert_null(gsa_loss_measure("auto", &log_mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logistic_agrees_with_the_oracle),
        cmocka_unit_test(softmax_agrees_with_the_oracle),
        cmocka_unit_test(softmax_steps_stay_in_their_bounds),
        cmocka_unit_test(the_printed_bound_holds_up_to_twenty_classes),
        cmocka_unit_test(two_class_steps_have_the_known_values),
        cmocka_unit_test(uniform_rows_step_by_a_third_of_the_classes),
        cmocka_unit_test(logistic_is_softmax_of_two_classes),
        cmocka_unit_test(heavy_rows_take_an_implicit_step),
        cmocka_unit_test(a_heavy_row_of_a_hinge_stops_at_its_edge),
        cmocka_unit_test(repeats_begin_at_one_and_grow_without_overshooting),
        cmocka_unit_test(gradients_are_the_slopes_of_the_losses),
        cmocka_unit_test(softmax_ignores_a_common_shift),
        cmocka_unit_test(softmax_ignores_the_order_of_classes),
        cmocka_unit_test(softmax_sums_in_eight_lanes),
        cmocka_unit_test(probabilities_are_those_of_the_step),
        cmocka_unit_test(softmax_is_total),
        cmocka_unit_test(one_class_is_certain),
        cmocka_unit_test(logistic_is_total),
        cmocka_unit_test(squared_loss_is_half_the_square),
        cmocka_unit_test(every_loss_has_the_gradient_of_its_value),
        cmocka_unit_test(the_mean_of_squared_loss_is_reported_as_rmse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
