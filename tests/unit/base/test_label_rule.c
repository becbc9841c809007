/* Classes or a number: the cases of docs/decisions/0032. */
#include "base/label_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The values first, first + gap, ..., each in as many rows as rows_of says. */
static bool decide(double first, double gap, size_t n, uint64_t (*rows_of)(size_t, size_t), bool has_ids)
{
    gsai_label_values values = {.n_values = n, .min = first, .max = first + gap * (double)(n - 1)};
    for (size_t i = 0; i < n; i++) {
        values.n_rows += rows_of(i, n);
        gsai_label_values_add(&values, first + gap * (double)i, rows_of(i, n));
    }
    return gsai_label_values_are_classes(&values, has_ids);
}

static bool are_classes(double first, double gap, size_t n, uint64_t (*rows_of)(size_t, size_t))
{
    return decide(first, gap, n, rows_of, false);
}

static uint64_t once(size_t i, size_t n)
{
    (void)i;
    (void)n;
    return 1;
}

static uint64_t eight_times(size_t i, size_t n)
{
    return 8 * once(i, n);
}

/* Many in the middle, few at the end. */
static uint64_t tapering(size_t i, size_t n)
{
    return 1 + 400 * (n - i) * (i + n / 3) / (n * n);
}

static void stars_months_and_hours_are_classes(void **state)
{
    (void)state;
    assert_true(are_classes(1, 1, 5, eight_times));
    assert_true(are_classes(1, 1, 12, eight_times));
    assert_true(are_classes(0, 1, 24, eight_times));
    assert_true(are_classes(-1, 1, 3, eight_times));
    assert_true(are_classes(200, 100, 4, eight_times)); /* codes, which come again */
}

static void two_values_and_a_small_numbered_sample_are_classes(void **state)
{
    (void)state;
    assert_true(are_classes(7, 1000, 2, once));
    assert_true(are_classes(1, 1, 3, once));
    assert_true(are_classes(0, 1, 10, once));
}

static void ages_and_years_are_a_number(void **state)
{
    (void)state;
    assert_false(are_classes(1, 1, 89, eight_times));
    assert_false(are_classes(1, 1, 89, tapering));
    assert_false(are_classes(0, 1, 89, tapering));
    assert_false(are_classes(18, 1, 60, eight_times));
    assert_false(are_classes(1990, 1, 31, eight_times));
    assert_false(are_classes(2000, 1, 20, eight_times));
}

static void prices_and_zip_codes_are_a_number(void **state)
{
    (void)state;
    assert_false(are_classes(100000, 137, 799, once));
    assert_false(are_classes(120, 35, 8, once)); /* in eight rows */
    assert_false(are_classes(10001, 9, 5000, eight_times));
}

static void a_thousand_classes_numbered_from_zero_are_classes(void **state)
{
    (void)state;
    assert_true(are_classes(0, 1, 1000, eight_times));
    assert_false(are_classes(0, 1, 1000, once));
    assert_false(are_classes(0, 1, 1000, tapering));
    assert_false(are_classes(0, 2, 1000, eight_times));
}

/* The classes of libsvm text are numbered from 1, and few rows may have some of them. */
static void class_numbers_of_rows_with_feature_ids_are_classes(void **state)
{
    (void)state;
    assert_true(decide(1, 1, 105, tapering, true)); /* sector */
    assert_true(decide(0, 1, 1000, eight_times, true));
    assert_true(decide(300, 1, 21, eight_times, true));
    assert_true(decide(1, 2, 3000, once, true)); /* too few rows to tell */
    assert_false(decide(1922, 1, 89, tapering, true));
    assert_false(decide(0, 2, 50, eight_times, true));
    assert_false(decide(100000, 137, 799, once, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stars_months_and_hours_are_classes),
        cmocka_unit_test(two_values_and_a_small_numbered_sample_are_classes),
        cmocka_unit_test(ages_and_years_are_a_number),
        cmocka_unit_test(prices_and_zip_codes_are_a_number),
        cmocka_unit_test(a_thousand_classes_numbered_from_zero_are_classes),
        cmocka_unit_test(class_numbers_of_rows_with_feature_ids_are_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
