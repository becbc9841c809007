/* Groups of rows: cut by the rows alone, whatever calls, files and copies come between them; and their kernels. */
#include "bytes.h"

#include "learn/inside.h"

#include <math.h>

enum { FEATURES = 300, ROWS = 4000 };

static rows *weighted_rows(uint64_t seed, int has_weights, int ones)
{
    rows *r = rows_random(seed, ROWS, FEATURES, 2);
    for (size_t e = 0; e < r->n_entries && ones; e++)
        r->value[e] = 1;
    for (size_t row = 0; row < ROWS; row++)
        r->weight[row] = has_weights ? (float)(0.2 + (double)(gsai_rng_of(seed, row, 1).key % 64) / 8) : 1;
    return r;
}

static gsa_batch weighted_batch(const rows *r)
{
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    return batch;
}

static gsa_state *learner(const char *scale)
{
    return state_with("method", "gsa", "loss", "logistic", "scale", scale, NULL);
}

static void learn_in_chunks(gsa_state *state, const gsa_batch *batch, size_t size)
{
    for (size_t from = 0; from < ROWS; from += size) {
        gsa_batch delta = rows_slice(batch, from, ROWS - from < size ? ROWS - from : size);
        learn(state, &delta);
    }
}

static const char *const scales[] = {"none", "standard", "auto"};

static void chunks_of_any_size_give_the_same_bits(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 2, 7, 333};
    for (uint64_t kind = 0; kind < 12; kind++) {
        rows *r = weighted_rows(kind, kind % 2, kind / 2 % 2);
        gsa_batch batch = weighted_batch(r);
        gsa_state *whole = learner(scales[kind / 4]);
        prepare(whole, &batch);
        learn(whole, &batch);
        bytes expected = state_bytes(whole);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            gsa_state *parts = learner(scales[kind / 4]);
            prepare(parts, &batch);
            learn_in_chunks(parts, &batch, sizes[i]);
            same_bytes(&expected, parts);
            gsa_state_free(parts);
        }
        free(expected.data);
        gsa_state_free(whole);
        free(r);
    }
}

/* Saved and loaded, copied, asked for a model and for its loss, after every row. */
static void nothing_that_comes_between_rows_changes_a_bit(void **unused)
{
    (void)unused;
    for (uint64_t kind = 0; kind < 3; kind++) {
        rows *r = weighted_rows(20 + kind, 1, 0);
        gsa_batch batch = weighted_batch(r);
        gsa_state *whole = learner(scales[kind]), *state = learner(scales[kind]);
        prepare(whole, &batch);
        prepare(state, &batch);
        learn(whole, &batch);
        size_t n_waited = 0;
        for (size_t row = 0; row < ROWS; row++) {
            gsa_batch one = rows_slice(&batch, row, 1);
            learn(state, &one);
            n_waited += state->group.n_rows > 0;
            if (row % 7 == 0) {
                gsa_state *again = row % 2 ? reread(state) : forked(state, 1);
                gsa_state_free(state);
                state = again;
            }
            if (row % 501 == 0) {
                assert_true(!isnan(gsa_state_held_out_loss(state)) || gsai_sample_count(&state->sample) == 0);
                gsa_model_free(model_of(state));
            }
        }
        assert_true(n_waited > ROWS / 2);
        assert_int_equal(state_summary(state).n_rows, state_summary(whole).n_rows);
        bytes expected = state_bytes(whole);
        same_bytes(&expected, state);
        free(expected.data);
        free_states(whole, state);
        free(r);
    }
}

/* What is asked of a state is answered as if its group were closed. */
static void rows_that_wait_count_in_models_and_merges(void **unused)
{
    (void)unused;
    rows *r = weighted_rows(31, 0, 1), *s = weighted_rows(32, 0, 1);
    gsa_batch x = weighted_batch(r), y = weighted_batch(s);
    gsa_state *a = learner("none"), *b = learner("none");
    prepare(a, &x);
    prepare(b, &y);
    learn(a, &x);
    learn(b, &y);
    while (a->group.n_rows == 0 || b->group.n_rows == 0) { /* else there is nothing to test */
        gsa_batch one = rows_slice(&x, a->position.pass_rows % ROWS, 1);
        learn(a, &one);
        learn(b, &one);
    }
    gsa_model *open = model_of(a);
    gsa_state *open_merge = merged_two(a, b, NULL), *open_start = started_from(a);
    double open_loss = gsa_state_held_out_loss(a);
    close_group(a);
    close_group(b);
    gsa_model *closed = model_of(a);
    gsa_state *closed_merge = merged_two(a, b, NULL), *closed_start = started_from(a);
    for (uint64_t i = 0; i < FEATURES; i++)
        assert_true(gsa_model_weight(open, i, 0) == gsa_model_weight(closed, i, 0));
    assert_true(open_loss == gsa_state_held_out_loss(a));
    bytes merge = state_bytes(closed_merge), start = state_bytes(closed_start);
    same_bytes(&merge, open_merge);
    same_bytes(&start, open_start);
    free(merge.data);
    free(start.data);
    gsa_model_free(open);
    gsa_model_free(closed);
    free_states(a, b, open_merge, closed_merge, open_start, closed_start);
    free(r);
    free(s);
}

static void a_third_label_ends_the_group_of_two(void **unused)
{
    (void)unused;
    rows *r = rows_random(5, ROWS, FEATURES, 2);
    gsa_batch batch = rows_batch(r), all = rows_slice(&batch, 0, ROWS - 50);
    size_t next = ROWS - 50;
    gsa_state *state = state_with("method", "gsa", NULL), *other = state_with("method", "gsa", NULL);
    prepare(state, &all);
    prepare(other, &all);
    learn(state, &all);
    learn(other, &all);
    for (; state->group.n_rows < 2; next++) { /* else there is nothing to test */
        gsa_batch one = rows_slice(&batch, next, 1);
        learn(state, &one);
        learn(other, &one);
    }
    close_group(other);
    r->label[next] = 7;
    gsa_batch rest = rows_slice(&batch, next, 5);
    learn(state, &rest);
    learn(other, &rest);
    bytes expected = state_bytes(other);
    same_bytes(&expected, state);
    assert_int_equal(state->table.n_outputs, 3);
    free(expected.data);
    free_states(state, other);
    free(r);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static void the_greedy_steps_of_a_group_are_those_of_its_rows(void **unused)
{
    (void)unused;
    double worst = 0;
    for (float at = -60; at <= 60; at += 0.0131F) {
        double m = (double)at;
        for (int y = 0; y < 2; y++) {
            gsai_target target = {.class_number = (size_t)y};
            double g = m;
            gsai_greedy_step exact = gsai_loss_logistic.greedy_step(&g, 1, &target), step;
            const double c = 1;
            double loss = gsai_greedy_steps(&gsai_loss_logistic, gsai_kernels_at(0), &m, &target, &c, 1, &step);
            assert_close(step.g, exact.g, 4e-7 * fabs(exact.g));
            assert_close(loss, exact.loss, 1e-7 + 4e-7 * exact.loss);
            worst = fmax(worst, fabs(step.lambda - exact.lambda));
        }
    }
    assert_true(worst < 3e-5);
}

static void rarity_is_a_power_to_four_per_cent(void **unused)
{
    (void)unused;
    double low = INFINITY, high = 0;
    for (double n = 0; n < 2e9; n = n * 1.003 + 1) {
        double ratio = (double)gsai_kernels_at(0)->inverse_frequency_of((float)n) / pow(n + 2, -0.375);
        low = fmin(low, ratio);
        high = fmax(high, ratio);
    }
    assert_true(high / low < 1.08);
}

static void all_kernels_learn_the_same_bits(void **unused)
{
    (void)unused;
    for (uint64_t kind = 0; kind < 6; kind++) {
        rows *r = weighted_rows(40 + kind, kind % 2, kind / 2 % 2);
        gsa_batch batch = weighted_batch(r);
        bytes expected = {0};
        for (size_t i = 0; gsai_kernels_at(i); i++) {
            gsa_state *state = learner(scales[kind / 2]);
            prepare(state, &batch);
            state->kernels = gsai_kernels_at(i);
            learn(state, &batch);
            if (i == 0)
                expected = state_bytes(state);
            same_bytes(&expected, state);
            gsa_state_free(state);
        }
        free(expected.data);
        free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_any_size_give_the_same_bits),
        cmocka_unit_test(nothing_that_comes_between_rows_changes_a_bit),
        cmocka_unit_test(rows_that_wait_count_in_models_and_merges),
        cmocka_unit_test(a_third_label_ends_the_group_of_two),
        cmocka_unit_test(the_greedy_steps_of_a_group_are_those_of_its_rows),
        cmocka_unit_test(rarity_is_a_power_to_four_per_cent),
        cmocka_unit_test(all_kernels_learn_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
