/* Halves: every one of them, against what its bits mean; and which floats are halves. */
#include "base/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1 << 16 };
static uint16_t all[N + 8], back[N];
static float value[N + 8];

static void every_half_is_the_float_that_its_bits_mean(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N; i++)
        all[i] = (uint16_t)i;
    gsa_half_read(GSA_HALF_F16, all, N, value);
    for (uint32_t i = 0; i < N; i++) {
        int exponent = (int)(i >> 10 & 31);
        double fraction = (double)(i & 1023) / 1024, sign = i >> 15 ? -1 : 1;
        double means = exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15);
        if (exponent == 31)
            assert_true(fraction == 0 ? isinf(value[i]) && (value[i] > 0) == (sign > 0) : isnan(value[i]));
        else
            assert_true((double)value[i] == sign * means && !signbit(value[i]) == (sign > 0));
    }
    gsa_half_read(GSA_HALF_BF16, all, N, value);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        assert_true(bits == i << 16);
    }
}

/* The vectors of the processor and the plain loop, which has what is left, agree. */
static void a_half_is_the_same_float_wherever_it_stands(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N; i++)
        all[i] = (uint16_t)(i * 40503u);
    gsa_half_read(GSA_HALF_F16, all, N, value);
    for (size_t i = 0; i < N; i++) {
        float alone;
        gsa_half_read(GSA_HALF_F16, all + i, 1, &alone);
        assert_true(alone == value[i] || isnan(alone));
    }
}

static void what_was_a_half_is_written_as_that_half(void **state)
{
    (void)state;
    for (int kind = GSA_HALF_F16; kind <= GSA_HALF_BF16; kind++) {
        uint32_t exponent = kind == GSA_HALF_F16 ? 0x7C00 : 0x7F80;
        size_t n = 0;
        for (uint32_t i = 0; i < N; i++)
            if ((i & exponent) != exponent)
                all[n++] = (uint16_t)i;
        gsa_half_read((gsa_half)kind, all, n, value);
        assert_true(gsai_half_write((gsa_half)kind, value, n, back));
        assert_memory_equal(back, all, n * sizeof *all);
    }
}

static void other_floats_are_no_halves(void **state)
{
    (void)state;
    static const float no_f16[] = {0.1f, 65520, 1e30f, -1e-8f, 0x1.002p0f, 0x1p-25f, 0x1.8p-24f, 3.4e38f, 0x1p16f};
    static const float no_bf16[] = {0.1f, 0x1.01p0f, 1e-45f, 257};
    for (size_t i = 0; i < sizeof no_f16 / sizeof *no_f16; i++)
        assert_false(gsai_half_write(GSA_HALF_F16, &no_f16[i], 1, back));
    for (size_t i = 0; i < sizeof no_bf16 / sizeof *no_bf16; i++)
        assert_false(gsai_half_write(GSA_HALF_BF16, &no_bf16[i], 1, back));
    for (size_t i = 0; i < 1000; i++)
        value[i] = 0.5f;
    value[999] = 0.1f;
    assert_false(gsai_half_write(GSA_HALF_F16, value, 1000, back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_is_the_float_that_its_bits_mean),
        cmocka_unit_test(a_half_is_the_same_float_wherever_it_stands),
        cmocka_unit_test(what_was_a_half_is_written_as_that_half),
        cmocka_unit_test(other_floats_are_no_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
