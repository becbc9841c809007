/* The methods that theory says converge do: to optima that another program found (tests/golden/optimum.csv). */
#include "golden/golden.h"
#include "unit/compare/problems.h"

#include <math.h>

#define N_SLOTS 5

typedef struct solved {
    toy *toy;
    double w[N_SLOTS], loss;
} solved;

static bool is_of(const golden_line *line, const char *name)
{
    return strcmp(line->field[1], name) == 0;
}

static solved read_problem(const char *name)
{
    solved s = {0};
    rows *r = rows_new();
    golden_line line;
    FILE *file = fopen(GSA_GOLDEN_DIR "/optimum.csv", "r");
    assert_non_null(file);
    while (golden_next(file, "row", 7, &line)) {
        if (!is_of(&line, name))
            continue;
        for (uint32_t i = 0; i < N_SLOTS - 1; i++)
            rows_entry(r, i, (float)golden_number(&line, 3 + i));
        rows_end(r, golden_number(&line, 2));
    }
    rewind(file);
    while (golden_next(file, "weight", 4, &line))
        if (is_of(&line, name))
            s.w[(size_t)golden_number(&line, 2)] = golden_number(&line, 3);
    rewind(file);
    while (golden_next(file, "loss", 3, &line))
        if (is_of(&line, name))
            s.loss = golden_number(&line, 2);
    fclose(file);
    assert_int_equal(r->n_rows, 60);
    bool squared = strcmp(name, "squared") == 0;
    s.toy = toy_of(r, squared ? &gsai_loss_squared : &gsai_loss_logistic, N_SLOTS - 1, 1, true);
    return s;
}

/* How far the weights and their loss are from the optimum after so many passes. */
typedef struct gap {
    double weights, loss;
} gap;

static gap gap_after(const solved *s, const char *text, int passes)
{
    gsai_optimizer *o = optimizer_of(s->toy, text, 3);
    double w[N_SLOTS];
    gap g = {0, 0};
    for (int pass = 0; pass < passes; pass++) {
        toy_shuffle(s->toy, (uint64_t)pass);
        pass_over(o, s->toy);
    }
    gsai_optimizer_weights(o, w);
    for (size_t i = 0; i < N_SLOTS; i++)
        g.weights = fmax(g.weights, fabs(w[i] - s->w[i]));
    g.loss = toy_loss(s->toy, w) - s->loss;
    gsai_optimizer_free(o);
    return g;
}

typedef struct claim {
    const char *text;
    int passes;
    double weights, loss; /* at most */
} claim;

static void check(const char *name, const claim *claims, size_t n)
{
    solved s = read_problem(name);
    for (size_t i = 0; i < n; i++) {
        gap g = gap_after(&s, claims[i].text, claims[i].passes);
        if (!(g.weights <= claims[i].weights) || !(g.loss <= claims[i].loss) || !(g.loss >= -1e-14))
            fail_msg("%s, %s: weights %g and loss %g away after %d passes", name, claims[i].text, g.weights, g.loss,
                     claims[i].passes);
    }
    toy_free(s.toy);
}

/* The file, the losses here and the optimum belong together: 0 is far away, and the optimum has the loss it says. */
static void optimum_has_the_loss_that_the_file_says(void **state)
{
    (void)state;
    static const char *const names[] = {"squared", "logistic"};
    for (size_t i = 0; i < 2; i++) {
        solved s = read_problem(names[i]);
        double nothing[N_SLOTS] = {0};
        assert_close(toy_loss(s.toy, s.w), s.loss, 1e-15);
        assert_true(toy_loss(s.toy, nothing) > s.loss + 0.1);
        for (size_t slot = 0; slot < N_SLOTS; slot++)
            for (int side = -1; side <= 1; side += 2) {
                double moved[N_SLOTS];
                memcpy(moved, s.w, sizeof moved);
                moved[slot] += side * 1e-3;
                assert_true(toy_loss(s.toy, moved) > s.loss);
            }
        toy_free(s.toy);
    }
}

static void variance_reduction_reaches_the_optimum(void **state)
{
    (void)state;
    static const claim squared[] = {{"sag:0.05", 500, 1e-11, 1e-14},
                                    {"saga:0.1", 300, 1e-11, 1e-14},
                                    {"svrg:0.1", 300, 1e-11, 1e-14},
                                    {"scsg:0.1:60", 300, 1e-11, 1e-14}};
    static const claim logistic[] = {{"sag:0.2", 600, 1e-11, 1e-14},
                                     {"saga:0.3", 600, 1e-11, 1e-14},
                                     {"svrg:0.3", 600, 1e-11, 1e-14},
                                     {"scsg:0.3:60", 600, 1e-11, 1e-14}};
    check("squared", squared, sizeof squared / sizeof *squared);
    check("logistic", logistic, sizeof logistic / sizeof *logistic);
}

static void decaying_and_averaged_steps_come_near(void **state)
{
    (void)state;
    static const claim squared[] = {
        {"sgd-decay:0.3:100", 3000, 1e-4, 1e-9},  {"iterate-average:0.02", 3000, 5e-3, 1e-5},
        {"adagrad:1", 3000, 2e-2, 1e-4},          {"ftrl:1", 3000, 2e-2, 1e-4},
        {"schedule-free:0.02", 3000, 5e-3, 1e-5}, {"scsg:0.02:20", 1000, 0.1, 3e-3}};
    static const claim logistic[] = {
        {"sgd-decay:1:200", 3000, 1e-3, 1e-8},   {"iterate-average:0.02", 3000, 5e-2, 1e-4},
        {"adagrad:1", 3000, 1e-2, 1e-5},         {"ftrl:1", 3000, 1e-2, 1e-5},
        {"schedule-free:0.1", 3000, 5e-2, 1e-4}, {"scsg:0.05:20", 1000, 0.4, 8e-3}};
    check("squared", squared, sizeof squared / sizeof *squared);
    check("logistic", logistic, sizeof logistic / sizeof *logistic);
}

/* No theory for the last iterate, or none without interpolation: they must find the place all the same. */
static void the_others_find_the_neighbourhood(void **state)
{
    (void)state;
    static const claim squared[] = {
        {"sgd:0.01", 300, 0.03, 1e-4},      {"momentum:0.001", 300, 0.03, 1e-4},
        {"dog", 300, 2e-2, 2e-5},           {"gradient-average:0.01", 20000, 0.3, 1e-2},
        {"adadelta:1e-6", 300, 3e-3, 1e-6}, {"coin", 1000, 0.1, 5e-4},
    };
    static const claim logistic[] = {
        {"sgd:0.02", 300, 0.2, 2e-3},
        {"momentum:0.002", 300, 0.2, 2e-3},
        {"dog", 300, 0.1, 1e-3},
        {"coin", 1000, 0.2, 2e-3},
    };
    check("squared", squared, sizeof squared / sizeof *squared);
    check("logistic", logistic, sizeof logistic / sizeof *logistic);
}

/* With all rows in a snapshot every pass brings it nearer; with fewer the noise of the snapshot stays. */
static void scsg_comes_nearer_with_passes_and_batches(void **state)
{
    (void)state;
    solved s = read_problem("logistic");
    double before = toy_loss(s.toy, (double[N_SLOTS]){0}) - s.loss;
    static const int passes[] = {10, 30, 100};
    for (size_t i = 0; i < 3; i++) {
        double now = gap_after(&s, "scsg:0.2:60", passes[i]).loss;
        assert_true(now < before / 5);
        before = now;
    }
    assert_true(gap_after(&s, "scsg:0.2:30", 400).loss > 1e-6);
    assert_true(gap_after(&s, "scsg:0.2:60", 400).loss < 1e-14);
    toy_free(s.toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum_has_the_loss_that_the_file_says),
        cmocka_unit_test(variance_reduction_reaches_the_optimum),
        cmocka_unit_test(decaying_and_averaged_steps_come_near),
        cmocka_unit_test(the_others_find_the_neighbourhood),
        cmocka_unit_test(scsg_comes_nearer_with_passes_and_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
