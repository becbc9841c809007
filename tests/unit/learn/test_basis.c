/* Knots and rows that are bent: against definitions written out, and what damaged files say. */
#include "learn/basis.h"

#include "base/memory.h"
#include "base/rng.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static size_t knots_of(const double *number, const double *weight, size_t n, size_t most, float *knot)
{
    gsai_weighted at[2000];
    for (size_t i = 0; i < n; i++)
        at[i] = (gsai_weighted){number[i], weight ? weight[i] : 1};
    return gsai_knots_choose(at, n, most, knot);
}

static void few_values_are_all_knots(void **unused)
{
    (void)unused;
    const double number[] = {-1, -1, 0, 2, 2, 2, 7};
    float knot[GSAI_MAX_KNOTS];
    assert_int_equal(knots_of(number, NULL, COUNT(number), 4, knot), 4);
    assert_true(knot[0] == -1 && knot[1] == 0 && knot[2] == 2 && knot[3] == 7);
}

/* Of 0, 1, ... 1000 quantile q of 8 is the number at 1000 q / 7, rounded up to a row. */
static void quantiles_are_numbers_that_occur(void **unused)
{
    (void)unused;
    double number[1001];
    float knot[GSAI_MAX_KNOTS];
    for (size_t i = 0; i < COUNT(number); i++)
        number[i] = (double)i;
    assert_int_equal(knots_of(number, NULL, COUNT(number), 8, knot), 8);
    for (size_t q = 0; q < 8; q++) {
        double below = q == 0 ? 0 : ceil(1001.0 * (double)q / 7) - 1;
        assert_true((double)knot[q] == below);
    }
}

/* 0 fills half of the rows and 5 an eighth: they are knots, and the others are quantiles of the rest. */
static void common_values_are_knots_of_their_own(void **unused)
{
    (void)unused;
    double number[800];
    float knot[GSAI_MAX_KNOTS];
    for (size_t i = 0; i < 800; i++)
        number[i] = i < 400 ? 0 : i < 500 ? 5 : 5 + (double)(i - 499) / 10;
    size_t n = knots_of(number, NULL, 800, 8, knot);
    assert_int_equal(n, 8);
    assert_true(knot[0] == 0 && knot[1] == 5 && knot[2] == 5.1F && knot[7] == 35);
    assert_true(fabsf(knot[4] - 17.1F) < 0.11F);
}

static void a_weight_is_a_number_of_repetitions(void **unused)
{
    (void)unused;
    gsai_rng rng = gsai_rng_of(3, 0, 0);
    double number[300], weight[300], repeated[1200];
    float knot[GSAI_MAX_KNOTS], of_repeated[GSAI_MAX_KNOTS];
    size_t n = 0;
    for (size_t i = 0; i < 300; i++) {
        number[i] = (double)(i / 2);
        weight[i] = (double)(1 + gsai_rng_next(&rng) % 4);
        for (size_t k = 0; k < (size_t)weight[i]; k++)
            repeated[n++] = number[i];
    }
    for (size_t most = 3; most <= GSAI_KNOTS_INSIDE; most++) {
        size_t n_knots = knots_of(number, weight, 300, most, knot);
        assert_int_equal(knots_of(repeated, NULL, n, most, of_repeated), n_knots);
        assert_memory_equal(knot, of_repeated, n_knots * sizeof *knot);
    }
}

static void there_is_always_room_for_the_knots(void **unused)
{
    (void)unused;
    double number[2000];
    float knot[GSAI_MAX_KNOTS + 1];
    gsai_rng rng = gsai_rng_of(5, 0, 0);
    for (int round = 0; round < 300; round++) {
        size_t n = 100 + gsai_rng_next(&rng) % 1900, n_common = gsai_rng_next(&rng) % 40;
        for (size_t i = 0; i < n; i++)
            number[i] = gsai_rng_next(&rng) % 8 && n_common > 0 ? (double)(gsai_rng_next(&rng) % n_common)
                                                                : (double)(gsai_rng_next(&rng) % 100000) / 7;
        gsai_weighted at[2000];
        for (size_t i = 0; i < n; i++)
            at[i] = (gsai_weighted){number[i], 1};
        for (size_t i = 1; i < n; i++) /* by insertion */
            for (size_t j = i; j > 0 && at[j - 1].number > at[j].number; j--) {
                gsai_weighted other = at[j];
                at[j] = at[j - 1];
                at[j - 1] = other;
            }
        knot[GSAI_MAX_KNOTS] = 12345;
        size_t n_knots = gsai_knots_choose(at, n, GSAI_KNOTS_INSIDE, knot);
        n_knots = n_knots >= 3 ? gsai_knots_extend(knot, n_knots) : n_knots;
        assert_true(n_knots <= GSAI_MAX_KNOTS && knot[GSAI_MAX_KNOTS] == 12345);
        for (size_t k = 1; k < n_knots; k++)
            assert_true(knot[k] > knot[k - 1]);
    }
}

static const float KNOT[] = {-3, 0, 1, 4, 8, /* of feature 5: */ 2, 4, 7};
static const float SHARE[] = {0, 0.5F, 0.25F, 0.25F, 0, 0, 1, 0};
static const gsai_curve CURVE[] = {{2, 0, 5}, {5, 5, 3}};

static gsai_basis basis_of(uint64_t at)
{
    return (gsai_basis){.at = at,
                        .curve = (gsai_curve *)(uintptr_t)CURVE,
                        .n = 2,
                        .knot = (float *)(uintptr_t)KNOT,
                        .share = (float *)(uintptr_t)SHARE,
                        .n_knots = COUNT(KNOT)};
}

/* Interpolates by looking at all pairs of knots. */
static double interpolated(const float *knot, size_t n, const double *value, double x)
{
    if (x <= (double)knot[0])
        return value[0];
    for (size_t k = 1; k < n; k++)
        if (x <= (double)knot[k])
            return value[k - 1] +
                   (value[k] - value[k - 1]) * (x - (double)knot[k - 1]) / ((double)knot[k] - (double)knot[k - 1]);
    return value[n - 1];
}

static void a_bent_row_has_the_sum_of_its_curves(void **unused)
{
    (void)unused;
    const double value[] = {-0.5, 0, 2, 1, -3, 4, 5, 9}, line = 0.25;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_basis basis, from = basis_of(10);
    gsai_bent bent = {0};
    assert_int_equal(gsai_basis_make(&basis, &from, &env, NULL), GSA_OK);
    for (double x = -20; x <= 20; x += 0.125) {
        const uint32_t index[] = {1, 2, 5, 12};
        const float entry[] = {3, (float)x, 6.5F, 2};
        gsai_row row = {4, index, entry};
        assert_int_equal(gsai_basis_bend_row(&basis, &bent, &env, &row, NULL), GSA_OK);
        double sum = 0,
               expected = 3 * line + interpolated(KNOT, 5, value, x) + interpolated(KNOT + 5, 3, value + 5, 6.5);
        assert_true(row.n <= 8);
        for (size_t i = 0; i < row.n; i++) {
            uint32_t id = row.index[i];
            assert_true(id == 1 || (id >= 10 && id < 18) || id == 20);
            assert_true(id != 11); /* the knot at 0 */
            sum += (id == 1 ? line : id < 18 ? value[id - 10] : 0) * (double)row.value[i];
        }
        assert_true(fabs(sum - expected) < 1e-5);
    }
    /* A dense row; zeros are no cells. */
    const float dense[] = {0, 1, 0, 0, 0, 100, 1};
    gsai_row row = {7, NULL, dense};
    assert_int_equal(gsai_basis_bend_row(&basis, &bent, &env, &row, NULL), GSA_OK);
    double total = 0;
    for (size_t i = 0; i < row.n; i++)
        total += row.index[i] == 17 ? (double)row.value[i] : 0;
    assert_true(total == 1);
    gsai_bent_release(&bent, &env);
    gsai_basis_release(&basis, &env);
}

static void hostile_knots_are_refused(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_basis basis;
    const float bad[] = {NAN, INFINITY, -4, 4};
    for (size_t i = 0; i < COUNT(bad); i++) { /* in place of 1, between 0 and 4 */
        float knot[COUNT(KNOT)];
        memcpy(knot, KNOT, sizeof knot);
        knot[2] = bad[i];
        gsai_basis from = basis_of(10);
        from.knot = knot;
        assert_int_equal(gsai_basis_make(&basis, &from, &env, NULL), GSA_FORMAT);
    }
    const gsai_curve curves[][2] = {{{5, 0, 5}, {2, 5, 3}}, {{2, 0, 5}, {2, 5, 3}},          {{2, 0, 6}, {5, 6, 2}},
                                    {{2, 0, 5}, {5, 4, 3}}, {{2, 0, 5}, {5, 5, UINT32_MAX}}, {{2, 0, 5}, {10, 5, 3}}};
    for (size_t i = 0; i < COUNT(curves); i++) {
        gsai_basis from = basis_of(10);
        from.curve = (gsai_curve *)(uintptr_t)curves[i];
        assert_int_equal(gsai_basis_make(&basis, &from, &env, NULL), GSA_FORMAT);
    }
    gsai_basis from = basis_of((uint64_t)GSA_MAX_ID - 6);
    assert_int_equal(gsai_basis_make(&basis, &from, &env, NULL), GSA_FORMAT);
    from = basis_of((uint64_t)GSA_MAX_ID - 7);
    assert_int_equal(gsai_basis_make(&basis, &from, &env, NULL), GSA_OK);
    gsai_basis_release(&basis, &env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_are_all_knots),
        cmocka_unit_test(quantiles_are_numbers_that_occur),
        cmocka_unit_test(common_values_are_knots_of_their_own),
        cmocka_unit_test(a_weight_is_a_number_of_repetitions),
        cmocka_unit_test(there_is_always_room_for_the_knots),
        cmocka_unit_test(a_bent_row_has_the_sum_of_its_curves),
        cmocka_unit_test(hostile_knots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
