/* Filling a gsa_error: texts, places, and messages that are too long. */
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Whole UTF-8 characters only (of the lengths that the tests use). */
static int is_whole(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int follow = *at < 0x80 ? 0 : *at >> 5 == 6 ? 1 : *at >> 4 == 14 ? 2 : *at >> 3 == 30 ? 3 : -1;
        if (follow < 0)
            return 0;
        for (at++; follow > 0; follow--, at++)
            if ((*at & 0xC0) != 0x80)
                return 0;
    }
    return 1;
}

static void fail_fills_the_error_and_returns_the_status(void **state)
{
    (void)state;
    gsa_error error;
    memset(&error, 0xAA, sizeof error);
    assert_int_equal(gsai_fail(&error, GSA_IO, "cannot read %s: %d", "a.txt", 5), GSA_IO);
    assert_int_equal(error.status, GSA_IO);
    assert_int_equal(error.line, 0);
    assert_true(error.row == GSA_NO_ROW);
    assert_string_equal(error.message, "cannot read a.txt: 5");
}

static void a_failure_names_the_parameter_it_concerns(void **state)
{
    (void)state;
    gsa_error error;
    memset(&error, 0xAA, sizeof error);
    assert_int_equal(gsai_fail_about(&error, "loss", gsai_fail_row(&error, GSA_LABEL, 3, "no")), GSA_LABEL);
    assert_string_equal(error.param, "loss");
    assert_true(error.row == 3);
    assert_int_equal(gsai_fail(&error, GSA_IO, "no"), GSA_IO);
    assert_string_equal(error.param, "");
    assert_int_equal(gsai_fail_about(NULL, "loss", GSA_IO), GSA_IO);
    assert_int_equal(gsai_fail_about(&error, "loss", GSA_OK), GSA_OK);
    assert_string_equal(error.param, "");
}

static void fail_takes_no_error(void **state)
{
    (void)state;
    assert_int_equal(gsai_fail(NULL, GSA_MEMORY, "x"), GSA_MEMORY);
    assert_int_equal(gsai_fail_row(NULL, GSA_INPUT, 3, "x"), GSA_INPUT);
    assert_int_equal(gsai_fail_line(NULL, GSA_INPUT, 3, 4, "x"), GSA_INPUT);
    gsai_error_prefix(NULL, "x");
}

static void rows_and_lines_are_kept(void **state)
{
    (void)state;
    gsa_error error;
    assert_int_equal(gsai_fail_row(&error, GSA_LABEL, 17, "label %g", 2.5), GSA_LABEL);
    assert_true(error.row == 17 && error.line == 0);
    assert_string_equal(error.message, "label 2.5");
    assert_int_equal(gsai_fail_line(&error, GSA_INPUT, 3, 44, "bad"), GSA_INPUT);
    assert_true(error.row == GSA_NO_ROW && error.line == 3 && error.byte == 44);
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8C\xB1"};
    for (size_t kind = 0; kind < 4; kind++)
        for (size_t offset = 0; offset < 5; offset++) {
            char text[1100] = "";
            memset(text, '.', offset);
            while (strlen(text) < 1000)
                strcat(text, characters[kind]);
            gsa_error error;
            assert_int_equal(gsai_fail(&error, GSA_INPUT, "%s", text), GSA_INPUT);
            assert_true(strlen(error.message) < sizeof error.message);
            assert_true(strlen(error.message) >= sizeof error.message - 8);
            assert_memory_equal(error.message, text, strlen(error.message));
            assert_true(is_whole(error.message));
        }
}

static void a_prefix_stands_in_front(void **state)
{
    (void)state;
    gsa_error error;
    (void)gsai_fail_line(&error, GSA_INPUT, 7, 9, "index 0");
    gsai_error_prefix(&error, "%s:%d: ", "a.txt", 7);
    assert_string_equal(error.message, "a.txt:7: index 0");
    assert_true(error.line == 7 && error.byte == 9 && error.status == GSA_INPUT);
}

static void a_prefix_cuts_the_end_of_what_was_there(void **state)
{
    (void)state;
    char text[600] = "";
    while (strlen(text) < 510)
        strcat(text, "\xC3\xA9");
    gsa_error error;
    (void)gsai_fail(&error, GSA_INPUT, "%s", text);
    gsai_error_prefix(&error, "abc: ");
    assert_memory_equal(error.message, "abc: \xC3\xA9", 7);
    assert_true(strlen(error.message) < sizeof error.message);
    assert_true(is_whole(error.message));
}

/* Found by fuzz_config: the value of a parameter may be anything. */
static void what_is_quoted_cannot_break_the_line(void **state)
{
    (void)state;
    gsa_error error;
    (void)gsai_fail(&error, GSA_ARGUMENT, "loss is '%s'", "a\nb\tc\x1b[31md\x7f z\xc3\xbcrich");
    assert_string_equal(error.message, "loss is 'a?b?c?[31md? z\xc3\xbcrich'");
    gsai_error_prefix(&error, "%s: ", "new\r\nline");
    assert_string_equal(error.message, "new??line: loss is 'a?b?c?[31md? z\xc3\xbcrich'");
}

static void statuses_have_texts(void **state)
{
    (void)state;
    assert_string_equal(gsa_status_text(GSA_OK), "ok");
    assert_string_equal(gsa_status_text(GSA_CONFLICT), "states do not fit together");
    assert_string_equal(gsa_status_text((gsa_status)999), "unknown status");
    assert_string_equal(gsa_version(), GSA_VERSION);
}

/* Frozen: programs and scripts compare with these numbers. */
static void status_numbers_are_frozen(void **state)
{
    (void)state;
    static const gsa_status in_order[] = {GSA_OK,       GSA_END,         GSA_STOPPED, GSA_MEMORY, GSA_ARGUMENT,
                                          GSA_INPUT,    GSA_IO,          GSA_FORMAT,  GSA_LIMIT,  GSA_LABEL,
                                          GSA_DIVERGED, GSA_UNSUPPORTED, GSA_CONFLICT};
    for (int i = 0; i < 13; i++)
        assert_int_equal(in_order[i], i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_fills_the_error_and_returns_the_status),
        cmocka_unit_test(a_failure_names_the_parameter_it_concerns),
        cmocka_unit_test(fail_takes_no_error),
        cmocka_unit_test(rows_and_lines_are_kept),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(a_prefix_stands_in_front),
        cmocka_unit_test(a_prefix_cuts_the_end_of_what_was_there),
        cmocka_unit_test(what_is_quoted_cannot_break_the_line),
        cmocka_unit_test(statuses_have_texts),
        cmocka_unit_test(status_numbers_are_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
