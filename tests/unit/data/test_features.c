/* Rows with ids of their own making: order, sums, and the hash, which must never change. */
#include "unit/data/support.h"

#include "base/hash.h"
#include "base/memory.h"
#include "data/format/features.h"

static void ids_ascend_and_equal_ones_are_added_up(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (size_t n = 0; n < 400; n += 1 + n / 10) {
        uint32_t index[400];
        float value[400];
        double sum[512] = {0};
        gsai_features f = {.index = index, .value = value, .all_ones = true};
        for (size_t i = 0; i < n && i < 3; i++)
            gsai_features_add(&f, (uint32_t)i, 0.5f);
        f.n_numbers = f.n;
        while (f.n < n) {
            uint32_t id = 3 + (uint32_t)(next_random(&seed) % 500);
            float x = (float)(next_random(&seed) % 8) - 4;
            sum[id] += (double)x;
            gsai_features_add(&f, id, x);
        }
        assert_true(gsai_features_finish(&f));
        for (size_t i = 1; i < f.n; i++)
            assert_true(index[i] > index[i - 1]);
        for (size_t i = f.n_numbers; i < f.n; i++) {
            assert_true((double)value[i] == sum[index[i]]);
            sum[index[i]] = 0;
        }
    }
}

/* Compared with an array that has a place for every id. */
static void a_long_row_is_sorted_whatever_its_ids(void **state)
{
    (void)state;
    enum { N = 200000, IDS = 1 << 17 };
    static uint32_t index[N];
    static float value[N];
    static double sum[IDS];
    for (unsigned shift = 0; shift <= 15; shift += 5) {
        uint64_t seed = shift + 1;
        gsai_features f = {.index = index, .value = value};
        memset(sum, 0, sizeof sum);
        while (f.n < N) {
            uint32_t id = (uint32_t)(next_random(&seed) % IDS);
            sum[id] += 1;
            gsai_features_add(&f, id << shift, 1);
        }
        assert_true(gsai_features_finish(&f));
        size_t at = 0;
        for (uint32_t id = 0; id < IDS; id++)
            if (sum[id] > 0) {
                assert_true(at < f.n && index[at] == id << shift && (double)value[at] == sum[id]);
                at++;
            }
        assert_int_equal(at, f.n);
    }
}

static void words_that_meet_in_one_id_make_a_two(void **state)
{
    (void)state;
    uint32_t index[4];
    float value[4];
    gsai_features f = {.index = index, .value = value, .all_ones = true};
    gsai_features_add(&f, 7, 1);
    gsai_features_add(&f, 3, 1);
    gsai_features_add(&f, 7, 1);
    assert_true(gsai_features_finish(&f));
    assert_int_equal(f.n, 2);
    assert_int_equal(index[1], 7);
    assert_true(value[0] == 1 && value[1] == 2);
    assert_false(f.all_ones);
}

static void equal_ids_are_added_up_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    uint32_t index[40];
    float value[40];
    for (uint32_t high = 0, n = 0; n < 2; n++, high += 0x80000000u) {
        gsai_features f = {.index = index, .value = value};
        for (uint32_t i = 0; i < 34; i++)
            gsai_features_add(&f, i == 3 || i == 20 || i == 33 ? high + 5 : high + 100 - i,
                              i == 3    ? 1e8f
                              : i == 20 ? 1
                              : i == 33 ? -1e8f
                                        : 1);
        gsai_features_add(&f, high + 5, 3);
        assert_true(gsai_features_finish(&f));
        assert_int_equal(f.n, 32);
        assert_int_equal(index[0], high + 5);
        assert_true(value[0] == 3 && value[31] == 1); /* 1e8 + 1 is 1e8 */
    }
}

static void a_sum_that_is_not_finite_is_told(void **state)
{
    (void)state;
    uint32_t index[2];
    float value[2];
    gsai_features f = {.index = index, .value = value};
    gsai_features_add(&f, 1, 3e38f);
    gsai_features_add(&f, 1, 3e38f);
    assert_false(gsai_features_finish(&f));
}

static void the_hash_of_a_word_is_that_of_its_column_a_nul_and_the_word(void **state)
{
    (void)state;
    gsai_env env = gsai_env_resolve(NULL);
    const char *names[] = {"", "a", "city", "country", "province", "a rather long name"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        gsai_key key = {0};
        size_t n = strlen(names[i]);
        char text[600], *word = text + n + 1;
        memcpy(text, names[i], n + 1);
        assert_true(gsai_key_set(&key, names[i], n, &env));
        for (size_t k = 0; k < 500; k++)
            word[k] = (char)(200 + k);
        for (size_t size = 0; size <= 500; size++)
            assert_true(gsai_key_hash(&key, word, size) == gsai_hash(text, n + 1 + size, 0));
        gsai_key_free(&key, &env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_ascend_and_equal_ones_are_added_up),
        cmocka_unit_test(a_long_row_is_sorted_whatever_its_ids),
        cmocka_unit_test(words_that_meet_in_one_id_make_a_two),
        cmocka_unit_test(equal_ids_are_added_up_in_the_order_in_which_they_came),
        cmocka_unit_test(a_sum_that_is_not_finite_is_told),
        cmocka_unit_test(the_hash_of_a_word_is_that_of_its_column_a_nul_and_the_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
