/* What every method must survive: odd rows, any number of outputs, steps that are too long, no memory. */
#include "unit/compare/problems.h"

#include "support/failing_memory.h"

#include <math.h>

/* ---- odd problems -------------------------------------------------------------------------------------------------
 */

/* Knobs for a gentle run of every method. */
static const char *const gentle[] = {"sgd:0.01",
                                     "sgd-decay:0.05",
                                     "momentum:0.002",
                                     "gradient-average:0.01",
                                     "iterate-average:0.01",
                                     "adagrad:0.1",
                                     "adadelta:1e-4",
                                     "adadelta:1e-4:0.9",
                                     "ftrl:0.1",
                                     "schedule-free:0.01",
                                     "sag:0.01",
                                     "saga:0.01",
                                     "svrg:0.01",
                                     "scsg:0.01:3",
                                     "coin",
                                     "dog",
                                     "polyak",
                                     "fregata:3",
                                     NULL};

static void expect_finite(const toy *t, const double *w)
{
    for (size_t i = 0; i < toy_cells(t); i++)
        assert_true(isfinite(w[i]));
}

/* A few passes; weights may be asked for as often as one likes and do not change by it. */
static void live(toy *t, const char *text)
{
    gsai_optimizer *o = optimizer_of(t, text, 1);
    double *w = calloc(toy_cells(t), sizeof *w), *again = calloc(toy_cells(t), sizeof *w);
    gsai_optimizer_weights(o, w);
    for (size_t i = 0; i < toy_cells(t); i++)
        assert_true(w[i] == 0);
    for (uint64_t pass = 0; pass < 3; pass++) {
        toy_shuffle(t, pass);
        pass_over(o, t);
        gsai_optimizer_weights(o, w);
        expect_finite(t, w);
        for (int i = 0; i < 3; i++) {
            gsai_optimizer_catch_up(o);
            gsai_optimizer_weights(o, again);
            assert_memory_equal(w, again, toy_cells(t) * sizeof *w);
        }
    }
    assert_int_equal(o->t, 3 * t->batch.n_rows);
    free(w);
    free(again);
    gsai_optimizer_free(o);
}

/* Every method on n rows of which the first n_empty have no entry; the value 0 is no entry either. */
static void live_on(size_t n, size_t n_empty, const gsai_loss *loss, size_t n_outputs, bool intercept)
{
    for (size_t m = 0; gentle[m]; m++) {
        rows *r = rows_new();
        for (size_t i = 0; i < n; i++) {
            rows_entry(r, (uint32_t)(i % 5), 0);
            if (i >= n_empty)
                rows_entry(r, 5 + (uint32_t)(i % 3), 1.5f - (float)(i % 4));
            rows_end(r, loss == &gsai_loss_squared    ? (double)i / 4
                        : loss == &gsai_loss_logistic ? (double)(i % 2)
                                                      : (double)(i % n_outputs));
        }
        toy *t = toy_of(r, loss, 8, n_outputs, intercept);
        live(t, gentle[m]);
        toy_free(t);
    }
}

static void rows_without_entries_are_survived(void **state)
{
    (void)state;
    for (int intercept = 0; intercept < 2; intercept++) {
        live_on(9, 9, &gsai_loss_squared, 1, intercept);
        live_on(9, 4, &gsai_loss_squared, 1, intercept);
        live_on(9, 9, &gsai_loss_logistic, 1, intercept);
        live_on(9, 4, &gsai_loss_logistic, 1, intercept);
        live_on(9, 4, &gsai_loss_softmax, 3, intercept);
    }
}

static void one_row_and_no_row_are_survived(void **state)
{
    (void)state;
    for (size_t n = 0; n < 3; n++) {
        live_on(n, 0, &gsai_loss_squared, 1, true);
        live_on(n, 0, &gsai_loss_logistic, 1, false);
        live_on(n, n, &gsai_loss_softmax, 2, true);
    }
}

static void one_class_and_many_are_survived(void **state)
{
    (void)state;
    static const size_t n_outputs[] = {1, 2, 16, 300};
    for (size_t i = 0; i < 4; i++)
        live_on(40, 3, &gsai_loss_softmax, n_outputs[i], true);
}

static void terms_are_intercept_and_entries_without_zeros(void **state)
{
    (void)state;
    rows *r = rows_new();
    rows_entry(r, 4, 2);
    rows_entry(r, 1, 0);
    rows_entry(r, 0, -1);
    rows_end(r, 1);
    rows_end(r, 1);
    toy *t = toy_of(r, &gsai_loss_squared, 5, 1, true);
    gsai_term terms[4];
    assert_int_equal(gsai_problem_terms(&t->problem, 0, terms), 3);
    assert_true(terms[0].slot == 0 && terms[0].x == 1);
    assert_true(terms[1].slot == 5 && terms[1].x == 2);
    assert_true(terms[2].slot == 1 && terms[2].x == -1);
    assert_int_equal(gsai_problem_terms(&t->problem, 1, terms), 1);
    t->problem.intercept = false;
    assert_int_equal(gsai_problem_terms(&t->problem, 1, terms), 0);
    toy_free(t);
}

/* Values of NULL are all 1; without an intercept slot 0 stays 0. */
static void values_may_be_left_out(void **state)
{
    (void)state;
    for (size_t m = 0; gentle[m]; m++) {
        toy *t = toy_random(6, &gsai_loss_logistic, 30, 12, false),
            *ones = toy_random(6, &gsai_loss_logistic, 30, 12, false);
        t->batch.value = NULL;
        for (size_t e = 0; e < ones->rows->n_entries; e++)
            ones->rows->value[e] = 1;
        gsai_optimizer *a = optimizer_of(t, gentle[m], 1), *b = optimizer_of(ones, gentle[m], 1);
        pass_over(a, t);
        pass_over(b, ones);
        assert_memory_equal(a->w, b->w, toy_cells(t) * sizeof(double));
        assert_true(a->w[0] == 0);
        gsai_optimizer_free(a);
        gsai_optimizer_free(b);
        toy_free(t);
        toy_free(ones);
    }
}

static void divergence_is_told(void **state)
{
    (void)state;
    static const char *const wild[] = {
        "sgd:100", "momentum:100", "iterate-average:100", "sag:100", "saga:100", "svrg:100", NULL};
    for (size_t m = 0; wild[m]; m++) {
        toy *t = toy_random(6, &gsai_loss_squared, 200, 12, true);
        gsai_optimizer *o = optimizer_of(t, wild[m], 1);
        gsa_error error = {0};
        gsa_status status = GSA_OK;
        for (int pass = 0; pass < 50 && status == GSA_OK; pass++)
            status = gsai_optimizer_pass(o, t->order, t->batch.n_rows, &error);
        assert_int_equal(status, GSA_DIVERGED);
        assert_non_null(strstr(error.message, o->method->name));
        gsai_optimizer_free(o);
        toy_free(t);
    }
}

/* The seed decides how long SCSG's snapshots serve, and nothing else. */
static void seeds_matter_to_scsg_alone(void **state)
{
    (void)state;
    for (size_t m = 0; gentle[m]; m++) {
        toy *t = toy_random(6, &gsai_loss_logistic, 60, 12, true);
        gsai_optimizer *a = optimizer_of(t, gentle[m], 1), *b = optimizer_of(t, gentle[m], 1);
        gsai_optimizer *c = optimizer_of(t, gentle[m], 2);
        pass_over(a, t);
        pass_over(b, t);
        pass_over(c, t);
        assert_memory_equal(a->w, b->w, toy_cells(t) * sizeof(double));
        bool same = memcmp(a->w, c->w, toy_cells(t) * sizeof(double)) == 0;
        assert_int_equal(same, strcmp(a->method->name, "scsg") != 0);
        gsai_optimizer_free(a);
        gsai_optimizer_free(b);
        gsai_optimizer_free(c);
        toy_free(t);
    }
}

/* 20000 snapshots of B = 50 serve 50 rows each on the whole, and not one serves none. */
static void snapshots_of_scsg_serve_b_rows_on_the_mean(void **state)
{
    (void)state;
    toy *t = toy_random(6, &gsai_loss_squared, 100, 6, true);
    gsai_optimizer *o = optimizer_of(t, "scsg:1e-9:50", 5);
    for (int pass = 0; pass < 10000; pass++)
        pass_over(o, t);
    assert_close(1e6 / (double)o->rng.counter, 50, 1.1); /* three standard deviations of 50 / sqrt(20000) */
    gsai_optimizer_free(o);
    toy_free(t);
}

/* ---- memory that runs out at the n-th request ---------------------------------------------------------------------
 */

static void every_failed_allocation_is_a_status_and_no_leak(void **state)
{
    (void)state;
    toy *t = toy_random(6, &gsai_loss_softmax, 30, 12, true);
    for (size_t m = 0; gentle[m]; m++) {
        const gsai_method *method = NULL;
        double knobs[GSAI_KNOBS];
        assert_int_equal(gsai_method_parse(gentle[m], &method, knobs, NULL), GSA_OK);
        size_t n = 0;
        for (gsa_status status = GSA_MEMORY; status == GSA_MEMORY; n++) {
            failing f = {n, 0};
            gsai_env env = failing_env(&f);
            gsa_error error = {0};
            gsai_optimizer *o = NULL;
            status = gsai_optimizer_new(method, knobs, &t->problem, 0, &env, &o, &error);
            assert_true((status == GSA_OK) == (o != NULL));
            assert_true(status == GSA_OK || (status == GSA_MEMORY && strstr(error.message, method->name)));
            if (o)
                pass_over(o, t);
            gsai_optimizer_free(o);
            assert_int_equal(f.live, 0);
        }
        assert_true(n > 6 + method->n_tables);
    }
    gsai_optimizer_free(NULL);
    toy_free(t);
}

static void every_method_is_among_those_that_are_tried_here(void **state)
{
    (void)state;
    for (const gsai_method *const *each = gsai_methods; *each; each++) {
        size_t size = strlen((*each)->name), i = 0;
        while (gentle[i] && (strncmp(gentle[i], (*each)->name, size) != 0 || strcspn(gentle[i], ":") != size))
            i++;
        if (!gentle[i])
            fail_msg("give %s knobs in the list of gentle runs above", (*each)->name);
    }
}

static void sizes_beyond_all_memory_are_refused(void **state)
{
    (void)state;
    toy *t = toy_random(6, &gsai_loss_softmax, 30, 12, true);
    gsai_problem huge = t->problem;
    huge.n_features = SIZE_MAX / 8;
    huge.n_outputs = 100;
    gsa_error error = {0};
    gsai_optimizer *o = NULL;
    assert_int_equal(gsai_optimizer_new(&gsai_coin, (double[GSAI_KNOBS]){1}, &huge, 0, NULL, &o, &error), GSA_MEMORY);
    assert_null(o);
    toy_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_among_those_that_are_tried_here),
        cmocka_unit_test(rows_without_entries_are_survived),
        cmocka_unit_test(one_row_and_no_row_are_survived),
        cmocka_unit_test(one_class_and_many_are_survived),
        cmocka_unit_test(terms_are_intercept_and_entries_without_zeros),
        cmocka_unit_test(values_may_be_left_out),
        cmocka_unit_test(divergence_is_told),
        cmocka_unit_test(seeds_matter_to_scsg_alone),
        cmocka_unit_test(snapshots_of_scsg_serve_b_rows_on_the_mean),
        cmocka_unit_test(every_failed_allocation_is_a_status_and_no_leak),
        cmocka_unit_test(sizes_beyond_all_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
