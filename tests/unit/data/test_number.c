/* Decimal numbers: the same bits as strtod, and nothing that strtod takes beyond decimals.
 *
 * test_number COUNT compares about as many numbers; the default is what a test run can wait for. */
#include "unit/data/c_locale.h"

#include "data/format/digits.h"
#include "data/format/libsvm.h"

#include <math.h>

static uint64_t n_numbers = 1000000;

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

/* The fast way of pairs may leave a value to others, but what it takes has the same bits. True if it took it. */
static bool agrees_as_value(const char *text, float wanted)
{
    static char line[1200 + 80];
    uint32_t index[2];
    float value[2];
    gsai_pairs pairs = {.index = index, .value = value, .all_ones = true};
    size_t size = strlen(text) - 1;
    memcpy(line, "7:", 2);
    memcpy(line + 2, text, size);
    memset(line + 2 + size, '\n', 64);
    const char *end = line + 2 + size;
    if (gsai_pairs_take(&pairs, line, end) != end)
        return false;
    bool is_zero = pairs.n == 0 && wanted == 0;
    if (!is_zero && (pairs.n != 1 || index[0] != 6 || float_bits(value[0]) != float_bits(wanted)))
        fail_msg("%s as the value of a pair: %a, expected %a", text, (double)value[0], (double)wanted);
    assert_int_equal(pairs.all_ones, wanted == 1 || wanted == 0);
    return true;
}

/* The test process runs in the "C" locale, where strtod is the judge. */
static void agrees(const char *text)
{
    gsai_number number = {0};
    char *end;
    double expected = strtod(text, &end);
    gsai_number_parse(c_locale, text, &number);
    if (number.after != end || bits(number.value) != bits(expected))
        fail_msg("%s: %a, expected %a", text, number.value, expected);
    gsai_number as_float = {0};
    gsai_number_parse_float(c_locale, text, &as_float);
    float wanted = (float)expected, got = (float)as_float.value;
    if (as_float.after != end || float_bits(got) != float_bits(wanted))
        fail_msg("%s as float: %a, expected %a", text, (double)got, (double)wanted);
    assert_int_equal(number.has_nonzero, as_float.has_nonzero);
    if (wanted != 0 || !number.has_nonzero)
        (void)agrees_as_value(text, wanted);
}

static void number_reads_what_strtod_reads(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0\n",
        "-0\n",
        "-0e812\n",
        "-0.000e-900\n",
        "-00000000000000000000.0\n",
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
        gsai_number number = {.after = texts[i]};
        gsai_number_parse(c_locale, texts[i], &number);
        assert_null(number.after);
        number.after = texts[i];
        gsai_number_parse_float(c_locale, texts[i], &number);
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
        gsai_number number;
        gsai_number_parse(c_locale, cases[i].text, &number);
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
                 {"00000000000000000000000e1\n", false},
                 {"0.00000000000000000000-1\n", false},
                 {"0.00000000000000000000.5\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gsai_number number;
        gsai_number_parse(c_locale, cases[i].text, &number);
        assert_int_equal(number.has_nonzero, cases[i].has_nonzero);
    }
}

static void number_agrees_with_strtod_on_random_digits(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (uint64_t i = 0; i < n_numbers / 2; i++) {
        char text[128];
        size_t n = 0;
        size_t digits = 1 + next_random(&seed) % (i % 10 == 0 ? 45 : 20);
        size_t point = next_random(&seed) % (digits + 1);
        size_t zeros_before = next_random(&seed) % 8 ? 0 : next_random(&seed) % digits;
        size_t zeros_from = next_random(&seed) % 8 ? digits : next_random(&seed) % digits;
        if (next_random(&seed) % 3 == 0)
            text[n++] = next_random(&seed) % 2 ? '-' : '+';
        for (size_t d = 0; d < digits; d++) {
            if (d == point)
                text[n++] = '.';
            text[n++] = d < zeros_before || d >= zeros_from ? '0' : (char)('0' + next_random(&seed) % 10);
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
    for (uint64_t i = 0; i < n_numbers / 10 * 3; i++) {
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
    for (uint64_t i = 0; i < n_numbers / 10; i++) {
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

/* Every number of up to six digits with the point anywhere, or as many of them as there is time for. */
static void number_agrees_with_strtod_on_short_decimals(void **state)
{
    (void)state;
    const uint64_t n_all = 7000000, n_wanted = n_numbers / 5;
    uint64_t step = n_wanted < n_all ? n_all / n_wanted : 1;
    for (uint64_t i = 0; i < n_all; i += step) {
        char text[16], number[8];
        size_t n = (size_t)snprintf(number, sizeof number, "%06u", (unsigned)(i % 1000000)), point = i / 1000000;
        memcpy(text, number, point);
        text[point] = '.';
        memcpy(text + point + 1, number + point, n - point);
        memcpy(text + n + (point < 6), "\n", 2); /* a point at the end is left out */
        const char *start = text;
        while (start[0] == '0' && start[1] >= '0' && start[1] <= '9' && i % 2)
            start++; /* half of them without the zeros in front */
        agrees(start);
        char *after;
        float wanted = (float)strtod(start, &after);
        bool has_fraction_only = *start == '.';
        assert_int_equal(agrees_as_value(start, wanted), !has_fraction_only); /* these go the fast way */
    }
}

/* Every text of up to nine bytes of these, many of which are no numbers, and every byte in the place of a digit. */
static void short_numbers_are_what_the_long_way_reads(void **state)
{
    (void)state;
    gsai_number_locale *locale = gsai_os_c_locale();
    uint64_t seed = 21, n_short = 0;
    for (int i = 0; i < 500000; i++) {
        char text[16] = "\n\n\n\n\n\n\n\n\n\n";
        size_t size = 1 + next_random(&seed) % 10;
        for (size_t j = 0; j < size; j++) {
            uint64_t r = next_random(&seed);
            text[j] = r % 16 > 2 ? (char)('0' + (r >> 8) % 10) : "0.-+e/: 9.0"[(r >> 8) % 11];
        }
        text[0] = next_random(&seed) % 4 ? text[0] : '-';
        if (i % 8 == 0)
            text[next_random(&seed) % size] = (char)(next_random(&seed) >> 8);
        gsai_number wanted = {0}, is = {0};
        gsai_number_parse(locale, text, &wanted);
        if (!gsai_number_parse_short(text, size, &is))
            continue;
        n_short++;
        assert_ptr_equal(is.after, text + size);
        assert_ptr_equal(wanted.after, text + size);
        assert_memory_equal(&is.value, &wanted.value, sizeof is.value);
        assert_int_equal(is.has_nonzero, wanted.has_nonzero);
    }
    assert_true(n_short > 100000);
    gsai_os_c_locale_free(locale);
}

static void digits_are_told_from_others_the_same_in_both_ways(void **state)
{
    (void)state;
    uint64_t seed = 99;
    char text[64];
    for (int i = 0; i < 20000; i++) {
        for (size_t j = 0; j < sizeof text; j++) {
            uint64_t r = next_random(&seed);
            text[j] = (char)(i < 256 ? i : r % 2 ? '0' + (int)(r >> 8) % 12 - 1 : (int)(r >> 8) % 256);
        }
        uint64_t expected = 0;
        for (size_t j = 0; j < sizeof text; j++)
            expected |= (uint64_t)(text[j] < '0' || text[j] > '9') << j;
        assert_true(gsai_others_plain(text) == expected);
        assert_true(gsai_others(text) == expected);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        n_numbers = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_reads_what_strtod_reads),
        cmocka_unit_test(number_rejects_what_is_no_decimal),
        cmocka_unit_test(number_stops_before_what_follows),
        cmocka_unit_test(number_knows_a_zero_from_what_rounds_to_zero),
        cmocka_unit_test(number_agrees_with_strtod_on_random_digits),
        cmocka_unit_test(number_agrees_with_strtod_near_doubles_and_halfway_points),
        cmocka_unit_test(number_agrees_with_strtod_near_floats_and_their_halfway_points),
        cmocka_unit_test(number_agrees_with_strtod_on_short_decimals),
        cmocka_unit_test(short_numbers_are_what_the_long_way_reads),
        cmocka_unit_test(digits_are_told_from_others_the_same_in_both_ways),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
