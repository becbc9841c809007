/* --trace: what a run has learned. The model, and how well it predicts the rows of the test file (all of them) and the
 * first rows that it has learned, if they can be read again.
 *
 * Rows are counted a few hundred at a time, in memory that depends on the number of classes only. A row counts for its
 * weight. */
#include "trace.h"

#include "message.h"
#include "report.h"
#include "strongest.h"
#include "trace_bins.h"
#include "views.h"

#include <math.h>
#include <stdlib.h>

/* Training rows: the first, or fewer if they are long. */
#define TRACE_ROWS_SOME 100000u
#define TRACE_ROWS_ALL UINT64_MAX

enum {
    ROWS_AT_A_TIME = 256,
    CONFUSION_CLASSES = 20,
    CLASSES_LISTED = 1000,
    CONFIDENCE_BINS = 20,
    STRONGEST_LISTED = 50
};
/* Products of a look at some rows. */
static const double max_work = 1e9;

typedef struct class_sums {
    double actual, predicted, correct;
} class_sums;

typedef struct confidence_bin {
    double weight, confidence, correct;
} confidence_bin;

typedef struct row_scores {
    const gsa_model *model;
    gsa_model_info info;
    gsa_metrics *metrics;
    double *margins;
    trace_bins scores, residuals;
    class_sums *classes;
    double *confusion; /* actual x predicted; NULL where there are many classes or none */
    confidence_bin confidence[CONFIDENCE_BINS];
    uint64_t n_rows, n_entries;
    uint64_t min_entries, max_entries;
    double weight, label_sum, min_label, max_label;
    bool is_complete;
} row_scores;

static bool begin(row_scores *what)
{
    size_t n = (size_t)what->info.n_classes;
    what->margins = calloc(ROWS_AT_A_TIME * (size_t)what->info.n_outputs, sizeof *what->margins);
    what->classes = calloc(n + 1, sizeof *what->classes);
    bool done = what->margins != NULL && what->classes != NULL;
    if (n > 0 && n <= CONFUSION_CLASSES) {
        what->confusion = calloc(n * n, sizeof *what->confusion);
        done = done && what->confusion != NULL;
    }
    if (n == 0 || n == 2)
        done = trace_bins_new(&what->scores) && done;
    if (n == 0)
        done = trace_bins_new(&what->residuals) && done;
    what->min_entries = UINT64_MAX;
    what->min_label = INFINITY;
    what->max_label = -INFINITY;
    return done;
}

static void end(row_scores *what)
{
    gsa_metrics_free(what->metrics);
    free(what->margins);
    free(what->classes);
    free(what->confusion);
    trace_bins_free(&what->scores);
    trace_bins_free(&what->residuals);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static size_t predicted_class(const row_scores *what, const double *margins)
{
    size_t best = 0;
    if (what->info.n_outputs == 1)
        return margins[0] > 0;
    for (size_t k = 1; k < what->info.n_outputs; k++)
        best = margins[k] > margins[best] ? k : best;
    return best;
}

/* The probability of the predicted class. */
static double confidence_of(const row_scores *what, const double *margins, size_t predicted)
{
    double sum = 0;
    if (what->info.n_outputs == 1)
        return 1 / (1 + exp(-fabs(margins[0])));
    for (size_t k = 0; k < what->info.n_outputs; k++)
        sum += exp(margins[k] - margins[predicted]);
    return 1 / sum;
}

static void count_confidence(row_scores *what, double confidence, bool is_correct, double weight)
{
    size_t at = (size_t)fmin(fmax(confidence * (double)CONFIDENCE_BINS, 0), CONFIDENCE_BINS - 1);
    what->confidence[at].weight += weight;
    what->confidence[at].confidence += weight * confidence;
    what->confidence[at].correct += is_correct ? weight : 0;
}

static void count_class(row_scores *what, size_t actual, const double *margins, double weight)
{
    size_t predicted = predicted_class(what, margins);
    what->classes[predicted].predicted += weight;
    if (what->info.has_probabilities)
        count_confidence(what, confidence_of(what, margins, predicted), predicted == actual, weight);
    if (actual >= what->info.n_classes) /* a label that the model does not know */
        return;
    what->classes[actual].actual += weight;
    what->classes[actual].correct += predicted == actual ? weight : 0;
    if (what->confusion != NULL)
        what->confusion[actual * what->info.n_classes + predicted] += weight;
    if (what->scores.bin == NULL)
        return;
    double score = what->info.n_outputs == 1 ? margins[0] : margins[1] - margins[0];
    trace_bins_add(&what->scores, score, actual, 1 / (1 + exp(-score)), weight);
}

static void count_number(row_scores *what, double label, double prediction, double weight)
{
    trace_bins_add(&what->scores, prediction, 0, label - prediction, weight);
    trace_bins_add(&what->residuals, label - prediction, 0, 0, weight);
    what->label_sum += weight * label;
    what->min_label = fmin(what->min_label, label);
    what->max_label = fmax(what->max_label, label);
}

static void count_rows(row_scores *what, const gsa_batch *rows)
{
    for (size_t row = 0; row < rows->n_rows; row++) {
        const double *margins = what->margins + row * what->info.n_outputs;
        double weight = rows->weight != NULL ? (double)rows->weight[row] : 1;
        uint64_t entries = (uint64_t)(rows->row_start[row + 1] - rows->row_start[row]);
        what->n_rows++;
        what->weight += weight;
        what->n_entries += entries;
        what->min_entries = entries < what->min_entries ? entries : what->min_entries;
        what->max_entries = entries > what->max_entries ? entries : what->max_entries;
        if (what->info.n_classes > 0)
            count_class(what, gsa_model_class(what->model, rows, row), margins, weight);
        else /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): rows without labels were refused before */
            count_number(what, rows->label[row], margins[0], weight);
    }
}

static gsa_status count_batch(row_scores *what, const gsa_batch *batch, uint64_t max_rows, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t from = 0; from < batch->n_rows && status == GSA_OK;) {
        double work = (double)what->n_entries * (double)what->info.n_outputs;
        if (what->n_rows >= max_rows || (max_rows != TRACE_ROWS_ALL && work > max_work))
            return GSA_END;
        size_t n = batch->n_rows - from < ROWS_AT_A_TIME ? batch->n_rows - from : ROWS_AT_A_TIME;
        if (n > max_rows - what->n_rows)
            n = (size_t)(max_rows - what->n_rows);
        gsa_batch part = batch_part(batch, from, n);
        status = gsa_metrics_update(what->metrics, &part, error);
        if (status == GSA_OK)
            status = gsa_model_margins(what->model, &part, what->margins, error);
        if (status == GSA_OK)
            count_rows(what, &part);
        from += n;
    }
    return status;
}

static gsa_status count_all(row_scores *what, gsa_reader *reader, uint64_t max_rows, const gsa_env *env,
                            gsa_error *error)
{
    gsa_batch batch;
    gsa_status status = gsa_metrics_new(what->model, env, &what->metrics, error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, error)) == GSA_OK) {
        if (env->should_stop != NULL && env->should_stop(env->stop_ctx))
            return GSA_STOPPED;
        status = count_batch(what, &batch, max_rows, error);
        if (status == GSA_END) /* enough; there are more */
            return gsa_metrics_finish(what->metrics, error);
    }
    what->is_complete = status == GSA_END;
    return what->is_complete ? gsa_metrics_finish(what->metrics, error) : status;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static json_t *classes_json(const row_scores *what)
{
    json_t *list = json_array();
    for (size_t k = 0; k < what->info.n_classes && k < CLASSES_LISTED; k++) {
        json_t *entry = json_object();
        const class_sums *sums = &what->classes[k];
        json_object_set_new(entry, "label", report_text(gsa_model_label(what->model, k)));
        json_object_set_new(entry, "actual", report_real(sums->actual));
        json_object_set_new(entry, "predicted", report_real(sums->predicted));
        json_object_set_new(entry, "correct", report_real(sums->correct));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *confusion_json(const row_scores *what)
{
    json_t *list = json_array();
    for (size_t actual = 0; actual < what->info.n_classes; actual++) {
        json_t *row = json_array();
        for (size_t k = 0; k < what->info.n_classes; k++)
            json_array_append_new(row, report_real(what->confusion[actual * what->info.n_classes + k]));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *confidence_json(const row_scores *what)
{
    json_t *object = json_object(), *weight = json_array(), *confidence = json_array(), *correct = json_array();
    json_object_set_new(object, "confidence", confidence);
    json_object_set_new(object, "accuracy", correct);
    json_object_set_new(object, "weight", weight);
    for (size_t i = 0; i < CONFIDENCE_BINS; i++) {
        const confidence_bin *bin = &what->confidence[i];
        if (!(bin->weight > 0))
            continue;
        json_array_append_new(weight, report_real(bin->weight));
        json_array_append_new(confidence, report_real(bin->confidence / bin->weight));
        json_array_append_new(correct, report_real(bin->correct / bin->weight));
    }
    return object;
}

static json_t *evaluation_json(const row_scores *what)
{
    json_t *object = json_object(), *metrics = json_object();
    report_metrics_json(metrics, what->metrics);
    json_object_set_new(object, "n_rows", report_count(what->n_rows));
    json_object_set_new(object, "complete", json_boolean(what->is_complete));
    json_object_set_new(object, "metrics", metrics);
    if (what->info.n_classes > 0)
        json_object_set_new(object, "classes", classes_json(what));
    if (what->confusion != NULL)
        json_object_set_new(object, "confusion", confusion_json(what));
    if (what->info.n_classes > 2 && what->info.has_probabilities)
        json_object_set_new(object, "confidence", confidence_json(what));
    if (what->info.n_classes == 2)
        json_object_set_new(object, "scores", trace_bins_of_classes(&what->scores, what->info.has_probabilities));
    if (what->info.n_classes == 0) {
        json_object_set_new(object, "predictions", trace_bins_of_numbers(&what->scores));
        json_object_set_new(object, "residuals", trace_bins_histogram(&what->residuals));
    }
    return object;
}

static json_t *rows_json(const row_scores *what)
{
    json_t *object = json_object();
    json_object_set_new(object, "n_rows", report_count(what->n_rows));
    json_object_set_new(object, "complete", json_boolean(what->is_complete));
    json_object_set_new(object, "values", report_count(what->n_entries));
    json_object_set_new(object, "values_least", report_count(what->n_rows > 0 ? what->min_entries : 0));
    json_object_set_new(object, "values_most", report_count(what->max_entries));
    json_object_set_new(object, "weight", report_real(what->weight));
    if (what->info.n_classes == 0) {
        json_object_set_new(object, "label_mean", report_real(what->label_sum / what->weight));
        json_object_set_new(object, "label_least", report_real(what->min_label));
        json_object_set_new(object, "label_most", report_real(what->max_label));
        return object;
    }
    json_t *classes = json_array();
    for (size_t k = 0; k < what->info.n_classes && k < CLASSES_LISTED; k++) {
        json_t *entry = json_object();
        json_object_set_new(entry, "label", report_text(gsa_model_label(what->model, k)));
        json_object_set_new(entry, "weight", report_real(what->classes[k].actual));
        json_array_append_new(classes, entry);
    }
    json_object_set_new(object, "classes", classes);
    return object;
}

/* Scores rows of a reader that is at its beginning. *rows: how many, how long, of which classes or numbers.
 * *evaluation: metrics, and the columns of curves. Both are to be released by the caller; on failure they stay NULL. */
static gsa_status score_rows(gsa_reader *reader, const gsa_model *model, uint64_t max_rows, const gsa_env *env,
                             json_t **rows, json_t **evaluation, gsa_error *error)
{
    row_scores what = {.model = model, .info = info_of(model)};
    gsa_status status = begin(&what) ? count_all(&what, reader, max_rows, env, error) : GSA_MEMORY;
    if (status == GSA_OK) {
        *rows = rows_json(&what);
        *evaluation = evaluation_json(&what);
    }
    end(&what);
    return status;
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static void tell_model(cli_trace *trace, const gsa_model *model)
{
    strongest found;
    gsa_model_info info = info_of(model);
    if (!strongest_find(model, STRONGEST_LISTED, 0, &found))
        return;
    json_t *event = trace_event("model");
    json_object_set_new(event, "loss", json_string(info.loss));
    json_object_set_new(event, "method", json_string(info.method));
    json_object_set_new(event, "average", json_string(info.average));
    json_object_set_new(event, "features", report_count(info.n_features));
    json_object_set_new(event, "features_used", report_count(found.n_used));
    json_object_set_new(event, "outputs", report_count(info.n_outputs));
    json_object_set_new(event, "classes", report_count(info.n_classes));
    json_object_set_new(event, "labels", report_labels(model, CLASSES_LISTED));
    json_object_set_new(event, "nonzero_weights", report_count(found.n_nonzero));
    json_object_set_new(event, "intercept", strongest_intercepts(&found));
    json_object_set_new(event, "strongest", strongest_json(&found));
    trace_write(trace, event);
    strongest_free(&found);
}

/* An event with what was found, which is taken over; NULL: nothing was. */
static void tell(cli_trace *trace, const char *name, const char *which, const gsa_reader *reader, json_t *found)
{
    if (found == NULL)
        return;
    json_t *event = trace_event(name);
    json_object_set_new(event, "rows", json_string(which));
    json_object_set_new(event, "file", report_text(gsa_reader_file(reader, 0)));
    json_object_update(event, found);
    json_decref(found);
    trace_write(trace, event);
}

/* A look that fails costs the pictures, nothing else: the model is saved. */
static void evaluate_rows(cli_trace *trace, const char *which, const gsa_model *model, gsa_reader *reader,
                          uint64_t max_rows, const gsa_env *env)
{
    gsa_error error = {0};
    json_t *rows = NULL, *evaluation = NULL;
    if (reader == NULL)
        return;
    if (progress_of(reader).is_stream)
        return;
    gsa_status status = gsa_reader_rewind(reader, &error);
    if (status == GSA_OK)
        status = score_rows(reader, model, max_rows, env, &rows, &evaluation, &error);
    if (status != GSA_OK && status != GSA_STOPPED) {
        complain("the trace has no evaluation of the %s rows: %s", which, message_of(status, &error));
        trace->lacks_results = true;
    }
    tell(trace, "data", which, reader, rows);
    tell(trace, "evaluation", which, reader, evaluation);
}

void trace_results(cli_trace *trace, const gsa_state *state, gsa_reader *test, gsa_reader *training, const gsa_env *env)
{
    gsa_model *model = NULL;
    gsa_error error = {0};
    if (trace->stream == NULL)
        return;
    gsa_env patient = *env; /* the model of a run that was stopped is told too */
    patient.should_stop = NULL;
    if (gsa_state_finish(state, &patient, &model, &error) != GSA_OK) {
        complain("the trace has no model: %s", error.message);
        trace->lacks_results = true;
        return;
    }
    tell_model(trace, model);
    evaluate_rows(trace, "test", model, test, TRACE_ROWS_ALL, env);
    evaluate_rows(trace, "training", model, training, TRACE_ROWS_SOME, env);
    gsa_model_free(model);
    trace_stage(trace, "evaluate");
}
