/* Numbers as text and back, the distance between words, and what is UTF-8. */
#include "base/text.h"

#include "base/rng.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_text(double number, const char *expected)
{
    char text[GSAI_NUMBER_TEXT];
    assert_int_equal(gsai_number_text(number, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void numbers_are_written_briefly(void **state)
{
    (void)state;
    check_text(0, "0");
    check_text(-0.0, "0");
    check_text(1, "1");
    check_text(-3, "-3");
    check_text(0.1, "0.1");
    check_text(2.5, "2.5");
    check_text(100000000, "100000000");
    check_text(1.0 / 3, "0.3333333333333333");
    check_text(1e300, "1e300");
    check_text(5e-324, "5e-324");
}

static void numbers_read_back_equal(void **state)
{
    (void)state;
    gsai_rng rng = gsai_rng_of(5, 0, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = gsai_rng_next(&rng);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number))
            continue;
        char text[GSAI_NUMBER_TEXT];
        size_t len = gsai_number_text(number, text);
        assert_int_equal(len, strlen(text));
        assert_true(strtod(text, NULL) == number);
    }
}

static void numbers_do_not_follow_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    check_text(2.5, "2.5");
    check_text(1.5e-10, "1.5e-10");
    setlocale(LC_NUMERIC, "C");
}

static void counts_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"17", 17},
                {"1_000_000", 1000000},
                {"1e6", 1000000},
                {"25E3", 25000},
                {"18446744073709551615", UINT64_MAX},
                {"1e19", UINT64_C(10000000000000000000)}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 99;
        assert_true(gsai_count_parse(good[i].text, &value));
        assert_true(value == good[i].value);
    }
}

static void what_is_no_count_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   "-1", "+1", " 1",  "1 ",   "1.5",  "_1",   "1_",
                                      "1e", "e5", "1x", "0x5", "1__0", "1e-2", "1e20", "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 99;
        if (gsai_count_parse(bad[i], &value))
            fail_msg("'%s' was read as a count", bad[i]);
        assert_true(value == 99);
    }
}

static void a_directory_ends_with_the_last_separator(void **state)
{
    (void)state;
    assert_int_equal(gsai_directory_len("model"), 0);
    assert_int_equal(gsai_directory_len(""), 0);
    assert_int_equal(gsai_directory_len("/model"), 1);
    assert_int_equal(gsai_directory_len("a/b.c/model"), 6);
    assert_int_equal(gsai_directory_len("a/"), 2);
    assert_int_equal(gsai_directory_len("a\\b:c"), 0); /* of one name, but on Windows */
}

static void edit_distance_counts_the_four_slips(void **state)
{
    (void)state;
    assert_int_equal(gsai_edit_distance("loss", "loss"), 0);
    assert_int_equal(gsai_edit_distance("loss", "los"), 1);
    assert_int_equal(gsai_edit_distance("los", "loss"), 1);
    assert_int_equal(gsai_edit_distance("loss", "lass"), 1);
    assert_int_equal(gsai_edit_distance("loss", "lsos"), 1);
    assert_int_equal(gsai_edit_distance("", "abc"), 3);
    assert_int_equal(gsai_edit_distance("kitten", "sitting"), 3);
}

static void text_is_utf8_and_nothing_else(void **state)
{
    (void)state;
    static const char *const good[] = {"a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    /* Alone or cut, overlong, surrogates, beyond U+10FFFF, bytes that never are. */
    static const char *const bad[] = {"\x80",
                                      "\xc2",
                                      "\xe2\x82",
                                      "\xf0\x9f\x98",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xc3x",
                                      "\xe2\x82x"};
    char text[16];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t size = strlen(good[i]);
        assert_int_equal(gsai_utf8_character(good[i], size), size);
        snprintf(text, sizeof text, "x%sy", good[i]);
        assert_true(gsai_is_text(text, size + 2));
        assert_false(gsai_is_text(text, size + 3)); /* with the NUL */
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gsai_utf8_character(bad[i], strlen(bad[i])), 0);
        snprintf(text, sizeof text, "x%s", bad[i]);
        assert_false(gsai_is_text(text, strlen(text)));
    }
    assert_int_equal(gsai_utf8_character("", 0), 0);
    assert_false(gsai_is_text("", 0));
}

static void windows_1252_is_read_as_it_is_printed(void **state)
{
    (void)state;
    char out[3 * 256];
    static const struct {
        unsigned char c;
        const char *text;
    } cases[] = {{'a', "a"},         {0x80, "\xE2\x82\xAC"}, {0x9F, "\xC5\xB8"},     {0x99, "\xE2\x84\xA2"},
                 {0xA0, "\xC2\xA0"}, {0xE9, "\xC3\xA9"},     {0xFF, "\xC3\xBF"},     {0x81, "\xC2\x81"},
                 {0x8A, "\xC5\xA0"}, {0x83, "\xC6\x92"},     {0x85, "\xE2\x80\xA6"}, {0x88, "\xCB\x86"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = (size_t)(gsai_utf8_of_1252(cases[i].c, out) - out);
        assert_int_equal(n, strlen(cases[i].text));
        assert_memory_equal(out, cases[i].text, n);
    }
    char *end = out;
    for (unsigned c = 0; c < 256; c++)
        end = gsai_utf8_of_1252((unsigned char)c, end);
    assert_true(gsai_is_utf8(out, (size_t)(end - out)));
    assert_false(gsai_is_utf8("\xE9", 1));
    assert_true(gsai_is_utf8("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_briefly),
        cmocka_unit_test(numbers_read_back_equal),
        cmocka_unit_test(numbers_do_not_follow_the_locale),
        cmocka_unit_test(counts_are_read),
        cmocka_unit_test(what_is_no_count_is_refused),
        cmocka_unit_test(edit_distance_counts_the_four_slips),
        cmocka_unit_test(a_directory_ends_with_the_last_separator),
        cmocka_unit_test(text_is_utf8_and_nothing_else),
        cmocka_unit_test(windows_1252_is_read_as_it_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
