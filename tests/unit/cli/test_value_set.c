/* How many different values, and which are frequent: against counts that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "value_set.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Three standard errors of 1.04 / sqrt(4096). */
#define MOST_ERROR 0.05

/* Bits of floats differ in few places, hashes everywhere: both are values here. */
static uint64_t value_of(int sort, uint64_t number)
{
    float x = (float)number / 8;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return sort == 0 ? number : sort == 1 ? (uint64_t)bits : number * UINT64_C(0x9E3779B97F4A7C15);
}

static void few_values_are_counted_exactly(void **state)
{
    (void)state;
    for (int sort = 0; sort < 3; sort++) {
        value_set set;
        assert_true(value_set_init(&set, 64, false));
        for (uint64_t i = 0; i < 6400; i++)
            assert_true(value_set_add(&set, value_of(sort, i % 10), 0));
        assert_null(set.sketch);
        assert_int_equal(value_set_count(&set), 10);
        for (uint64_t i = 0; i < 64; i++)
            assert_true(value_set_add(&set, value_of(sort, i), 0));
        assert_null(set.sketch);
        assert_int_equal(value_set_count(&set), 64);
        value_set_free(&set);
    }
}

static void many_values_are_estimated_within_five_percent(void **state)
{
    (void)state;
    static const uint64_t counts[] = {65, 100, 1000, 4096, 10000, 12000, 100000, 1000000};
    double squares = 0;
    for (int sort = 0; sort < 3; sort++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            value_set set;
            assert_true(value_set_init(&set, 64, c % 2 == 0));
            for (int again = 0; again < 2; again++) /* what comes once more is not another */
                for (uint64_t i = 0; i < counts[c]; i++)
                    assert_true(value_set_add(&set, value_of(sort, i), 0));
            assert_non_null(set.sketch);
            double error = (double)value_set_count(&set) / (double)counts[c] - 1;
            squares += error * error;
            assert_true(fabs(error) <= MOST_ERROR);
            value_set_free(&set);
        }
    assert_true(sqrt(squares / 24) <= 0.02);
}

static void an_estimate_is_never_more_than_was_added_nor_less_than_was_seen(void **state)
{
    (void)state;
    for (uint64_t n = 65; n < 500; n++) {
        value_set set;
        assert_true(value_set_init(&set, 64, false));
        for (uint64_t i = 0; i < n; i++)
            assert_true(value_set_add(&set, value_of(1, i), 0));
        assert_in_range(value_set_count(&set), 65, n);
        value_set_free(&set);
    }
}

/* The mean over many independent sets, small and large, shows that nothing is left of the bias of the plain estimate.
 */
static void the_estimate_has_no_bias(void **state)
{
    (void)state;
    static const uint64_t counts[] = {500, 8000, 11000, 20000};
    for (size_t c = 0; c < 4; c++) {
        double sum = 0;
        for (uint64_t round = 0; round < 60; round++) {
            sketch of = {{0}};
            for (uint64_t i = 0; i < counts[c]; i++)
                sketch_add(&of, gsai_mix(round << 40 | i));
            sum += sketch_count(&of) / (double)counts[c];
        }
        assert_true(fabs(sum / 60 - 1) <= 0.008); /* 0.016 / sqrt(60) = 0.002 */
    }
}

static void an_empty_sketch_counts_nothing(void **state)
{
    (void)state;
    sketch of = {{0}};
    assert_true(sketch_count(&of) == 0);
    sketch_add(&of, gsai_mix(0));
    assert_true(fabs(sketch_count(&of) - 1) < 0.01);
}

/* Value v comes in proportion to 1 / (v + 1), among 100000 others. */
static void frequent_values_stay_and_their_counts_are_bounds(void **state)
{
    (void)state;
    enum { VALUES = 100000, ROWS = 1000000, CAPACITY = 64 };
    uint64_t *truth = calloc(VALUES, sizeof *truth), seed = 7;
    value_set set;
    assert_non_null(truth);
    assert_true(value_set_init(&set, CAPACITY, true));
    for (int i = 0; i < ROWS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t v = (uint64_t)exp(log(VALUES) * (double)(seed >> 11) / 9007199254740992.0) - 1;
        truth[v]++;
        assert_true(value_set_add(&set, value_of(2, v), 0));
    }
    assert_true(set.lost > 0 && set.lost < ROWS / 16);
    value_set_sort(&set);
    for (uint64_t v = 0; v < VALUES; v++) {
        size_t at = 0;
        while (at < set.n && set.entry[at].value != value_of(2, v))
            at++;
        assert_true(at < set.n || truth[v] <= set.lost);
        assert_true(at == set.n || (set.entry[at].count <= truth[v] && truth[v] <= set.entry[at].count + set.lost));
    }
    assert_true(set.entry[0].value == value_of(2, 0) && set.entry[1].value == value_of(2, 1));
    value_set_free(&set);
    free(truth);
}

static void labels_of_a_value_are_one_or_mixed(void **state)
{
    (void)state;
    value_set set;
    assert_true(value_set_init(&set, 64, false));
    for (uint64_t i = 0; i < 90; i++)
        assert_true(value_set_add(&set, i % 3, i % 3 == 2 ? i % 2 : i % 3));
    value_set_sort(&set);
    assert_int_equal(set.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(set.entry[i].value, i); /* equal counts: as they came */
        assert_int_equal(set.entry[i].count, 30);
        assert_int_equal(set.entry[i].is_mixed, i == 2);
    }
    value_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_are_counted_exactly),
        cmocka_unit_test(many_values_are_estimated_within_five_percent),
        cmocka_unit_test(an_estimate_is_never_more_than_was_added_nor_less_than_was_seen),
        cmocka_unit_test(the_estimate_has_no_bias),
        cmocka_unit_test(an_empty_sketch_counts_nothing),
        cmocka_unit_test(frequent_values_stay_and_their_counts_are_bounds),
        cmocka_unit_test(labels_of_a_value_are_one_or_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
