/* Numbers to text: short, and the same bits when read back, also in a locale with a comma. */
#include "unit/data/c_locale.h"

#include "data/format/number.h"

#include <locale.h>
#include <math.h>

static const char *float_text(float x, char out[GSAI_DECIMAL_SIZE + 1])
{
    *gsai_decimal_float(x, c_locale, out) = '\0';
    return out;
}

static void decimal_writes_everyday_numbers_as_people_do(void **state)
{
    (void)state;
    char out[GSAI_DECIMAL_SIZE + 1];
    assert_string_equal(float_text(1, out), "1");
    assert_string_equal(float_text(-1, out), "-1");
    assert_string_equal(float_text(0.5f, out), "0.5");
    assert_string_equal(float_text(0.1f, out), "0.1");
    assert_string_equal(float_text(-0.3f, out), "-0.3");
    assert_string_equal(float_text(3.14159274f, out), "3.1415927");
    assert_string_equal(float_text(100, out), "100");
    assert_string_equal(float_text(16777216, out), "16777216");
    assert_string_equal(float_text(0.00025f, out), "0.00025");
    assert_string_equal(float_text(1e-30f, out), "1e-30");
    assert_string_equal(float_text(1.5e-30f, out), "1.5e-30");
    assert_string_equal(float_text(1e30f, out), "1e30");
    assert_string_equal(float_text(3.40282347e38f, out), "3.4028235e38");
    assert_string_equal(float_text(1.4e-45f, out), "1e-45");
    assert_string_equal(float_text(1e-5f, out), "0.00001");
}

static void decimal_writes_unsigned_numbers_of_every_length(void **state)
{
    (void)state;
    uint64_t value = 0;
    for (int digits = 1; digits <= 20; digits++) {
        for (int delta = -1; delta <= 1; delta++) {
            char out[GSAI_DECIMAL_SIZE], expected[GSAI_DECIMAL_SIZE];
            *gsai_decimal_unsigned(value + (uint64_t)(int64_t)delta, out) = '\0';
            snprintf(expected, sizeof expected, "%" PRIu64, value + (uint64_t)(int64_t)delta);
            assert_string_equal(out, expected);
        }
        value = value ? value * 10 : 1;
    }
}

/* Significant digits of a text, for the comparison of lengths. */
static int significant(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0'))
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

static void decimal_float_reads_back_and_is_shortest(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 200000; i++) {
        uint32_t u = (uint32_t)(next_random(&seed) >> 16);
        if (i % 2) /* between 2^-20 and 2^20 */
            u = (u & 0x807FFFFFu) | (uint32_t)(107 + next_random(&seed) % 40) << 23;
        float x;
        memcpy(&x, &u, sizeof x);
        if (!isfinite(x) || x == 0)
            continue;
        char out[GSAI_DECIMAL_SIZE + 1], judge[64];
        float_text(x, out);
        assert_true((float)strtod(out, NULL) == x);
        int digits = 1;
        do
            snprintf(judge, sizeof judge, "%.*e", digits - 1, (double)x);
        while ((float)strtod(judge, NULL) != x && digits++ < 9);
        bool plain_integer = x == floorf(x) && fabsf(x) < 1e9f;
        if (!plain_integer && significant(out) > digits)
            fail_msg("%s has more digits than %s", out, judge);
    }
}

static void decimal_has_a_point_in_a_locale_with_a_comma(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; !set && i < sizeof names / sizeof *names; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set)
        skip();
    char out[GSAI_DECIMAL_SIZE + 1];
    char first[GSAI_DECIMAL_SIZE + 1];
    snprintf(first, sizeof first, "%s", float_text(1.2345678e-30f, out));
    gsai_number number;
    gsai_number_parse(c_locale, "1.2345678901234567e-30\n", &number);
    setlocale(LC_ALL, "C");
    assert_string_equal(first, "1.2345678e-30");
    assert_true(number.value == 1.2345678901234567e-30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimal_writes_everyday_numbers_as_people_do),
        cmocka_unit_test(decimal_writes_unsigned_numbers_of_every_length),
        cmocka_unit_test(decimal_float_reads_back_and_is_shortest),
        cmocka_unit_test(decimal_has_a_point_in_a_locale_with_a_comma),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
