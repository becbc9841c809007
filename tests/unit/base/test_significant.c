/* Numbers to so many digits are what printf makes of them: test_significant [NUMBERS] compares that many of each kind
 * (10^6 of all kinds together unless it is told). */
#include "base/text.h"

#include "base/rng.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t n_numbers = 125000;

static void check_digits(double value, int n_digits)
{
    char expected[64], text[GSAI_DECIMAL_SIZE + 1];
    snprintf(expected, sizeof expected, "%.*g", n_digits, value);
    *gsai_decimal_general(value, n_digits, text) = '\0';
    if (strcmp(text, expected) != 0)
        fail_msg("%a to %d digits is %s, not %s", value, n_digits, expected, text);
}

static void check(double value)
{
    check_digits(value, 6);
    check_digits(value, 9);
    check_digits(value, 15);
}

/* The number and the doubles beside it, both signs. */
static void check_around(double value)
{
    check(value);
    check(-value);
    check(nextafter(value, INFINITY));
    check(nextafter(value, 0));
}

static void special_numbers_are_printed(void **state)
{
    (void)state;
    const double special[] = {0,
                              1,
                              0.5,
                              999999.5,
                              9999995,
                              0.9999995,
                              0.99999949999999999,
                              1e-4,
                              9.9999995e-5,
                              1e-5,
                              1e5,
                              1e6,
                              1e9,
                              1e22,
                              1e23,
                              1e27,
                              1e28,
                              1e-16,
                              1e-17,
                              DBL_MAX,
                              DBL_MIN,
                              5e-324,
                              INFINITY};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        check_around(special[i]);
    check((double)NAN);
    check(-(double)NAN);
    for (int digits = 1; digits <= 17; digits++)
        check_digits(123.456, digits);
}

static void powers_and_their_neighbours_are_printed(void **state)
{
    (void)state;
    for (int k = -320; k <= 308; k++)
        for (int digits = 1; digits <= 10; digits++) {
            double power = pow(10, k);
            check_around(power);
            check_around(power * (1 - 0.5 * pow(10, -digits)));
            check_around(power * (1 - pow(10, -digits)));
        }
}

static void probabilities_and_margins_are_printed(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(1, 0, 0);
    for (uint64_t i = 0; i < n_numbers; i++) {
        check(gsai_rng_unit(&rng));
        check(1 - gsai_rng_unit(&rng) * gsai_rng_unit(&rng) * 1e-6);
        check((gsai_rng_unit(&rng) - 0.5) * 100);
        check((double)(float)(gsai_rng_unit(&rng) * 1e6));
    }
}

static void all_bits_are_printed(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(2, 0, 0);
    for (uint64_t i = 0; i < n_numbers; i++) {
        uint64_t bits = gsai_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        check(value);
        check(ldexp(0.5 + gsai_rng_unit(&rng), (int)(bits % 200) - 100));
    }
}

/* Halfway between two texts, as near as a double comes to it, and exactly so where it can. */
static void halves_are_rounded_as_their_exact_value_says(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(3, 0, 0);
    for (uint64_t i = 0; i < n_numbers / 8; i++) {
        double whole = (double)(100000 + gsai_rng_next(&rng) % 900000) + 0.5;
        double longer = (double)(100000000 + gsai_rng_next(&rng) % 900000000) + 0.5;
        int k = (int)(gsai_rng_next(&rng) % 30) - 12;
        check_around(whole);
        check_around(whole / pow(10, k));
        check_around(longer / pow(10, k));
        check_around(longer);
    }
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    char text[GSAI_DECIMAL_SIZE + 1];
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    *gsai_decimal_general(1.23456789e-200, 6, text) = '\0';
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "1.23457e-200");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_numbers_are_printed),
        cmocka_unit_test(powers_and_their_neighbours_are_printed),
        cmocka_unit_test(probabilities_and_margins_are_printed),
        cmocka_unit_test(all_bits_are_printed),
        cmocka_unit_test(halves_are_rounded_as_their_exact_value_says),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    if (argc > 1)
        n_numbers = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
