/* Metrics against numbers computed by hand or by a direct count. */
#include "../learn/bytes.h"
#include "../learn/evaluated.h"

#include <greedystep/distributed.h>

#include <math.h>
#include <stdbool.h>

/* The same metrics straight from the predictions. */
static void two_class_metrics_are_what_the_predictions_say(void **unused)
{
    (void)unused;
    rows *test = rows_random(2, 300, 20, 2);
    gsa_batch eval = rows_batch(test);
    gsa_state *state = state_with("loss", "logistic", NULL);
    gsa_error error = {0};
    learn_random(state, 1, 500, 20, 2);
    gsa_model *model = model_of(state);
    double p[600], margins[300], log_loss = 0, accuracy = 0, brier = 0, pairs = 0, ordered = 0;
    must_be_ok(gsa_model_predict(model, &eval, p, &error), &error);
    must_be_ok(gsa_model_margins(model, &eval, margins, &error), &error);
    for (size_t i = 0; i < 300; i++) {
        int y = (int)test->label[i];
        assert_close(p[2 * i] + p[2 * i + 1], 1, 1e-12);
        assert_close(p[2 * i + 1], 1 / (1 + exp(-margins[i])), 1e-12);
        log_loss -= log(p[2 * i + (size_t)y]) / 300;
        accuracy += ((p[2 * i + 1] > 0.5) == (y == 1)) / 300.0;
        brier += (p[2 * i + 1] - y) * (p[2 * i + 1] - y) / 300;
        for (size_t j = 0; j < 300; j++)
            if (y == 1 && test->label[j] == 0) {
                float a = (float)margins[i], b = (float)margins[j];
                pairs++;
                ordered += a > b ? 1 : a == b ? 0.5 : 0;
            }
    }
    gsa_metrics *metrics = evaluated(model, &eval);
    assert_close(value_of(metrics, "rows"), 300, 0);
    assert_close(value_of(metrics, "log_loss"), log_loss, 1e-10);
    assert_close(value_of(metrics, "accuracy"), accuracy, 1e-10);
    assert_close(value_of(metrics, "brier"), brier, 1e-10);
    assert_close(value_of(metrics, "auc"), ordered / pairs, 1e-12);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_state_free(state);
    free(test);
}

/* F1 of the rows whose margin is at least this. */
static double f1_from(const double *margins, const double *label, size_t n, double threshold)
{
    double both = 0, either = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_positive = (double)(float)margins[i] >= threshold;
        both += is_positive && label[i] == 1;
        either += (is_positive ? 1 : 0) + (label[i] == 1 ? 1 : 0);
    }
    return 2 * both / either;
}

static void the_positive_class_has_precision_recall_confusion_and_a_best_threshold(void **unused)
{
    (void)unused;
    rows *test = rows_random(2, 300, 20, 2);
    gsa_batch eval = rows_batch(test);
    gsa_state *state = state_with("loss", "logistic", NULL);
    gsa_error error = {0};
    learn_random(state, 1, 500, 20, 2);
    gsa_model *model = model_of(state);
    double margins[300], count[4] = {0}, best = 0;
    must_be_ok(gsa_model_margins(model, &eval, margins, &error), &error);
    for (size_t i = 0; i < 300; i++) {
        count[2 * (test->label[i] == 1) + (margins[i] > 0)]++;
        best = fmax(best, f1_from(margins, test->label, 300, (double)(float)margins[i]));
    }
    gsa_metrics *metrics = evaluated(model, &eval);
    assert_close(value_of(metrics, "true_negatives"), count[0], 0);
    assert_close(value_of(metrics, "false_positives"), count[1], 0);
    assert_close(value_of(metrics, "false_negatives"), count[2], 0);
    assert_close(value_of(metrics, "true_positives"), count[3], 0);
    assert_close(value_of(metrics, "precision"), count[3] / (count[1] + count[3]), 1e-12);
    assert_close(value_of(metrics, "recall"), count[3] / (count[2] + count[3]), 1e-12);
    assert_close(value_of(metrics, "f1"), 2 * count[3] / (count[1] + count[2] + 2 * count[3]), 1e-12);
    assert_close(value_of(metrics, "threshold"), 0.5, 0);
    assert_close(value_of(metrics, "best_f1"), best, 1e-12);
    double threshold = value_of(metrics, "best_threshold");
    assert_close(f1_from(margins, test->label, 300, log(threshold / (1 - threshold))), best, 1e-12);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_state_free(state);
    free(test);
}

/* A model that always says class 1 of 0, 1, 2: precision 1/2, recall 1, F1 2/3 for it, zeros for the others. */
static void many_class_metrics_are_those_of_the_confusion(void **unused)
{
    (void)unused;
    rows *r = rows_new(), *test = rows_new();
    const double training[] = {1, 1, 1, 0, 1, 1, 2, 1, 1, 1}, judged_by[] = {1, 0, 1, 2};
    for (size_t i = 0; i < 10; i++)
        rows_end(r, training[i]);
    for (size_t i = 0; i < 4; i++)
        rows_end(test, judged_by[i]);
    gsa_batch batch = rows_batch(r), eval = rows_batch(test);
    gsa_state *state = state_with(NULL);
    learn(state, &batch);
    gsa_model *model = model_of(state);
    gsa_metrics *metrics = evaluated(model, &eval);
    assert_close(value_of(metrics, "accuracy"), 0.5, 1e-12);
    assert_close(value_of(metrics, "precision_macro"), 0.5 / 3, 1e-12);
    assert_close(value_of(metrics, "recall_macro"), 1.0 / 3, 1e-12);
    assert_close(value_of(metrics, "f1_macro"), 2.0 / 9, 1e-12);
    assert_close(value_of(metrics, "precision_weighted"), 0.25, 1e-12);
    assert_close(value_of(metrics, "recall_weighted"), 0.5, 1e-12);
    assert_close(value_of(metrics, "f1_weighted"), 1.0 / 3, 1e-12);
    gsa_class_metrics of = {.size = sizeof of};
    assert_int_equal(gsa_metrics_class_at(metrics, 1, &of), GSA_OK);
    assert_true(of.rows == 2 && of.predicted == 4 && of.correct == 2 && of.precision == 0.5 && of.recall == 1);
    assert_close(of.f1, 2.0 / 3, 1e-12);
    assert_int_equal(gsa_metrics_class_at(metrics, 2, &of), GSA_OK);
    assert_true(of.rows == 1 && of.predicted == 0 && of.precision == 0 && of.recall == 0 && of.f1 == 0);
    assert_int_equal(gsa_metrics_class_at(metrics, 3, &of), GSA_END);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
    free(test);
}

static void regression_metrics_are_what_the_predictions_say(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 500, 20, 0);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("loss", "squared", NULL);
    gsa_error error = {0};
    learn(state, &batch);
    gsa_model *model = model_of(state);
    double *p = malloc(500 * sizeof *p), squared = 0, absolute = 0, mean = 0, spread = 0;
    must_be_ok(gsa_model_predict(model, &batch, p, &error), &error);
    for (size_t i = 0; i < 500; i++) {
        squared += (p[i] - r->label[i]) * (p[i] - r->label[i]);
        absolute += fabs(p[i] - r->label[i]);
        mean += r->label[i] / 500;
    }
    for (size_t i = 0; i < 500; i++)
        spread += (r->label[i] - mean) * (r->label[i] - mean);
    gsa_metrics *metrics = evaluated(model, &batch);
    assert_close(value_of(metrics, "rmse"), sqrt(squared / 500), 1e-10);
    assert_close(value_of(metrics, "mae"), absolute / 500, 1e-10);
    assert_close(value_of(metrics, "r2"), 1 - squared / spread, 1e-10);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_state_free(state);
    free(p);
    free(r);
}

static void metrics_of_parts_add_up_to_those_of_the_whole(void **unused)
{
    (void)unused;
    for (unsigned kind = 0; kind < 5; kind++) {
        unsigned classes = kind < 3 ? 2 * kind : 2 * (kind - 2);
        const char *const losses[] = {"squared", "logistic", "softmax", "hinge", "squared_hinge"};
        rows *r = rows_random(1, 600, 20, classes);
        gsa_batch batch = rows_batch(r);
        gsa_state *state = state_with("loss", losses[kind], NULL);
        learn(state, &batch);
        gsa_model *model = model_of(state);
        gsa_metrics *whole = evaluated(model, &batch), *parts, *part;
        gsa_error error = {0};
        must_be_ok(gsa_metrics_new(model, &parts, &error), &error);
        for (size_t from = 0; from < 600; from += 200) {
            gsa_batch delta = rows_slice(&batch, from, 200);
            must_be_ok(gsa_metrics_new(model, &part, &error), &error);
            must_be_ok(gsa_metrics_update(part, &delta, &error), &error);
            must_be_ok(gsa_metrics_merge(parts, part, &error), &error);
            gsa_metrics_free(part);
        }
        must_be_ok(gsa_metrics_finish(parts, &error), &error);
        gsa_metric metric;
        for (size_t i = 0; gsa_metrics_at(whole, i, &metric) == GSA_OK; i++)
            assert_close(value_of(parts, metric.name), metric.value, 1e-10);
        gsa_metrics_free(whole);
        gsa_metrics_free(parts);
        gsa_model_free(model);
        gsa_state_free(state);
        free(r);
    }
}

static void a_label_the_model_does_not_know_counts_as_wrong(void **unused)
{
    (void)unused;
    rows *r = rows_random(1, 100, 20, 2);
    gsa_batch batch = rows_batch(r);
    gsa_state *state = state_with("loss", "logistic", NULL);
    learn(state, &batch);
    gsa_model *model = model_of(state);
    r->label[3] = 77;
    gsa_metrics *metrics = evaluated(model, &batch);
    assert_close(value_of(metrics, "unknown_labels"), 1, 0);
    assert_true(value_of(metrics, "accuracy") <= 0.99);
    assert_true(isfinite(value_of(metrics, "log_loss")));
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

static void rows_of_which_no_label_is_known_are_refused_by_name(void **unused)
{
    (void)unused;
    static const char *const words[] = {"red", "green", "blue", "grey"};
    int32_t word[40];
    rows *r = rows_random(1, 40, 20, 2);
    gsa_batch batch = rows_batch(r), other = batch;
    gsa_error error = {0};
    gsa_state *state = state_with(NULL);
    learn(state, &batch);
    gsa_model *model = model_of(state);
    for (int32_t i = 0; i < 40; i++)
        word[i] = i % 4;
    other.word = word;
    other.words = words;
    other.n_words = 4;
    gsa_metrics *metrics = NULL, *part = NULL;
    assert_int_equal(gsa_metrics_new(model, &metrics, &error), GSA_OK);
    assert_int_equal(gsa_metrics_new(model, &part, &error), GSA_OK);
    assert_null(gsa_metrics_unknown_label(metrics, 0));
    assert_int_equal(gsa_metrics_update(part, &other, &error), GSA_OK);
    assert_int_equal(gsa_metrics_merge(metrics, part, &error), GSA_OK);
    assert_int_equal(gsa_metrics_finish(metrics, &error), GSA_LABEL);
    assert_string_equal(error.message, "cannot evaluate the labels: the model knows no label of these 40 rows, such as "
                                       "'red', 'green', 'blue'; it knows '0', '1': give rows with these labels");
    assert_string_equal(gsa_metrics_unknown_label(metrics, 2), "blue");
    assert_null(gsa_metrics_unknown_label(metrics, 3));
    assert_close(value_of(metrics, "accuracy"), 0, 0);
    assert_int_equal(gsa_metrics_update(metrics, &batch, &error), GSA_OK); /* known ones, too: they are evaluated */
    assert_int_equal(gsa_metrics_finish(metrics, &error), GSA_OK);
    gsa_metrics_free(part);
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

static void unknown_labels_are_wrong_but_are_in_no_confusion_of_two(void **unused)
{
    (void)unused;
    for (unsigned k = 2; k < 4; k++) {
        rows *r = rows_random(1, 300, 20, k);
        gsa_batch batch = rows_batch(r), known = rows_slice(&batch, 0, 200);
        gsa_state *state = state_with(NULL);
        learn(state, &known);
        gsa_model *model = model_of(state);
        gsa_metrics *without = evaluated(model, &known);
        for (size_t i = 200; i < 300; i++)
            r->label[i] = 99;
        gsa_metrics *with = evaluated(model, &batch);
        assert_close(value_of(with, "unknown_labels"), 100, 0);
        assert_close(value_of(with, "accuracy"), value_of(without, "accuracy") * 2 / 3, 1e-12);
        static const char *const same[] = {"brier", "precision", "recall", "f1", "best_f1", "false_positives"};
        for (size_t i = 0; k == 2 && i < sizeof same / sizeof *same; i++)
            assert_close(value_of(with, same[i]), value_of(without, same[i]), 1e-12);
        if (k > 2)
            assert_close(value_of(with, "recall_weighted"), value_of(with, "accuracy"), 1e-12);
        gsa_metrics_free(with);
        gsa_metrics_free(without);
        gsa_model_free(model);
        gsa_state_free(state);
        free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_class_metrics_are_what_the_predictions_say),
        cmocka_unit_test(the_positive_class_has_precision_recall_confusion_and_a_best_threshold),
        cmocka_unit_test(many_class_metrics_are_those_of_the_confusion),
        cmocka_unit_test(regression_metrics_are_what_the_predictions_say),
        cmocka_unit_test(metrics_of_parts_add_up_to_those_of_the_whole),
        cmocka_unit_test(a_label_the_model_does_not_know_counts_as_wrong),
        cmocka_unit_test(rows_of_which_no_label_is_known_are_refused_by_name),
        cmocka_unit_test(unknown_labels_are_wrong_but_are_in_no_confusion_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
