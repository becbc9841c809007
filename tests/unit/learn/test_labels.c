/* The table of labels. */
#include "rows.h"

#include "base/memory.h"
#include "learn/labels.h"

#include <stdio.h>

static gsai_labels empty_labels(void)
{
    gsai_env env = gsai_env_resolve(NULL);
    gsai_labels labels;
    gsai_labels_init(&labels, &env);
    return labels;
}

static size_t add_number(gsai_labels *labels, double number)
{
    size_t out;
    assert_int_equal(gsai_labels_add(labels, NULL, number, &out, NULL), GSA_OK);
    return out;
}

static size_t add_word(gsai_labels *labels, const char *word)
{
    size_t out;
    assert_int_equal(gsai_labels_add(labels, word, 0, &out, NULL), GSA_OK);
    return out;
}

static void a_number_is_one_label_however_it_is_written(void **unused)
{
    (void)unused;
    gsai_labels labels = empty_labels();
    assert_int_equal(add_number(&labels, 1), 0);
    assert_int_equal(add_number(&labels, -1), 1);
    assert_int_equal(add_number(&labels, 1.0), 0);
    assert_int_equal(add_word(&labels, "1"), 0);
    assert_int_equal(add_number(&labels, 0.1), 2);
    assert_string_equal(labels.at[2].text, "0.1");
    assert_int_equal(add_number(&labels, 0.0), 3);
    assert_int_equal(add_number(&labels, -0.0), 3);
    assert_string_equal(labels.at[3].text, "0");
    gsai_labels_release(&labels);
}

static void a_word_that_looks_like_a_number_is_found_by_the_number(void **unused)
{
    (void)unused;
    gsai_labels labels = empty_labels();
    assert_int_equal(add_word(&labels, "7"), 0);
    assert_int_equal(gsai_labels_find_number(&labels, 7), 0);
    assert_int_equal(add_number(&labels, 7), 0);
    assert_int_equal(gsai_labels_find_number(&labels, 8), GSAI_NO_LABEL);
    gsai_labels_release(&labels);
}

/* Found by fuzz_labels: such a state could be saved, and not be loaded. */
static void a_word_that_no_file_can_hold_is_refused(void **unused)
{
    (void)unused;
    static const char *const words[] = {"fine", "", "z\xc3\xbcrich", "a\nb", "\xff", "\xc3", "\x1f"};
    static const int32_t word[] = {0, 1, 2, 3, 4, 5, 6};
    static const double label[7] = {0};
    const gsa_batch batch = {.n_rows = 7, .label = label, .word = word, .words = words, .n_words = 7};
    gsai_labels labels = empty_labels();
    for (size_t row = 0; row < 7; row++) {
        size_t out;
        gsa_error error = {0};
        gsa_status status = gsai_labels_add_row(&labels, &batch, row, &out, &error);
        assert_int_equal(status, row < 3 ? GSA_OK : GSA_INPUT);
        assert_int_equal(error.row, row < 3 ? 0 : row);
    }
    assert_int_equal(labels.n, 3);
    gsai_labels_release(&labels);
}

static void ten_thousand_labels_are_found_again(void **unused)
{
    (void)unused;
    gsai_labels labels = empty_labels();
    char word[32];
    for (int i = 0; i < 10000; i++) {
        snprintf(word, sizeof word, "class-%d", i);
        assert_int_equal(i % 2 ? add_word(&labels, word) : add_number(&labels, i * 1.25), i);
    }
    for (int i = 0; i < 10000; i++) {
        snprintf(word, sizeof word, "class-%d", i);
        size_t found = i % 2 ? gsai_labels_find_text(&labels, word) : gsai_labels_find_number(&labels, i * 1.25);
        assert_int_equal(found, i);
    }
    gsai_labels_release(&labels);
}

static void the_order_is_numbers_by_value_then_words_by_bytes(void **unused)
{
    (void)unused;
    gsai_labels labels = empty_labels(), sorted = empty_labels();
    add_word(&labels, "b");
    add_number(&labels, 10);
    add_word(&labels, "B");
    add_number(&labels, 9);
    add_number(&labels, -1.5);
    add_word(&labels, "ba");
    assert_int_equal(gsai_labels_add_sorted(&sorted, &labels, NULL), GSA_OK);
    const char *expected[] = {"-1.5", "9", "10", "B", "b", "ba"};
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(sorted.at[i].text, expected[i]);
    gsai_labels_release(&sorted);
    gsai_labels_release(&labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_one_label_however_it_is_written),
        cmocka_unit_test(a_word_that_looks_like_a_number_is_found_by_the_number),
        cmocka_unit_test(a_word_that_no_file_can_hold_is_refused),
        cmocka_unit_test(ten_thousand_labels_are_found_again),
        cmocka_unit_test(the_order_is_numbers_by_value_then_words_by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
