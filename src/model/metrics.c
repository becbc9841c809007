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

struct gsa_metrics {
    gsai_env env;
    const gsa_model *model;
    uint64_t n_rows, n_unknown;
    double weight, unknown_weight, correct, loss, brier;
    double absolute_error, squared_error, label_log;
    double excess[CALIBRATION_BINS]; /* sum of c (confidence - correct) of the rows in each bin */
    double label_mean, label_spread; /* spread: sum of c (y - mean)^2, kept by Welford's update */
    class_counts *classes;
    gsai_labels unknown;   /* the first few labels that the model does not know */
    gsai_ranking *ranking; /* two classes only */
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
    gsa_status status = GSA_OK;
    if (!metrics->classes || !metrics->group_margins || !metrics->probabilities)
        status = gsai_fail_memory(&resolved, error, "no memory for metrics of %zu classes", width);
    else if (model->labels.n == 2)
        status = gsai_ranking_new(&resolved, &metrics->ranking, error);
    if (status != GSA_OK) {
        gsa_metrics_free(metrics);
        return status;
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
    gsai_ranking_free(metrics->ranking);
    gsai_free(&env, metrics);
}

/* Fills in the probabilities (without them: a margin per class) and returns the loss. */
static double predict_row(gsa_metrics *metrics, size_t actual)
{
    const gsa_model *model = metrics->model;
    const double *margins = metrics->margins;
    double *p = metrics->probabilities;
    if (model->labels.n > 1)
        return model->loss->evaluate(margins, model->n_outputs, actual, p);
    gsai_model_row_predict(model, margins, p);
    return actual == GSAI_NO_LABEL ? model->loss->unknown_loss : 0;
}

static size_t largest(const double *p, size_t n)
{
    size_t best = 0;
    for (size_t k = 1; k < n; k++)
        if (p[k] > p[best])
            best = k;
    return best;
}

/* Guo, Pleiss, Sun, Weinberger 2017: bin b holds the confidences in (b/15, (b+1)/15]. A bin's share of all rows times
 * the gap between its mean confidence and its accuracy is the size of one sum, so that nothing else is kept. */
static void add_confidence(gsa_metrics *metrics, double confidence, bool is_correct, double c)
{
    double bin = ceil(confidence * CALIBRATION_BINS) - 1;
    bin = fmin(fmax(bin, 0), CALIBRATION_BINS - 1);
    metrics->excess[(size_t)bin] += c * (confidence - (is_correct ? 1.0 : 0.0));
}

static double calibration_error(const gsa_metrics *metrics)
{
    double sum = 0;
    for (size_t bin = 0; bin < CALIBRATION_BINS; bin++)
        sum += fabs(metrics->excess[bin]);
    return sum / metrics->weight;
}

/* Keeps the label for messages, if it is one; a failure leaves it out. */
static void keep_unknown(gsa_metrics *metrics, const gsa_batch *batch, size_t row)
{
    size_t number;
    bool is_label =
        gsai_row_is_word(batch, row) ? (size_t)batch->word[row] < batch->n_words : isfinite(batch->label[row]);
    if (is_label && metrics->unknown.n < MAX_UNKNOWN)
        (void)gsai_labels_add_row(&metrics->unknown, batch, row, &number, NULL);
}

static gsa_status add_class_row(gsa_metrics *metrics, const gsa_batch *batch, size_t row_number, double c,
                                gsa_error *error)
{
    const gsa_model *model = metrics->model;
    size_t actual = gsai_labels_find_row(&model->labels, batch, row_number);
    double *p = metrics->probabilities;
    size_t n_classes = model->labels.n, predicted;
    metrics->loss += c * predict_row(metrics, actual);
    predicted = largest(p, n_classes);
    if (actual != GSAI_NO_LABEL || n_classes != 2) /* of two, as in the ranking: rows whose label is one of them */
        metrics->classes[predicted].predicted += c;
    add_confidence(metrics, p[predicted], predicted == actual, c);
    if (actual == GSAI_NO_LABEL) {
        metrics->n_unknown++;
        metrics->unknown_weight += c;
        keep_unknown(metrics, batch, row_number);
        return GSA_OK;
    }
    metrics->classes[actual].actual += c;
    if (predicted == actual) {
        metrics->classes[actual].correct += c;
        metrics->correct += c;
    }
    if (n_classes != 2)
        return GSA_OK;
    double miss = p[1] - (actual == 1 ? 1.0 : 0.0);
    double score = model->n_outputs == 1 ? metrics->margins[0] : metrics->margins[1] - metrics->margins[0];
    metrics->brier += c * miss * miss;
    return gsai_ranking_add(metrics->ranking, (float)score, actual == 1, (float)c, error);
}

/* With a log link the loss is half the deviance, that of the best constant needs the sum of y log y. */
static void add_deviance(gsa_metrics *metrics, double y, double c)
{
    double margin = metrics->margins[0];
    metrics->loss += c * metrics->model->loss->value(&margin, 1, &(gsai_target){.y = y});
    metrics->label_log += y > 0 ? c * y * gsai_log(y) : 0;
}

static void add_number_row(gsa_metrics *metrics, double y, double c)
{
    double prediction;
    gsai_model_row_predict(metrics->model, metrics->margins, &prediction);
    double miss = prediction - y;
    if (metrics->model->loss->has_log_link)
        add_deviance(metrics, y, c);
    metrics->absolute_error += c * fabs(miss);
    metrics->squared_error += c * miss * miss;
    double off = y - metrics->label_mean; /* metrics->weight already has c */
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

/* n rows from `from` on, which have these margins. */
static gsa_status add_rows(gsa_metrics *metrics, const gsa_batch *batch, size_t from, size_t n, const double *margins,
                           gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n && status == GSA_OK; i++) {
        metrics->margins = margins + i * metrics->model->n_outputs;
        status = add_row(metrics, batch, from + i, error);
        if (status != GSA_OK && error)
            error->row = from + i;
    }
    return status;
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
    if (metrics->ranking)
        GSA_TRY(gsai_ranking_merge(metrics->ranking, from->ranking, error));
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
    metrics->unknown_weight += from->unknown_weight;
    metrics->correct += from->correct;
    metrics->loss += from->loss;
    metrics->brier += from->brier;
    metrics->absolute_error += from->absolute_error;
    metrics->squared_error += from->squared_error;
    metrics->label_log += from->label_log;
    for (size_t bin = 0; bin < CALIBRATION_BINS; bin++)
        metrics->excess[bin] += from->excess[bin];
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
    double macro[3] = {0}, weighted[3] = {0}, n_classes = 0,
           total = metrics->weight; /* unknown labels too: all wrong */
    for (size_t k = 0; k < metrics->model->labels.n; k++) {
        const class_counts *counts = &metrics->classes[k];
        if (counts->actual == 0 && counts->predicted == 0)
            continue;
        gsa_class_metrics of = class_metrics(counts);
        double scores[3] = {of.precision, of.recall, of.f1};
        for (size_t i = 0; i < 3; i++) {
            macro[i] += scores[i];
            weighted[i] += scores[i] * counts->actual;
        }
        n_classes++;
    }
    static const char *const macro_names[] = {"precision_macro", "recall_macro", "f1_macro"};
    static const char *const weighted_names[] = {"precision_weighted", "recall_weighted", "f1_weighted"};
    for (size_t i = 0; i < 3; i++)
        result(metrics, macro_names[i], ratio(macro[i], n_classes));
    for (size_t i = 0; i < 3; i++)
        result(metrics, weighted_names[i], ratio(weighted[i], total));
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

/* Adds the results of the second class, which is the positive one, over the rows whose label is one of the two. */
static void results_of_positive(gsa_metrics *metrics, const gsai_ranking_result *ranking)
{
    const class_counts *negative = &metrics->classes[0], *positive = &metrics->classes[1];
    gsa_class_metrics of = class_metrics(positive);
    result(metrics, "precision", of.precision);
    result(metrics, "recall", of.recall);
    result(metrics, "f1", of.f1);
    result(metrics, "threshold", threshold_of(metrics->model, 0));
    result(metrics, "best_f1", ranking->best_f1);
    result(metrics, "best_threshold", threshold_of(metrics->model, ranking->best_score));
    result(metrics, "true_negatives", negative->correct);
    result(metrics, "false_positives", negative->actual - negative->correct);
    result(metrics, "false_negatives", positive->actual - positive->correct);
    result(metrics, "true_positives", positive->correct);
}

static void results_of_two(gsa_metrics *metrics, double weight)
{
    gsai_ranking_result ranking = gsai_ranking_finish(metrics->ranking);
    result(metrics, "auc", ranking.auc);
    result(metrics, "average_precision", ranking.average_precision);
    /* Like the ranking, of the rows whose label is one of the two. */
    double known = weight - metrics->unknown_weight;
    if (gsai_loss_has_probabilities(metrics->model->loss))
        result(metrics, "brier", known > 0 ? metrics->brier / known : (double)NAN);
    results_of_positive(metrics, &ranking);
}

static void results_of_numbers(gsa_metrics *metrics, double weight)
{
    const gsai_label_totals labels = {.mean = metrics->label_mean, .mean_log = metrics->label_log / weight};
    if (metrics->model->loss->has_log_link) {
        double half = metrics->loss / weight, constant = metrics->model->loss->constant(&labels);
        result(metrics, "poisson_deviance", 2 * half);
        result(metrics, "d2", constant > 0 ? 1 - half / constant : (double)NAN);
    }
    result(metrics, "rmse", sqrt(metrics->squared_error / weight));
    result(metrics, "mae", metrics->absolute_error / weight);
    result(metrics, "r2", metrics->label_spread > 0 ? 1 - metrics->squared_error / metrics->label_spread : (double)NAN);
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
        size_t size = strlen(labels->at[i].text);
        size = size < MAX_QUOTED ? size : MAX_QUOTED;
        memcpy(out, i > 0 ? ", '" : "'", i > 0 ? 3 : 1);
        out += i > 0 ? 3 : 1;
        memcpy(out, labels->at[i].text, size);
        out += size;
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
    if (metrics->weight == 0)
        return gsai_fail(error, GSA_ARGUMENT, "no rows to evaluate");
    double weight = metrics->weight;
    metrics->n_results = 0;
    result(metrics, "rows", (double)metrics->n_rows);
    if (!gsai_loss_has_classes(metrics->model->loss)) {
        results_of_numbers(metrics, weight);
        return GSA_OK;
    }
    bool probable = gsai_loss_has_probabilities(metrics->model->loss);
    result(metrics, probable ? "log_loss" : gsai_loss_name(metrics->model->loss), metrics->loss / weight);
    result(metrics, "accuracy", metrics->correct / weight);
    if (metrics->model->labels.n == 2)
        results_of_two(metrics, weight);
    else
        results_of_many(metrics);
    if (probable)
        result(metrics, "calibration_error", calibration_error(metrics));
    if (metrics->n_unknown > 0)
        result(metrics, "unknown_labels", (double)metrics->n_unknown);
    return metrics->unknown_weight < weight ? GSA_OK : fail_unknown(metrics, error);
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
