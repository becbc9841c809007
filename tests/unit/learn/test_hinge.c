/* The hinge losses: against the oracle (tests/golden/steps.csv), by their properties, and as a state learns them. */
#include "evaluated.h"
#include "inverse_frequency.h"

#include "golden/golden.h"
#include "learn/inside.h"
#include "learn/loss/loss.h"

#include <math.h>

#define MAX_CLASSES 105
#define FEATURES 12

static const char *const names[] = {"hinge", "squared_hinge"};

static FILE *open_golden(void)
{
    FILE *file = fopen(GSA_GOLDEN_DIR "/steps.csv", "r");
    if (!file)
        fail_msg("cannot open %s", GSA_GOLDEN_DIR "/steps.csv");
    return file;
}

/* A row of the second class if y is not 0. */
static gsai_greedy_step one_output(double m, int y, bool squared)
{
    return gsai_hinge(&m, 1, y ? 1 : 0, squared);
}

static void assert_relative(double value, double expected)
{
    assert_close(value, expected, 4e-16 * fabs(expected));
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

static void one_output_agrees_with_the_oracle(void **unused)
{
    (void)unused;
    FILE *file = open_golden();
    golden_line line;
    size_t n = 0;
    for (; golden_next(file, "hinge", 7, &line); n++) {
        gsai_greedy_step row = one_output(golden_number(&line, 2), atoi(line.field[3]), atoi(line.field[1]) == 2);
        assert_relative(row.loss, golden_number(&line, 4));
        assert_relative(row.g, golden_number(&line, 5));
        assert_relative(row.lambda, golden_number(&line, 6));
    }
    fclose(file);
    assert_true(n >= 60);
}

static void an_output_a_class_agrees_with_the_oracle(void **unused)
{
    (void)unused;
    FILE *file = open_golden();
    golden_line line;
    size_t n = 0;
    for (; golden_next(file, "hinge_many", 10, &line); n++) {
        bool squared = atoi(line.field[1]) == 2;
        size_t n_classes = strtoul(line.field[2], NULL, 10), k = strtoul(line.field[3], NULL, 10), runner_up = k == 0;
        double m[MAX_CLASSES], margins[MAX_CLASSES];
        golden_margins(line.field[4], n_classes, k, (uint32_t)strtoul(line.field[5], NULL, 10), m);
        m[k] = golden_number(&line, 6);
        memcpy(margins, m, sizeof m);
        for (size_t j = 0; j < n_classes; j++)
            runner_up = j != k && m[j] > m[runner_up] ? j : runner_up;
        assert_relative(gsai_hinge_many_loss(m, n_classes, k, squared), golden_number(&line, 7));
        gsai_greedy_step row = gsai_hinge(m, n_classes, k, squared);
        assert_relative(row.loss, golden_number(&line, 7));
        assert_relative(row.g, golden_number(&line, 8));
        assert_relative(row.lambda, golden_number(&line, 9));
        for (size_t j = 0; j < n_classes; j++)
            assert_true(m[j] == (j == runner_up ? row.g : j == k ? -row.g : 0));
    }
    fclose(file);
    assert_true(n >= 300);
}

typedef struct sample {
    double m[MAX_CLASSES];
    size_t n_classes, k;
} sample;

static sample draw(gsai_rng *rng)
{
    sample s = {.n_classes = 2 + (size_t)gsai_rng_below(rng, 20)};
    s.k = (size_t)gsai_rng_below(rng, s.n_classes);
    for (size_t j = 0; j < s.n_classes; j++)
        s.m[j] = 4 * gsai_rng_unit(rng) - 2;
    return s;
}

static void gradients_are_the_slopes_of_the_losses(void **unused)
{
    (void)unused;
    const double d = 1e-6;
    gsai_rng rng = gsai_rng_of(1, 0, 0);
    for (int i = 0; i < 2000; i++) {
        bool squared = i % 2;
        sample s = draw(&rng), up = s, down = s;
        size_t j = (size_t)gsai_rng_below(&rng, s.n_classes);
        up.m[j] += d;
        down.m[j] -= d;
        double slope = (gsai_hinge_many_loss(up.m, s.n_classes, s.k, squared) -
                        gsai_hinge_many_loss(down.m, s.n_classes, s.k, squared)) /
                       (2 * d);
        double m = s.m[0],
               one = (one_output(m + d, i % 3 == 0, squared).loss - one_output(m - d, i % 3 == 0, squared).loss) /
                     (2 * d);
        (void)gsai_hinge(s.m, s.n_classes, s.k, squared);
        assert_close(s.m[j], slope, 1e-5);
        assert_close(one_output(m, i % 3 == 0, squared).g, one, 1e-5);
    }
}

/* For any part of the greedy step, and beyond it: the runner-up falls, the own class rises, no other moves. */
static void no_step_raises_the_rows_own_loss(void **unused)
{
    (void)unused;
    gsai_rng rng = gsai_rng_of(2, 0, 0);
    for (int i = 0; i < 2000; i++) {
        bool squared = i % 2;
        sample s = draw(&rng), g = s;
        gsai_greedy_step row = gsai_hinge(g.m, s.n_classes, s.k, squared);
        double before = row.loss, rival_loss = 0;
        for (int part = 1; part <= 12; part++) {
            sample moved = s;
            for (size_t j = 0; j < s.n_classes; j++)
                moved.m[j] -= part / 10.0 * row.lambda * g.m[j];
            double loss = gsai_hinge_many_loss(moved.m, s.n_classes, s.k, squared);
            assert_true(loss <= before);
            before = loss;
            for (size_t j = 0; j < s.n_classes && part == 10; j++)
                rival_loss = g.m[j] > 0 ? fmax(0, 1 + moved.m[j] - moved.m[s.k]) : rival_loss;
        }
        assert_close(rival_loss, 0, 1e-15);
    }
}

static void two_classes_are_one_output_of_their_difference(void **unused)
{
    (void)unused;
    gsai_rng rng = gsai_rng_of(3, 0, 0);
    for (int i = 0; i < 2000; i++) {
        double m = 8 * gsai_rng_unit(&rng) - 4, pair[2] = {-m / 2, m / 2};
        int y = i % 2, squared = i / 2 % 2;
        gsai_greedy_step one = one_output(m, y, squared), two = gsai_hinge(pair, 2, (size_t)y, squared);
        assert_relative(two.loss, one.loss);
        assert_relative(two.lambda, one.lambda / 2);
        assert_relative(two.g, fabs(one.g));
        assert_relative(pair[1], one.g);
        assert_relative(pair[0], -one.g);
    }
}

static void hinge_losses_are_total(void **unused)
{
    (void)unused;
    static const double values[] = {0, -0.0, 1, -1, 745, 1e300, -1e300, 5e-324};
    for (size_t i = 0; i < 64; i++)
        for (size_t k = 0; k < 4; k++) {
            double m[3] = {values[i / 8], values[i % 8], values[i / 8]};
            assert_true(gsai_hinge_many_loss(m, 3, k, true) >= 0);
            assert_true(isfinite(gsai_hinge_many_loss(m, 3, k, false)));
            gsai_greedy_step row = gsai_hinge(m, 3, k % 3, k % 2);
            assert_true(row.loss >= 0 && isfinite(row.g) && isfinite(row.lambda) && row.lambda >= 0);
        }
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* Every feature in every row: the metric is then 1 in every method, and the plain formulas say all. */
static rows *dense_rows(uint64_t seed, size_t n, unsigned n_classes)
{
    rows *r = rows_new();
    gsai_rng rng = gsai_rng_of(seed, 1, 1);
    for (size_t i = 0; i < n; i++) {
        double score[4] = {0};
        for (uint32_t id = 0; id < FEATURES; id++) {
            float x = (float)(gsai_rng_unit(&rng) * 2 - 1);
            rows_entry(r, id, x);
            for (unsigned k = 0; k < n_classes; k++)
                score[k] += (double)x * ((double)((id * 7919u + k * 104729u) % 13u) - 6);
        }
        unsigned best = 0;
        for (unsigned k = 1; k < n_classes; k++)
            best = score[k] + 4 * gsai_rng_unit(&rng) > score[best] ? k : best;
        rows_end(r, (double)best);
    }
    return r;
}

/* The plain second implementation: dense doubles, one output a class whatever their number. */
typedef struct oracle {
    size_t n_classes;
    bool squared, paper;
    double w[FEATURES + 1][4], step_weights, step_sum, n;
} oracle;

static void oracle_learn(oracle *o, const float *x, size_t label)
{
    double m[4] = {0}, xx = 1;
    size_t runner_up = label == 0;
    for (size_t i = 0; i <= FEATURES; i++)
        for (size_t k = 0; k < o->n_classes; k++)
            m[k] += o->w[i][k] * (i < FEATURES ? (double)x[i] : 1);
    for (size_t i = 0; i < FEATURES; i++)
        xx += (double)x[i] * (double)x[i];
    /* All features are in all rows: their inverse_frequency would be 1, if it were not rounded. */
    double d = !o->paper ? straight_inverse_frequency(o->n) * pow(o->n + 2, 0.375) : 1;
    o->n++;
    xx *= d;
    for (size_t k = 0; k < o->n_classes; k++)
        runner_up = k != label && m[k] > m[runner_up] ? k : runner_up;
    double h = fmax(0, 1 + m[runner_up] - m[label]), g = h > 0 ? (o->squared ? h : 1) : 0;
    double eta = h > 0 ? h / (2 * g * xx) : 0, step_weight = o->paper ? 1 : 2 * g * g * xx;
    o->step_weights += step_weight;
    o->step_sum += step_weight * eta;
    double step = o->step_weights > 0 ? o->step_sum / o->step_weights : 0;
    if (!o->paper && eta < step)
        step = eta;
    for (size_t i = 0; i <= FEATURES; i++) {
        double direction = step * g * d * (i < FEATURES ? (double)x[i] : 1);
        o->w[i][runner_up] -= direction;
        o->w[i][label] += direction;
    }
}

static void compare_with_oracle(size_t n_classes, bool squared, bool paper)
{
    rows *r = dense_rows(40 + n_classes, 1500, (unsigned)n_classes);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("loss", names[squared], "method", paper ? "paper" : "auto", "scale", "none",
                                  "average", "last", "holdout", "none", NULL);
    prepare(state, &batch);
    learn(state, &batch);
    oracle o = {.n_classes = n_classes, .squared = squared, .paper = paper};
    for (size_t row = 0; row < batch.n_rows; row++)
        oracle_learn(&o, r->value + r->row_start[row], (size_t)r->label[row]);
    gsa_model *model = model_of(state);
    for (size_t i = 0; i <= FEATURES; i++)
        for (size_t k = 0; k < (n_classes == 2 ? 1 : n_classes); k++) {
            double w = (double)(i < FEATURES ? gsa_model_weight(model, i, k) : gsa_model_intercept(model, k));
            double expected = n_classes == 2 ? o.w[i][1] - o.w[i][0] : o.w[i][k];
            assert_close(w, expected, 2e-4 * (1 + fabs(expected)));
        }
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

static void votes_and_steps_follow_their_formulas(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 8; kind++)
        compare_with_oracle(kind & 1 ? 4 : 2, kind & 2, kind & 4);
}

/* With the third label the one output becomes one a class: the same margins, half the step, the same weights of steps.
 */
static void a_third_label_keeps_what_was_learned(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        rows *three = rows_random(9, 300, 20, 3);
        gsa_batch more = rows_batch(three);
        gsa_state *state =
            state_with("loss", names[kind & 1], "method", kind & 2 ? "paper" : "auto", "holdout", "none", NULL);
        learn_random(state, 8, 600, 20, 2);
        gsa_model *before = model_of(state);
        gsa_summary then = {.size = sizeof then}, now = {.size = sizeof now};
        then = state_summary(state);
        prepare(state, &more);
        now = state_summary(state);
        gsa_model *after = model_of(state);
        assert_int_equal(now.n_classes, 3);
        assert_true(now.step == then.step / 2);
        for (uint64_t i = 0; i < 20; i++) {
            assert_true(gsa_model_weight(after, i, 1) - gsa_model_weight(after, i, 0) ==
                        gsa_model_weight(before, i, 0));
            assert_true(gsa_model_weight(after, i, 2) == 0);
        }
        learn(state, &more);
        gsa_model_free(before);
        gsa_model_free(after);
        gsa_state_free(state);
        free(three);
    }
}

static double loss_of_zeros(const char *loss, const rows *r)
{
    double squares = 0;
    for (size_t row = 0; row < r->n_rows; row++)
        squares += r->label[row] * r->label[row] / (double)r->n_rows;
    return strcmp(loss, "hinge") == 0 ? 1 : strcmp(loss, "squared_hinge") == 0 ? 0.5 : squares / 2;
}

static void passes_do_not_diverge(const char *loss, unsigned n_classes, uint64_t seed)
{
    rows *r = rows_random(seed, 4000, 20, n_classes);
    gsai_rng rng = gsai_rng_of(seed, 3, 3);
    for (size_t row = 0; row < r->n_rows; row++) {
        float factor = (float)pow(10, 4 * gsai_rng_unit(&rng) - 2);
        for (int64_t e = r->row_start[row]; e < r->row_start[row + 1]; e++)
            r->value[e] *= factor;
    }
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("method", "auto", "loss", loss, NULL);
    gsa_summary summary = {.size = sizeof summary};
    double first = 0, zeros = loss_of_zeros(loss, r);
    for (int pass = 0; pass < 5; pass++) {
        learn(state, &batch);
        end_pass(state);
        summary = state_summary(state);
        first = pass == 0 ? summary.last_pass_loss : first;
    }
    if (!(summary.last_pass_loss <= 1.5 * zeros && summary.last_pass_loss < fmax(first, zeros)))
        fail_msg("%s, %u classes, seed %d: %g in the first pass, %g in the last of 5, %g with weights of 0", loss,
                 n_classes, (int)seed, first, summary.last_pass_loss, zeros);
    gsa_model_free(model_of(state)); /* refuses weights that are not finite */
    gsa_state_free(state);
    free(r);
}

/* Row lengths that spread by 10^4: no loss whose greedy step is the row's own minimiser may leave the road. It may be
 * slow: with squared hinge and 4 classes, 3 of these 40 seeds are still above the loss of zeros after 5 passes, and
 * falling. */
static void rows_of_any_length_do_not_diverge(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 40; seed++) {
        passes_do_not_diverge("squared", 0, seed);
        for (size_t i = 0; i < 4; i++)
            passes_do_not_diverge(names[i % 2], i < 2 ? 2 : 4, seed);
    }
}

/* ---- what is made of it ------------------------------------------------------------------------------------------ */

static void judge_by_hand(unsigned n_classes, int squared)
{
    rows *s = rows_random(13, 300, 20, n_classes);
    gsa_batch eval = rows_batch(s);
    gsa_error error = {0};
    gsa_state *state = state_with("loss", names[squared], "method", "auto", NULL);
    learn_random(state, 12, 900, 20, n_classes);
    gsa_model *model = model_of(state);
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    assert_string_equal(info.loss, names[squared]);
    assert_true(!info.has_probabilities && info.n_outputs == (n_classes == 2 ? 1 : n_classes));
    double m[4 * 300], loss = 0, right = 0;
    must_be_ok(gsa_model_margins(model, &eval, m, &error), &error);
    for (size_t row = 0; row < eval.n_rows; row++) {
        double pair[2] = {-m[row] / 2, m[row] / 2}, *of = n_classes == 2 ? pair : m + row * n_classes, runner_up = -1e9;
        size_t k = (size_t)eval.label[row];
        for (size_t j = 0; j < n_classes; j++)
            runner_up = j != k ? fmax(runner_up, of[j]) : runner_up;
        double h = fmax(0, 1 + runner_up - of[k]);
        loss += squared ? h * h / 2 : h;
        right += of[k] > runner_up;
    }
    assert_close(metric_of(model, &eval, names[squared]), loss / 300, 1e-12);
    assert_close(metric_of(model, &eval, "accuracy"), right / 300, 1e-12);
    assert_true(right > 0.7 * 300);
    assert_true(isnan(metric_of(model, &eval, "log_loss")) && isnan(metric_of(model, &eval, "brier")));
    assert_true(n_classes > 2 || metric_of(model, &eval, "auc") > 0.8);
    assert_int_equal(gsa_model_predict(model, &eval, m, &error), GSA_ARGUMENT);
    assert_non_null(strstr(error.message, "logistic or softmax loss"));
    gsa_model_free(model);
    gsa_state_free(state);
    free(s);
}

static void models_are_judged_by_their_margins(void **unused)
{
    (void)unused;
    for (int squared = 0; squared < 2; squared++) {
        judge_by_hand(2, squared);
        judge_by_hand(4, squared);
    }
}

/* Labels of the one state: 0 and 1, of the other: 1 and 2. */
static void states_of_two_labels_merge_into_three_classes(void **unused)
{
    (void)unused;
    gsa_error error = {0};
    rows *r = rows_random(14, 500, 20, 2), *s = rows_random(15, 500, 20, 2);
    for (size_t row = 0; row < s->n_rows; row++)
        s->label[row]++;
    gsa_batch x = rows_batch(r), y = rows_batch(s);
    gsa_state *a = state_with("loss", "hinge", NULL), *b = state_with("loss", "hinge", NULL), *all = NULL;
    gsa_state *other = state_with("loss", "squared_hinge", NULL), *logistic = state_with("loss", "logistic", NULL);
    learn(a, &x);
    learn(b, &y);
    learn(other, &y);
    learn(logistic, &y);
    const gsa_state *fit[] = {a, b}, *odd[] = {a, other}, *odder[] = {a, logistic};
    all = merged(fit, 2, NULL);
    gsa_model *model = model_of(all), *alone = model_of(a);
    gsa_model_info info = {.size = sizeof info};
    gsa_model_get_info(model, &info);
    assert_string_equal(info.loss, "hinge");
    assert_int_equal(info.n_outputs, 3);
    learn(all, &x);
    assert_true(metric_of(alone, &x, "accuracy") > 0.8 && metric_of(alone, &y, "unknown_labels") > 100);
    assert_true(isfinite(metric_of(alone, &y, "hinge")));
    gsa_state_free(all);
    assert_int_equal(gsa_state_merge(odd, 2, NULL, NULL, &all, &error), GSA_CONFLICT);
    assert_int_equal(gsa_state_merge(odder, 2, NULL, NULL, &all, &error), GSA_CONFLICT);
    gsa_config *config = config_with("loss", "logistic", NULL);
    assert_int_equal(gsa_state_start_from(a, config, &all, &error), GSA_CONFLICT);
    gsa_config_free(config);
    gsa_model_free(model);
    gsa_model_free(alone);
    free_states(a, b, other, logistic);
    free(r);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_output_agrees_with_the_oracle),
        cmocka_unit_test(an_output_a_class_agrees_with_the_oracle),
        cmocka_unit_test(gradients_are_the_slopes_of_the_losses),
        cmocka_unit_test(no_step_raises_the_rows_own_loss),
        cmocka_unit_test(two_classes_are_one_output_of_their_difference),
        cmocka_unit_test(hinge_losses_are_total),
        cmocka_unit_test(votes_and_steps_follow_their_formulas),
        cmocka_unit_test(a_third_label_keeps_what_was_learned),
        cmocka_unit_test(rows_of_any_length_do_not_diverge),
        cmocka_unit_test(models_are_judged_by_their_margins),
        cmocka_unit_test(states_of_two_labels_merge_into_three_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
