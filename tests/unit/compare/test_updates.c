/* Three rows by hand, for every method: numbers worked out on paper, beside the arithmetic.
 *
 * Squared loss, no intercept, two features; g = w.x - y, the gradient is g x:
 *   A: x = (1, 0), y = 1      B: x = (0, 2), y = 2      C: x = (1, 1), y = 0
 * in this order, so that the first feature has to be caught up with at C. */
#include "unit/compare/problems.h"

#include <math.h>

static toy *three_rows(void)
{
    rows *r = rows_new();
    rows_entry(r, 0, 1);
    rows_end(r, 1);
    rows_entry(r, 1, 2);
    rows_end(r, 2);
    rows_entry(r, 0, 1);
    rows_entry(r, 1, 1);
    rows_end(r, 0);
    return toy_of(r, &gsai_loss_squared, 2, 1, false);
}

/* Weights after the given pass over A, B, C. */
static void expect_after(const char *text, uint64_t seed, int passes, double w0, double w1)
{
    toy *t = three_rows();
    gsai_optimizer *o = optimizer_of(t, text, seed);
    double w[3];
    for (int pass = 0; pass < passes; pass++)
        pass_over(o, t);
    gsai_optimizer_weights(o, w);
    assert_close(w[0], 0, 0);
    assert_close(w[1], w0, 1e-14 * fabs(w0));
    assert_close(w[2], w1, 1e-14 * fabs(w1));
    gsai_optimizer_free(o);
    toy_free(t);
}

static void expect(const char *text, double w0, double w1)
{
    expect_after(text, 0, 1, w0, w1);
}

/* r = 1/2. A: g = -1, w = (1/2, 0). B: g = -2, w = (1/2, 2). C: g = 5/2, w -= 5/4. */
static void sgd_by_hand(void **state)
{
    (void)state;
    expect("sgd:0.5", -0.75, 0.75);
}

/* r = 1/2, t0 = 2: steps 1/2, 1/3, 1/4. A: (1/2, 0). B: (1/2, 4/3). C: g = 11/6, w -= 11/24.
 * t0 = 1: steps 1/2, 1/4, 1/6. A: (1/2, 0). B: (1/2, 1). C: g = 3/2, w -= 1/4. */
static void sgd_decay_by_hand(void **state)
{
    (void)state;
    expect("sgd-decay:0.5:2", 1.0 / 24, 7.0 / 8);
    expect("sgd-decay:0.5", 0.25, 0.75);
}

/* r = 1/2, beta = 1/2. A: v = (1/2, 0), w = (1/2, 0). B: v = (1/4, 2), w = (3/4, 2).
 * C: g = 11/4, v = (1/8 - 11/8, 1 - 11/8) = (-5/4, -3/8), w = (-1/2, 13/8). */
static void momentum_by_hand(void **state)
{
    (void)state;
    expect("momentum:0.5:0.5", -0.5, 1.625);
}

/* r = 1/2. A: S = (-1, 0), w = (1/2, 0). B: S = (-1, -4), w -= S/4: (3/4, 1).
 * C: g = 7/4, S = (3/4, -9/4), w -= S/6: (5/8, 11/8). */
static void gradient_average_by_hand(void **state)
{
    (void)state;
    expect("gradient-average:0.5", 0.625, 1.375);
}

/* The iterates of sgd are (1/2, 0), (1/2, 2), (-3/4, 3/4). */
static void iterate_average_by_hand(void **state)
{
    (void)state;
    expect("iterate-average:0.5", 0.25 / 3, 2.75 / 3);
}

/* r = 1, eps as good as 0. A: G = (1, 0), w = (1, 0). B: gradient -4, G = (1, 16), w = (1, 1).
 * C: g = 2, G = (5, 20), w -= 2 / sqrt G.
 * eps = 1: A: w0 = 1/sqrt 2. B: w1 = 4/sqrt 17. C: g = m, G = (1 + m^2, 16 + m^2). */
static void adagrad_by_hand(void **state)
{
    (void)state;
    expect("adagrad:1:1e-300", 1 - 2 / sqrt(5), 1 - 1 / sqrt(5));
    double a = 1 / sqrt(2), b = 4 / sqrt(17), m = a + b;
    expect("adagrad:1:1", a - m / sqrt(2 + m * m), b - m / sqrt(17 + m * m));
}

/* eps = 1, gamma = 1/2. A: E = 1/2, D = 1 / sqrt(3/2), E[D^2] = 1/3. B: feature 0 decays to 1/4 and 1/6; feature 1:
 * E = 16/2, D = 4/sqrt 9, E[D^2] = 8/9. C: g = m, E = (1/8 + m^2/2, 4 + m^2/2), D = -sqrt(E[D^2] + 1) / sqrt(E + 1) m.
 * Plain means: A: E = 1, D = 1/sqrt 2. B: E = 16/2, D = 4/3. C: E = ((1 + m^2)/3, (16 + m^2)/3), E[D^2] over the two
 * rows before: (1/4, 8/9). */
static void adadelta_by_hand(void **state)
{
    (void)state;
    double a = sqrt(2.0 / 3), b = 4.0 / 3, m = a + b;
    expect("adadelta:1:0.5", a - sqrt(7.0 / 6) / sqrt(9.0 / 8 + m * m / 2) * m,
           b - sqrt(17.0 / 9) / sqrt(5 + m * m / 2) * m);
    a = 1 / sqrt(2), m = a + b;
    expect("adadelta:1", a - sqrt(5.0 / 4) / sqrt((4 + m * m) / 3) * m,
           b - sqrt(17.0 / 9) / sqrt((19 + m * m) / 3) * m);
}

/* r = 1/2. The first pass is that of gradient averaging: (5/8, 11/8), D = (3/4, -9/4), memories -1, -2, 7/4. Then
 *   A: g = -3/8, D = (11/8, -9/4), w -= D/6: (19/48, 7/4)
 *   B: g = 3/2,  D = (11/8, 19/4), w -= D/6: (1/6, 23/24)
 *   C: g = 9/8,  D = (3/4, 33/8),  w -= D/6: (1/24, 13/48) */
static void sag_by_hand(void **state)
{
    (void)state;
    expect("sag:0.5", 0.625, 1.375);
    expect_after("sag:0.5", 0, 2, 1.0 / 24, 13.0 / 48);
}

/* r = 1/2, n = 3.
 *   A: g = -1,  w = (1/2, 0), D = (-1, 0)
 *   B: g = -2,  w += (1/6, 2): (2/3, 2), D = (-1, -4)
 *   C: g = 8/3, w -= (8/3 - 1/3, 8/3 - 4/3)/2: (-1/2, 4/3), D = (5/3, -4/3)
 *   A: g = -3/2, change -1/2, w -= (-1/2 + 5/9, -4/9)/2: (-19/36, 14/9), D = (7/6, -4/3)
 *   B: g = 10/9, change 28/9, w -= (7/18, 56/9 - 4/9)/2: (-13/18, -4/3), D = (7/6, 44/9)
 *   C: g = -37/18, change -85/18, w -= (-85/18 + 7/18, -85/18 + 44/27)/2: (13/9, 23/108) */
static void saga_by_hand(void **state)
{
    (void)state;
    expect("saga:0.5", -0.5, 4.0 / 3);
    expect_after("saga:0.5", 0, 2, 13.0 / 9, 23.0 / 108);
}

/* r = 1/2. At v = 0: mu = (-1/3, -4/3).
 *   A: no change, w = (1/6, 2/3).  B: g(w) - g(v) = 4/3, w -= (-1/3, 8/3 - 4/3)/2: (1/3, 0)
 *   C: g(w) - g(v) = 1/3, w -= (0, -1)/2: (1/3, 1/2)
 * At v = (1/3, 1/2): g = -2/3, -1, 5/6, mu = (1/18, -7/18).
 *   A: w = (11/36, 25/36).  B: change 7/18, w -= (1/18, 7/9 - 7/18)/2: (10/36, 18/36)
 *   C: change -1/18, w -= (0, -8/18)/2: (5/18, 13/18) */
static void svrg_by_hand(void **state)
{
    (void)state;
    expect("svrg:0.5", 1.0 / 3, 0.5);
    expect_after("svrg:0.5", 0, 2, 5.0 / 18, 13.0 / 18);
}

/* A seed whose first snapshot serves two rows if B = 2: the first draw u has 1/4 < u <= 1/2. */
static uint64_t seed_of_two(void)
{
    for (uint64_t seed = 0;; seed++) {
        gsai_rng rng = gsai_rng_of(seed, 0x0B5E, 0);
        double u = gsai_rng_unit(&rng);
        if (u > 0.25 && u <= 0.5)
            return seed;
    }
}

/* B = 1: the snapshot's gradient is the row's own, which is sgd.
 * r = 1/2, B = 2: A and B at v = 0: mu = (-1/2, -2). A: (1/4, 1). B: change 2, w -= (-1/2, 4 - 2)/2: (1/2, 0).
 * C and (around the corner) A at v = (1/2, 0): g = 1/2, -1/2, mu = (0, 1/4). C: w = (1/2, -1/8). */
static void scsg_by_hand(void **state)
{
    (void)state;
    expect("scsg:0.5:1", -0.75, 0.75);
    expect_after("scsg:0.5:2", seed_of_two(), 1, 0.5, -0.125);
}

/* A: h = 1: L = G = T = 1, R = 0, w0 = 1/(1 * 2) = 1/2. B: h = 4: L = G = T = 4, w1 = 4/(4 * 8) * 4 = 1/2.
 * C: m = 1, h = -1: (L, G, R, T) = (1, 2, 0, 0) and (4, 5, 0, 3), w = (0, 3/(4 * 9) * 4) = (0, 1/3).
 * A: h = 1: (1, 3, 0, 1), w0 = 1/4. B: h = 8/3: (4, 23/3, 8/9, 17/3), w1 = 17/3 / (4 * 35/3) * 44/9 = 187/315.
 * C: h = -m, m = 1/4 + 187/315 = 1063/1260: (1, 3 + m, 0, 1 - m) and (4, 23/3 + m, 8/9 - 187/315 m, 17/3 - m).
 * alpha = 100: A: w0 = 1/100. B: w1 = 4/(4 * 400) * 4 = 1/100. C: h = -1/50:
 * (1, 51/50, 0, 49/50) and (4, 201/50, 0, 199/50), w = (49/5000, 199/20000). */
static void coin_by_hand(void **state)
{
    (void)state;
    double m = 1063.0 / 1260;
    expect("coin", 0, 1.0 / 3);
    expect_after("coin", 0, 2, (1 - m) / (4 + m),
                 (17.0 / 3 - m) / (4 * (35.0 / 3 + m)) * (4 + 8.0 / 9 - 187.0 / 315 * m));
    expect("coin:100", 49.0 / 5000, 199.0 / 20000);
}

/* In units of d = 1e-6. A: S = 1, w = (1, 0) d. B: S = 17, w = (1, 4/sqrt 17) d. C: |w|^2 = 33/17 d^2 is the farthest;
 * g = m, S = 17 + 2 m^2. Shares of the average: 1, then 9/10, then 9/11. */
static void dog_by_hand(void **state)
{
    (void)state;
    double d = 1e-6, b = 4 / sqrt(17) * d, m = d + b;
    double move = sqrt(33.0 / 17) * d / sqrt(17 + 2 * m * m) * m;
    expect("dog", 2.0 / 11 * d + 9.0 / 11 * (d - move), 2.0 / 11 * 0.9 * b + 9.0 / 11 * (b - move));
}

/* Squared loss: step = 1/(2 c xx). c = 1/2, bound 1, then the last step times 2^(1/3): A: 1, w = (1, 0). B: 1/4,
 * w = (1, 1). C: 1/2 is bounded by 2^(1/3)/4, g = 2. Then m = 2 - 2^(1/3), and A: 1 is bounded by 2^(2/3)/4,
 * g = -2^(1/3)/2, and so on; a bound without effect: each row to its target: (1, 0), (1, 1), (0, 0).
 * c = 1, constant bound 1/5: steps 1/5, 1/8, 1/5: (1/5, 0), (1/5, 1/2), C: g = 7/10, w -= 7/50. */
static void polyak_by_hand(void **state)
{
    (void)state;
    double w = 1 - cbrt(2) / 2, step = cbrt(4) / 4, w0 = w + step * (1 - w);
    step = 0.25; /* cbrt(2) times the last is 1/2 */
    double w1 = w + step * 2 * (2 - 2 * w);
    step *= cbrt(2);
    expect("polyak", w, w);
    expect_after("polyak", 0, 2, w0 - step * (w0 + w1), w1 - step * (w0 + w1));
    expect("polyak:0.5:1e6:0", 0, 0);
    expect("polyak:1:0.2:0", 0.06, 0.36);
}

/* alpha = 1, beta = 1, nothing penalised: steps 1 / (1 + sqrt N). A: w0 = 1/2. B: h = -4, w1 = 4/5. C: g = 13/10,
 * N = (1 + g^2, 16 + g^2).
 * L1 = 1/2, L2 = 1. A: h = -1, z = -1, N = 1, w0 = (1 - 1/2) / (2 + 1) = 1/6. B: h = -4, z = -4, w1 = (7/2) / (5 + 1) =
 * 7/12. C: g = 3/4, z0 = -1 + 3/4 - (5/4 - 1)/6 = -7/24, within L1: w0 = 0; z1 = -4 + 3/4 - (sqrt(16 + 9/16) - 4) 7/12.
 */
static void ftrl_by_hand(void **state)
{
    (void)state;
    double g = 1.3, root = sqrt(16 + 9.0 / 16);
    expect("ftrl:1", 0.5 - g / (1 + sqrt(1 + g * g)), 0.8 - g / (1 + sqrt(16 + g * g)));
    expect("ftrl:1:1:0.5:1", 0, (4 - 0.75 + (root - 4) * 7 / 12 - 0.5) / (1 + root + 1));
}

/* r = 1/2, beta = 1/2, no warmup: c = 1, 1/2, 1/3. A: y = 0, z = x = (1/2, 0). B: y1 = 0, g = -2, z = (1/2, 2),
 * x = (1/2, 1). C: y = (1/2, 3/2), g = 2, z = (-1/2, 1), x = (1/6, 1).
 * Warmup over the pass: r = 1/6, 1/3, 1/2, squares 1, 4, 9 of 36: c = 1, 4/5, 9/14. A: z = x = (1/6, 0). B: g = -2,
 * z = (1/6, 4/3), x = (1/6, 16/15). C: y = (1/6, 6/5), g = 41/30, z -= 41/60: (-31/60, 39/60),
 * x = (5 (1/6) - 9 (31/60), 5 (16/15) + 9 (39/60)) / 14. */
static void schedule_free_by_hand(void **state)
{
    (void)state;
    expect("schedule-free:0.5:0.5:0", 1.0 / 6, 1);
    expect("schedule-free:0.5:0.5:1", (50.0 - 279) / 840, (320.0 + 351) / 840);
}

/* P = 2 of 3 rows: {A, B} and {C}. Greedy steps 1/xx: A 1, B 1/4 (mean 5/8), C 1/2.
 * Pass 1: (1, 5/2) and (0, 0): (1/2, 5/4). Pass 2: A: w0 = 1; B: g = 1/2, w1 = 5/4 - 5/8; C: g = 7/4, w -= 7/8:
 * (1, 5/8) and (-3/8, 3/8): (5/16, 1/2).
 * P = 3: A (1, 0), B (0, 1), C (0, 0). */
static void fregata_by_hand(void **state)
{
    (void)state;
    expect("fregata:2", 0.5, 1.25);
    expect_after("fregata:2", 0, 2, 0.3125, 0.5);
    expect("fregata:3", 1.0 / 3, 1.0 / 3);
    expect("fregata:8", 1.0 / 3, 1.0 / 3);
}

/* One row x = 2 with an intercept, y = 1. At w = 0: p = 1/2, loss = log 2, g = -1/2, |gradient|^2 = 5/4.
 * polyak, c = 1/2: step = log 2 / (5/8), w = step/2 (1, 2). sgd, r = 1: (1/2, 1), then m = 5/2 and 1 - p more.
 * Three classes, y = 2: p = 1/3, w = r (-1/3, -1/3, 2/3) (1, 2), |gradient|^2 = 6/9 * 5. */
static void probabilities_by_hand(void **state)
{
    (void)state;
    for (size_t n_outputs = 1; n_outputs <= 3; n_outputs += 2) {
        rows *r = rows_new();
        rows_entry(r, 0, 2);
        rows_end(r, n_outputs == 1 ? 1 : 2);
        toy *t = toy_of(r, n_outputs == 1 ? &gsai_loss_logistic : &gsai_loss_softmax, 1, n_outputs, true);
        gsai_optimizer *sgd = optimizer_of(t, "sgd:1", 0), *polyak = optimizer_of(t, "polyak", 0);
        pass_over(sgd, t);
        pass_over(polyak, t);
        if (n_outputs == 1) {
            assert_close(sgd->w[0], 0.5, 1e-15);
            assert_close(polyak->w[1], log(2) / 0.625, 1e-14);
            pass_over(sgd, t);
            assert_close(sgd->w[1], 1 + 2 / (1 + exp(2.5)), 1e-14);
        } else {
            assert_close(sgd->w[0], -1.0 / 3, 1e-15);
            assert_close(sgd->w[5], 4.0 / 3, 1e-15);
            assert_close(polyak->w[2], log(3) / (5.0 / 3) * 2 / 3, 1e-14);
            assert_close(polyak->w[3], log(3) / (5.0 / 3) * -2 / 3, 1e-14);
        }
        gsai_optimizer_free(sgd);
        gsai_optimizer_free(polyak);
        toy_free(t);
    }
}

/* The step for the report: what the last row took, NaN where every weight has its own. */
static void last_steps_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double step;
    } told[] = {
        {"sgd:0.5", 0.5},        {"sgd-decay:0.5:2", 0.25}, {"momentum:0.5", 0.5}, {"gradient-average:0.5", 0.5 / 3},
        {"saga:0.5", 0.5},       {"svrg:0.5", 0.5},         {"scsg:0.5:2", 0.5},   {"polyak:0.5:9:0", 0.5},
        {"fregata:1", 7.0 / 12}, {"adagrad:1", NAN},        {"adadelta:1", NAN},   {"coin", NAN},
        {"ftrl:1", NAN},         {"schedule-free:0.5", 0.5}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        toy *t = three_rows();
        gsai_optimizer *o = optimizer_of(t, told[i].text, 0);
        assert_true(isnan(o->last_step));
        pass_over(o, t);
        if (isnan(told[i].step))
            assert_true(isnan(o->last_step));
        else
            assert_close(o->last_step, told[i].step, 1e-15);
        gsai_optimizer_free(o);
        toy_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_by_hand),
        cmocka_unit_test(sgd_decay_by_hand),
        cmocka_unit_test(momentum_by_hand),
        cmocka_unit_test(gradient_average_by_hand),
        cmocka_unit_test(iterate_average_by_hand),
        cmocka_unit_test(adagrad_by_hand),
        cmocka_unit_test(adadelta_by_hand),
        cmocka_unit_test(sag_by_hand),
        cmocka_unit_test(saga_by_hand),
        cmocka_unit_test(svrg_by_hand),
        cmocka_unit_test(scsg_by_hand),
        cmocka_unit_test(coin_by_hand),
        cmocka_unit_test(dog_by_hand),
        cmocka_unit_test(polyak_by_hand),
        cmocka_unit_test(ftrl_by_hand),
        cmocka_unit_test(schedule_free_by_hand),
        cmocka_unit_test(fregata_by_hand),
        cmocka_unit_test(probabilities_by_hand),
        cmocka_unit_test(last_steps_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
