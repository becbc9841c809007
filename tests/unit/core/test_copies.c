/* Copies that learn side by side: their averages, and what becomes of them in a merge. */
#include "rows.h"

#include "core/state.h"

#include <math.h>

enum { FEATURES = 12, SLOTS = FEATURES + 1, COPIES = 4, ROWS = 50 };

/* What all weights up to row t count for together, as the header of the clock says. */
static double total(double t)
{
    return t * (t + 1) * (t + 2) / 3;
}

static gsa_state *trained_base(const char *holdout)
{
    rows *r = rows_random(1, 300, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *base = state_with("method", "auto", "holdout", holdout, "units", "given", NULL);
    learn(base, &batch);
    free(r);
    return base;
}

static gsa_state *copy_of(const gsa_state *base, size_t n_copies)
{
    gsa_error error = {0};
    gsa_state *copy;
    must_be_ok(gsa_state_fork(base, n_copies, NULL, &copy, &error), &error);
    return copy;
}

static void one_row(gsa_state *state, const gsa_batch *batch, uint32_t row)
{
    gsa_error error = {0};
    must_be_ok(gsa_state_update_rows(state, batch, &row, 1, &error), &error);
}

static gsa_state *merged(gsa_state *const *copies, size_t n, const gsa_state *base)
{
    gsa_error error = {0};
    gsa_state *out = NULL;
    must_be_ok(gsa_state_merge((const gsa_state *const *)copies, n, base, NULL, &out, &error), &error);
    return out;
}

/* Against the definition: the base's average and the weights after every row, each with its share. */
static void a_row_of_one_of_four_copies_counts_for_four_in_its_average(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base("0"), *copy = copy_of(base, COPIES);
    rows *r = rows_random(2, ROWS, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    double sum[SLOTS], now = (double)base->n_rows;
    for (size_t slot = 0; slot < SLOTS; slot++)
        sum[slot] = total(now) * gsa__state_average(base, slot, 0);
    for (uint32_t row = 0; row < ROWS; row++) {
        one_row(copy, &batch, row);
        for (size_t slot = 0; slot < SLOTS; slot++)
            sum[slot] += (total(now + COPIES) - total(now)) * (double)gsa__table_slot(&copy->table, slot)[0].f;
        now += COPIES;
    }
    for (size_t slot = 0; slot < SLOTS; slot++)
        assert_true(fabs(gsa__state_average(copy, slot, 0) - sum[slot] / total(now)) < 1e-5);
    gsa_summary summary;
    gsa_state_summary(copy, &summary);
    assert_int_equal(summary.n_rows, 300 + ROWS);
    assert_int_equal(summary.n_rows_all, 300 + COPIES * ROWS);
    gsa_state_free(base);
    gsa_state_free(copy);
    free(r);
}

/* Without held-out rows gamma is 1, and weights and averages are means by mass. */
static void the_average_of_merged_copies_is_the_mean_of_their_averages_by_mass(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base("0"), *copies[COPIES];
    for (size_t c = 0; c < COPIES; c++) {
        rows *r = rows_random(10 + c, ROWS, FEATURES, 2);
        gsa_batch batch = rows_batch(r);
        copies[c] = copy_of(base, COPIES);
        learn(copies[c], &batch);
        free(r);
    }
    gsa_state *all = merged(copies, COPIES, base);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        double weight = 0, average = 0, mass = 0;
        for (size_t c = 0; c < COPIES; c++) {
            double m = gsa__state_mass(copies[c], slot);
            mass += m;
            weight += m * (double)gsa__table_slot(&copies[c]->table, slot)[0].f;
            average += m * gsa__state_average(copies[c], slot, 0);
        }
        assert_true(fabs((double)gsa__table_slot(&all->table, slot)[0].f - weight / mass) < 1e-6);
        assert_true(fabs(gsa__state_average(all, slot, 0) - average / mass) < 1e-5);
        double expected = mass - (COPIES - 1) * gsa__state_mass(base, slot);
        assert_true(fabs(gsa__state_mass(all, slot) - expected) < 1e-5 * expected);
    }
    assert_int_equal(all->n_rows, 300 + COPIES * ROWS);
    assert_int_equal(all->clock.now, 300 + COPIES * ROWS);
    assert_int_equal(all->carried.n, 0); /* counts stay where learning has them at hand */
    assert_int_equal(all->clock.pace, 1);
    for (size_t c = 0; c < COPIES; c++)
        gsa_state_free(copies[c]);
    gsa_state_free(base);
    gsa_state_free(all);
}

/* Held-out rows choose how far to go: never worse, by their own loss, than to stay or to take the mean. */
static void a_merge_by_held_out_rows_is_at_least_as_good_as_the_mean(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base("64"), *copies[COPIES];
    for (size_t c = 0; c < COPIES; c++) {
        rows *r = rows_random(20 + c, 4 * ROWS, FEATURES, 2);
        gsa_batch batch = rows_batch(r);
        copies[c] = copy_of(base, COPIES);
        learn(copies[c], &batch);
        free(r);
    }
    gsa_state *greedy = merged(copies, COPIES, base);
    double by_hand[SLOTS] = {0}, start[SLOTS];
    for (size_t slot = 0; slot < SLOTS; slot++) {
        double mass = 0;
        for (size_t c = 0; c < COPIES; c++) {
            mass += gsa__state_mass(copies[c], slot);
            by_hand[slot] += gsa__state_mass(copies[c], slot) * (double)gsa__table_slot(&copies[c]->table, slot)[0].f;
        }
        by_hand[slot] /= mass;
        start[slot] = (double)gsa__table_slot(&base->table, slot)[0].f;
    }
    double loss[3] = {0};
    for (size_t i = 0; i < greedy->sample.n; i++) {
        gsa__row row = gsa__held_row_view(greedy->sample.at[i]);
        double m[3] = {(double)gsa__table_slot(&greedy->table, 0)[0].f, by_hand[0], start[0]};
        for (size_t j = 0; j < row.n; j++) {
            size_t slot = (size_t)row.index[j] + 1;
            double x = row.value ? (double)row.value[j] : 1;
            m[0] += x * (double)gsa__table_slot(&greedy->table, slot)[0].f;
            m[1] += x * by_hand[slot];
            m[2] += x * start[slot];
        }
        for (int k = 0; k < 3; k++)
            loss[k] += log1p(exp(greedy->sample.at[i]->class_number == 1 ? -m[k] : m[k]));
    }
    assert_int_equal(greedy->sample.n, 64);
    assert_true(loss[0] <= loss[1] + 1e-4 && loss[0] <= loss[2] + 1e-4);
    assert_true(loss[1] - loss[0] > 1e-3); /* or else the search was not asked for */
    for (size_t c = 0; c < COPIES; c++)
        gsa_state_free(copies[c]);
    gsa_state_free(base);
    gsa_state_free(greedy);
}

static void a_label_that_only_one_copy_met_comes_after_those_of_the_base(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base("0"), *copies[2] = {copy_of(base, 2), copy_of(base, 2)};
    rows *two = rows_random(3, ROWS, FEATURES, 2), *three = rows_random(4, ROWS, FEATURES, 3);
    gsa_batch x = rows_batch(two), y = rows_batch(three);
    learn(copies[0], &x);
    learn(copies[1], &y);
    gsa_state *all = merged(copies, 2, base);
    assert_int_equal(all->labels.n, 3);
    assert_int_equal(all->loss, GSA__SOFTMAX);
    for (size_t k = 0; k < 2; k++)
        assert_string_equal(all->labels.at[k].text, base->labels.at[k].text);
    gsa_state_free(all);
    gsa_state_free(base);
    gsa_state_free(copies[0]);
    gsa_state_free(copies[1]);
    free(two);
    free(three);
}

/* Means of columns: what the copies have in common counts once, whatever the number of rounds. */
static void means_of_columns_are_those_of_all_rows(void **unused)
{
    (void)unused;
    const gsa__column base = {100, 2000, 400};
    /* 50 rows at 2010 and 150 at 1990 more, without spread of their own. */
    const gsa__column a = {150, 2000 + 10.0 / 3, 400 + 100.0 * 50 / 150 * 100},
                      b = {250, 1994, 400 + 100.0 * 150 / 250 * 100};
    gsa__column all = base;
    gsa__column_add(&all, &a, &base);
    gsa__column_add(&all, &b, &base);
    double mean = (100 * 2000.0 + 50 * 2010.0 + 150 * 1990.0) / 300;
    double squares = 400 + 100 * (2000 - mean) * (2000 - mean) + 50 * (2010 - mean) * (2010 - mean) +
                     150 * (1990 - mean) * (1990 - mean);
    assert_true(fabs(all.n - 300) < 1e-9);
    assert_true(fabs(all.mean - mean) < 1e-9);
    assert_true(fabs(all.squares - squares) < 1e-6 * squares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_one_of_four_copies_counts_for_four_in_its_average),
        cmocka_unit_test(the_average_of_merged_copies_is_the_mean_of_their_averages_by_mass),
        cmocka_unit_test(a_merge_by_held_out_rows_is_at_least_as_good_as_the_mean),
        cmocka_unit_test(a_label_that_only_one_copy_met_comes_after_those_of_the_base),
        cmocka_unit_test(means_of_columns_are_those_of_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
