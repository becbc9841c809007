/* Means of dense columns: what they are, where they are kept, and that the origin of a column does not matter. */
#include "bytes.h"

#include "learn/inside.h"

#include <math.h>

#define COLUMNS 4

/* Values are odd multiples of 2^-10 in (-1, 1), so that they and their shifted twins are exact floats and never 0. */
static rows *dense(uint64_t seed, size_t n, double shift, unsigned n_classes)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 3, 1);
    for (size_t row = 0; row < n; row++) {
        double m = 0;
        for (uint32_t i = 0; i < COLUMNS; i++) {
            double x = (2 * (double)gsai_rng_below(&rng, 1024) - 1023) / 1024;
            m += x * ((double)i - 1.2);
            rows_entry(r, i, (float)(x + shift * (double)(i + 1)));
        }
        m += gsai_rng_unit(&rng) - 0.5;
        rows_end(r, n_classes == 0 ? m : n_classes == 2 ? m > 0 : m < -0.5 ? 0 : m > 0.5 ? 2 : 1);
    }
    return r;
}

static gsa_state *free_of_units(const char *loss)
{
    return state_with("method", "auto", "scale", "standard", "holdout", "none", "average", "last", "loss", loss, NULL);
}

/* Mean and sum of squares around it of a column over all rows, in two passes. */
static void column_of(const rows *const *of, size_t n_of, uint32_t column, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int twice = 0; twice < 2; twice++)
        for (size_t s = 0; s < n_of; s++)
            for (size_t e = 0; e < of[s]->n_entries; e++) {
                double x = (double)of[s]->value[e];
                if (of[s]->index[e] != column || x == 0)
                    continue;
                if (twice)
                    out[2] += (x - out[1] / out[0]) * (x - out[1] / out[0]);
                else
                    out[0]++;
                out[1] += twice ? 0 : x;
            }
    out[1] /= out[0];
}

static void has_columns_of(const gsa_state *state, const rows *const *of, size_t n_of)
{
    assert_int_equal(state->centre.n, COLUMNS + 1);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        double expected[3];
        column_of(of, n_of, i, expected);
        const gsai_column *column = &state->centre.at[i + 1];
        assert_close(column->n, expected[0], 0);
        assert_close(column->mean, expected[1], 1e-12 * (1 + fabs(expected[1])));
        assert_close(column->squares, expected[2], 1e-9 * (1 + expected[2]));
    }
    assert_true(state->centre.at[0].n == 0);
}

/* The losses are those of rows before they were learned: all of the way is the same, not only its end. */
static void the_origin_of_a_column_does_not_change_what_is_learned(void **unused)
{
    (void)unused;
    static const char *const losses[] = {"squared", "logistic", "softmax"};
    static const unsigned n_classes[] = {0, 2, 3};
    static const double shifts[] = {1, 16, -64};
    for (size_t loss = 0; loss < 3; loss++)
        for (size_t i = 0; i < 3; i++) {
            rows *r = dense(loss, 1000, 0, n_classes[loss]), *moved = dense(loss, 1000, shifts[i], n_classes[loss]);
            gsa_batch x = rows_batch(r), y = rows_batch(moved);
            gsa_state *a = free_of_units(losses[loss]), *b = free_of_units(losses[loss]);
            gsa_summary of_a = {.size = sizeof of_a}, of_b = {.size = sizeof of_b};
            for (size_t from = 0; from < 1000; from += 100) {
                gsa_batch here = rows_slice(&x, from, 100), there = rows_slice(&y, from, 100);
                learn(a, &here);
                learn(b, &there);
                of_a = state_summary(a);
                of_b = state_summary(b);
                assert_close(of_b.loss_sum, of_a.loss_sum, 2e-4 * of_a.loss_sum);
            }
            free_states(a, b);
            free(r);
            free(moved);
        }
}

static void a_constant_column_changes_nothing_at_all(void **unused)
{
    (void)unused;
    static const float constants[] = {1, 0.1f, 1e6f, -3e-5f};
    for (size_t c = 0; c < 4; c++) {
        rows *r = dense(1, 500, 2, 2), *more = rows_new();
        for (size_t row = 0; row < r->n_rows; row++) {
            for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
                rows_entry(more, r->index[e], r->value[e]);
            rows_entry(more, COLUMNS, constants[c]);
            rows_end(more, r->label[row]);
        }
        gsa_batch x = rows_batch(r), y = rows_batch(more);
        gsa_state *without = free_of_units("logistic"), *with = free_of_units("logistic");
        learn(without, &x);
        learn(with, &y);
        gsa_model *a = model_of(without), *b = model_of(with);
        for (uint32_t i = 0; i < COLUMNS; i++)
            assert_true(gsa_model_weight(a, i, 0) == gsa_model_weight(b, i, 0));
        assert_true(gsa_model_intercept(a, 0) == gsa_model_intercept(b, 0));
        assert_true(gsa_model_weight(b, COLUMNS, 0) == 0);
        assert_true(gsa_model_weight(a, 0, 0) != 0);
        gsa_model_free(a);
        gsa_model_free(b);
        free_states(without, with);
        free(r);
        free(more);
    }
}

static void columns_are_the_moments_of_the_rows_and_survive_every_copy(void **unused)
{
    (void)unused;
    rows *r = dense(1, 700, 300, 2);
    for (size_t row = 19; row < 700; row += 20)
        r->value[r->row_start[row] + 1] = 0; /* absent now and then, and dense all the same */
    const rows *of[] = {r};
    gsa_batch batch = rows_batch(r);
    gsa_state *state = free_of_units("logistic"), *copies[3];
    learn(state, &batch);
    has_columns_of(state, of, 1);
    copies[0] = forked(state, 1);
    copies[1] = started_from(state);
    copies[2] = reread(state);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(copies[i]->centre.n, state->centre.n);
        assert_memory_equal(copies[i]->centre.at, state->centre.at, state->centre.n * sizeof *state->centre.at);
    }
    learn(state, &batch);
    learn(copies[0], &batch);
    learn(copies[2], &batch);
    for (size_t i = 0; i < 3; i += 2)
        assert_memory_equal(copies[i]->centre.at, state->centre.at, state->centre.n * sizeof *state->centre.at);
    assert_close(copies[1]->centre.at[1].n, 700, 0); /* a copy has columns of its own */
    for (size_t i = 0; i < 3; i++)
        gsa_state_free(copies[i]);
    gsa_state_free(state);
    free(r);
}

static void merged_columns_are_those_of_all_rows(void **unused)
{
    (void)unused;
    rows *r = dense(1, 400, 5, 2), *s = dense(2, 150, -8, 2), *t = dense(3, 90, 1000, 2);
    const rows *of[] = {r, s, t};
    gsa_state *states[3], *all;
    for (size_t i = 0; i < 3; i++) {
        gsa_batch batch = rows_batch(of[i]);
        states[i] = free_of_units("logistic");
        learn(states[i], &batch);
    }
    all = merged((const gsa_state *const *)states, 3, NULL);
    has_columns_of(all, of, 3);
    /* One that knows no columns adds none. */
    gsa_state *given = state_with("method", "auto", "scale", "none", "holdout", "none", "average", "last", NULL), *both;
    gsa_batch batch = rows_batch(t);
    learn(given, &batch);
    both = merged_two(states[0], given, NULL);
    has_columns_of(both, of, 1);
    for (size_t i = 0; i < 3; i++)
        gsa_state_free(states[i]);
    free_states(all, given, both);
    free(r);
    free(s);
    free(t);
}

static void columns_are_counted_only_where_they_are_of_use(void **unused)
{
    (void)unused;
    rows *r = dense(1, 100, 1, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *given = state_with("method", "auto", "scale", "none", "holdout", "none", NULL);
    gsa_state *paper = state_with("method", "paper", NULL);
    gsa_state *through_zero =
        state_with("method", "auto", "scale", "standard", "holdout", "none", "intercept", "off", NULL);
    gsa_state *states[] = {given, paper, through_zero};
    for (size_t i = 0; i < 3; i++) {
        learn(states[i], &batch);
        assert_int_equal(states[i]->centre.n, 0);
        gsa_state_free(states[i]);
    }
    for (size_t e = 0; e < r->n_entries; e++)
        r->index[e] += r->index[e] == 3 ? 70000 : 0; /* too far for a mean, which would cost as much as the weight */
    gsa_state *far = free_of_units("logistic");
    learn(far, &batch);
    assert_int_equal(far->centre.n, 4);
    gsa_model *model = model_of(far);
    assert_true(gsa_model_weight(model, 70003, 0) != 0);
    gsa_model_free(model);
    gsa_state_free(far);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_origin_of_a_column_does_not_change_what_is_learned),
        cmocka_unit_test(a_constant_column_changes_nothing_at_all),
        cmocka_unit_test(columns_are_the_moments_of_the_rows_and_survive_every_copy),
        cmocka_unit_test(merged_columns_are_those_of_all_rows),
        cmocka_unit_test(columns_are_counted_only_where_they_are_of_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
