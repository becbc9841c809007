/* The loss of the rows between two lines: by hand, whoever learns. */
#include "recent.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gsa_summary sums(uint64_t pass, uint64_t n_rows, double sum, double weight)
{
    return (gsa_summary){
        .size = sizeof(gsa_summary), .pass = pass, .n_rows = n_rows, .loss_sum = sum, .loss_weight = weight};
}

static void hear(cli_recent *recent, const void *learner, gsa_summary now, const gsa_summary *base)
{
    recent_add(recent, learner, &now, base);
}

static void must_give(cli_recent *recent, double loss)
{
    assert_true(fabs(recent_take(recent) - loss) < 1e-12);
}

static void a_state_alone_is_compared_with_itself(void **unused)
{
    (void)unused;
    cli_recent recent = {0};
    int state = 0;
    gsa_summary start = sums(0, 100, 60, 100); /* a run that goes on */
    recent_begin(&recent, &state, &start);
    assert_true(isnan(recent_take(&recent)));
    hear(&recent, &state, sums(0, 104, 62, 104), NULL);
    hear(&recent, &state, sums(0, 110, 63, 110), NULL);
    must_give(&recent, 0.3);
    assert_true(isnan(recent_take(&recent)));
    hear(&recent, &state, sums(0, 120, 64, 120), NULL); /* without a line before the pass ends */
    hear(&recent, &state, sums(1, 130, 2, 10), NULL);
    must_give(&recent, 0.2);
    hear(&recent, &state, sums(1, 150, 5, 30), NULL);
    must_give(&recent, 0.15);
}

static void copies_of_a_round_are_compared_each_with_itself(void **unused)
{
    (void)unused;
    cli_recent recent = {0};
    int state = 0, copy[3] = {0};
    gsa_summary start = sums(0, 0, 0, 0);
    recent_begin(&recent, &state, &start);
    gsa_summary base = sums(0, 1000, 700, 1000);
    hear(&recent, &state, base, NULL);
    must_give(&recent, 0.7);
    hear(&recent, &copy[0], sums(0, 1010, 704, 1010), &base); /* 4 of 10 */
    must_give(&recent, 0.4);
    hear(&recent, &copy[1], sums(0, 1010, 706, 1010), &base); /* 6 of 10: as many rows as the other */
    must_give(&recent, 0.6);
    hear(&recent, &copy[2], sums(0, 1010, 701, 1010), &base); /* 1 of 10 */
    hear(&recent, &copy[0], sums(0, 1020, 707, 1020), &base); /* 3 of 10 */
    must_give(&recent, 0.2);
    /* The next round begins with the rows of all, and copies may lie where those before lay. */
    base = sums(0, 1060, 720, 1060);
    hear(&recent, &copy[0], sums(0, 1070, 729, 1070), &base); /* 9 of 10 */
    must_give(&recent, 0.9);
    /* Another pass, whose sums begin anew. */
    base = sums(1, 1100, 0, 0);
    hear(&recent, &copy[0], sums(1, 1110, 5, 10), &base);
    must_give(&recent, 0.5);
}

/* One member tells, and later perhaps another; the state learns nothing until the end. */
static void members_of_a_team_begin_with_the_pass(void **unused)
{
    (void)unused;
    cli_recent recent = {0};
    int state = 0, member[2] = {0};
    gsa_summary start = sums(0, 0, 0, 0);
    recent_begin(&recent, &state, &start);
    hear(&recent, &member[0], sums(0, 10, 7, 10), &start);
    hear(&recent, &member[0], sums(0, 20, 13, 20), &start);
    must_give(&recent, 0.65);
    hear(&recent, &member[0], sums(0, 30, 16, 30), &start);
    must_give(&recent, 0.3);
    hear(&recent, &member[1], sums(1, 40, 2, 10), &start);
    must_give(&recent, 0.2);
    hear(&recent, &member[1], sums(1, 50, 3, 20), &start);
    must_give(&recent, 0.1);
}

static void many_copies_can_learn_one_after_the_other(void **unused)
{
    (void)unused;
    char many[40] = "";
    gsa_summary base = sums(0, 10, 7, 10);
    for (size_t n_places = 1; n_places <= sizeof many; n_places += 39) { /* each where the one before lay, or not */
        cli_recent recent = {0};
        recent_begin(&recent, &recent, &base);
        for (size_t i = 0; i < sizeof many; i++) {
            hear(&recent, &many[i % n_places], sums(0, 20, 12, 20), &base); /* 5 of 10 */
            must_give(&recent, 0.5);
            hear(&recent, &many[i % n_places], sums(0, 40, 14, 40), &base); /* 2 of 20 */
            must_give(&recent, 0.1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_alone_is_compared_with_itself),
        cmocka_unit_test(copies_of_a_round_are_compared_each_with_itself),
        cmocka_unit_test(members_of_a_team_begin_with_the_pass),
        cmocka_unit_test(many_copies_can_learn_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
