/* Learning against a plain second implementation: dense arrays of double, libm, the formulas as ALGORITHM prints them.
 * Agreement is to the rounding of float weights. */
#include "rows.h"

#include <math.h>

#define FEATURES 24
#define CLASSES 5

/* The oracle: softmax GSA with every iterate kept, so that averages are means and nothing clever. */
typedef struct oracle {
    size_t n_classes;
    double w[FEATURES + 1][CLASSES], sum[FEATURES + 1][CLASSES];
    double eta_sum;
    size_t t, first;
} oracle;

static void oracle_learn(oracle *o, const double x[FEATURES + 1], size_t label, int suffix)
{
    double p[CLASSES], total = 0, xx = 0, s = 0;
    for (size_t k = 0; k < o->n_classes; k++) {
        p[k] = 0;
        for (size_t i = 0; i <= FEATURES; i++)
            p[k] += o->w[i][k] * x[i];
        p[k] = exp(p[k]);
        total += p[k];
    }
    for (size_t k = 0; k < o->n_classes; k++) {
        p[k] /= total;
        s += p[k] * exp(p[k]);
    }
    for (size_t i = 0; i <= FEATURES; i++)
        xx += x[i] * x[i];
    o->t++;
    o->eta_sum += (0.95 - p[label]) / (0.95 * (s - 1) + p[label] * (exp(1 - p[label]) - 1)) / xx;
    double step = o->eta_sum / (double)o->t;
    for (size_t i = 0; i <= FEATURES; i++)
        for (size_t k = 0; k < o->n_classes; k++)
            o->w[i][k] -= step * (p[k] - (k == label)) * x[i];
    if (suffix ? (o->t & (o->t - 1)) == 0 : o->t == 1) {
        memset(o->sum, 0, sizeof o->sum);
        o->first = o->t;
    }
    for (size_t i = 0; i <= FEATURES; i++)
        for (size_t k = 0; k < o->n_classes; k++)
            o->sum[i][k] += o->w[i][k];
}

static double oracle_weight(const oracle *o, size_t i, size_t k, const char *average)
{
    return strcmp(average, "last") == 0 ? o->w[i][k] : o->sum[i][k] / (double)(o->t - o->first + 1);
}

static double model_weight(const gsa_model *model, size_t i, size_t k)
{
    return i == FEATURES ? gsa_model_intercept(model, k) : (double)gsa_model_weight(model, i, k);
}

static void compare_with_oracle(const char *loss, size_t n_classes, const char *average, size_t n_rows)
{
    rows *r = rows_random(11 + n_classes, n_rows, FEATURES, (unsigned)n_classes);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("loss", loss, "average", average, NULL);
    prepare(state, &batch);
    learn(state, &batch);
    oracle *o = calloc(1, sizeof *o);
    o->n_classes = n_classes;
    for (size_t row = 0; row < n_rows; row++) {
        double x[FEATURES + 1];
        rows_dense(&batch, row, FEATURES, x);
        oracle_learn(o, x, (size_t)batch.label[row], strcmp(average, "suffix") == 0);
    }
    gsa_model *model = model_of(state);
    int logistic = strcmp(loss, "logistic") == 0;
    for (size_t i = 0; i <= FEATURES; i++)
        for (size_t k = 0; k < (logistic ? 1 : n_classes); k++) {
            double expected = logistic ? oracle_weight(o, i, 1, average) - oracle_weight(o, i, 0, average)
                                       : oracle_weight(o, i, k, average);
            assert_true(fabs(model_weight(model, i, k) - expected) < 2e-5 * (1 + fabs(expected)));
        }
    gsa_model_free(model);
    gsa_state_free(state);
    free(o);
    free(r);
}

static void logistic_gsa_follows_the_paper_to_rounding(void **unused)
{
    (void)unused;
    compare_with_oracle("logistic", 2, "last", 700);
}

static void softmax_gsa_follows_the_paper_to_rounding(void **unused)
{
    (void)unused;
    compare_with_oracle("softmax", 5, "last", 700);
    compare_with_oracle("softmax", 2, "last", 300);
}

static void the_averages_are_the_means_of_the_iterates(void **unused)
{
    (void)unused;
    compare_with_oracle("logistic", 2, "full", 300);
    compare_with_oracle("logistic", 2, "suffix", 300);
    compare_with_oracle("logistic", 2, "suffix", 256);
    compare_with_oracle("softmax", 4, "suffix", 255);
    compare_with_oracle("softmax", 4, "full", 100);
    compare_with_oracle("softmax", 3, "suffix", 33);
}

/* The weights after row t count t (t + 1); the iterates are those of a twin that is asked for its last weights. */
static void the_recent_average_is_the_weighted_mean_of_the_iterates(void **unused)
{
    (void)unused;
    static const struct {
        const char *method, *scale, *loss;
        unsigned n_classes;
    } kinds[] = {{"paper", "auto", "logistic", 2},
                 {"auto", "none", "logistic", 2},
                 {"auto", "standard", "softmax", 4},
                 {"auto", "standard", "squared", 0},
                 {"auto", "none", "hinge", 3}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        rows *r = rows_random(kind + 3, 150, FEATURES, kinds[kind].n_classes);
        gsa_batch batch = rows_batch(r);
        gsa_state *recent = state_with("method", kinds[kind].method, "scale", kinds[kind].scale, "loss",
                                       kinds[kind].loss, "average", "recent", "holdout", "none", NULL);
        gsa_state *last = state_with("method", kinds[kind].method, "scale", kinds[kind].scale, "loss", kinds[kind].loss,
                                     "average", "last", "holdout", "none", NULL);
        double sum[FEATURES + 1][CLASSES] = {{0}}, total = 0;
        prepare(recent, &batch);
        prepare(last, &batch);
        for (size_t t = 1; t <= 2 * batch.n_rows; t++) {
            gsa_batch delta = rows_slice(&batch, (t - 1) % batch.n_rows, 1);
            learn(recent, &delta);
            learn(last, &delta);
            if (t == batch.n_rows) { /* a new pass changes nothing */
                end_pass(recent);
                end_pass(last);
            }
            gsa_model *iterate = model_of(last), *mean = model_of(recent);
            double weight = (double)t * (double)(t + 1);
            total += weight;
            for (size_t i = 0; i <= FEATURES; i++)
                for (size_t k = 0; k < CLASSES; k++) {
                    sum[i][k] += weight * model_weight(iterate, i, k);
                    double expected = sum[i][k] / total;
                    assert_close(model_weight(mean, i, k), expected, 2e-5 * (1 + fabs(expected)));
                }
            gsa_model_free(iterate);
            gsa_model_free(mean);
        }
        free_states(recent, last);
        free(r);
    }
}

/* The rows since the last power of two against those between it and the one before. */
static void falling_is_told_by_the_losses_of_the_last_rows(void **unused)
{
    (void)unused;
    rows *r = rows_random(3, 300, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    gsa_state *state = state_with("method", "auto", "loss", "logistic", "holdout", "none", NULL);
    gsa_summary summary = {.size = sizeof summary};
    double loss[601] = {0}, share[601] = {0}, before = 0, given = 0;
    summary = state_summary(state);
    assert_true(isnan(summary.falling));
    for (size_t row = 0; row < 300; row++)
        r->weight[row] = row % 3 == 0 ? 2.5f : 1;
    for (size_t t = 1; t <= 600; t++) {
        gsa_batch delta = rows_slice(&batch, (t - 1) % 300, 1);
        learn(state, &delta);
        close_group(state);
        summary = state_summary(state);
        given += t <= 300 ? (double)delta.weight[0] : 0;
        share[t] = (double)delta.weight[0] / given * (double)(t <= 300 ? t : 300);
        loss[t] = summary.loss_sum - before;
        before = summary.loss_sum;
        size_t power = 1;
        while (2 * power <= t)
            power *= 2;
        double late[2] = {0}, earlier[2] = {0};
        for (size_t i = power / 2 > 0 ? power / 2 : 1; i <= t; i++) {
            double *window = i >= power ? late : earlier;
            window[0] += loss[i];
            window[1] += share[i];
        }
        if (t == 1 || late[1] < earlier[1] / 4) /* too few to tell */
            assert_true(isnan(summary.falling));
        else
            assert_close(summary.falling, 1 - late[0] / late[1] / (earlier[0] / earlier[1]), 1e-9);
        if (t == 300) {
            end_pass(state);
            before = 0;
        }
    }
    gsa_state_free(state);
    free(r);
}

/* Both forms, row by row: w of logistic = w_1 - w_0 of softmax. */
static void logistic_is_two_class_softmax_at_every_row(void **unused)
{
    (void)unused;
    rows *r = rows_random(5, 400, FEATURES, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *one = state_with("loss", "logistic", "average", "last", NULL);
    gsa_state *two = state_with("loss", "softmax", "average", "last", NULL);
    for (size_t row = 0; row < batch.n_rows; row++) {
        gsa_batch delta = rows_slice(&batch, row, 1);
        learn(one, &delta);
        learn(two, &delta);
        gsa_model *a = model_of(one), *b = model_of(two);
        gsa_model_info info = {.size = sizeof info};
        gsa_model_get_info(b, &info);
        for (size_t i = 0; i <= FEATURES && info.n_classes == 2; i++) {
            double difference = model_weight(b, i, 1) - model_weight(b, i, 0);
            assert_true(fabs(model_weight(a, i, 0) - difference) < 1e-5 * (1 + fabs(difference)));
        }
        gsa_model_free(a);
        gsa_model_free(b);
    }
    free_states(one, two);
    free(r);
}

/* A third label after 200 rows of two: the same as softmax from the beginning. */
static void a_third_label_turns_logistic_into_softmax_exactly(void **unused)
{
    (void)unused;
    rows *r = rows_random(6, 300, FEATURES, 2);
    for (size_t row = 200; row < 300; row += 3)
        r->label[row] = 2;
    gsa_batch batch = rows_batch(r), before = rows_slice(&batch, 0, 200);
    gsa_state *grown = state_with("average", "suffix", NULL),
              *softmax = state_with("loss", "softmax", "average", "suffix", NULL);
    prepare(softmax, &before);
    learn(softmax, &batch);
    learn(grown, &before);
    gsa_summary summary = {.size = sizeof summary}, twin = {.size = sizeof twin};
    summary = state_summary(grown);
    assert_string_equal(summary.loss, "logistic");
    gsa_batch rest = rows_slice(&batch, 200, 100);
    learn(grown, &rest);
    summary = state_summary(grown);
    twin = state_summary(softmax);
    assert_string_equal(summary.loss, "softmax");
    assert_int_equal(summary.n_classes, 3);
    assert_true(fabs(summary.step - twin.step) < 1e-9);
    gsa_model *a = model_of(grown), *b = model_of(softmax);
    for (size_t i = 0; i <= FEATURES; i++)
        for (size_t k = 0; k < 3; k++)
            assert_true(fabs(model_weight(a, i, k) - model_weight(b, i, k)) < 1e-5);
    gsa_model_free(a);
    gsa_model_free(b);
    free_states(grown, softmax);
    free(r);
}

/* Squared loss, three rows by hand, no intercept: x = (1), (2), (1 1); y = 2, 2, 5. eta = 1, 1/4, 1/2. */
static void squared_loss_takes_the_steps_computed_by_hand(void **unused)
{
    (void)unused;
    rows *r = rows_new();
    rows_entry(r, 0, 1);
    rows_end(r, 2);
    rows_entry(r, 0, 2);
    rows_end(r, 2);
    rows_entry(r, 0, 1);
    rows_entry(r, 1, 1);
    rows_end(r, 5);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("loss", "squared", "average", "last", "intercept", "off", NULL);
    learn(state, &batch);
    /* w0: 2; mean 5/8, g = 4-2 = 2: w0 = 2 - 5/8*2*2 = -0.5; mean 7/12, g = -5.5: w0 = -0.5 + 77/24, w1 = 77/24 */
    gsa_model *model = model_of(state);
    assert_close((double)gsa_model_weight(model, 0, 0), -0.5 + 77.0 / 24, 1e-6);
    assert_close((double)gsa_model_weight(model, 1, 0), 77.0 / 24, 1e-6);
    gsa_summary summary = state_summary(state);
    assert_close(summary.step, 7.0 / 12, 1e-12);
    assert_close(summary.loss_sum, 0.5 * (4 + 4 + 5.5 * 5.5), 1e-12);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

static void a_loss_of_the_callers_is_trained_by_algorithm_2(void **unused)
{
    (void)unused;
    rows *r = rows_random(8, 300, FEATURES, 0);
    gsa_batch batch = rows_batch(r);
    gsa_margin_loss loss = {.size = sizeof loss, half_square, half_square_slope, NULL};
    gsa_config *config;
    gsa_error error = {0};
    gsa_state *custom;
    config = config_with("method", "paper", NULL);
    must_be_ok(gsa_config_set_loss(config, &loss, &error), &error);
    must_be_ok(gsa_state_new(config, NULL, &custom, &error), &error);
    gsa_config_free(config);
    gsa_state *squared = state_with("loss", "squared", NULL);
    learn(custom, &batch);
    learn(squared, &batch);
    gsa_model *a = model_of(custom), *b = model_of(squared);
    for (size_t i = 0; i <= FEATURES; i++)
        assert_true(fabs(model_weight(a, i, 0) - model_weight(b, i, 0)) < 1e-5);
    gsa_model_free(a);
    gsa_model_free(b);
    free_states(custom, squared);
    free(r);
}

/* A choice that is not in the table of losses would be taken for auto. */
static void every_choice_of_the_loss_is_learned_under_its_name(void **unused)
{
    (void)unused;
    const char *choice = gsa_param_at(0)->choices;
    assert_string_equal(gsa_param_at(0)->name, "loss");
    assert_true(strncmp(choice, "auto|", 5) == 0);
    for (choice += 5; *choice; choice += *choice == '|') {
        char name[64] = {0};
        size_t size = strcspn(choice, "|");
        memcpy(name, choice, size);
        choice += size;
        gsa_state *state = state_with("loss", name, NULL);
        gsa_summary summary = {.size = sizeof summary};
        gsa_state_get_summary(state, &summary);
        assert_string_equal(summary.loss, name);
        gsa_state_free(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logistic_gsa_follows_the_paper_to_rounding),
        cmocka_unit_test(softmax_gsa_follows_the_paper_to_rounding),
        cmocka_unit_test(the_averages_are_the_means_of_the_iterates),
        cmocka_unit_test(the_recent_average_is_the_weighted_mean_of_the_iterates),
        cmocka_unit_test(falling_is_told_by_the_losses_of_the_last_rows),
        cmocka_unit_test(logistic_is_two_class_softmax_at_every_row),
        cmocka_unit_test(a_third_label_turns_logistic_into_softmax_exactly),
        cmocka_unit_test(squared_loss_takes_the_steps_computed_by_hand),
        cmocka_unit_test(a_loss_of_the_callers_is_trained_by_algorithm_2),
        cmocka_unit_test(every_choice_of_the_loss_is_learned_under_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
