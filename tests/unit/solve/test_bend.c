/* The parts of a curve: what they say of a random walk, computed from its definition. */
#include "solve/bend.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROWS 1500

static int compare(const void *a, const void *b)
{
    const gsai_weighted *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Numbers of a few kinds: all different, with many zeros, without zeros, few values. */
static void fill(gsai_weighted *at, int kind)
{
    gsai_rng rng = gsai_rng_of((uint64_t)kind, 0, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double u = (double)(gsai_rng_next(&rng) % 100000) / 100000;
        double number = kind == 0   ? u * u * 40 - 7
                        : kind == 1 ? (u < 0.6 ? 0 : u * 3)
                        : kind == 2 ? 5 + u
                                    : (double)(int)(u * 6) - 2;
        at[i] = (gsai_weighted){(double)(float)number, 1 + (double)(i % 3)};
    }
    qsort(at, ROWS, sizeof *at, compare);
}

/* The values of all parts for a number, from the value 0 on where 0 is a knot, by interpolation. */
static void parts_at(const gsai_bend *bend, const float *knot, double x, double *part)
{
    size_t k = 1;
    while (k + 1 < bend->n_knots && x > (double)knot[k])
        k++;
    double share = (x - (double)knot[k - 1]) / ((double)knot[k] - (double)knot[k - 1]);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    for (size_t p = 0; p < bend->n_parts; p++)
        part[p] = (1 - share) * (double)bend->matrix[(k - 1) * bend->n_parts + p] +
                  share * (double)bend->matrix[k * bend->n_parts + p];
}

static void parts_are_independent_over_the_rows_and_have_their_variance(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    for (int kind = 0; kind < 4; kind++) {
        gsai_arena arena = {.env = &env};
        gsai_weighted at[ROWS];
        float knot[GSAI_MAX_KNOTS];
        gsai_bend bend = {0};
        double mean[GSAI_MAX_BEND_PARTS] = {0}, product[GSAI_MAX_BEND_PARTS][GSAI_MAX_BEND_PARTS] = {{0}}, total = 0;
        double part[GSAI_MAX_BEND_PARTS], curve = 0;
        fill(at, kind);
        assert_true(gsai_bend_make(at, ROWS, 32, 0.004, &arena, knot, &bend));
        assert_true(bend.n_parts <= GSAI_MAX_BEND_PARTS);
        for (size_t i = 0; i < ROWS; i++) {
            parts_at(&bend, knot, at[i].number, part);
            total += at[i].weight;
            for (size_t p = 0; p < bend.n_parts; p++)
                mean[p] += at[i].weight * part[p];
            for (size_t p = 0; p < bend.n_parts; p++)
                for (size_t q = 0; q < bend.n_parts; q++)
                    product[p][q] += at[i].weight * part[p] * part[q];
        }
        for (size_t p = 0; p < bend.n_parts; p++) {
            assert_true(fabs(mean[p] / total - (double)bend.mean[p]) < 1e-5);
            double variance = product[p][p] / total - mean[p] / total * (mean[p] / total);
            assert_true(fabs(variance - bend.variance[p]) < 1e-5);
            curve += p > 0 ? variance : 0;
            for (size_t q = 1; q < p; q++)
                assert_true(fabs(product[p][q] / total - mean[p] / total * (mean[q] / total)) < 1e-5);
        }
        assert_true(fabs(bend.variance[0] - 1) < 1e-12);
        assert_true(curve <= 0.25 + 1e-5 && curve > 0.25 * 0.9); /* those left out are below .4 % each */
        gsai_arena_release(&arena);
    }
}

/* Of three values a and b and c the walk has two steps of equal variance: parts that are all there give back its
 * covariance, that of steps between neighbours is 0. */
static void steps_between_knots_are_independent_before_the_rows(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_arena arena = {.env = &env};
    gsai_weighted at[90];
    float knot[GSAI_MAX_KNOTS];
    gsai_bend bend = {0};
    for (size_t i = 0; i < 90; i++)
        at[i] = (gsai_weighted){i < 20 ? 1 : i < 60 ? 2 : 7, 1};
    assert_true(gsai_bend_make(at, 90, 4, 0.004, &arena, knot, &bend));
    assert_int_equal(bend.n_knots, 6);
    assert_int_equal(bend.n_parts, 3);
    assert_true(knot[0] == -5 && knot[1] == 0 && knot[2] == 1 && knot[3] == 2 && knot[4] == 7 && knot[5] == 13);
    double first = 0, second = 0, both = 0;
    for (size_t p = 1; p < 3; p++) {
        double a = (double)bend.matrix[3 * 3 + p] - (double)bend.matrix[2 * 3 + p];
        double b = (double)bend.matrix[4 * 3 + p] - (double)bend.matrix[3 * 3 + p];
        first += a * a;
        second += b * b;
        both += a * b;
    }
    /* Steps behind 70 and 30 of 90 rows: variances 14/81 and 18/81 over the rows, together 32/81 of the scale. */
    double scale = 0.25 / (70.0 / 90 * (20.0 / 90) + 30.0 / 90 * (60.0 / 90));
    assert_true(fabs(first - scale) < 1e-6 && fabs(second - scale) < 1e-6 && fabs(both) < 1e-6);
    for (size_t p = 1; p < 3; p++) { /* constant outside; the line goes on */
        assert_true(bend.matrix[p] == bend.matrix[6 + p] && bend.matrix[15 + p] == bend.matrix[12 + p]);
    }
    assert_true(bend.matrix[0] < bend.matrix[3] && bend.matrix[15] > bend.matrix[12]);
    for (size_t p = 0; p < 3; p++) /* measured from 0, where nothing is */
        assert_true(bend.matrix[3 + p] == 0);
    assert_true(fabs((double)bend.share[2] - 20.0 / 90) < 1e-6 && bend.share[1] == 0 && bend.share[5] == 0);
    gsai_arena_release(&arena);
}

/* The parts of a curve with a sign ascend: the line everywhere, each step between two knots; together they have the
 * variance of the walk. */
static void parts_with_a_sign_are_the_line_and_one_step_each(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    for (int kind = 0; kind < 4; kind++) {
        gsai_arena arena = {.env = &env};
        gsai_weighted at[ROWS];
        float knot[GSAI_MAX_KNOTS];
        gsai_bend bend = {0};
        double curve = 0;
        fill(at, kind);
        assert_true(gsai_bend_make(at, ROWS, 32, -1, &arena, knot, &bend));
        assert_true(bend.n_parts > 2 && bend.n_parts <= GSAI_MAX_BEND_PARTS);
        for (size_t p = 0; p < bend.n_parts; p++) {
            size_t n_steps = 0;
            curve += p > 0 ? bend.variance[p] : 0;
            for (size_t i = 1; i < bend.n_knots; i++) {
                float low = bend.matrix[(i - 1) * bend.n_parts + p], high = bend.matrix[i * bend.n_parts + p];
                assert_true(p > 0 ? high >= low : high > low);
                n_steps += high > low;
            }
            assert_true(p == 0 || (n_steps >= 1 && n_steps <= 2)); /* two where a knot at 0 is between */
        }
        assert_true(fabs(curve - 0.25) < 1e-5);
        gsai_arena_release(&arena);
    }
}

static void two_values_have_no_curve(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_arena arena = {.env = &env};
    gsai_weighted at[100];
    float knot[GSAI_MAX_KNOTS];
    gsai_bend bend = {0};
    for (size_t i = 0; i < 100; i++)
        at[i] = (gsai_weighted){i < 50 ? 0 : 1, 1};
    assert_false(gsai_bend_make(at, 100, 32, 0.004, &arena, knot, &bend));
    assert_false(gsai_bend_make(at, 1, 32, 0.004, &arena, knot, &bend));
    gsai_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_independent_over_the_rows_and_have_their_variance),
        cmocka_unit_test(steps_between_knots_are_independent_before_the_rows),
        cmocka_unit_test(parts_with_a_sign_are_the_line_and_one_step_each),
        cmocka_unit_test(two_values_have_no_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
