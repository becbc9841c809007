/* Metrics of a model on rows with labels. Everything is a sum or a mergeable count; results do not depend on how the
 * rows were grouped, up to the rounding of sums of doubles. */
#include "model/metrics.h"

#include "learn/auc.h"
#include "model/model.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/real.h"
#include "learn/schema.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MAX_RESULTS 24
#define CALIBRATION_BINS 15
#define MAX_UNKNOWN ((size_t)3)

typedef struct class_counts {
    double predicted, actual, correct; /* weights of rows */
} class_counts;

/* Sums over rows, by their weights. LABEL_LOG: y log y; EXCESS: confidence - correct, of the rows in each bin. */
enum { UNKNOWN, CORRECT, LOSS, BRIER, ABSOLUTE, SQUARED, LABEL_LOG, EXCESS, N_SUMS = EXCESS + CALIBRATION_BINS };

struct gsa_metrics {
    gsai_env env;
    const gsa_model *model;
    uint64_t n_rows, n_unknown;
    double weight, sum[N_SUMS];
    double label_mean, label_spread; /* spread: sum of c (y - mean)^2, kept by Welford's update */
    class_counts *classes;
    gsai_labels unknown;   /* the first few labels that the model does not know */
    gsai_ranking ranking;  /* two classes only */
    double *group_margins; /* of n_at_once rows */
    size_t n_at_once;
    const double *margins; /* of a row */
    double *probabilities;
    gsa_metric results[MAX_RESULTS];
    size_t n_results;
};

const gsa_memory *gsai_metrics_memory(const gsa_metrics *metrics)
{
    return &metrics->env.memory;
}

/* Computed together, so that weights of rows to come are asked for in time. */
#define MARGINS_AT_ONCE ((size_t)64)

gsa_status gsa_metrics_new(const gsa_model *model, gsa_metrics **out, gsa_error *error)
{
    gsai_env resolved = model->env;
    gsa_metrics *metrics = gsai_alloc_zeroed(&resolved, 1, sizeof *metrics);
    GSAI_TRY_MEMORY(metrics, &resolved, error, "no memory for metrics");
    metrics->env = resolved;
    metrics->model = model;
    gsai_labels_init(&metrics->unknown, &resolved);
    size_t width = model->labels.n > model->n_outputs ? model->labels.n : model->n_outputs;
    metrics->classes = gsai_alloc_zeroed(&resolved, width, sizeof *metrics->classes);
    metrics->n_at_once = MARGINS_AT_ONCE / (width + 1) + 1;
    metrics->group_margins = gsai_alloc(&resolved, metrics->n_at_once * width, sizeof(double));
    metrics->probabilities = gsai_alloc(&resolved, width, sizeof(double));
    metrics->ranking.env = &metrics->env;
    if (!metrics->classes || !metrics->group_margins || !metrics->probabilities) {
        gsa_metrics_free(metrics);
        return gsai_fail_memory(&resolved, error, "no memory for metrics of %zu classes", width);
    }
    *out = metrics;
    return GSA_OK;
}

void gsa_metrics_free(gsa_metrics *metrics)
{
    if (!metrics)
        return;
    gsai_env env = metrics->env;
    gsai_free(&env, metrics->classes);
    gsai_free(&env, metrics->group_margins);
    gsai_free(&env, metrics->probabilities);
    gsai_labels_release(&metrics->unknown);
    gsai_free(&env, metrics->ranking.entries);
    gsai_free(&env, metrics);
}

static gsa_status add_class_row(gsa_metrics *metrics, const gsa_batch *batch, size_t row_number, double c,
                                gsa_error *error)
{
    const gsa_model *model = metrics->model;
    const double *margins = metrics->margins;
    size_t actual = gsai_labels_find_row(&model->labels, batch, row_number), n_classes = model->labels.n, predicted = 0;
    double *p = metrics->probabilities; /* without them: a margin per class */
    double loss = actual == GSAI_NO_LABEL ? model->loss->unknown_loss : 0;
    if (n_classes > 1)
        loss = model->loss->evaluate(margins, model->n_outputs, actual, p);
    else
        gsai_model_row_predict(model, margins, p);
    metrics->sum[LOSS] += c * loss;
    for (size_t k = 1; k < n_classes; k++)
        predicted = p[k] > p[predicted] ? k : predicted;
    if (actual != GSAI_NO_LABEL || n_classes != 2) /* of two, as in the ranking: rows whose label is one of them */
        metrics->classes[predicted].predicted += c;
    /* Guo, Pleiss, Sun, Weinberger 2017: bin b holds the confidences in (b/15, (b+1)/15]. A bin's share of all rows
     * times the gap between its mean confidence and its accuracy is the size of one sum, so nothing else is kept. */
    double bin = fmin(fmax(ceil(p[predicted] * CALIBRATION_BINS) - 1, 0), CALIBRATION_BINS - 1);
    metrics->sum[EXCESS + (size_t)bin] += c * (p[predicted] - (predicted == actual ? 1.0 : 0.0));
    if (actual == GSAI_NO_LABEL) {
        metrics->n_unknown++;
        metrics->sum[UNKNOWN] += c;
        size_t number;
        bool is_label = gsai_row_is_word(batch, row_number) ? (size_t)batch->word[row_number] < batch->n_words
                                                            : isfinite(batch->label[row_number]);
        if (is_label && metrics->unknown.n < MAX_UNKNOWN) /* for messages: a failure leaves it out */
            (void)gsai_labels_add_row(&metrics->unknown, batch, row_number, &number, NULL);
        return GSA_OK;
    }
    metrics->classes[actual].actual += c;
    if (predicted == actual) {
        metrics->classes[actual].correct += c;
        metrics->sum[CORRECT] += c;
    }
    if (n_classes != 2)
        return GSA_OK;
    double miss = p[1] - (actual == 1 ? 1.0 : 0.0);
    double score = model->n_outputs == 1 ? margins[0] : margins[1] - margins[0];
    metrics->sum[BRIER] += c * miss * miss;
    return gsai_ranking_add(&metrics->ranking, (float)score, actual == 1, (float)c, error);
}

/* With a log link the loss is half the deviance, that of the best constant needs the sum of y log y. Correct: labels
 * below the prediction. */
static void add_number_row(gsa_metrics *metrics, double y, double c)
{
    const gsai_loss *loss = metrics->model->loss;
    double prediction, margin = metrics->margins[0];
    gsai_model_row_predict(metrics->model, metrics->margins, &prediction);
    double miss = prediction - y, off = y - metrics->label_mean; /* metrics->weight already has c */
    metrics->sum[CORRECT] += y < prediction ? c : 0;
    if (loss->has_log_link || loss->has_quantile) {
        gsai_target target = {.y = y, .quantile = metrics->model->results.at[GSAI_RESULT_quantile]};
        metrics->sum[LOSS] += c * loss->value(&margin, 1, &target);
        metrics->sum[LABEL_LOG] += y > 0 ? c * y * gsai_log(y) : 0;
    }
    metrics->sum[ABSOLUTE] += c * fabs(miss);
    metrics->sum[SQUARED] += c * miss * miss;
    metrics->label_mean += off * c / metrics->weight;
    metrics->label_spread += c * off * (y - metrics->label_mean);
}

static gsa_status add_row(gsa_metrics *metrics, const gsa_batch *batch, size_t row_number, gsa_error *error)
{
    const gsa_model *model = metrics->model;
    double c;
    GSA_TRY(gsai_row_weight(batch, row_number, &c, error));
    GSA_TRY(gsai_batch_check_ids(batch, row_number, error));
    if (!gsai_loss_has_classes(model->loss) &&
        (gsai_row_is_word(batch, row_number) || !isfinite(batch->label[row_number])))
        return gsai_fail(error, GSA_LABEL, "the label is no number: expected one, as the model learned");
    if (model->loss->has_log_link && batch->label[row_number] < 0)
        return gsai_fail(error, GSA_LABEL, "label %g is below 0, and the model predicts counts or rates",
                         batch->label[row_number]);
    metrics->n_rows++;
    if (c == 0)
        return GSA_OK;
    for (size_t k = 0; k < model->n_outputs; k++)
        if (!isfinite(metrics->margins[k]))
            return gsai_fail(error, GSA_INPUT, "a value is not a finite number");
    metrics->weight += c;
    if (gsai_loss_has_classes(model->loss))
        return add_class_row(metrics, batch, row_number, c, error);
    add_number_row(metrics, batch->label[row_number], c);
    return GSA_OK;
}

/* Adds n rows from `from` on, which have these margins. */
static gsa_status add_rows(gsa_metrics *metrics, const gsa_batch *batch, size_t from, size_t n, const double *margins,
                           gsa_error *error)
{
    for (size_t i = 0; i < n; i++) {
        metrics->margins = margins + i * metrics->model->n_outputs;
        gsa_status status = add_row(metrics, batch, from + i, error);
        if (status != GSA_OK && error)
            error->row = from + i;
        GSA_TRY(status);
    }
    return GSA_OK;
}

gsa_status gsa_metrics_update(gsa_metrics *metrics, const gsa_batch *batch, gsa_error *error)
{
    GSA_TRY(gsai_batch_check(batch, NULL, batch->n_rows, 1, error));
    for (size_t from = 0, n; from < batch->n_rows; from += n) {
        n = batch->n_rows - from < metrics->n_at_once ? batch->n_rows - from : metrics->n_at_once;
        gsai_model_margins(metrics->model, batch, from, n, metrics->group_margins);
        GSA_TRY(add_rows(metrics, batch, from, n, metrics->group_margins, error));
    }
    return GSA_OK;
}

size_t gsai_metrics_n_margins(const gsa_metrics *metrics)
{
    return metrics->model->n_outputs;
}

gsa_status gsai_metrics_margins(const gsa_metrics *metrics, const gsa_batch *batch, double *out, gsa_error *error)
{
    GSA_TRY(gsai_batch_check(batch, NULL, batch->n_rows, 1, error));
    gsai_model_margins(metrics->model, batch, 0, batch->n_rows, out);
    return GSA_OK;
}

gsa_status gsai_metrics_add(gsa_metrics *metrics, const gsa_batch *batch, const double *margins, gsa_error *error)
{
    return add_rows(metrics, batch, 0, batch->n_rows, margins, error);
}

gsa_status gsa_metrics_merge(gsa_metrics *metrics, const gsa_metrics *from, gsa_error *error)
{
    if (metrics->model->loss != from->model->loss || !gsai_labels_equal(&metrics->model->labels, &from->model->labels))
        return gsai_fail(error, GSA_CONFLICT, "metrics of models with different losses or labels cannot be added");
    GSA_TRY(gsai_ranking_merge(&metrics->ranking, &from->ranking, error));
    for (size_t i = 0, added; i < from->unknown.n && metrics->unknown.n < MAX_UNKNOWN; i++)
        GSA_TRY(gsai_labels_add_label(&metrics->unknown, &from->unknown.at[i], &added, error));
    double weight = metrics->weight + from->weight, apart = from->label_mean - metrics->label_mean;
    if (from->weight > 0) { /* Chan, Golub, LeVeque 1979 */
        metrics->label_spread += from->label_spread + apart * apart * metrics->weight * from->weight / weight;
        metrics->label_mean += apart * from->weight / weight;
    }
    metrics->weight = weight;
    metrics->n_rows += from->n_rows;
    metrics->n_unknown += from->n_unknown;
    for (size_t i = 0; i < N_SUMS; i++)
        metrics->sum[i] += from->sum[i];
    for (size_t k = 0; k < metrics->model->labels.n; k++) {
        metrics->classes[k].predicted += from->classes[k].predicted;
        metrics->classes[k].actual += from->classes[k].actual;
        metrics->classes[k].correct += from->classes[k].correct;
    }
    return GSA_OK;
}

static void result(gsa_metrics *metrics, const char *name, double value)
{
    metrics->results[metrics->n_results++] = (gsa_metric){name, value};
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static gsa_class_metrics class_metrics(const class_counts *counts)
{
    return (gsa_class_metrics){.rows = counts->actual,
                               .predicted = counts->predicted,
                               .correct = counts->correct,
                               .precision = ratio(counts->correct, counts->predicted),
                               .recall = ratio(counts->correct, counts->actual),
                               .f1 = ratio(2 * counts->correct, counts->predicted + counts->actual)};
}

/* Precision, recall and F1 of each class, averaged plainly over the classes that occur (in labels or predictions) and
 * weighted by how often they occur; a class that is never predicted has precision 0. As scikit-learn has it. */
static void results_of_many(gsa_metrics *metrics)
{
    static const char *const names[] = {"precision_macro",    "recall_macro",    "f1_macro",
                                        "precision_weighted", "recall_weighted", "f1_weighted"};
    double sum[6] = {0}, n_classes = 0;
    for (size_t k = 0; k < metrics->model->labels.n; k++) {
        gsa_class_metrics of = class_metrics(&metrics->classes[k]);
        double scores[3] = {of.precision, of.recall, of.f1};
        for (size_t i = 0; i < 3; i++) {
            sum[i] += scores[i]; /* of a class that does not occur all are 0 */
            sum[3 + i] += scores[i] * of.rows;
        }
        n_classes += of.rows != 0 || of.predicted != 0;
    }
    for (size_t i = 0; i < 6; i++) /* unknown labels too: all wrong */
        result(metrics, names[i], ratio(sum[i], i < 3 ? n_classes : metrics->weight));
}

/* The threshold of a score as predictions have it: the probability of the second class, or its margin. */
static double threshold_of(const gsa_model *model, double score)
{
    double margins[2] = {model->n_outputs == 1 ? score : 0, score}, p[2] = {0};
    if (!gsai_loss_has_probabilities(model->loss) || isnan(score))
        return score;
    gsai_model_row_predict(model, margins, p);
    return p[1];
}

/* The second class is the positive one. All results are of the rows whose label is one of the two. */
static void results_of_two(gsa_metrics *metrics)
{
    const class_counts *negative = &metrics->classes[0], *positive = &metrics->classes[1];
    gsai_ranking_result ranking = gsai_ranking_finish(&metrics->ranking);
    gsa_class_metrics of = class_metrics(positive);
    double known = metrics->weight - metrics->sum[UNKNOWN];
    result(metrics, "auc", ranking.auc);
    result(metrics, "average_precision", ranking.average_precision);
    if (gsai_loss_has_probabilities(metrics->model->loss))
        result(metrics, "brier", known > 0 ? metrics->sum[BRIER] / known : (double)NAN);
    result(metrics, "precision", of.precision);
    result(metrics, "recall", of.recall);
    result(metrics, "f1", of.f1);
    result(metrics, "threshold", threshold_of(metrics->model, 0));
    result(metrics, "best_f1", ranking.best_f1);
    result(metrics, "best_threshold", threshold_of(metrics->model, ranking.best_score));
    result(metrics, "true_negatives", negative->correct);
    result(metrics, "false_positives", negative->actual - negative->correct);
    result(metrics, "false_negatives", positive->actual - positive->correct);
    result(metrics, "true_positives", positive->correct);
}

static void results_of_numbers(gsa_metrics *metrics)
{
    double weight = metrics->weight;
    const gsai_label_totals labels = {.mean = metrics->label_mean, .mean_log = metrics->sum[LABEL_LOG] / weight};
    if (metrics->model->loss->has_log_link) {
        double half = metrics->sum[LOSS] / weight, constant = metrics->model->loss->constant(&labels);
        result(metrics, "poisson_deviance", 2 * half);
        result(metrics, "d2", constant > 0 ? 1 - half / constant : (double)NAN);
    }
    if (metrics->model->loss->has_quantile) {
        result(metrics, "pinball_loss", metrics->sum[LOSS] / weight);
        result(metrics, "below", metrics->sum[CORRECT] / weight);
    }
    result(metrics, "rmse", sqrt(metrics->sum[SQUARED] / weight));
    result(metrics, "mae", metrics->sum[ABSOLUTE] / weight);
    result(metrics, "r2", metrics->label_spread > 0 ? 1 - metrics->sum[SQUARED] / metrics->label_spread : (double)NAN);
}

const char *gsa_metrics_unknown_label(const gsa_metrics *metrics, size_t number)
{
    return number < metrics->unknown.n ? metrics->unknown.at[number].text : NULL;
}

#define MAX_QUOTED ((size_t)30)
#define QUOTES_SIZE (MAX_UNKNOWN * (MAX_QUOTED + 4) + 1)

/* Writes the first few labels: 'a', 'b', 'c'. */
static void quote_labels(const gsai_labels *labels, char out[QUOTES_SIZE])
{
    for (size_t i = 0; i < labels->n && i < MAX_UNKNOWN; i++) {
        size_t size = strlen(labels->at[i].text), apart = i > 0 ? 3 : 1;
        size = size < MAX_QUOTED ? size : MAX_QUOTED;
        memcpy(out, i > 0 ? ", '" : "'", apart);
        memcpy(out + apart, labels->at[i].text, size);
        out += apart + size;
        *out++ = '\'';
    }
    *out = '\0';
}

static gsa_status fail_unknown(const gsa_metrics *metrics, gsa_error *error)
{
    char rows[QUOTES_SIZE], model[QUOTES_SIZE];
    size_t size;
    const char *column = gsai_schema_label(metrics->model->schema, &size);
    bool is_table = gsai_schema_is_table(metrics->model->schema) && size > 0;
    quote_labels(&metrics->unknown, rows);
    quote_labels(&metrics->model->labels, model);
    return gsai_fail(error, GSA_LABEL,
                     "cannot evaluate %s%.*s%s: the model knows no label of these %llu rows, such as %s; it knows "
                     "%s%s: give rows with these labels",
                     is_table ? "the column '" : "the labels", is_table ? (int)size : 0, column, is_table ? "'" : "",
                     (unsigned long long)metrics->n_unknown, rows, model,
                     metrics->model->labels.n > MAX_UNKNOWN ? ", ..." : "");
}

gsa_status gsa_metrics_finish(gsa_metrics *metrics, gsa_error *error)
{
    double weight = metrics->weight, excess = 0;
    if (weight == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no rows to evaluate");
    metrics->n_results = 0;
    result(metrics, "rows", (double)metrics->n_rows);
    if (!gsai_loss_has_classes(metrics->model->loss)) {
        results_of_numbers(metrics);
        return GSA_OK;
    }
    bool probable = gsai_loss_has_probabilities(metrics->model->loss);
    result(metrics, probable ? "log_loss" : gsai_loss_name(metrics->model->loss), metrics->sum[LOSS] / weight);
    result(metrics, "accuracy", metrics->sum[CORRECT] / weight);
    if (metrics->model->labels.n == 2)
        results_of_two(metrics);
    else
        results_of_many(metrics);
    for (size_t bin = 0; bin < CALIBRATION_BINS; bin++)
        excess += fabs(metrics->sum[EXCESS + bin]);
    if (probable)
        result(metrics, "calibration_error", excess / weight);
    if (metrics->n_unknown > 0)
        result(metrics, "unknown_labels", (double)metrics->n_unknown);
    return metrics->sum[UNKNOWN] < weight ? GSA_OK : fail_unknown(metrics, error);
}

gsa_status gsa_metrics_at(const gsa_metrics *metrics, size_t number, gsa_metric *out)
{
    if (number >= metrics->n_results)
        return GSA_END;
    *out = metrics->results[number];
    return GSA_OK;
}

gsa_status gsa_metrics_class_at(const gsa_metrics *metrics, size_t number, gsa_class_metrics *out)
{
    if (number >= metrics->model->labels.n)
        return GSA_END;
    gsa_class_metrics of = class_metrics(&metrics->classes[number]);
    return gsai_give_sized(out, &of, sizeof of);
}
