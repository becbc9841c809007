/* The expected calibration error against bins that are filled row by row, and where its value is known. The models are
 * made to measure: the margin of a row is the value of its feature 0. */
#include "evaluated.h"

#include <math.h>

enum { N_BINS = 15 };

static double error_of(gsa_metrics *metrics)
{
    gsa_error error = {0};
    must_be_ok(gsa_metrics_finish(metrics, &error), &error);
    return value_of(metrics, "calibration_error");
}

/* Adds the batch in pieces of n rows. */
static gsa_metrics *judged_by(const gsa_model *model, const gsa_batch *batch, size_t n)
{
    gsa_error error = {0};
    gsa_metrics *metrics;
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    for (size_t from = 0; from < batch->n_rows; from += n) {
        gsa_batch delta = rows_slice(batch, from, n < batch->n_rows - from ? n : batch->n_rows - from);
        must_be_ok(gsa_metrics_update(metrics, &delta, &error), &error);
    }
    return metrics;
}

static double calibration_error(const gsa_model *model, const gsa_batch *batch)
{
    gsa_metrics *metrics = judged_by(model, batch, batch->n_rows);
    double value = error_of(metrics);
    gsa_metrics_free(metrics);
    return value;
}

/* Margin of output k: feature k. */
static gsa_model *model_of_margins(size_t n_classes)
{
    rows *labels = rows_new();
    gsa_error error = {0};
    gsa_state *state = state_with("loss", n_classes == 2 ? "logistic" : "softmax", NULL);
    for (size_t k = 0; k < n_classes; k++)
        rows_end(labels, (double)k);
    gsa_batch batch = rows_batch(labels);
    learn(state, &batch);
    gsa_model *like = model_of(state), *model;
    size_t n_outputs = n_classes == 2 ? 1 : n_classes;
    float *weights = calloc(n_outputs * n_outputs, sizeof *weights);
    for (size_t k = 0; k < n_outputs; k++)
        weights[k * n_outputs + k] = 1;
    must_be_ok(gsa_model_with_weights(like, n_outputs, weights, NULL, &model, &error), &error);
    gsa_model_free(like);
    gsa_state_free(state);
    free(weights);
    free(labels);
    return model;
}

static void add_row(rows *r, double margin, int label, float weight)
{
    rows_entry(r, 0, (float)margin);
    rows_end(r, label);
    r->weight[r->n_rows - 1] = weight;
}

static gsa_batch weighted(const rows *r)
{
    gsa_batch batch = rows_batch(r);
    batch.weight = r->weight;
    return batch;
}

/* By the definition: shares, mean confidences and accuracies of the bins, found by walking up their edges. */
static double by_definition(const gsa_model *model, const gsa_batch *batch, size_t n_classes)
{
    double weight[N_BINS] = {0}, confidence[N_BINS] = {0}, right[N_BINS] = {0}, total = 0, sum = 0;
    double *p = malloc(batch->n_rows * n_classes * sizeof *p);
    gsa_error error = {0};
    must_be_ok(gsa_model_predict(model, batch, p, &error), &error);
    for (size_t i = 0; i < batch->n_rows; i++) {
        const double *q = p + i * n_classes;
        double c = batch->weight ? (double)batch->weight[i] : 1;
        size_t best = 0, bin = 0;
        for (size_t k = 0; k < n_classes; k++)
            best = q[k] > q[best] ? k : best;
        while (q[best] > (double)(bin + 1) / N_BINS)
            bin++;
        weight[bin] += c;
        confidence[bin] += c * q[best];
        right[bin] += (double)best == batch->label[i] ? c : 0;
        total += c;
    }
    for (size_t b = 0; b < N_BINS; b++)
        sum += weight[b] > 0 ? weight[b] / total * fabs(confidence[b] / weight[b] - right[b] / weight[b]) : 0;
    free(p);
    return sum;
}

/* Confidence 0.9, right in 1 of 2: a gap of 0.4, for half of the weight; confidence 0.8 in a bin of its own, wrong in 1
 * of 4 by weight: a gap of 0.05. */
static void bins_by_hand(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(2);
    rows *r = rows_new();
    add_row(r, log(9), 1, 2);
    add_row(r, -log(9), 1, 2);
    add_row(r, log(4), 1, 3);
    add_row(r, -log(4), 1, 1);
    gsa_batch batch = weighted(r);
    assert_close(calibration_error(model, &batch), 0.5 * 0.4 + 0.5 * 0.05, 1e-7);
    batch.weight = NULL; /* the second bin: right in 1 of 2, a gap of 0.3 */
    assert_close(calibration_error(model, &batch), 0.5 * 0.4 + 0.5 * 0.3, 1e-7);
    free(r);
    gsa_model_free(model);
}

/* Too sure in one bin and too modest in another do not make up for each other; inside a bin they do. */
static void gaps_of_bins_do_not_cancel(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(2);
    rows *r = rows_new();
    add_row(r, log(0.6 / 0.4), 1, 1);
    add_row(r, log(0.8 / 0.2), 0, 1);
    gsa_batch batch = rows_batch(r);
    assert_close(calibration_error(model, &batch), 0.5 * 0.4 + 0.5 * 0.8, 1e-7);
    r->value[1] = r->value[0];
    assert_close(calibration_error(model, &batch), 0.1, 1e-7);
    free(r);
    gsa_model_free(model);
}

static void certainty_and_ties_have_their_bins(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(2);
    rows *r = rows_new();
    double p[2];
    gsa_error error = {0};
    add_row(r, 800, 1, 1);
    gsa_batch batch = rows_batch(r);
    must_be_ok(gsa_model_predict(model, &batch, p, &error), &error);
    assert_true(p[1] == 1);
    assert_close(calibration_error(model, &batch), 0, 0);
    r->label[0] = 0;
    assert_close(calibration_error(model, &batch), 1, 0);
    r->value[0] = 0; /* a tie goes to the first class, as for the accuracy */
    assert_close(calibration_error(model, &batch), 0.5, 0);
    add_row(r, 0, 1, 1);
    batch = rows_batch(r);
    assert_close(calibration_error(model, &batch), 0, 0);
    free(r);
    gsa_model_free(model);
}

/* Every row stands for both labels, in the proportion that the model says. */
static void what_the_model_says_comes_true(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(2);
    rows *r = rows_new();
    for (int i = 1; i < 200; i++) {
        double p = i / 200.0;
        add_row(r, log(p / (1 - p)), 1, (float)p);
        add_row(r, log(p / (1 - p)), 0, (float)(1 - p));
    }
    gsa_batch batch = weighted(r);
    assert_close(calibration_error(model, &batch), 0, 1e-7);
    free(r);
    gsa_model_free(model);
}

/* Labels drawn by their probability p, evaluated by a model that claims `boldness` times the log odds. What is expected
 * then: claimed minus true confidence, averaged over the rows. */
static double drawn_error(double boldness, double *expected)
{
    gsa_model *model = model_of_margins(2);
    gsai_rng rng = gsai_rng_of(5, 7, 7);
    rows *r = rows_new();
    *expected = 0;
    for (int i = 0; i < 4000; i++) {
        double odds = gsai_rng_unit(&rng) * 4 - 2, p = 1 / (1 + exp(-odds));
        add_row(r, boldness * odds, gsai_rng_unit(&rng) < p, 1);
        *expected += (1 / (1 + exp(-boldness * fabs(odds))) - fmax(p, 1 - p)) / 4000;
    }
    gsa_batch batch = rows_batch(r);
    double found = calibration_error(model, &batch);
    assert_close(found, by_definition(model, &batch, 2), 1e-12);
    free(r);
    gsa_model_free(model);
    return found;
}

static void drawn_labels_are_nearly_calibrated_and_bold_claims_are_not(void **unused)
{
    (void)unused;
    double expected, honest = drawn_error(1, &expected);
    assert_close(honest, 0, 0.03);
    double bold = drawn_error(4, &expected);
    assert_true(expected > 0.15);
    assert_close(bold, expected, 0.03);
}

static void many_classes_are_judged_by_the_most_probable(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(5);
    gsai_rng rng = gsai_rng_of(9, 7, 7);
    rows *r = rows_new();
    for (int i = 0; i < 1000; i++) {
        for (uint32_t k = 0; k < 5; k++)
            rows_entry(r, k, (float)(gsai_rng_unit(&rng) * 8));
        rows_end(r, (double)gsai_rng_below(&rng, 5));
        r->weight[i] = (float)gsai_rng_below(&rng, 4);
    }
    gsa_batch batch = weighted(r);
    assert_close(calibration_error(model, &batch), by_definition(model, &batch, 5), 1e-12);
    batch.weight = NULL;
    assert_close(calibration_error(model, &batch), by_definition(model, &batch, 5), 1e-12);
    free(r);
    gsa_model_free(model);
}

static void three_equal_classes_are_a_third_each(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(3);
    rows *r = rows_new();
    for (int label = 0; label < 3; label++)
        rows_end(r, label);
    gsa_batch batch = rows_batch(r);
    assert_close(calibration_error(model, &batch), 0, 1e-12);
    rows_end(r, 1);
    batch = rows_batch(r);
    assert_close(calibration_error(model, &batch), 1.0 / 3 - 0.25, 1e-12);
    free(r);
    gsa_model_free(model);
}

/* 1/3 = 5/15 shares a bin with 0.3, which has (4/15, 5/15]: a mistake there and a hit here make up for each other. */
static void a_bin_has_its_upper_edge(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(5);
    rows *r = rows_new();
    for (uint32_t k = 0; k < 5; k++)
        rows_entry(r, k, k < 3 ? 0.0f : -800.0f);
    rows_end(r, 4);
    for (uint32_t k = 0; k < 5; k++)
        rows_entry(r, k, k < 3 ? (float)log(6) : 0.0f);
    rows_end(r, 0);
    gsa_batch batch = rows_batch(r);
    assert_close(calibration_error(model, &batch), (0.7 - 1.0 / 3) / 2, 1e-7);
    free(r);
    gsa_model_free(model);
}

static void batches_and_merges_do_not_matter(void **unused)
{
    (void)unused;
    rows *r = rows_random(3, 600, 20, 3);
    gsa_batch batch = rows_batch(r);
    gsa_error error = {0};
    gsa_state *state = state_with(NULL);
    learn(state, &batch);
    gsa_model *model = model_of(state);
    double whole = calibration_error(model, &batch);
    assert_close(whole, by_definition(model, &batch, 3), 1e-12);
    assert_true(whole > 0.01);
    gsa_metrics *by_rows = judged_by(model, &batch, 1), *parts;
    assert_close(error_of(by_rows), whole, 0);
    must_be_ok(gsa_metrics_new(model, &parts, &error), &error);
    for (size_t from = 0; from < 600; from += 200) {
        gsa_batch delta = rows_slice(&batch, from, 200);
        gsa_metrics *part = judged_by(model, &delta, 77);
        must_be_ok(gsa_metrics_merge(parts, part, &error), &error);
        gsa_metrics_free(part);
    }
    assert_close(error_of(parts), whole, 1e-12);
    gsa_metrics_free(parts);
    gsa_metrics_free(by_rows);
    gsa_model_free(model);
    gsa_state_free(state);
    free(r);
}

/* As for the accuracy: a label that the model does not know is wrong, however sure it was. */
static void an_unknown_label_is_a_mistake(void **unused)
{
    (void)unused;
    gsa_model *model = model_of_margins(2);
    rows *r = rows_new();
    add_row(r, log(9), 1, 1);
    add_row(r, log(9), 77, 1);
    gsa_batch batch = rows_batch(r);
    assert_close(calibration_error(model, &batch), 0.9 - 0.5, 1e-7);
    free(r);
    gsa_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_by_hand),
        cmocka_unit_test(gaps_of_bins_do_not_cancel),
        cmocka_unit_test(certainty_and_ties_have_their_bins),
        cmocka_unit_test(what_the_model_says_comes_true),
        cmocka_unit_test(drawn_labels_are_nearly_calibrated_and_bold_claims_are_not),
        cmocka_unit_test(many_classes_are_judged_by_the_most_probable),
        cmocka_unit_test(three_equal_classes_are_a_third_each),
        cmocka_unit_test(a_bin_has_its_upper_edge),
        cmocka_unit_test(batches_and_merges_do_not_matter),
        cmocka_unit_test(an_unknown_label_is_a_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
