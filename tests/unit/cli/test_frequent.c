/* The most frequent features of data, against sorting all of them. */
#include "inspect_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 500 };

/* The more frequent first; of equals the one with the smaller number. */
static int compare(const void *a, const void *b)
{
    const value_entry *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->value > y->value) - (x->value < y->value);
}

static void the_most_frequent_are_those_of_a_sorted_list(void **state)
{
    (void)state;
    static const size_t max[] = {0, 1, 2, 10, MANY - 1, MANY, MANY + 7};
    value_entry all[MANY];
    unsigned random = 1;
    for (size_t i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u;
        /* With many equals, and some numbers that are too large to be counted one by one. */
        all[i] = (value_entry){.value = i < MANY - 9 ? 3 * i : MAX_COUNTED + 3 * i, .count = 1 + (random >> 27)};
    }
    for (size_t k = 0; k < sizeof max / sizeof *max; k++) {
        data_features features;
        value_entry sorted[MANY];
        assert_true(features_init(&features));
        for (size_t i = 0; i < MANY; i++) {
            uint32_t id = (uint32_t)all[i].value;
            gsai_row row = {1, &id, NULL};
            for (uint64_t n = 0; n < all[i].count; n++)
                assert_true(features_add(&features, &row));
            sorted[i] = all[i];
        }
        qsort(sorted, MANY, sizeof *sorted, compare);
        assert_true(features_finish(&features, max[k]));
        assert_int_equal(features.n_seen, MANY);
        assert_int_equal(features.highest, all[MANY - 1].value);
        assert_int_equal(features.n_frequent, max[k] < MANY ? max[k] : MANY);
        for (size_t i = 0; i < features.n_frequent; i++) {
            assert_int_equal(features.frequent[i].value, sorted[i].value);
            assert_int_equal(features.frequent[i].count, sorted[i].count);
        }
        features_free(&features);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_most_frequent_are_those_of_a_sorted_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
