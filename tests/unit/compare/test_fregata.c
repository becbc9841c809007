/* Fregata against plain loops: the sizes of partitions, uniform averaging, and P = 1 as greedy step averaging. */
#include "unit/compare/dense.h"

#include <stdio.h>

/* Every row is its own partition's only news: row i sets feature i to 1 where its partition began with 0, so that after
 * one pass weight i says how its row was averaged: 1/P each. What differs is the mean of the steps: row i has x = 2^-i,
 * greedy step 4^i, and w_i = (mean of the steps of its partition so far) x / P. */
static void check_partitions(size_t n, size_t parts)
{
    rows *r = rows_new();
    char text[32];
    for (size_t i = 0; i < n; i++) {
        rows_entry(r, (uint32_t)i, ldexpf(1, -(int)i));
        rows_end(r, 1);
    }
    toy *t = toy_of(r, &gsai_loss_squared, n, 1, false);
    snprintf(text, sizeof text, "fregata:%zu", parts);
    gsai_optimizer *o = optimizer_of(t, text, 0);
    pass_over(o, t);
    size_t row = 0, used = parts < n ? parts : n;
    for (size_t p = 0; p < used; p++) {
        size_t end = ((p + 1) * n + used - 1) / used; /* sizes differ by one at most */
        assert_true(end - row == n / used || end - row == n / used + 1);
        double steps = 0;
        for (size_t first = row; row < end; row++) {
            steps += ldexp(1, 2 * (int)row);
            double expected = steps / (double)(row - first + 1) * ldexp(1, -(int)row) / (double)used;
            assert_close(o->w[row + 1], expected, 1e-12 * expected);
        }
    }
    assert_int_equal(row, n);
    gsai_optimizer_free(o);
    toy_free(t);
}

static void partitions_differ_by_one_row_at_most(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 12; n++)
        for (size_t parts = 1; parts <= 14; parts++)
            check_partitions(n, parts);
}

/* Half a partition is none. */
static void a_fraction_of_a_partition_is_dropped(void **state)
{
    (void)state;
    toy *t = toy_random(4, &gsai_loss_logistic, 50, 12, true);
    gsai_optimizer *whole = optimizer_of(t, "fregata:3", 0), *more = optimizer_of(t, "fregata:3.9", 0);
    pass_over(whole, t);
    pass_over(more, t);
    assert_memory_equal(whole->w, more->w, toy_cells(t) * sizeof(double));
    gsai_optimizer_free(whole);
    gsai_optimizer_free(more);
    toy_free(t);
}

/* Greedy step averaging in a few lines: the mean of the steps starts anew with every pass. */
static void plain_gsa_pass(dense *d, const toy *t)
{
    double steps = 0, n_steps = 0, m[16];
    for (size_t at = 0; at < d->n_rows; at++) {
        size_t row = t->order[at];
        const double *x = d->x + row * d->n_slots;
        double xx = 0;
        for (size_t i = 0; i < d->n_slots; i++)
            xx += x[i] * x[i];
        if (xx == 0)
            continue;
        dense_margins(d, d->w, row, m);
        dense_scales(d, row, m);
        steps += dense_lambda(d, m, t->classes[row]) / xx;
        n_steps++;
        for (size_t i = 0; i < d->n_cells; i++)
            d->w[i] -= steps / n_steps * m[i % d->n_outputs] * x[i / d->n_outputs];
    }
}

static void one_partition_is_gsa_with_a_mean_of_the_pass(void **state)
{
    (void)state;
    static const gsai_loss *const losses[] = {&gsai_loss_logistic, &gsai_loss_softmax};
    for (size_t l = 0; l < 2; l++) {
        toy *t = toy_random(14, losses[l], 150, 20, true);
        gsai_optimizer *o = optimizer_of(t, "fregata:1", 0);
        dense *d = dense_new(t, "fregata:1", 0);
        for (uint64_t pass = 0; pass < 4; pass++) {
            toy_shuffle(t, pass);
            pass_over(o, t);
            plain_gsa_pass(d, t);
            for (size_t i = 0; i < d->n_cells; i++)
                assert_close(o->w[i], d->w[i], 1e-10);
        }
        dense_free(d);
        gsai_optimizer_free(o);
        toy_free(t);
    }
}

/* The library gets to know the classes as they come. Without an intercept rows without entries teach it nothing else.
 */
static toy *classes_first(const gsai_loss *loss)
{
    toy *t = toy_random(15, loss, 150, 20, false);
    rows *r = rows_new();
    for (size_t k = 0; k < (loss == &gsai_loss_softmax ? 4 : 2); k++)
        rows_end(r, (double)k);
    for (size_t i = 0; i < 150; i++) {
        for (int64_t e = t->rows->row_start[i]; e < t->rows->row_start[i + 1]; e++)
            rows_entry(r, t->rows->index[e], t->rows->value[e]);
        rows_end(r, t->rows->label[i]);
    }
    toy_free(t);
    return toy_of(r, loss, 20, loss == &gsai_loss_softmax ? 4 : 1, false);
}

/* The library's own state, which holds floats, after one pass over the same rows; a pass later it has kept its mean. */
static void one_partition_is_what_the_library_learns_in_one_pass(void **state)
{
    (void)state;
    static const gsai_loss *const losses[] = {&gsai_loss_logistic, &gsai_loss_softmax};
    for (size_t l = 0; l < 2; l++) {
        toy *t = classes_first(losses[l]);
        gsai_optimizer *o = optimizer_of(t, "fregata:1", 0);
        gsa_state *core =
            state_with("loss", l == 0 ? "logistic" : "softmax", "average", "last", "intercept", "off", NULL);
        size_t n_outputs = t->problem.n_outputs;
        for (int pass = 0; pass < 2; pass++) {
            pass_over(o, t);
            learn(core, &t->batch);
            gsa_model *model = model_of(core);
            double apart = 0;
            for (size_t k = 0; k < n_outputs; k++) {
                apart = fmax(apart, fabs(gsa_model_intercept(model, k) - o->w[k]));
                for (uint64_t i = 0; i < 20; i++)
                    apart = fmax(apart, fabs((double)gsa_model_weight(model, i, k) - o->w[(i + 1) * n_outputs + k]));
            }
            assert_true(pass == 0 ? apart < 1e-5 : apart > 1e-3);
            gsa_model_free(model);
        }
        gsa_state_free(core);
        gsai_optimizer_free(o);
        toy_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_differ_by_one_row_at_most),
        cmocka_unit_test(a_fraction_of_a_partition_is_dropped),
        cmocka_unit_test(one_partition_is_gsa_with_a_mean_of_the_pass),
        cmocka_unit_test(one_partition_is_what_the_library_learns_in_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
