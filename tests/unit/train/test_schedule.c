/* The order of rows. */
#include "../learn/rows.h"

#include <greedystep/distributed.h>

static void an_order_is_a_permutation(void **unused)
{
    (void)unused;
    static uint32_t order[GSA_BLOCK_ROWS];
    static unsigned char seen[GSA_BLOCK_ROWS];
    const uint32_t sizes[] = {0, 1, 2, 3, 1000, GSA_BLOCK_ROWS};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        memset(seen, 0, sizeof seen);
        gsa_plan_order(1, 2, 3, sizes[s], order);
        for (uint32_t i = 0; i < sizes[s]; i++) {
            assert_true(order[i] < sizes[s]);
            assert_false(seen[order[i]]++);
        }
    }
}

/* Pinned: these numbers decide which model a seed gives, on every machine and in every release. */
static void an_order_never_changes(void **unused)
{
    (void)unused;
    uint32_t order[8];
    static const uint32_t pinned[8] = {0, 1, 6, 5, 4, 3, 7, 2};
    gsa_plan_order(42, 1, 7, 8, order);
    for (int i = 0; i < 8; i++)
        assert_int_equal(order[i], pinned[i]);
}

static void seed_pass_and_block_all_change_the_order(void **unused)
{
    (void)unused;
    uint32_t a[64], b[64];
    gsa_plan_order(1, 1, 1, 64, a);
    for (uint64_t i = 0; i < 3; i++) {
        gsa_plan_order(1 + (i == 0), 1 + (i == 1), 1 + (i == 2), 64, b);
        assert_memory_not_equal(a, b, sizeof a);
    }
}

static void every_row_is_about_as_likely_at_every_place(void **unused)
{
    (void)unused;
    enum { ROWS = 8, TRIES = 8000 };
    unsigned count[ROWS][ROWS] = {{0}};
    uint32_t order[ROWS];
    for (uint64_t seed = 0; seed < TRIES; seed++) {
        gsa_plan_order(seed, 0, 0, ROWS, order);
        for (int i = 0; i < ROWS; i++)
            count[i][order[i]]++;
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) /* 1000 expected, standard deviation 30 */
            assert_in_range(count[i][j], 850, 1150);
}

/* A million rows, or four times as many as features; a copy has 2^18 of them, or a quarter of the features, if they can
 * be spared. */
static void rounds_begin_after_a_million_rows_and_copies_double_with_the_rows(void **unused)
{
    (void)unused;
    const uint64_t million = 1000000;
    assert_int_equal(gsa_plan_step(million - 1, 1000, 1, 1).n_replicas, 1);
    assert_int_equal(gsa_plan_step(million, 1000, 1, 1).n_replicas, 8);
    assert_int_equal(gsa_plan_step(4 * million - 1, million, 1, 1).n_replicas, 1);
    assert_int_equal(gsa_plan_step(4 * million, million, 1, 1).n_replicas, 8);
    assert_int_equal(gsa_plan_step((1 << 22) - 1, 1000, 1, 1).n_replicas, 8);
    assert_int_equal(gsa_plan_step(1 << 22, 1000, 1, 1).n_replicas, 16);
    assert_int_equal(gsa_plan_step(1 << 24, 1000, 1, 1).n_replicas, 64);
    assert_int_equal(gsa_plan_step(1 << 24, 4 * million, 1, 1).n_replicas, 16);
    assert_int_equal(gsa_plan_step(1 << 26, 10 * million, 1, 1).n_replicas, 16);
    assert_int_equal(gsa_plan_step(1000 * million, 1000, 1, 1).n_replicas, 256);
    assert_int_equal(gsa_plan_step(million * million, 100 * million, 1, 1).n_replicas, 2048);
    assert_int_equal(gsa_plan_step(million * million, 1000, 1, 1).n_replicas, GSA_MAX_REPLICAS);
}

static void as_many_copies_learn_at_a_time_as_fit(void **unused)
{
    (void)unused;
    assert_int_equal(gsa_plan_step(1 << 24, 1000, 1, 1).n_resident, 8);
    assert_int_equal(gsa_plan_step(1 << 26, 16000000, 1, 1).n_resident, 8);
    assert_int_equal(gsa_plan_step((uint64_t)1 << 27, 17000000, 1, 1).n_resident, 4);
    assert_int_equal(gsa_plan_step((uint64_t)1 << 32, 1000000000, 1, 1).n_resident, 2);
    assert_int_equal(gsa_plan_step(1 << 24, 20000, 1000, 1).n_resident, 8);
    assert_int_equal(gsa_plan_step(1 << 24, 40000, 1000, 1).n_resident, 4);
}

static void while_labels_may_come_all_copies_learn_at_one_time(void **unused)
{
    (void)unused;
    assert_int_equal(gsa_plan_step(1 << 24, 1000, 10, 0).n_replicas, 8);
    assert_int_equal(gsa_plan_step(1 << 24, 40000, 1000, 0).n_replicas, 4);
    assert_int_equal(gsa_plan_step(1 << 24, 1000, 10, 1).n_replicas, 64);
}

static void rounds_double_and_are_a_sixteenth_of_very_many_rows(void **unused)
{
    (void)unused;
    assert_int_equal(gsa_plan_step(1500000, 1000, 1, 1).n_rows, 1500000);
    assert_int_equal(gsa_plan_step(1 << 26, 1000, 1, 1).n_rows, 1 << 26);
    assert_int_equal(gsa_plan_step(1000000000, 1000, 1, 1).n_rows, 1 << 26);
    assert_int_equal(gsa_plan_step(16000000000, 1000, 1, 1).n_rows, 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_a_permutation),
        cmocka_unit_test(an_order_never_changes),
        cmocka_unit_test(seed_pass_and_block_all_change_the_order),
        cmocka_unit_test(every_row_is_about_as_likely_at_every_place),
        cmocka_unit_test(rounds_begin_after_a_million_rows_and_copies_double_with_the_rows),
        cmocka_unit_test(as_many_copies_learn_at_a_time_as_fit),
        cmocka_unit_test(while_labels_may_come_all_copies_learn_at_one_time),
        cmocka_unit_test(rounds_double_and_are_a_sixteenth_of_very_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
