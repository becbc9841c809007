/* Random numbers: any draw alone, ranges, independence of streams. */
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void draws_can_be_computed_alone(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(1, 2, 3);
    uint64_t draws[10];
    for (int i = 0; i < 10; i++)
        draws[i] = gsai_rng_next(&rng);
    for (unsigned i = 0; i < 10; i++) {
        gsai_rng alone = gsai_rng_of(1, 2, 3);
        alone.counter = i;
        assert_true(gsai_rng_next(&alone) == draws[i]);
    }
}

static void streams_differ_in_every_argument(void **state)
{
    (void)state;
    uint64_t keys[27];
    size_t n = 0;
    for (uint64_t a = 0; a < 3; a++)
        for (uint64_t b = 0; b < 3; b++)
            for (uint64_t c = 0; c < 3; c++)
                keys[n++] = gsai_rng_of(a, b, c).key;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(keys[i] != keys[j]);
}

/* x n / 2^64 with the digits of x in base 2^16: schoolbook, another way than the code's. */
static uint64_t high_product(uint64_t x, uint64_t n)
{
    uint64_t column[8] = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            column[i + j] += (x >> 16 * i & 0xFFFF) * (n >> 16 * j & 0xFFFF);
    for (int c = 0; c < 7; c++) {
        column[c + 1] += column[c] >> 16;
        column[c] &= 0xFFFF;
    }
    return column[4] | column[5] << 16 | column[6] << 32 | column[7] << 48;
}

static void below_is_the_high_half_of_the_product(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {1,         2, 3, 8192, 1000003, UINT64_C(1) << 32, (UINT64_C(1) << 63) + 12345,
                                      UINT64_MAX};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (uint64_t seed = 0; seed < 2000; seed++) {
            gsai_rng rng = gsai_rng_of(seed, 0, 0), same = rng;
            uint64_t draw = gsai_rng_below(&rng, bounds[b]);
            assert_true(draw < bounds[b]);
            assert_true(draw == high_product(gsai_rng_next(&same), bounds[b]));
            assert_true(rng.counter == 1);
        }
}

/* 100 000 draws over 10 values: each count within 5 standard deviations (95) of 10 000. */
static void below_is_even(void **state)
{
    (void)state;
    int count[10] = {0};
    gsai_rng rng = gsai_rng_of(11, 0, 0);
    for (int i = 0; i < 100000; i++)
        count[gsai_rng_below(&rng, 10)]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(count[i], 9525, 10475);
}

static void unit_has_the_moments_of_the_uniform(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(12, 0, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < 100000; i++) {
        double u = gsai_rng_unit(&rng);
        assert_true(u > 0 && u < 1);
        sum += u;
        squares += u * u;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 5 * 0.2887 / sqrt(100000));
    assert_true(fabs(squares / 100000 - 1.0 / 3) < 5 * 0.2982 / sqrt(100000));
}

/* The x for which gsai_mix(x) is a given number: every step undone. */
static uint64_t unmix(uint64_t x)
{
    x = x ^ x >> 31 ^ x >> 62;
    x *= 0x319642B2D24D8EC3u;
    x = x ^ x >> 27 ^ x >> 54;
    x *= 0x96DE1B173F119089u;
    x = x ^ x >> 30 ^ x >> 60;
    return x - 0x9E3779B97F4A7C15u;
}

static void unit_excludes_both_ends(void **state)
{
    (void)state;
    assert_true(gsai_mix(unmix(12345)) == 12345);
    gsai_rng lowest = {unmix(0), 0}, highest = {unmix(UINT64_MAX), 0};
    assert_true(gsai_rng_unit(&lowest) > 0);
    assert_true(gsai_rng_unit(&highest) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_can_be_computed_alone),           cmocka_unit_test(streams_differ_in_every_argument),
        cmocka_unit_test(below_is_the_high_half_of_the_product), cmocka_unit_test(below_is_even),
        cmocka_unit_test(unit_has_the_moments_of_the_uniform),   cmocka_unit_test(unit_excludes_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
