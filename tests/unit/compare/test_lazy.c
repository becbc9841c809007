/* Lazy equals dense: what the baselines catch up with later is what they would have done at every row.
 *
 * Sparse problems of 200 rows and 40 features, all three losses, with and without an intercept, several passes of
 * shuffled rows; weights are compared at the end of every pass with those of dense.h. */
#include "unit/compare/dense.h"

/* Largest difference over the largest weight. */
static double difference(const double *a, const double *b, size_t n)
{
    double most = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return INFINITY;
        most = fmax(most, fabs(a[i] - b[i]));
        largest = fmax(largest, fabs(b[i]));
    }
    return largest > 0 ? most / largest : most;
}

static void agree(toy *t, const char *text, uint64_t seed)
{
    gsai_optimizer *o = optimizer_of(t, text, seed);
    dense *d = dense_new(t, text, seed);
    double *w = calloc(toy_cells(t), sizeof *w), moved = 0;
    uint64_t passes =
        strcmp(text, "dog") == 0 ? 20 : 5; /* dog starts at 1e-6 and needs thousands of rows to get going */
    for (uint64_t pass = 0; pass < passes; pass++) {
        toy_shuffle(t, seed + pass);
        pass_over(o, t);
        dense_pass(d, t);
        gsai_optimizer_weights(o, w);
        double apart = difference(w, dense_answer(d), toy_cells(t));
        if (!(apart <= 1e-9))
            fail_msg("%s, %s loss, intercept %d: %g apart after pass %d", text, t->problem.loss->name,
                     (int)t->problem.intercept, apart, (int)pass + 1);
        for (size_t i = 0; i < toy_cells(t); i++)
            moved = fmax(moved, fabs(w[i]));
    }
    assert_true(moved > 1e-3); /* two that stand still agree too */
    free(w);
    dense_free(d);
    gsai_optimizer_free(o);
}

static void on_all_losses(const char *const *texts)
{
    static const gsai_loss *const losses[] = {&gsai_loss_squared, &gsai_loss_logistic, &gsai_loss_softmax};
    for (size_t l = 0; l < 3; l++)
        for (int intercept = 0; intercept < 2; intercept++)
            for (size_t i = 0; texts[i]; i++) {
                toy *t = toy_random(31 + l, losses[l], 200, 40, intercept);
                agree(t, texts[i], 77 + l);
                toy_free(t);
            }
}

static void plain_descent_is_the_same_dense(void **state)
{
    (void)state;
    on_all_losses(
        (const char *const[]){"sgd:0.02", "sgd-decay:0.05", "sgd-decay:0.05:100", "polyak", "polyak:1:1:0", NULL});
}

static void momentum_catches_up(void **state)
{
    (void)state;
    on_all_losses((const char *const[]){"momentum:0.005", "momentum:0.02:0.5", "momentum:0.02:0", NULL});
}

static void averages_catch_up(void **state)
{
    (void)state;
    on_all_losses((const char *const[]){"gradient-average:0.005", "iterate-average:0.02", "schedule-free:0.02",
                                        "schedule-free:0.02:0:0", "schedule-free:0.02:1:3", NULL});
}

static void steps_for_every_weight_catch_up(void **state)
{
    (void)state;
    on_all_losses((const char *const[]){"adagrad:0.3", "adagrad:0.3:0.5", "adadelta:1e-4", "adadelta:1e-4:0.95",
                                        "adadelta:0.01:0.5", "ftrl:0.3", "ftrl:0.3:0.5:0.2", "ftrl:0.3:1:0.1:2", NULL});
}

static void memories_of_rows_catch_up(void **state)
{
    (void)state;
    on_all_losses((const char *const[]){"sag:0.005", "saga:0.01", NULL});
}

static void snapshots_catch_up(void **state)
{
    (void)state;
    on_all_losses((const char *const[]){"svrg:0.01", "scsg:0.01:1", "scsg:0.01:7", "scsg:0.01:64", "scsg:0.01:200",
                                        "scsg:0.01:1e9", NULL});
}

static void methods_with_nothing_to_tune_are_the_same_dense(void **state)
{
    (void)state;
    on_all_losses((const char *const[]){"coin", "coin:100", "dog", "dog:1e-4", NULL});
}

static void partitions_are_the_same_dense(void **state)
{
    (void)state;
    on_all_losses((const char *const[]){"fregata:1", "fregata:2", "fregata:7", "fregata:8", "fregata:199",
                                        "fregata:200", "fregata:1000", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_descent_is_the_same_dense),
        cmocka_unit_test(momentum_catches_up),
        cmocka_unit_test(averages_catch_up),
        cmocka_unit_test(steps_for_every_weight_catch_up),
        cmocka_unit_test(memories_of_rows_catch_up),
        cmocka_unit_test(snapshots_catch_up),
        cmocka_unit_test(methods_with_nothing_to_tune_are_the_same_dense),
        cmocka_unit_test(partitions_are_the_same_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
