/* Bars of a run of any length. */
#include "chart.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Offers a value every 100 rows, which are taken when they are due. */
static void offer(cli_chart *chart, uint64_t n_rows, double (*value)(double share))
{
    chart_begin(chart, 0);
    for (uint64_t row = 100; row <= n_rows; row += 100)
        if (chart_is_due(chart, row))
            chart_add(chart, row, value((double)row / (double)n_rows));
}

static double falling(double share)
{
    return exp(-share);
}

static double constant(double share)
{
    (void)share;
    return 0.5;
}

static void bars_go_from_the_first_row_to_the_last(void **state)
{
    (void)state;
    char text[CHART_SIZE];
    cli_chart chart;
    for (uint64_t n_rows = 10000; n_rows < 100000000; n_rows *= 7) {
        offer(&chart, n_rows, falling);
        assert_in_range(chart.n, CHART_VALUES / 2 - 10, CHART_VALUES - 1);
        assert_true(chart.value[0] > 0.9 && chart.value[chart.n - 1] < 0.4);
        chart_draw(&chart, CHART_WIDTH, text);
        assert_int_equal(strlen(text) % 3, 0);
        assert_string_equal(text + strlen(text) - 3, "▁");
        assert_memory_equal(text, "█", 3);
        for (size_t i = 3; text[i] != '\0'; i += 3)
            assert_true((unsigned char)text[i + 2] <= (unsigned char)text[i - 1]);
    }
}

static void there_are_no_more_bars_than_columns(void **state)
{
    (void)state;
    char text[CHART_SIZE];
    cli_chart chart;
    offer(&chart, 1000000, falling);
    for (size_t width = 0; width <= CHART_WIDTH + 5; width++) {
        size_t max = width < CHART_WIDTH ? width : CHART_WIDTH;
        assert_int_equal(strlen(chart_draw(&chart, width, text)), width < 2 ? 0 : 3 * max);
    }
}

static void what_is_flat_looks_flat_and_what_is_not_finite_is_passed_over(void **state)
{
    (void)state;
    char text[CHART_SIZE];
    cli_chart chart;
    offer(&chart, 1000000, constant);
    size_t n = chart.n;
    chart_add(&chart, 2000000, NAN);
    chart_add(&chart, 2000000, INFINITY);
    assert_int_equal(chart.n, n);
    chart_draw(&chart, 4, text);
    assert_string_equal(text, "▁▁▁▁");
    chart_begin(&chart, 0);
    chart_add(&chart, 1, 0); /* a loss of nothing has no logarithm */
    chart_add(&chart, 2, 1);
    assert_string_equal(chart_draw(&chart, 4, text), "▁█");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_go_from_the_first_row_to_the_last),
        cmocka_unit_test(there_are_no_more_bars_than_columns),
        cmocka_unit_test(what_is_flat_looks_flat_and_what_is_not_finite_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
