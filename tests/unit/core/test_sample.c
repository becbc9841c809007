/* The held-out sample keeps the smallest hashes, in whatever order rows come. */
#include "rows.h"

#include "base/memory.h"
#include "core/sample.h"

static gsa__held_row *held(uint64_t hash, const gsa_env *env)
{
    const uint32_t index[] = {(uint32_t)hash % 100};
    const float value[] = {2};
    gsa__row row = {1, index, value};
    gsa__held_row *out = gsa__held_row_new(&row, hash, 0, 0, 1, env);
    assert_non_null(out);
    return out;
}

static void offer(gsa__sample *sample, uint64_t hash, size_t most, const gsa_env *env)
{
    if (gsa__sample_wants(sample, hash, most))
        assert_int_equal(gsa__sample_insert(sample, held(hash, env), most, env, NULL, NULL), GSA_OK);
}

static void the_smallest_hashes_are_kept_in_order(void **unused)
{
    (void)unused;
    gsa_env env = gsa__env_resolve(NULL);
    for (uint64_t seed = 0; seed < 20; seed++) {
        gsa__sample sample = {0};
        uint32_t order[500];
        gsa_plan_order(seed, 0, 0, 500, order);
        for (size_t i = 0; i < 500; i++)
            offer(&sample, 1000 + order[i] * 7, 32, &env);
        gsa__sample_settle(&sample);
        assert_int_equal(sample.n, 32);
        for (size_t i = 0; i < 32; i++) {
            assert_int_equal(sample.at[i]->hash, 1000 + i * 7);
            gsa__row row = gsa__held_row_view(sample.at[i]);
            assert_int_equal(row.n, 1);
            assert_int_equal(row.index[0], (1000 + i * 7) % 100);
            assert_true(row.value[0] == 2);
        }
        assert_true(gsa__sample_find(&sample, 1007));
        assert_false(gsa__sample_find(&sample, 1008));
        gsa__sample_release(&sample, &env);
    }
}

/* The plain way: one sorted array, the largest hash pushed out. Returns what is pushed out, 0 if nothing. */
static uint64_t insert_plainly(uint64_t *at, size_t *n, uint64_t hash, size_t most)
{
    size_t place = *n;
    while (place > 0 && at[place - 1] > hash) {
        at[place] = at[place - 1];
        place--;
    }
    at[place] = hash;
    return ++*n > most ? at[--*n] : 0;
}

/* Inserts a row if it is wanted, in the sample and plainly, and compares what can be seen at any time. */
static void offer_to_both(gsa__sample *sample, uint64_t *plain, size_t *n, uint64_t hash, size_t most)
{
    gsa_env env = gsa__env_resolve(NULL);
    gsa__held_row *pushed_out;
    bool held_already = false;
    for (size_t j = 0; j < *n; j++)
        held_already |= plain[j] == hash;
    assert_int_equal(gsa__sample_find(sample, hash) != NULL, held_already);
    bool wanted = !held_already && (*n < most || hash < plain[*n - 1]);
    assert_int_equal(gsa__sample_wants(sample, hash, most), wanted);
    if (!wanted)
        return;
    uint64_t last = insert_plainly(plain, n, hash, most);
    assert_int_equal(gsa__sample_insert(sample, held(hash, &env), most, &env, &pushed_out, NULL), GSA_OK);
    assert_int_equal(pushed_out ? pushed_out->hash : 0, last);
    gsa__free(&env, pushed_out);
    assert_int_equal(sample->n, *n);
    assert_int_equal(sample->highest, plain[*n - 1]);
    assert_int_equal(gsa__sample_last(sample)->hash, plain[*n - 1]);
}

/* With a room that grows, as in the first rows of a run, with more late rows than fit, settled now and then or not. */
static void late_rows_are_as_good_as_settled_ones(void **unused)
{
    (void)unused;
    enum { OFFERS = 6000, MOST = 1000 };
    gsa_env env = gsa__env_resolve(NULL);
    for (uint64_t seed = 0; seed < 3; seed++) {
        static uint64_t plain[MOST + 1];
        gsa__sample sample = {0};
        size_t n = 0;
        for (uint64_t i = 0; i < OFFERS; i++) {
            uint64_t hash = 1 + gsa__mix(seed * OFFERS + i) % 20000;
            size_t most = seed == 2 ? MOST : 1 + (size_t)(i / 4 < MOST ? i / 4 : MOST - 1);
            offer_to_both(&sample, plain, &n, hash, most);
            if (seed == 1 && hash % 41 == 0)
                gsa__sample_settle(&sample);
        }
        gsa__sample_settle(&sample);
        assert_int_equal(n, MOST);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(sample.at[j]->hash, plain[j]);
        gsa__sample_release(&sample, &env);
    }
}

/* A merged sample may hold more than its owner now asks for: then the cut is inside. */
static void a_sample_that_is_too_large_wants_what_is_below_the_cut(void **unused)
{
    (void)unused;
    gsa_env env = gsa__env_resolve(NULL);
    gsa__sample sample = {0};
    static const uint64_t hashes[] = {90, 50, 70, 10, 30};
    for (size_t i = 0; i < 5; i++)
        offer(&sample, hashes[i], 5, &env);
    assert_true(gsa__sample_wants(&sample, 29, 2));
    assert_false(gsa__sample_wants(&sample, 31, 2));
    gsa__sample_release(&sample, &env);
}

static void a_row_that_comes_twice_is_kept_once(void **unused)
{
    (void)unused;
    gsa_env env = gsa__env_resolve(NULL);
    gsa__sample sample = {0};
    for (int i = 0; i < 3; i++)
        offer(&sample, 5, 10, &env);
    assert_int_equal(sample.n, 1);
    gsa__sample_release(&sample, &env);
}

static void a_sample_of_nothing_wants_nothing(void **unused)
{
    (void)unused;
    gsa__sample sample = {0};
    assert_false(gsa__sample_wants(&sample, 0, 0));
    assert_true(gsa__sample_wants(&sample, UINT64_MAX, 1));
}

static void zeros_of_a_row_are_not_kept(void **unused)
{
    (void)unused;
    gsa_env env = gsa__env_resolve(NULL);
    const float value[] = {0, 3, 0, 4};
    gsa__row row = {4, NULL, value};
    gsa__held_row *out = gsa__held_row_new(&row, 1, 0, 0, 1, &env);
    gsa__row view = gsa__held_row_view(out);
    assert_int_equal(view.n, 2);
    assert_int_equal(view.index[1], 3);
    assert_true(view.value[0] == 3 && view.value[1] == 4);
    gsa__free(&env, out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_hashes_are_kept_in_order),
        cmocka_unit_test(late_rows_are_as_good_as_settled_ones),
        cmocka_unit_test(a_sample_that_is_too_large_wants_what_is_below_the_cut),
        cmocka_unit_test(a_row_that_comes_twice_is_kept_once),
        cmocka_unit_test(a_sample_of_nothing_wants_nothing),
        cmocka_unit_test(zeros_of_a_row_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
