/* Algorithm 2: the search for the greedy step of a loss that is known only by two functions. */
#include "learn/loss/loss.h"

#include "golden/golden.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- losses by their derivative; ctx counts the calls ------------------------------------------------------------ */

typedef double (*slope_fn)(double m, double y);

typedef struct counted {
    slope_fn slope;
    size_t n_calls;
} counted;

static double counted_slope(void *ctx, double m, double y)
{
    counted *c = ctx;
    c->n_calls++;
    return c->slope(m, y);
}

static double no_value(void *ctx, double m, double y)
{
    (void)ctx, (void)m, (void)y;
    return 0;
}

static double squared(double m, double y)
{
    return m - y;
}
/* With the digits of its tail, down to 1e-308. */
static double logistic(double m, double y)
{
    return -y / (1 + exp(y * m));
}
/* As most people write it: exactly 0 from m = 37 on. */
static double logistic_rounded(double m, double y)
{
    return 1 / (1 + exp(-m)) - (y > 0);
}
static double pseudo_huber(double m, double y)
{
    return (m - y) / sqrt(1 + (m - y) * (m - y));
}
static double hinge(double m, double y)
{
    return y * m < 1 ? -y : 0;
}
static double squared_hinge(double m, double y)
{
    return -2 * y * fmax(0, 1 - y * m);
}
static double cubic_hinge(double m, double y)
{
    return -3 * y * pow(fmax(0, 1 - y * m), 2);
}
static double quartic(double m, double y)
{
    return (m - y) * (m - y) * (m - y);
}
static double absolute(double m, double y)
{
    return m > y ? 1 : m < y ? -1 : 0;
}
/* No loss within 1 of the label. */
static double insensitive(double m, double y)
{
    return m > y + 1 ? m - y - 1 : m < y - 1 ? m - y + 1 : 0;
}
static double straight(double m, double y)
{
    (void)m, (void)y;
    return -1;
}
/* A logistic loss with a little weight decay: a minimiser far out in the tail. */
static double decayed(double m, double y)
{
    return logistic(m, y) + 1e-6 * m;
}
static double wavy(double m, double y)
{
    return sin(m * 1e3) + y;
}
static double stairs(double m, double y)
{
    return floor(m - y);
}
static double not_a_number(double m, double y)
{
    return m == y ? 1 : NAN;
}
static double huge(double m, double y)
{
    return (m - y) * 1e300;
}

static double search(slope_fn slope, double m, double y, size_t *n_calls)
{
    counted c = {slope, 0};
    gsa_margin_loss loss = {.size = sizeof loss, no_value, counted_slope, &c};
    double lambda = gsai_search_lambda(&loss, m, y, slope(m, y));
    if (n_calls)
        *n_calls = c.n_calls;
    return lambda;
}

static void check(const char *what, double got, double expected, double relative)
{
    if (!(fabs(got - expected) <= relative * fabs(expected)))
        fail_msg("%s is %.17g, expected %.17g", what, got, expected);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static slope_fn slope_named(const char *name)
{
    static const struct {
        const char *name;
        slope_fn slope;
    } slopes[] = {{"squared", squared},
                  {"logistic", logistic},
                  {"pseudo_huber", pseudo_huber},
                  {"squared_hinge", squared_hinge},
                  {"quartic", quartic}};
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++)
        if (strcmp(slopes[i].name, name) == 0)
            return slopes[i].slope;
    fail_msg("steps.csv names %s, which is no loss here", name);
    return NULL;
}

/* The margin m - lambda g carries an ulp of m, so that lambda can be no better than 2^-52 |m| / |lambda g|; a triple
 * root is flat, and its place is known to the cube root of that only. */
static void search_agrees_with_the_oracle(void **state)
{
    (void)state;
    FILE *file = fopen(GSA_GOLDEN_DIR "/steps.csv", "r");
    assert_non_null(file);
    golden_line line;
    size_t n = 0;
    for (; golden_next(file, "search", 6, &line); n++) {
        double m = golden_number(&line, 2), y = golden_number(&line, 3), g = golden_number(&line, 4);
        double expected = golden_number(&line, 5);
        counted c = {slope_named(line.field[1]), 0};
        gsa_margin_loss loss = {.size = sizeof loss, no_value, counted_slope, &c};
        double got = gsai_search_lambda(&loss, m, y, g);
        double ulps = 4 * 0x1p-52 * fabs(m) / (fabs(expected * g) + 1e-300);
        check(line.text, got, expected, strcmp(line.field[1], "quartic") == 0 ? 1e-11 : 1e-12 + ulps);
    }
    fclose(file);
    assert_true(n >= 25);
}

static void no_gradient_means_no_step(void **state)
{
    (void)state;
    assert_true(search(squared, 3, 3, NULL) == 0);
    assert_true(search(hinge, 2, 1, NULL) == 0);
}

static void flat_bottoms_are_entered_at_the_near_edge(void **state)
{
    (void)state;
    check("hinge", search(hinge, -4, 1, NULL), 5, 1e-12);
    check("hinge, other class", search(hinge, 0.5, -1, NULL), 1.5, 1e-12);
    check("squared hinge", search(squared_hinge, -4, 1, NULL), 0.5, 1e-12);
    check("cubic hinge", search(cubic_hinge, -4, 1, NULL), 5 / 75.0, 1e-9);
    check("insensitive", search(insensitive, 10, 2, NULL), 1, 1e-12);
    check("absolute", search(absolute, 10, 2.7, NULL), 7.3, 1e-12);
}

/* Both tails fall for ever: the target is |l'| = 0.05 |g|, whether the digits run out at 745 or at 37. */
static void tails_without_digits_are_no_bottoms(void **state)
{
    (void)state;
    for (double m = -30; m <= 4; m += 1.7) {
        double expected = search(logistic, m, 1, NULL);
        check("left over", logistic(m - expected * logistic(m, 1), 1), 0.05 * logistic(m, 1), 1e-10);
        check("rounded logistic", search(logistic_rounded, m, 1, NULL), expected, 1e-9);
        check("rounded logistic, other class", search(logistic_rounded, -m, 0, NULL), expected, 1e-9);
    }
}

static void a_minimiser_in_the_tail_is_found(void **state)
{
    (void)state;
    double lambda = search(decayed, 0, 1, NULL);
    double there = -lambda * decayed(0, 1);
    assert_true(there > 11 && there < 12 && fabs(decayed(there, 1)) < 1e-16);
}

static void a_straight_line_has_no_step(void **state)
{
    (void)state;
    assert_true(search(straight, 0, 0, NULL) == 0);
}

static void search_is_quick(void **state)
{
    (void)state;
    size_t n_calls;
    (void)search(squared, -17, 4, &n_calls);
    assert_true(n_calls <= 8);
    (void)search(pseudo_huber, 0, 100, &n_calls);
    assert_true(n_calls <= 30);
    (void)search(logistic, 0, 1, &n_calls);
    assert_true(n_calls <= 50);
    (void)search(squared_hinge, -4, 1, &n_calls);
    assert_true(n_calls <= 40);
}

static void nonsense_ends_with_a_finite_number(void **state)
{
    (void)state;
    static const slope_fn slopes[] = {wavy, stairs, not_a_number, huge, straight, absolute, quartic, cubic_hinge};
    static const double values[] = {0, 1, -1, 0.3, 1e-300, 1e4, -1e4, 1e300, -1e300, 1.7e308, 5e-324};
    for (size_t s = 0; s < sizeof slopes / sizeof *slopes; s++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
                double g = slopes[s](values[i], values[j]);
                counted c = {slopes[s], 0};
                gsa_margin_loss loss = {.size = sizeof loss, no_value, counted_slope, &c};
                double lambda = gsai_search_lambda(&loss, values[i], values[j], isfinite(g) ? g : 1);
                assert_true(isfinite(lambda) && lambda >= 0);
                assert_true(c.n_calls < 1500);
            }
}

static void a_tiny_gradient_does_not_overflow(void **state)
{
    (void)state;
    counted c = {squared_hinge, 0};
    gsa_margin_loss loss = {.size = sizeof loss, no_value, counted_slope, &c};
    assert_true(isfinite(gsai_search_lambda(&loss, 0, 1, -5e-324)));
    assert_true(isfinite(gsai_search_lambda(&loss, 1e300, -1, 5e-324)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_agrees_with_the_oracle),
        cmocka_unit_test(no_gradient_means_no_step),
        cmocka_unit_test(flat_bottoms_are_entered_at_the_near_edge),
        cmocka_unit_test(tails_without_digits_are_no_bottoms),
        cmocka_unit_test(a_minimiser_in_the_tail_is_found),
        cmocka_unit_test(a_straight_line_has_no_step),
        cmocka_unit_test(search_is_quick),
        cmocka_unit_test(nonsense_ends_with_a_finite_number),
        cmocka_unit_test(a_tiny_gradient_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
