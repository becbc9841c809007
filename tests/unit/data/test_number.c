/* Decimal numbers: the same bits as strtod, and nothing that strtod takes beyond decimals. */
#include "unit/data/support.h"

#include "base/memory.h"
#include "data/format/number.h"

#include <math.h>

static gsa_env env;
static gsa__number_locale *c_locale;

static int set_up(void **state)
{
    (void)state;
    env = gsa__env_resolve(NULL);
    c_locale = gsa__number_locale_new(&env);
    return c_locale ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    gsa__number_locale_free(&env, c_locale);
    return 0;
}

static uint64_t bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* The test process runs in the "C" locale, where strtod is the judge. A zero has no sign to compare. */
static void agrees(const char *unpadded)
{
    static char text[1200 + 8];
    assert_true(strlen(unpadded) < 1200);
    memcpy(text, unpadded, strlen(unpadded) + 1);
    gsa__number number = {0};
    char *end;
    double expected = strtod(text, &end);
    gsa__number_parse(c_locale, text, &number);
    if (number.after != end || (bits(number.value) != bits(expected) && !(number.value == 0 && expected == 0)))
        fail_msg("%s: %a, expected %a", text, number.value, expected);
    gsa__number as_float = {0};
    gsa__number_parse_float(c_locale, text, &as_float);
    float wanted = (float)expected, got = (float)as_float.value;
    if (as_float.after != end || (float_bits(got) != float_bits(wanted) && !(got == 0 && wanted == 0)))
        fail_msg("%s as float: %a, expected %a", text, (double)got, (double)wanted);
    assert_int_equal(number.has_nonzero, as_float.has_nonzero);
}

static void number_reads_what_strtod_reads(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0\n",
        "-0\n",
        "+0\n",
        "1\n",
        "-1\n",
        "+.5\n",
        ".5\n",
        "5.\n",
        "-5.\n",
        "1e5\n",
        "1E5\n",
        "1e+5\n",
        "1e-5\n",
        "1.5e3\n",
        "1.e3\n",
        ".1e1\n",
        "1e-30\n",
        "1e30\n",
        "0.1\n",
        "0.3\n",
        "123456789012345678\n",
        "9007199254740992\n",
        "9007199254740993\n",
        "9007199254740993.0000000000000001\n",
        "9007199254740995\n",
        "1e22\n",
        "1e23\n",
        "9e22\n",
        "9007199254740992e22\n",
        "9007199254740993e22\n",
        "1e-22\n",
        "1e-23\n",
        "18446744073709551615\n",
        "18446744073709551616\n",
        "9999999999999999999\n",
        "99999999999999999999\n",
        "2.2250738585072011e-308\n",
        "2.2250738585072014e-308\n",
        "2.225073858507201136057409796709131975934819546351e-308\n",
        "4.9e-324\n",
        "2.4703282292062327e-324\n",
        "2.4703282292062328e-324\n",
        "1e-400\n",
        "0e400\n",
        "0e-400\n",
        "1.7976931348623157e308\n",
        "1.7976931348623159e308\n",
        "1e400\n",
        "-1e400\n",
        "1e99999999999999999999\n",
        "1e-99999999999999999999\n",
        "0e99999999999999999999\n",
        "3.4028235e38\n",
        "3.4028236e38\n",
        "1.4e-45\n",
        "7e-46\n",
        "0.000000000000000000000000000000000000000000000000000000000001\n",
        "00000000000000000000000000000000000000001\n",
        "100000000000000000000000000000000000000000000000000000000000e-59\n",
        "1.00000005960464477539062\n",
        "1.0000000596046447\n",
        "1.00000005960464478\n",
        "1.000000059604644776\n",
        "16777217\n",
        "16777217.0000000001\n",
        "16777216.99999999999\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        agrees(texts[i]);
}

static void number_rejects_what_is_no_decimal(void **state)
{
    (void)state;
    static const char *const texts[] = {"1e\n",  ".\n",   "+\n",   "-\n",    "1e+\n", "--1\n", "+-1\n", "\n",   "e5\n",
                                        ".e5\n", "nan\n", "inf\n", "-inf\n", "a\n",   " 1\n",  "#\n",   "1e-\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gsa__number number = {.after = texts[i]};
        gsa__number_parse(c_locale, texts[i], &number);
        assert_null(number.after);
        number.after = texts[i];
        char padded[16] = {0};
        memcpy(padded, texts[i], strlen(texts[i]));
        gsa__number_parse_float(c_locale, padded, &number);
        assert_null(number.after);
    }
}

static void number_stops_before_what_follows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t used;
    } cases[] = {{"0x1p3\n", 1}, {"1:2\n", 1}, {"1.5.5\n", 3}, {"1,5\n", 1}, {"12 \n", 2}, {"1e5e\n", 3}, {"1_0\n", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa__number number;
        gsa__number_parse(c_locale, cases[i].text, &number);
        assert_ptr_equal(number.after, cases[i].text + cases[i].used);
    }
}

static void number_knows_a_zero_from_what_rounds_to_zero(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool has_nonzero;
    } cases[] = {{"0\n", false},
                 {"-0.000\n", false},
                 {"0e5\n", false},
                 {"1e-400\n", true},
                 {"0.0001\n", true},
                 {"00000000000000000000000000.0000\n", false},
                 {"-1e-9999\n", true},
                 {"0.00000000000000000000000000000100e-500\n", true},
                 {"00000000000000000000000e1\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsa__number number;
        gsa__number_parse(c_locale, cases[i].text, &number);
        assert_int_equal(number.has_nonzero, cases[i].has_nonzero);
    }
}

static void number_agrees_with_strtod_on_random_digits(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 500000; i++) {
        char text[128];
        size_t n = 0;
        size_t digits = 1 + next_random(&seed) % (i % 10 == 0 ? 45 : 20);
        size_t point = next_random(&seed) % (digits + 1);
        if (next_random(&seed) % 3 == 0)
            text[n++] = next_random(&seed) % 2 ? '-' : '+';
        for (size_t d = 0; d < digits; d++) {
            if (d == point)
                text[n++] = '.';
            text[n++] = (char)('0' + next_random(&seed) % 10);
        }
        if (next_random(&seed) % 2)
            n += (size_t)snprintf(text + n, 16, "e%d", (int)(next_random(&seed) % 700) - 350);
        else if (next_random(&seed) % 2)
            n += (size_t)snprintf(text + n, 16, "e%d", (int)(next_random(&seed) % 40) - 20);
        memcpy(text + n, "\n", 2);
        agrees(text);
    }
}

static void number_agrees_with_strtod_near_doubles_and_halfway_points(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (int i = 0; i < 300000; i++) {
        uint64_t u = next_random(&seed);
        double x;
        memcpy(&x, &u, sizeof x);
        if (i % 3 == 0) { /* exponents of everyday */
            u = (u & 0x800FFFFFFFFFFFFFu) | (1003 + next_random(&seed) % 40) << 52;
            memcpy(&x, &u, sizeof x);
        }
        if (!isfinite(x))
            continue;
        char text[1200];
        snprintf(text, sizeof text, "%.*e\n", (int)(14 + next_random(&seed) % 8), x);
        agrees(text);
        if (i % 50 == 0 && fabs(x) > 1e-30 && fabs(x) < 1e30) { /* halfway to the next double, all its digits */
            int exponent;
            double fraction = frexp(fabs(x), &exponent);
            long double half = ldexpl((long double)(ldexp(fraction, 53)) + 0.5L, exponent - 53);
            snprintf(text, sizeof text, "%.120Lf\n", half);
            agrees(text);
            text[strlen(text) - 2] = '1'; /* just above */
            agrees(text);
        }
    }
}

static void number_agrees_with_strtod_near_floats_and_their_halfway_points(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    for (int i = 0; i < 200000; i++) {
        uint32_t u = (uint32_t)(next_random(&seed) >> 16);
        float x;
        memcpy(&x, &u, sizeof x);
        if (!isfinite(x) || x == 0)
            continue;
        double half = ((double)x + (double)nextafterf(x, INFINITY)) / 2; /* exact in double */
        char text[128];
        for (int digits = 15; digits <= 20; digits++) {
            snprintf(text, sizeof text, "%.*e\n", digits - 1, half);
            agrees(text);
        }
        if (fabs(half) > 1e-3 && fabs(half) < 1e12) {
            snprintf(text, sizeof text, "%.16f\n", half);
            agrees(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_reads_what_strtod_reads),
        cmocka_unit_test(number_rejects_what_is_no_decimal),
        cmocka_unit_test(number_stops_before_what_follows),
        cmocka_unit_test(number_knows_a_zero_from_what_rounds_to_zero),
        cmocka_unit_test(number_agrees_with_strtod_on_random_digits),
        cmocka_unit_test(number_agrees_with_strtod_near_doubles_and_halfway_points),
        cmocka_unit_test(number_agrees_with_strtod_near_floats_and_their_halfway_points),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
