/* The largest of many, against sorting all of them. */
#include "top.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 500 };

/* The larger value first; of equals the one that came first. */
static int compare(const void *a, const void *b)
{
    const top_feature *x = a, *y = b;
    double p = fabs(x->value), q = fabs(y->value);
    return p != q ? (p < q) - (p > q) : (x->id > y->id) - (x->id < y->id);
}

static void the_largest_are_those_of_a_sorted_list(void **state)
{
    (void)state;
    static const size_t max[] = {0, 1, 2, 10, MANY - 1, MANY, MANY + 7};
    top_feature all[MANY];
    unsigned random = 1;
    for (size_t i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u;
        all[i] = (top_feature){.id = i, .value = (double)(random >> 24) - 128}; /* with many equals */
    }
    for (size_t k = 0; k < sizeof max / sizeof *max; k++) {
        top_features top;
        top_feature sorted[MANY];
        assert_true(top_init(&top, max[k]));
        for (size_t i = 0; i < MANY; i++) {
            top_consider(&top, all[i]);
            sorted[i] = all[i];
        }
        qsort(sorted, MANY, sizeof *sorted, compare);
        assert_int_equal(top.n, max[k] < MANY ? max[k] : MANY);
        for (size_t i = 0; i < top.n; i++) {
            assert_int_equal(top.at[i].id, sorted[i].id);
            assert_true(top.at[i].value == sorted[i].value); /* with its sign */
        }
        top_free(&top);
        assert_null(top.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_largest_are_those_of_a_sorted_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
