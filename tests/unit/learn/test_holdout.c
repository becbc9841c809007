/* The held-out sample: ordered whatever the order in which rows come, equal rows once, the highest hash goes first. */
#include "rows.h"

#include "base/memory.h"
#include "learn/holdout.h"

static gsai_held_row *held(uint64_t hash, size_t class_number, double y, double c)
{
    gsai_env env = gsai_env_resolve(NULL);
    const uint32_t index[] = {(uint32_t)hash % 100};
    const float value[] = {2};
    gsai_row row = {1, index, value};
    gsai_held_row *out = gsai_held_row_new(&row, hash, hash, class_number, y, c, &env);
    assert_non_null(out);
    return out;
}

static void insert(gsai_sample *sample, uint64_t hash, size_t class_number, double y, double c)
{
    gsai_env env = gsai_env_resolve(NULL);
    assert_int_equal(gsai_sample_insert(sample, held(hash, class_number, y, c), &env, NULL), GSA_OK);
}

static bool has(const gsai_sample *sample, uint64_t hash, size_t class_number, double y)
{
    gsai_env env = gsai_env_resolve(NULL);
    gsai_held_row *like = held(hash, class_number, y, 1);
    bool found = gsai_sample_find(sample, like) != NULL;
    gsai_free(&env, like);
    return found;
}

static void rows_are_in_the_order_of_their_hashes(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    for (uint64_t seed = 0; seed < 20; seed++) {
        gsai_sample sample = {.below = UINT64_MAX};
        uint32_t order[500];
        gsa_plan_order(seed, 0, 0, 500, order);
        for (size_t i = 0; i < 500; i++)
            insert(&sample, 1000 + order[i] * 7, 0, 0, 1);
        gsai_sample_settle(&sample);
        assert_int_equal(sample.n, 500);
        for (size_t i = 0; i < 500; i++) {
            gsai_row row = gsai_held_row_view(sample.at[i]);
            assert_int_equal(sample.at[i]->hash, 1000 + i * 7);
            assert_int_equal(row.n, 1);
            assert_int_equal(row.index[0], (1000 + i * 7) % 100);
            assert_true(row.value[0] == 2);
        }
        assert_true(has(&sample, 1007, 0, 0));
        assert_false(has(&sample, 1008, 0, 0));
        gsai_sample_release(&sample, &env);
    }
}

/* One sorted array beside the sample, rows inserted and popped in turns, settled now and then or not. */
static void late_rows_are_as_good_as_settled_ones(void **unused)
{
    (void)unused;
    enum { OFFERS = 6000, MOST = 1000 };
    gsai_env env = gsai_env_resolve(NULL);
    for (uint64_t seed = 0; seed < 3; seed++) {
        static uint64_t plain[MOST + 1];
        gsai_sample sample = {.below = UINT64_MAX};
        size_t n = 0;
        for (uint64_t i = 0; i < OFFERS; i++) {
            uint64_t hash = 1 + gsai_mix(seed * OFFERS + i) % 20000;
            size_t most = seed == 2 ? MOST : 1 + (size_t)(i / 4 < MOST ? i / 4 : MOST - 1), place = n;
            if (hash >= sample.below || has(&sample, hash, 0, 0))
                continue;
            for (; place > 0 && plain[place - 1] > hash; place--)
                plain[place] = plain[place - 1];
            plain[place] = hash;
            n++;
            insert(&sample, hash, 0, 0, 1);
            assert_int_equal(sample.n, n);
            assert_int_equal(gsai_sample_last(&sample)->hash, plain[n - 1]);
            if (n > most) {
                gsai_held_row *last = gsai_sample_pop(&sample);
                assert_int_equal(last->hash, plain[--n]);
                assert_int_equal(sample.below, last->hash);
                gsai_free(&env, last);
            }
            if (seed == 1 && hash % 41 == 0)
                gsai_sample_settle(&sample);
        }
        gsai_sample_settle(&sample);
        assert_true(n > 0);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(sample.at[j]->hash, plain[j]);
        gsai_sample_release(&sample, &env);
    }
}

static void equal_rows_are_kept_once_and_their_weights_add_up(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_sample sample = {.below = UINT64_MAX};
    insert(&sample, 5, 1, 0, 1);
    insert(&sample, 5, 0, 0, 2); /* another class */
    insert(&sample, 5, 1, 0, 0.5);
    insert(&sample, 5, 1, 3, 4); /* another number */
    insert(&sample, 5, 1, -0.0, 1);
    gsai_sample_settle(&sample);
    assert_int_equal(sample.n, 3);
    assert_true(sample.at[0]->class_number == 0 && sample.at[0]->weight == 2);
    assert_true(sample.at[1]->number == 0 && sample.at[1]->weight == 2.5);
    assert_true(sample.at[2]->number == 3 && sample.at[2]->weight == 4);
    gsai_sample_release(&sample, &env);
}

/* Rows with equal features go one after the other, and the threshold is at their hash from the first on. */
static void the_threshold_comes_down_to_what_is_popped(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_sample sample = {.below = 100};
    insert(&sample, 7, 0, 0, 1);
    insert(&sample, 9, 0, 0, 1);
    insert(&sample, 9, 1, 0, 1);
    for (int i = 0; i < 2; i++) {
        gsai_held_row *last = gsai_sample_pop(&sample);
        assert_true(last->hash == 9 && sample.below == 9 && last->class_number == 1u - (unsigned)i);
        gsai_free(&env, last);
    }
    assert_true(sample.n == 1 && gsai_sample_last(&sample)->hash == 7);
    gsai_free(&env, gsai_sample_pop(&sample));
    assert_int_equal(sample.below, 7);
    assert_null(gsai_sample_pop(&sample));
    assert_null(gsai_sample_last(&sample));
    gsai_sample_release(&sample, &env);
}

static void a_kind_is_all_entries_of_a_hash(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    gsai_sample sample = {.below = 1000};
    for (uint64_t i = 0; i < 300; i++) /* some of them late */
        insert(&sample, (i * 7) % 30, i % 4, (double)(i / 30 % 2), 1);
    gsai_kind kind = gsai_sample_kind(&sample, 7), none = gsai_sample_kind(&sample, 31);
    assert_true(kind.n > 1 && kind.weight == 10 && none.n == 0 && none.weight == 0);
    gsai_held_row *held;
    double weight = 0;
    for (size_t n = 0; (held = gsai_sample_next_held(&sample, 7)); n++) {
        assert_true(held->hash == 7 && n < kind.n && held->seen == held->weight);
        weight += held->weight;
        held->weight = 0;
    }
    none = gsai_sample_kind(&sample, 7);
    assert_true(weight == 10 && none.n == kind.n && none.weight == 0);
    gsai_sample_release(&sample, &env);
}

static void rows_are_copies_if_equal_ones_have_one_label(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    for (size_t n_labels = 1; n_labels <= 2; n_labels++) {
        gsai_sample sample = {.below = UINT64_MAX};
        for (uint64_t i = 0; i < 30; i++)
            insert(&sample, i, 0, 0, 1);
        gsai_sample_settle(&sample);
        assert_true(gsai_sample_copies(&sample) == 1);
        for (uint64_t i = 0; i < 120; i++)
            insert(&sample, i % 30, i / 30 % n_labels, 0, 1);
        gsai_sample_settle(&sample);
        assert_true(gsai_sample_copies(&sample) == (n_labels == 1 ? 5 : 1));
        gsai_sample_release(&sample, &env);
    }
}

static void zeros_of_a_row_are_not_kept(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    const float value[] = {0, 3, 0, 4};
    gsai_row row = {4, NULL, value};
    gsai_held_row *out = gsai_held_row_new(&row, 1, 1, 0, 0, 1, &env);
    gsai_row view = gsai_held_row_view(out);
    assert_int_equal(view.n, 2);
    assert_int_equal(view.index[1], 3);
    assert_true(view.value[0] == 3 && view.value[1] == 4);
    gsai_free(&env, out);
}

/* With three labels each and hashes in an order of their own. */
static void sixteen_low_kinds_stay_above_the_threshold_and_count_if_common(void **unused)
{
    (void)unused;
    gsai_env env = gsai_env_resolve(NULL);
    for (int common = 0; common < 2; common++)
        for (uint64_t n_below = 0; n_below < 20; n_below++) {
            gsai_sample sample = {.below = 1000 + n_below};
            for (uint64_t i = 0; i < 3 * 40; i++) {
                uint64_t hash = 1000 + i * 7 % 40;
                gsai_held_row *row = held(hash, i / 40, 0, common ? 22 : 21);
                row->weight = hash < sample.below;
                assert_int_equal(gsai_sample_insert(&sample, row, &env, NULL), GSA_OK);
                while (gsai_sample_is_over(&sample, 1000, true))
                    gsai_free(&env, gsai_sample_pop(&sample));
            }
            gsai_sample_settle(&sample);
            uint64_t kinds = n_below > 16 ? n_below : 16;
            assert_int_equal(sample.n, 3 * kinds);
            assert_int_equal(sample.below, 1000 + n_below);
            assert_true(gsai_sample_is_low(&sample, 1015) && !gsai_sample_is_low(&sample, 1016));
            assert_int_equal(gsai_sample_count(&sample), 3 * (common ? kinds : n_below));
            while (gsai_sample_is_over(&sample, 1000, false))
                gsai_free(&env, gsai_sample_pop(&sample));
            assert_int_equal(sample.n, 3 * n_below);
            gsai_sample_release(&sample, &env);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_the_order_of_their_hashes),
        cmocka_unit_test(late_rows_are_as_good_as_settled_ones),
        cmocka_unit_test(equal_rows_are_kept_once_and_their_weights_add_up),
        cmocka_unit_test(the_threshold_comes_down_to_what_is_popped),
        cmocka_unit_test(a_kind_is_all_entries_of_a_hash),
        cmocka_unit_test(rows_are_copies_if_equal_ones_have_one_label),
        cmocka_unit_test(zeros_of_a_row_are_not_kept),
        cmocka_unit_test(sixteen_low_kinds_stay_above_the_threshold_and_count_if_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
