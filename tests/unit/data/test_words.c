/* The dictionary of labels that are words. */
#include "unit/data/support.h"

#include "base/memory.h"
#include "base/words.h"
#include "data/format/input_text.h"

static void words_keep_their_numbers(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_words words;
    words = (gsai_words){.env = &env};
    for (int round = 0; round < 2; round++) {
        for (int32_t i = 0; i < 5000; i++) {
            char text[16];
            int size = snprintf(text, sizeof text, "w%d", (int)i);
            int32_t number;
            assert_int_equal(gsai_words_enter(&words, text, (size_t)size, &number, NULL), GSA_OK);
            assert_int_equal(number, i);
        }
        assert_int_equal(words.n_words, 5000);
    }
    int32_t number;
    assert_int_equal(gsai_words_enter(&words, "w12 and more", 3, &number, NULL), GSA_OK); /* not NUL-terminated */
    assert_int_equal(number, 12);
    assert_int_equal(gsai_words_enter(&words, "w", 1, &number, NULL), GSA_OK); /* a prefix is another word */
    assert_int_equal(number, 5000);
    assert_string_equal(words.word[4999], "w4999");
    gsai_words_free(&words);
}

/* Each is a prefix of those before it, so that comparing too little finds the wrong one wherever slots collide. */
static void words_are_not_taken_for_longer_ones(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_words words;
    words = (gsai_words){.env = &env};
    char text[200];
    memset(text, 'x', sizeof text);
    for (size_t size = sizeof text; size > 0; size--) {
        int32_t number;
        assert_int_equal(gsai_words_enter(&words, text, size, &number, NULL), GSA_OK);
        assert_int_equal(number, sizeof text - size);
    }
    gsai_words_free(&words);
}

static void words_are_limited_in_number(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_words words;
    words = (gsai_words){.env = &env};
    char text[16];
    int32_t number;
    gsa_error error;
    for (size_t i = 0; i < GSAI_MAX_WORDS; i++) {
        int size = snprintf(text, sizeof text, "%zx", i);
        if (gsai_words_enter(&words, text, (size_t)size, &number, &error) != GSA_OK)
            fail();
    }
    assert_int_equal(gsai_words_enter(&words, "one more", 8, &number, &error), GSA_LIMIT);
    assert_non_null(strstr(error.message, "1048576"));
    assert_int_equal(gsai_words_enter(&words, "ff", 2, &number, &error), GSA_OK); /* a known one is no problem */
    assert_int_equal(number, 255);
    gsai_words_free(&words);
}

static void words_beyond_the_memory_limit_end_the_reading(void **state)
{
    (void)state;
    static char text[400000];
    size_t size = 0;
    for (int i = 0; i < 20000; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "word%d 1:1\n", i);
    gsai_env env = {ENV_SIZES, .memory.budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = 1 << 20}};
    gsa_reader *reader = open_text(text, size, NULL, 1, &env); /* no bad row that could be skipped */
    gsa_error error;
    gsa_status status;
    free(dump_reader(reader, &status, &error));
    assert_int_equal(status, GSA_LIMIT);
    assert_true(error.line > 6000 && error.line < 7000);
    assert_true(strncmp(error.message, "text:", 5) == 0);
    gsa_reader_close(reader);
}

static void quotations_are_cut_and_printable(void **state)
{
    (void)state;
    char buffer[GSAI_QUOTE_SIZE], text[200];
    assert_string_equal(gsai_quote("abc", 3, buffer), "abc");
    assert_string_equal(gsai_quote("a\0\n\xFF\xC3\xA9", 6, buffer), "a\\x00\\x0A\\xFF\xC3\xA9");
    for (size_t offset = 0; offset < 4; offset++) {
        memset(text, 'x', offset);
        for (size_t i = offset; i + 3 <= sizeof text; i += 3)
            memcpy(text + i, "\xE2\x82\xAC", 3);
        gsai_quote(text, sizeof text - 3, buffer);
        size_t len = strlen(buffer);
        assert_true(len < GSAI_QUOTE_SIZE && len > 50);
        assert_string_equal(buffer + len - 3, "...");
        for (size_t i = 0; i < len;) { /* no character is cut in two */
            size_t n = gsai_utf8_character(buffer + i, len - i);
            assert_true(n > 0);
            i += n;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_keep_their_numbers),
        cmocka_unit_test(words_are_not_taken_for_longer_ones),
        cmocka_unit_test(words_are_limited_in_number),
        cmocka_unit_test(words_beyond_the_memory_limit_end_the_reading),
        cmocka_unit_test(quotations_are_cut_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
