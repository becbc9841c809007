/* Merge policy. */
#include "../learn/evaluated.h"

#include "learn/inside.h"

#include <math.h>

static gsa_state *trained(uint64_t seed, size_t n, uint32_t n_features, unsigned n_classes, const char *loss)
{
    gsa_state *state = state_with("loss", loss, NULL);
    learn_random(state, seed, n, n_features, n_classes);
    return state;
}

static void models_agree(const gsa_state *a, const gsa_state *b, double tolerance)
{
    gsa_model *x = model_of(a), *y = model_of(b);
    gsa_model_info info = {.size = sizeof info}, other = {.size = sizeof other};
    gsa_model_get_info(x, &info);
    gsa_model_get_info(y, &other);
    assert_int_equal(info.n_features, other.n_features);
    assert_int_equal(info.n_classes, other.n_classes);
    assert_int_equal(info.n_rows, other.n_rows);
    for (size_t k = 0; k < info.n_classes; k++)
        assert_string_equal(gsa_model_label(x, k), gsa_model_label(y, k));
    for (uint64_t i = 0; i < info.n_features; i++)
        for (size_t k = 0; k < info.n_outputs; k++) {
            double w = (double)gsa_model_weight(x, i, k), v = (double)gsa_model_weight(y, i, k);
            assert_true(fabs(w - v) <= tolerance * (1 + fabs(v)));
        }
    gsa_model_free(x);
    gsa_model_free(y);
}

static void merging_two_states_is_commutative_bit_for_bit(void **unused)
{
    (void)unused;
    for (unsigned k = 2; k < 6; k += 3) {
        const char *loss = k == 2 ? "logistic" : "softmax";
        gsa_state *a = trained(1, 300, 40, k, loss), *b = trained(2, 500, 60, k, loss);
        gsa_state *ab = merged_two(a, b, NULL);
        gsa_state *ba = merged_two(b, a, NULL);
        models_agree(ab, ba, 0);
        free_states(a, b, ab, ba);
    }
}

static void merging_is_associative_to_rounding(void **unused)
{
    (void)unused;
    gsa_state *a = trained(1, 300, 40, 4, "softmax"), *b = trained(2, 500, 60, 4, "softmax"),
              *c = trained(3, 100, 50, 4, "softmax");
    gsa_state *ab = merged_two(a, b, NULL), *bc = merged_two(b, c, NULL);
    gsa_state *ab_c = merged_two(ab, c, NULL);
    gsa_state *a_bc = merged_two(a, bc, NULL);
    gsa_state *abc = merged((const gsa_state *[]){a, b, c}, 3, NULL);
    models_agree(ab_c, a_bc, 1e-6);
    models_agree(ab_c, abc, 1e-6);
    gsa_summary summary = state_summary(ab_c);
    assert_int_equal(summary.n_merged, 3);
    assert_int_equal(summary.n_rows, 900);
    free_states(a, b, c, ab, bc, ab_c, a_bc, abc);
}

/* Two rows of one feature each, by hand: masses 4 and 1 on feature 0; feature 1 and 2 are known to one state each. */
static void weights_are_averaged_by_mass(void **unused)
{
    (void)unused;
    rows *r = rows_new(), *s = rows_new();
    rows_entry(r, 0, 2);
    rows_entry(r, 1, 1);
    rows_end(r, 3);
    rows_entry(s, 0, 1);
    rows_entry(s, 2, 1);
    rows_end(s, -1);
    gsa_batch x = rows_batch(r), y = rows_batch(s);
    gsa_state *a = state_with("loss", "squared", "intercept", "off", NULL);
    gsa_state *b = state_with("loss", "squared", "intercept", "off", NULL);
    learn(a, &x); /* eta 1/5, g -3: w = 3/5 x = 1.2, 0.6 */
    learn(b, &y); /* eta 1/2, g 1: w = -1/2 x = -0.5, -, -0.5 */
    gsa_state *ab = merged_two(a, b, NULL);
    gsa_model *model = model_of(ab);
    assert_close((double)gsa_model_weight(model, 0, 0), (4 * 1.2 - 1 * 0.5) / 5, 1e-6);
    assert_close((double)gsa_model_weight(model, 1, 0), 0.6, 1e-6);
    assert_close((double)gsa_model_weight(model, 2, 0), -0.5, 1e-6);
    gsa_summary summary = state_summary(ab);
    assert_close(summary.step, (0.2 + 0.5) / 2, 1e-12);
    gsa_model_free(model);
    free_states(a, b, ab);
    free(r);
    free(s);
}

/* No rows are held out: the merged average is the mean of the averages by sums of squares, and goes on as one over all
 * rows. */
/* One feature; rows of weight 1 (or 2) say 0, as many rows of weight 3 (or 6) say 1: together 3/4. Only proportions
 * count.
 */
static void states_count_by_the_weights_of_their_rows(void **unused)
{
    (void)unused;
    double weight[2];
    for (int i = 0; i < 2; i++) {
        gsa_state *states[2];
        for (int s = 0; s < 2; s++) {
            rows *r = rows_new();
            for (size_t row = 0; row < 300; row++) {
                rows_entry(r, 0, 1);
                rows_end(r, s);
                r->weight[row] = (float)((i + 1) * (s == 0 ? 1 : 3));
            }
            gsa_batch batch = rows_batch(r);
            batch.weight = r->weight;
            states[s] = state_with("loss", "squared", "intercept", "off", NULL);
            learn(states[s], &batch);
            free(r);
        }
        gsa_state *both = merged_two(states[0], states[1], NULL);
        gsa_model *model = model_of(both);
        weight[i] = (double)gsa_model_weight(model, 0, 0);
        gsa_model_free(model);
        free_states(states[0], states[1], both);
    }
    assert_close(weight[0], 0.75, 1e-3);
    assert_true(weight[0] == weight[1]);
}

static void a_recent_average_is_kept_by_a_merge(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 200, 20, 2), *s = rows_random(2, 100, 20, 2);
    gsa_batch x = rows_batch(r), y = rows_batch(s), next = rows_slice(&y, 7, 1);
    gsa_state *a = state_with("loss", "logistic", "average", "recent", NULL);
    gsa_state *b = state_with("loss", "logistic", "average", "recent", NULL);
    learn(a, &x);
    learn(b, &y);
    gsa_state *both = merged_two(a, b, NULL);
    gsa_model *of_a = model_of(a), *of_b = model_of(b), *of_both = model_of(both);
    double mean[20];
    for (uint32_t i = 0; i < 20; i++) {
        double sum_sq[2] = {0};
        for (int k = 0; k < 2; k++) {
            const rows *from = k ? s : r;
            for (size_t e = 0; e < from->n_entries; e++)
                if (from->index[e] == i)
                    sum_sq[k] += (double)from->value[e] * (double)from->value[e];
        }
        mean[i] =
            (sum_sq[0] * (double)gsa_model_weight(of_a, i, 0) + sum_sq[1] * (double)gsa_model_weight(of_b, i, 0)) /
            (sum_sq[0] + sum_sq[1]);
        assert_close((double)gsa_model_weight(of_both, i, 0), mean[i], 1e-5 * (1 + fabs(mean[i])));
    }
    learn(both, &next);
    gsa_model *after = model_of(both);
    double share = 301.0 * 302 / (301.0 * 302 * 303 / 3), moved = 0;
    for (uint32_t i = 0; i < 20; i++) {
        double w = (double)gsai_table_slot(&both->table, i + 1)[0].f;
        double expected = (1 - share) * mean[i] + share * w;
        assert_close((double)gsa_model_weight(after, i, 0), expected, 1e-5 * (1 + fabs(expected)));
        moved += fabs(w - mean[i]);
    }
    assert_true(moved > 0.1); /* else the last weights would do as well */
    gsa_model *models[] = {of_a, of_b, of_both, after};
    for (size_t i = 0; i < 4; i++)
        gsa_model_free(models[i]);
    free_states(a, b, both);
    free(r);
    free(s);
}

static gsa_state *state_of_labels(double first, double second, uint64_t seed)
{
    rows *r = rows_random(seed, 200, 20, 2);
    for (size_t i = 0; i < r->n_rows; i++)
        r->label[i] = r->label[i] == 0 ? first : second;
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with(NULL);
    learn(state, &batch);
    free(r);
    return state;
}

static void labels_are_merged_by_name_not_by_number(void **unused)
{
    (void)unused;
    /* The same rows; in the second state the labels came in the other order. */
    rows *s = rows_random(2, 200, 20, 2);
    gsa_batch y = rows_batch(s);
    gsa_state *a = state_with("loss", "logistic", NULL), *b = state_with("loss", "logistic", NULL);
    gsa_state *c = state_with("loss", "logistic", NULL);
    uint32_t zero = 0, one = 0;
    while (s->label[zero] != 0)
        zero++;
    while (s->label[one] != 1)
        one++;
    gsa_batch just_zero = rows_slice(&y, zero, 1), just_one = rows_slice(&y, one, 1);
    prepare(b, &just_zero);
    prepare(c, &just_one);
    learn_random(a, 1, 200, 20, 2);
    learn(b, &y);
    learn(c, &y);
    gsa_state *ab = merged_two(a, b, NULL), *ac = merged_two(a, c, NULL);
    models_agree(ab, ac, 0);
    free_states(a, b, c, ab, ac);
    free(s);
}

static void two_pairs_of_labels_become_three_classes(void **unused)
{
    (void)unused;
    gsa_state *a = state_of_labels(1, 2, 1), *b = state_of_labels(2, 3, 2);
    gsa_state *ab = merged_two(a, b, NULL);
    gsa_summary summary = state_summary(ab), of_a = state_summary(a);
    assert_string_equal(of_a.loss, "logistic");
    assert_string_equal(summary.loss, "softmax");
    assert_int_equal(summary.n_classes, 3);
    gsa_model *model = model_of(ab), *of_one = model_of(a);
    /* Class 1 is known to a alone: weight -w/2 of a, shared by sums of squares with b's zeros; it keeps its sign. */
    int checked = 0;
    for (uint64_t i = 0; i < 20; i++) {
        double w = (double)gsa_model_weight(of_one, i, 0), v = (double)gsa_model_weight(model, i, 0);
        if (fabs(w) > 1e-3) {
            assert_true(v * -w > 0 && fabs(v) < fabs(w) / 2 + 1e-6);
            checked++;
        }
    }
    assert_true(checked > 5);
    gsa_model_free(model);
    gsa_model_free(of_one);
    free_states(a, b, ab);
}

static void a_common_start_is_refused_unless_it_is_given(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *base = trained(1, 300, 30, 2, "logistic"), *a, *b, *out = NULL;
    a = started_from(base);
    b = started_from(base);
    learn_random(a, 2, 200, 30, 2);
    learn_random(b, 3, 200, 30, 2);
    const gsa_state *both[] = {a, b};
    assert_int_equal(gsa_state_merge(both, 2, NULL, NULL, &out, &error), GSA_CONFLICT);
    assert_string_equal(error.param, "base");
    gsa_state *ab = merged(both, 2, base);
    gsa_summary summary = state_summary(ab);
    assert_int_equal(summary.n_rows, 400);
    gsa_state *stranger = trained(9, 100, 30, 2, "logistic");
    const gsa_state *mixed[] = {a, stranger};
    assert_int_equal(gsa_state_merge(mixed, 2, base, NULL, &out, &error), GSA_CONFLICT);
    const gsa_state *twice[] = {a, a};
    assert_int_equal(gsa_state_merge(twice, 2, base, NULL, &out, &error), GSA_CONFLICT);
    free_states(base, a, b, ab, stranger);
}

/* Copies that learned nothing merge back into what they were taken from; the base is not counted twice. */
static void copies_of_a_base_bring_back_the_base(void **unused)
{
    (void)unused;
    gsa_state *base = trained(1, 300, 30, 4, "softmax"), *copies[3];
    for (size_t i = 0; i < 3; i++)
        copies[i] = forked(base, 1);
    gsa_state *back = merged((const gsa_state *const *)copies, 3, base);
    models_agree(base, back, 1e-6);
    gsa_summary before = state_summary(base), after = state_summary(back);
    assert_int_equal(before.n_rows, after.n_rows);
    assert_int_equal(before.pass_rows, after.pass_rows);
    assert_true(fabs(before.step - after.step) < 1e-12);
    for (size_t i = 0; i < 3; i++)
        gsa_state_free(copies[i]);
    free_states(base, back);
}

static void a_round_of_copies_adds_up_their_rows(void **unused)
{
    (void)unused;
    gsa_state *base = trained(1, 300, 30, 2, "logistic"), *a = forked(base, 1), *b = forked(base, 1);
    learn_random(a, 2, 200, 30, 2);
    learn_random(b, 3, 100, 30, 2);
    gsa_state *round = merged_two(a, b, base);
    gsa_summary summary = state_summary(round);
    assert_int_equal(summary.n_rows, 600);
    assert_int_equal(summary.pass_rows, 600);
    assert_int_equal(summary.n_merged, 1);
    free_states(base, a, b, round);
}

/* With a held-out sample the merge goes as far as the sample says: better than the plain average. */
static void the_greedy_merge_cures_underconfidence(void **unused)
{
    (void)unused;
    enum { SHARDS = 8 };
    rows *test = rows_random(99, 2000, 60, 3);
    gsa_batch eval = rows_batch(test);
    double loss[2];
    for (int greedy = 0; greedy < 2; greedy++) {
        gsa_state *shards[SHARDS];
        for (uint64_t s = 0; s < SHARDS; s++) {
            shards[s] = state_with("method", "gsa", "loss", "softmax", "max_held_out", "40", "holdout",
                                   greedy ? "auto" : "none", NULL);
            learn_random(shards[s], 100 + s, 400, 60, 3);
        }
        gsa_state *all = merged((const gsa_state *const *)shards, SHARDS, NULL);
        gsa_model *model = model_of(all);
        loss[greedy] = metric_of(model, &eval, "log_loss");
        gsa_model_free(model);
        gsa_summary summary = state_summary(all);
        assert_int_equal(summary.n_held_out, greedy ? 40 : 0);
        for (size_t s = 0; s < SHARDS; s++)
            gsa_state_free(shards[s]);
        gsa_state_free(all);
    }
    assert_true(loss[1] < loss[0]);
    free(test);
}

static void states_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_state *out = NULL, *a = trained(1, 100, 20, 2, "logistic"), *b = trained(2, 100, 20, 0, "squared");
    const gsa_state *both[] = {a, b};
    assert_int_equal(gsa_state_merge(both, 2, NULL, NULL, &out, &error), GSA_CONFLICT);
    assert_non_null(strstr(error.message, "squared"));
    assert_int_equal(gsa_state_merge(both, 0, NULL, NULL, &out, &error), GSA_ARGUMENT);
    free_states(a, b);
}

static void states_of_auto_and_gsa_merge_and_one_of_paper_does_not(void **unused)
{
    (void)unused;
    static const char *const methods[] = {"auto", "gsa", "paper"};
    gsa_error error = {0};
    gsa_state *states[3], *out = NULL;
    for (size_t i = 0; i < 3; i++) {
        states[i] = state_with("method", methods[i], "loss", "logistic", NULL);
        learn_random(states[i], i, 100, 20, 2);
    }
    gsa_state *both = merged_two(states[0], states[1], NULL);
    assert_int_equal(state_summary(both).n_rows, state_summary(states[0]).n_rows + state_summary(states[1]).n_rows);
    assert_int_equal(gsa_state_merge((const gsa_state *const *)states, 3, NULL, NULL, &out, &error), GSA_CONFLICT);
    assert_non_null(strstr(error.message, "state 1 was trained with method=auto, state 3 with paper"));
    gsa_state_free(both);
    free_each_state(states, 3);
}

static void starting_from_a_model_begins_with_its_weights_and_a_fresh_mean(void **unused)
{
    (void)unused;
    gsa_state *yesterday = trained(1, 300, 30, 2, "logistic"), *today = started_from(yesterday);
    gsa_model *a = model_of(yesterday), *b = model_of(today);
    for (uint64_t i = 0; i < 30; i++)
        assert_true(gsa_model_weight(a, i, 0) == gsa_model_weight(b, i, 0));
    gsa_summary summary = state_summary(today);
    assert_int_equal(summary.n_rows, 0);
    assert_true(summary.step == 0);
    gsa_model_free(a);
    gsa_model_free(b);
    free_states(yesterday, today);
}

/* A run that starts from the base with the base's own first rows is a new run all the same. */
static void a_new_run_on_the_rows_of_its_base_is_no_copy(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 300, 30, 2);
    gsa_batch x = rows_batch(r);
    gsa_state *base = state_with(NULL), *a, *b;
    learn(base, &x);
    a = started_from(base);
    b = started_from(base);
    learn(a, &x);
    learn_random(b, 2, 200, 30, 2);
    gsa_state *ab = merged_two(a, b, base), *ba = merged_two(b, a, base);
    gsa_summary summary = state_summary(ab);
    assert_int_equal(summary.n_rows, 500);
    models_agree(ab, ba, 0);
    free_states(base, a, b, ab, ba);
    free(r);
}

/* A merged base has no rows of its own to be known by. */
static void a_run_without_rows_that_started_from_a_merged_base_is_no_copy(void **unused)
{
    (void)unused;
    gsa_state *one = trained(1, 100, 30, 2, "logistic"), *two = trained(2, 100, 30, 2, "logistic"), *a, *idle;
    gsa_state *base = merged_two(one, two, NULL);
    a = started_from(base);
    idle = started_from(base);
    learn_random(a, 3, 70, 30, 2);
    gsa_state *ab = merged_two(a, idle, base);
    gsa_state *ba = merged_two(idle, a, base);
    gsa_summary summary = state_summary(ab);
    assert_int_equal(summary.n_rows, 70);
    models_agree(ab, ba, 0);
    free_states(one, two, base, a, idle, ab, ba);
}

/* The right run at the wrong time: it has gone on since, and knows a label that the states never heard of. */
static void a_base_that_has_gone_on_is_refused(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    rows *r = rows_random(1, 100, 30, 2);
    gsa_batch x = rows_batch(r);
    gsa_state *base = state_with(NULL), *later, *copy, *a, *b, *out = NULL;
    learn(base, &x);
    later = forked(base, 1);
    copy = forked(base, 1);
    a = started_from(base);
    b = started_from(base);
    learn_random(later, 3, 100, 30, 3);
    learn_random(a, 2, 100, 30, 2);
    learn(b, &x);
    const gsa_state *both[] = {a, b}, *unequal[] = {copy, a};
    assert_int_equal(gsa_state_merge(both, 2, later, NULL, &out, &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_merge(unequal, 2, base, NULL, &out, &error), GSA_CONFLICT);
    free_states(base, later, copy, a, b);
    free(r);
}

static void a_logistic_model_can_go_on_as_softmax_with_a_third_label(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    gsa_config *config;
    gsa_state *yesterday = trained(1, 300, 30, 2, "logistic"), *today;
    config = config_with("loss", "softmax", NULL);
    must_be_ok(gsa_state_start_from(yesterday, config, &today, &error), &error);
    gsa_summary summary = state_summary(today);
    assert_string_equal(summary.loss, "softmax");
    rows *r = rows_random(2, 100, 30, 3);
    gsa_batch batch = rows_batch(r);
    gsa_model *a = model_of(yesterday), *b = model_of(today);
    double p[200], q[200];
    must_be_ok(gsa_model_predict(a, &batch, p, &error), &error);
    must_be_ok(gsa_model_predict(b, &batch, q, &error), &error);
    for (size_t i = 0; i < 200; i++)
        assert_close(q[i], p[i], 1e-12);
    learn(today, &batch);
    summary = state_summary(today);
    assert_int_equal(summary.n_classes, 3);
    gsa_model_free(a);
    gsa_model_free(b);
    free_states(yesterday, today);
    gsa_config_free(config);
    free(r);
}

static void states_that_have_met_no_row_merge_into_one_that_can_learn(void **unused)
{
    (void)unused;
    gsa_state *a = state_with(NULL), *b = state_with(NULL), *alone = state_with(NULL);
    gsa_state *ab = merged_two(a, b, NULL);
    gsa_summary summary = state_summary(ab);
    assert_string_equal(summary.loss, "auto");
    rows *r = rows_random(1, 100, 30, 2);
    gsa_batch batch = rows_batch(r);
    learn(ab, &batch);
    learn(alone, &batch);
    models_agree(ab, alone, 0);
    free_states(a, b, ab, alone);
    free(r);
}

/* Found by fuzz_round: what was merged was saved, and refused when it was loaded. */
static void an_average_of_no_rows_does_not_begin_behind_its_end(void **unused)
{
    (void)unused;
    gsa_state *a = state_with("average", "recent", NULL), *b = state_with("average", "recent", NULL);
    gsa_state *ab = merged_two(a, b, NULL);
    assert_int_equal(ab->averaging.now, 0);
    assert_int_equal(ab->averaging.first, 0);
    free_states(a, b, ab);
}

static void copies_may_end_the_pass_themselves(void **unused)
{
    (void)unused;
    gsa_state *base = trained(1, 300, 30, 2, "logistic"), *a = forked(base, 1), *b = forked(base, 1);
    learn_random(a, 2, 200, 30, 2);
    learn_random(b, 3, 100, 30, 2);
    end_pass(a);
    end_pass(b);
    gsa_state *round = merged_two(a, b, base);
    gsa_summary summary = state_summary(round);
    assert_int_equal(summary.n_rows, 600);
    assert_int_equal(summary.pass, 1);
    assert_int_equal(summary.pass_rows, 0);
    assert_true(summary.loss_weight == 0);
    free_states(base, a, b, round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_two_states_is_commutative_bit_for_bit),
        cmocka_unit_test(merging_is_associative_to_rounding),
        cmocka_unit_test(weights_are_averaged_by_mass),
        cmocka_unit_test(states_count_by_the_weights_of_their_rows),
        cmocka_unit_test(a_recent_average_is_kept_by_a_merge),
        cmocka_unit_test(labels_are_merged_by_name_not_by_number),
        cmocka_unit_test(two_pairs_of_labels_become_three_classes),
        cmocka_unit_test(a_common_start_is_refused_unless_it_is_given),
        cmocka_unit_test(copies_of_a_base_bring_back_the_base),
        cmocka_unit_test(a_round_of_copies_adds_up_their_rows),
        cmocka_unit_test(the_greedy_merge_cures_underconfidence),
        cmocka_unit_test(states_that_do_not_fit_are_refused),
        cmocka_unit_test(starting_from_a_model_begins_with_its_weights_and_a_fresh_mean),
        cmocka_unit_test(a_new_run_on_the_rows_of_its_base_is_no_copy),
        cmocka_unit_test(a_run_without_rows_that_started_from_a_merged_base_is_no_copy),
        cmocka_unit_test(a_base_that_has_gone_on_is_refused),
        cmocka_unit_test(a_logistic_model_can_go_on_as_softmax_with_a_third_label),
        cmocka_unit_test(states_that_have_met_no_row_merge_into_one_that_can_learn),
        cmocka_unit_test(an_average_of_no_rows_does_not_begin_behind_its_end),
        cmocka_unit_test(copies_may_end_the_pass_themselves),
        cmocka_unit_test(states_of_auto_and_gsa_merge_and_one_of_paper_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
