/* Copies that learn side by side: their averages, and what becomes of them in a merge. */
#include "../learn/bytes.h"

#include "learn/inside.h"
#include "merge/apply.h"
#include "support/failing_memory.h"

#include <math.h>

enum { FEATURES = 12, SLOTS = FEATURES + 1, COPIES = 4, ROWS = 50 };

/* What all weights up to row t count for together, as learn/state.h says. */
static double total(double t)
{
    return t * (t + 1) * (t + 2) / 3;
}

/* max_held_out: NULL for none. */
static gsa_state *trained_base(const char *max_held_out)
{
    gsa_state *base = state_with("method", "auto", "holdout", max_held_out ? "auto" : "none", "max_held_out",
                                 max_held_out ? max_held_out : "1", "scale", "none", NULL);
    learn_random(base, 1, 300, FEATURES, 2);
    return base;
}

static void one_row(gsa_state *state, const gsa_batch *batch, uint32_t row)
{
    gsa_error error = {0};
    must_be_ok(gsai_state_learn_rows(state, batch, &row, 1, &error), &error);
}

/* Against the definition: the base's average and the weights after every row, each with its share. */
static void a_row_of_one_of_four_copies_counts_for_four_in_its_average(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base(NULL), *copy = forked(base, COPIES);
    rows *r = rows_random(2, ROWS, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    double sum[SLOTS], now = (double)base->n_rows;
    for (size_t slot = 0; slot < SLOTS; slot++)
        sum[slot] = total(now) * gsai_state_average(base, slot, 0);
    for (uint32_t row = 0; row < ROWS; row++) {
        one_row(copy, &batch, row);
        for (size_t slot = 0; slot < SLOTS; slot++)
            sum[slot] += (total(now + COPIES) - total(now)) * (double)gsai_table_slot(&copy->table, slot)[0].f;
        now += COPIES;
    }
    for (size_t slot = 0; slot < SLOTS; slot++)
        assert_true(fabs(gsai_state_average(copy, slot, 0) - sum[slot] / total(now)) < 1e-5);
    gsa_summary summary = state_summary(copy);
    assert_int_equal(summary.n_rows, 300 + ROWS);
    assert_int_equal(summary.n_rows_all, 300 + COPIES * ROWS);
    free_states(base, copy);
    free(r);
}

/* Without held-out rows gamma is 1, and weights and averages are means by sums of squares. */
static void the_average_of_merged_copies_is_the_mean_of_their_averages_by_mass(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base(NULL), *copies[COPIES];
    for (size_t c = 0; c < COPIES; c++) {
        copies[c] = forked(base, COPIES);
        learn_random(copies[c], 10 + c, ROWS, FEATURES, 2);
    }
    gsa_state *all = merged((const gsa_state *const *)copies, COPIES, base);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        double weight = 0, average = 0, sum_sq = 0;
        for (size_t c = 0; c < COPIES; c++) {
            double m = gsai_state_sum_sq(copies[c], slot);
            sum_sq += m;
            weight += m * (double)gsai_table_slot(&copies[c]->table, slot)[0].f;
            average += m * gsai_state_average(copies[c], slot, 0);
        }
        assert_true(fabs((double)gsai_table_slot(&all->table, slot)[0].f - weight / sum_sq) < 1e-6);
        assert_true(fabs(gsai_state_average(all, slot, 0) - average / sum_sq) < 1e-5);
        double expected = sum_sq - (COPIES - 1) * gsai_state_sum_sq(base, slot);
        assert_true(fabs(gsai_state_sum_sq(all, slot) - expected) < 1e-5 * expected);
    }
    assert_int_equal(all->n_rows, 300 + COPIES * ROWS);
    assert_int_equal(all->averaging.now, 300 + COPIES * ROWS);
    assert_int_equal(all->prior.n, 0); /* counts stay where learning has them at hand */
    assert_int_equal(all->averaging.per_row, 1);
    for (size_t c = 0; c < COPIES; c++)
        gsa_state_free(copies[c]);
    free_states(base, all);
}

/* Loss of the held-out rows with these weights. */
static double held_out_loss(const gsa_state *state, const double weight[SLOTS])
{
    double loss = 0;
    for (size_t i = 0; i < state->sample.n; i++) {
        gsai_row row = gsai_held_row_view(state->sample.at[i]);
        double m = weight[0];
        for (size_t j = 0; j < row.n; j++)
            m += (double)row.value[j] * weight[row.index[j] + 1];
        loss += log1p(exp(state->sample.at[i]->class_number == 1 ? -m : m));
    }
    return loss;
}

static double weight_of(const gsa_state *state, size_t slot, bool averaged)
{
    return averaged ? gsai_state_average(state, slot, 0) : (double)gsai_table_slot(&state->table, slot)[0].f;
}

/* Where a merge sets out: the last weights of the base, or for averages the base's and, for the share of the rows
 * since, its last ones. */
static double start_of(const gsa_state *base, const gsa_state *all, size_t slot, bool averaged)
{
    double fresh = 1 - gsai_averaging_total(base, base->averaging.now) / gsai_averaging_total(all, all->averaging.now);
    double last = weight_of(base, slot, false);
    return averaged ? fresh * last + (1 - fresh) * weight_of(base, slot, true) : last;
}

/* Held-out rows choose how far to go: never worse, by their own loss, than to take the mean. */
static void a_merge_by_held_out_rows_is_at_least_as_good_as_the_mean(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base("64"), *copies[COPIES];
    for (size_t c = 0; c < COPIES; c++) {
        copies[c] = forked(base, COPIES);
        learn_random(copies[c], 20 + c, 2 * ROWS, FEATURES, 2);
    }
    gsa_state *greedy = merged((const gsa_state *const *)copies, COPIES, base);
    assert_true(greedy->sample.n >= 32);
    for (int averaged = 0; averaged < 2; averaged++) {
        double mean[SLOTS] = {0}, found[SLOTS], farther[SLOTS], nearer[SLOTS];
        for (size_t slot = 0; slot < SLOTS; slot++) {
            double sum_sq = 0;
            for (size_t c = 0; c < COPIES; c++) {
                double m = gsai_state_sum_sq(copies[c], slot);
                sum_sq += m;
                mean[slot] += m * weight_of(copies[c], slot, averaged);
            }
            mean[slot] /= sum_sq;
            found[slot] = weight_of(greedy, slot, averaged);
            double start = start_of(base, greedy, slot, averaged);
            farther[slot] = start + 1.02 * (found[slot] - start);
            nearer[slot] = start + 0.98 * (found[slot] - start);
        }
        double loss = held_out_loss(greedy, found);
        assert_true(held_out_loss(greedy, mean) - loss > 1e-3); /* the search was asked */
        assert_true(held_out_loss(greedy, farther) > loss);     /* and has gone as far as is good */
        assert_true(held_out_loss(greedy, nearer) > loss);
    }
    for (size_t c = 0; c < COPIES; c++)
        gsa_state_free(copies[c]);
    free_states(base, greedy);
}

/* (1 - exp(-alpha all)) / (1 - exp(-alpha one)), computed to 50 digits; ours has those of a float. */
static void changes_of_rare_features_add_up_and_those_of_frequent_ones_are_averaged(void **unused)
{
    (void)unused;
    static const struct {
        float all, one;
        double alpha, aggregation;
    } cases[] = {
        {8, 1, 1e-9, 7.99999997200000007},
        {8, 1, 0.5, 2.4949449946831995049},
        {8, 1, 100, 1},
        {4096, 1, 1e-3, 983.85266353558588725},
        {12, 3, 0.125, 2.4843082988903366355},
        {40, 30, 0.0115, 1.26368085942685338685},
        {1e6F, 1e-6F, 1, 1000000.50252484063182},
        {1e30F, 1e28F, 1e-12, 1},
        {5, 5, 0.01, 1},
        {0, 0, 0.01, 1},
        {-1, 0, 0.01, 1},
        {8, 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float all[2] = {0, cases[i].all}, one[2] = {0, cases[i].one}, aggregation[2];
        gsai_kernels_best()->aggregations(all, one, 2, (float)cases[i].alpha, aggregation);
        assert_true(aggregation[0] == 1);
        assert_close((double)aggregation[1], cases[i].aggregation, 4e-7 * cases[i].aggregation);
    }
}

/* Labels that came late are out of order; weights that were kept aside are in the order of the base. */
static void a_run_keeps_its_order_of_labels_and_its_best_weights(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *base = state_with("method", "auto", "max_held_out", "64", NULL);
    rows *first = rows_random(1, 300, FEATURES, 2), *late = rows_random(4, ROWS, FEATURES, 3);
    for (size_t i = 0; i < first->n_rows; i++)
        first->label[i] += 1;
    gsa_batch x = rows_batch(first), y = rows_batch(late);
    learn(base, &x);
    learn(base, &y);
    assert_string_equal(base->labels.at[2].text, "0");
    must_be_ok(gsa_state_checkpoint_best(base, NULL, &error), &error);
    end_pass(base);
    gsa_state *copies[2] = {forked(base, 2), forked(base, 2)};
    for (size_t i = 0; i < 20; i++)
        late->label[i] = 7; /* and one that only one copy meets */
    learn(copies[0], &x);
    learn(copies[1], &y);
    gsa_state *all = merged((const gsa_state *const *)copies, 2, base);
    static const char *const expected[] = {"1", "2", "0", "7"};
    assert_int_equal(all->labels.n, 4);
    for (size_t k = 0; k < 4; k++)
        assert_string_equal(all->labels.at[k].text, expected[k]);
    assert_int_equal(all->best_checkpoint.pass, 1);
    assert_int_equal(all->best_checkpoint.n_slots, base->best_checkpoint.n_slots);
    assert_memory_equal(all->best_checkpoint.weight, base->best_checkpoint.weight,
                        base->best_checkpoint.n_slots * base->best_checkpoint.n_outputs * sizeof(float));
    free_states(all, base, copies[0], copies[1]);
    free(first);
    free(late);
}

/* Into memory that is larger, smaller and of another shape; and learning goes on alike, also beyond the features. */
static void a_copy_that_is_made_again_is_a_new_copy(void **unused)
{
    (void)unused;
    for (unsigned old_features = FEATURES / 2; old_features <= 4 * FEATURES; old_features *= 2)
        for (unsigned n_classes = 2; n_classes <= 3; n_classes++) {
            gsa_error error = {0};
            gsa_state *base = trained_base("16"), *fresh = forked(base, COPIES),
                      *before = state_with("method", "auto", NULL);
            rows *old = rows_random(5, 100, old_features, n_classes), *next = rows_random(6, 100, 3 * FEATURES, 2);
            gsa_batch x = rows_batch(old), y = rows_batch(next);
            learn(before, &x);
            gsa_state *copy = forked(before, 2);
            learn(copy, &x);
            const gsai_cell *memory = copy->table.cells;
            bool fits = copy->table.capacity >= base->table.n_slots && copy->table.room == base->table.room;
            must_be_ok(gsa_state_refresh(copy, base, COPIES, &error), &error);
            if (fits) /* else the new memory may have the old address */
                assert_ptr_equal(copy->table.cells, memory);
            assert_int_equal(copy->averaging.per_row, COPIES);
            same_states(copy, fresh);
            learn(copy, &y);
            learn(fresh, &y);
            same_states(copy, fresh);
            free_states(base, fresh, before, copy);
            free(old);
            free(next);
        }
}

static void no_memory_to_make_a_copy_again_is_a_status_and_no_leak(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *base = trained_base("16");
    gsa_status status = GSA_MEMORY;
    for (size_t n = 0; status == GSA_MEMORY; n++) {
        failing memory = {.left = SIZE_MAX};
        gsai_env env = failing_env(&memory);
        gsa_state *first = forked(base, 2), *copy;
        must_be_ok(state_in(&env.memory, first, &copy, &error), &error);
        gsa_state_free(first);
        memory.left = n;
        status = gsa_state_refresh(copy, base, COPIES, &error);
        gsa_state_free(copy);
        assert_int_equal(memory.live, 0);
        assert_true(n < 10000);
    }
    must_be_ok(status, &error);
    gsa_state_free(base);
}

/* Rows 301 to 1100 of the run: past 512 and 1024, so that they are the late ones, and those from 256 on the earlier. */
static void a_round_past_a_power_of_two_moves_the_marks_of_falling(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base(NULL), *copies[COPIES];
    double loss = 0;
    for (size_t c = 0; c < COPIES; c++) {
        copies[c] = forked(base, COPIES);
        learn_random(copies[c], 10 + c, 200, FEATURES, 2);
        loss += copies[c]->position.loss_sum - base->position.loss_sum;
    }
    gsa_state *all = merged((const gsa_state *const *)copies, COPIES, base);
    assert_close(all->position.earlier_loss_sum, base->position.late_loss_sum, 0);
    assert_close(all->position.earlier_loss_weight, 300 - 255, 0);
    assert_close(all->position.late_loss_sum, loss, 1e-9);
    assert_close(all->position.late_loss_weight, 4 * 200, 0);
    assert_close(all->position.loss_sum, base->position.loss_sum + loss, 1e-9);
    for (size_t c = 0; c < COPIES; c++)
        gsa_state_free(copies[c]);
    free_states(base, all);
}

/* Counts of a table have 31 bits: with more rows behind them the totals are kept apart. */
static void totals_of_very_many_rows_are_carried(void **unused)
{
    (void)unused;
    gsa_state *base = trained_base(NULL);
    base->rows_behind = INT32_MAX - 60;
    gsa_state *copies[2] = {forked(base, 2), forked(base, 2)};
    rows *r = rows_random(3, ROWS, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    learn(copies[0], &batch);
    gsa_state *in_table = merged((const gsa_state *const *)copies, 2, base);
    learn(copies[1], &batch);
    gsa_state *apart = merged((const gsa_state *const *)copies, 2, base);
    assert_int_equal(in_table->prior.n, 0);
    assert_int_equal(in_table->n_counted, INT32_MAX - 60 + ROWS);
    assert_int_equal(apart->prior.n, SLOTS);
    assert_int_equal(apart->n_counted, 0);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        uint64_t before = gsai_state_n_seen(base, slot), once = gsai_state_n_seen(in_table, slot);
        assert_int_equal(gsai_state_n_seen(apart, slot) - before, 2 * (once - before));
    }
    free_states(in_table, apart, base, copies[0], copies[1]);
    free(r);
}

/* Means of columns: what the copies have in common counts once, whatever the number of rounds. */
static void means_of_columns_are_those_of_all_rows(void **unused)
{
    (void)unused;
    const gsai_column base = {100, 2000, 400};
    /* 50 rows at 2010 and 150 at 1990 more, without spread of their own. */
    const gsai_column a = {150, 2000 + 10.0 / 3, 400 + 100.0 * 50 / 150 * 100},
                      b = {250, 1994, 400 + 100.0 * 150 / 250 * 100};
    gsai_column all = base;
    gsai_column_add(&all, &a, &base);
    gsai_column_add(&all, &b, &base);
    double mean = (100 * 2000.0 + 50 * 2010.0 + 150 * 1990.0) / 300;
    double squares = 400 + 100 * (2000 - mean) * (2000 - mean) + 50 * (2010 - mean) * (2010 - mean) +
                     150 * (1990 - mean) * (1990 - mean);
    assert_true(fabs(all.n - 300) < 1e-9);
    assert_true(fabs(all.mean - mean) < 1e-9);
    assert_true(fabs(all.squares - squares) < 1e-6 * squares);
}

/* So many rounds of so many copies would have had 4096 labels 8^400 times. */
static void a_regression_can_be_merged_any_number_of_times(void **unused)
{
    (void)unused;
    enum { EIGHT = 8, ROUNDS = 400 };
    gsa_state *base = state_with("method", "auto", "loss", "squared", "holdout", "none", NULL), *copies[EIGHT];
    learn_random(base, 1, 4096, FEATURES, 0);
    assert_true(base->label_offset.settled && base->label_offset.weight == 4096);
    const gsai_label_offset expected = base->label_offset;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t c = 0; c < EIGHT; c++)
            copies[c] = forked(base, EIGHT);
        learn_random(copies[round % EIGHT], 2, 1, FEATURES, 0);
        gsa_state *all = merged((const gsa_state *const *)copies, EIGHT, base);
        for (size_t c = 0; c < EIGHT; c++)
            gsa_state_free(copies[c]);
        gsa_state_free(base);
        base = all;
    }
    assert_memory_equal(&base->label_offset, &expected, sizeof expected);
    gsa_state *again = reread(base);
    same_states(base, again);
    free_states(base, again);
}

/* Before the offset of labels is settled: 10 labels in common, then 20 and 30 more. */
static void the_first_labels_of_a_base_count_once(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 60, FEATURES, 0);
    gsa_batch batch = rows_batch(r), first = rows_slice(&batch, 0, 10), second = rows_slice(&batch, 10, 20),
              third = rows_slice(&batch, 30, 30);
    gsa_state *base = state_with("method", "auto", "loss", "squared", "holdout", "none", NULL);
    double mean = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        mean += r->label[i] / 60;
    learn(base, &first);
    gsa_state *a = forked(base, 2), *b = forked(base, 2);
    learn(a, &second);
    learn(b, &third);
    gsa_state *both = merged_two(a, b, base);
    assert_close(both->label_offset.weight, 60, 1e-12);
    assert_close(both->label_offset.mean, mean, 1e-12);
    assert_false(both->label_offset.settled);
    free_states(base, a, b, both);
    free(r);
}

/* Of so many features that ranges of them are merged side by side. */
static void the_number_of_threads_changes_no_bit_of_a_merge(void **unused)
{
    (void)unused;
    enum { MANY = 400000 };
    static const unsigned classes[] = {2, 3};
    for (size_t kind = 0; kind < 2; kind++) {
        gsa_state *base = state_with("method", "gsa", "scale", "none", NULL), *copies[3];
        learn_random(base, 1, 900, MANY, classes[kind]);
        for (size_t c = 0; c < 3; c++) {
            copies[c] = forked(base, 3);
            learn_random(copies[c], 2 + c, 700, MANY, classes[kind]);
        }
        bytes expected = {0};
        for (unsigned n_threads = 1; n_threads <= 7; n_threads += 2) {
            gsa_call call = {.size = sizeof call, .n_threads = n_threads};
            gsa_state *all;
            gsa_error error = {0};
            must_be_ok(gsa_state_merge((const gsa_state *const *)copies, 3, base, &call, &all, &error), &error);
            if (n_threads == 1)
                expected = state_bytes(all);
            same_bytes(&expected, all);
            gsa_state_free(all);
        }
        free(expected.data);
        free_states(base, copies[0], copies[1], copies[2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_one_of_four_copies_counts_for_four_in_its_average),
        cmocka_unit_test(the_average_of_merged_copies_is_the_mean_of_their_averages_by_mass),
        cmocka_unit_test(a_merge_by_held_out_rows_is_at_least_as_good_as_the_mean),
        cmocka_unit_test(changes_of_rare_features_add_up_and_those_of_frequent_ones_are_averaged),
        cmocka_unit_test(a_run_keeps_its_order_of_labels_and_its_best_weights),
        cmocka_unit_test(a_copy_that_is_made_again_is_a_new_copy),
        cmocka_unit_test(no_memory_to_make_a_copy_again_is_a_status_and_no_leak),
        cmocka_unit_test(a_round_past_a_power_of_two_moves_the_marks_of_falling),
        cmocka_unit_test(totals_of_very_many_rows_are_carried),
        cmocka_unit_test(means_of_columns_are_those_of_all_rows),
        cmocka_unit_test(a_regression_can_be_merged_any_number_of_times),
        cmocka_unit_test(the_first_labels_of_a_base_count_once),
        cmocka_unit_test(the_number_of_threads_changes_no_bit_of_a_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
