/* `greedystep evaluate`: how good a model is on rows whose labels are known. */
#include "interrupt.h"
#include "message.h"
#include "printable.h"
#include "report.h"
#include "session.h"
#include "slices.h"
#include "verbs.h"
#include "views.h"

#include <greedystep/train.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const cli_option evaluate_options[] = {
    {"by", 0, OPTION_TEXT, false, "COLUMN", NULL, 0, 0,
     "measure the rows of each value of this column too, of a date and time those of each day"},
    {"json", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "print the metrics as one JSON object"},
};

enum { CLASSES_SHOWN = 100 };

/* Weights of rows, which are whole unless there are row weights. */
static json_t *rows_json(double weight)
{
    return report_is_whole(weight) ? report_count((uint64_t)weight) : report_real(weight);
}

static int print_results(const cli_arguments *arguments, const gsa_metrics *metrics, const gsa_model *model,
                         const slices *parts, const gsa_reader_progress *reading)
{
    const char *by = arguments_text(arguments, "by");
    gsa_class_metrics of = {.size = sizeof of};
    uint64_t n_classes = info_of(model).n_classes;
    if (!arguments_flag(arguments, "json")) {
        report_metrics(metrics);
        if (n_classes == 2)
            report_field("positive_class", "%s", gsa_model_label(model, 1));
        if (reading->n_bad_rows > 0)
            report_field("bad_rows", "%" PRIu64, reading->n_bad_rows);
        if (reading->n_unlabelled > 0)
            report_field("unlabelled_rows", "%" PRIu64, reading->n_unlabelled);
        /* Labels stand last, as long as they are. */
        if (n_classes > 2) {
            putchar('\n');
            report_heading("%10s  %9s  %9s  %9s  %9s  class", "rows", "predicted", "precision", "recall", "f1");
        }
        for (size_t i = 0; n_classes > 2 && i < CLASSES_SHOWN && gsa_metrics_class_at(metrics, i, &of) == GSA_OK; i++) {
            printf("%10.10g  %9.10g  %9.4f  %9.4f  %9.4f  ", of.rows, of.predicted, of.precision, of.recall, of.f1);
            printable_put(stdout, gsa_model_label(model, i));
            putchar('\n');
        }
        if (n_classes > CLASSES_SHOWN)
            puts("...; --json has all classes");
        if (parts != NULL)
            slices_print(parts, by);
        return EXIT_DONE;
    }
    json_t *object = json_object(), *classes = json_array();
    for (size_t i = 0; gsa_metrics_class_at(metrics, i, &of) == GSA_OK; i++) {
        json_t *entry = json_object();
        json_object_set_new(entry, "label", report_text(gsa_model_label(model, i)));
        json_object_set_new(entry, "rows", rows_json(of.rows));
        json_object_set_new(entry, "predicted", rows_json(of.predicted));
        json_object_set_new(entry, "correct", rows_json(of.correct));
        json_object_set_new(entry, "precision", report_real(of.precision));
        json_object_set_new(entry, "recall", report_real(of.recall));
        json_object_set_new(entry, "f1", report_real(of.f1));
        json_array_append_new(classes, entry);
    }
    report_metrics_json(object, metrics);
    if (n_classes == 2)
        json_object_set_new(object, "positive_class", report_text(gsa_model_label(model, 1)));
    if (n_classes > 0)
        json_object_set(object, "classes", classes);
    json_decref(classes);
    if (parts != NULL) {
        json_object_set_new(object, "by", report_text(by));
        json_object_set_new(object, "slices", slices_json(parts));
    }
    json_object_set_new(object, "bad_rows", report_count(reading->n_bad_rows));
    json_object_set_new(object, "unlabelled_rows", report_count(reading->n_unlabelled));
    return report_print_json(object);
}

/* Says how many labels are unknown, after finish. */
static void tell_unknown(const gsa_metrics *metrics)
{
    char labels[MESSAGE_SIZE] = "";
    const char *label;
    gsa_metric rows, unknown;
    size_t n = 0;
    while (gsa_metrics_at(metrics, n, &unknown) == GSA_OK)
        n++;
    if (gsa_metrics_at(metrics, 0, &rows) != GSA_OK || strcmp(unknown.name, "unknown_labels") != 0)
        return;
    for (size_t i = 0; (label = gsa_metrics_unknown_label(metrics, i)) != NULL; i++)
        report_append(labels, sizeof labels, "%s'%.60s'", i > 0 ? ", " : "", label);
    note("note: the model does not know the labels of %.0f of %.0f rows (%.3g %%), such as %s: they count as wrong",
         unknown.value, rows.value, 100 * unknown.value / rows.value, labels);
}

/* Reads all rows for the metrics, and for those of their slices. */
static gsa_status add_all(gsa_metrics *metrics, slices *parts, gsa_reader *reader, const gsai_env *env,
                          gsa_error *error)
{
    gsa_batch rows;
    gsa_status status = GSA_OK;
    if (parts == NULL)
        return gsa_evaluate(metrics, reader, &env->call, error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &rows, error)) == GSA_OK) {
        status = gsa_metrics_update(metrics, &rows, error);
        if (status == GSA_OK)
            status = slices_add(parts, &rows, error);
    }
    return status == GSA_END ? slices_finish(parts, error) : status;
}

static int measure(const cli_arguments *arguments, const gsa_model *model, gsa_reader *reader, const gsai_env *env)
{
    gsa_error error = {0};
    gsa_metrics *metrics = NULL;
    slices *parts = arguments_given(arguments, "by") ? slices_new(model) : NULL;
    if (arguments_given(arguments, "by") && parts == NULL)
        return complain_failed("out of memory");
    interrupt_catch();
    gsa_status status = gsa_metrics_new(model, &metrics, &error);
    if (status == GSA_OK)
        status = add_all(metrics, parts, reader, env, &error);
    gsa_reader_progress reading = progress_of(reader);
    int code = EXIT_DONE;
    session_tell_recoded(reader);
    if (status == GSA_OK && reading.n_rows == 0)
        code = complain_failed("no rows in %s: nothing to evaluate; give a file with rows",
                               arguments->n_positional > 1 ? arguments->positional[1] : "the query");
    else if (status == GSA_OK)
        status = gsa_metrics_finish(metrics, &error);
    if (status != GSA_OK)
        code = complain_error(status, &error);
    if (code == EXIT_DONE) {
        tell_unknown(metrics);
        code = print_results(arguments, metrics, model, parts, &reading);
    }
    slices_free(parts);
    gsa_metrics_free(metrics);
    return code;
}

static int run_evaluate(const cli_arguments *arguments)
{
    gsai_env env = session_env(arguments);
    gsa_model *model = NULL;
    gsa_reader *reader = NULL;
    const gsa_reader_options wanted = {
        .without_weights = true, .without_offsets = true, .keep = arguments_text(arguments, "by")};
    int code = session_load_model(arguments->positional[0], &env, &model);
    if (code == EXIT_DONE)
        code = session_open_reader(arguments, &wanted, arguments->positional + 1, arguments->n_positional - 1, &env,
                                   &reader);
    if (code == EXIT_DONE)
        code = session_match(reader, gsa_model_schema(model), "by");
    const char *description = code == EXIT_DONE ? gsa_reader_description(reader) : NULL;
    if (description != NULL && strstr(description, ", rows lack their weights") != NULL)
        note("note: the rows lack the model's column of weights: each counts 1");
    if (code == EXIT_DONE)
        code = measure(arguments, model, reader, &env);
    gsa_reader_close(reader);
    gsa_model_free(model);
    return code;
}

const cli_verb evaluate_verb = {
    .name = "evaluate",
    .usage = "MODEL DATA... [OPTIONS]",
    .summary = "measure a model on labelled rows",
    .details =
        "Predicts every row of DATA, compares it with its label and prints metrics: log loss, accuracy, AUC and "
        "more for classes, errors for numbers. A label unknown to the model counts as wrong in log loss and "
        "accuracy; if all are unknown, nothing is printed but an error. Rows may lack the column of weights "
        "that training had, and then count 1 each; columns of exposures and offsets are needed, because "
        "labels are counts of the one and margins are measured from the other.\n\nWith two classes the second in the "
        "order of `inspect` is the positive one. Precision, "
        "recall, F1 and the confusion counts use the threshold of `predict` (probability 0.5, or margin 0); "
        "best_threshold gives the highest F1 on these rows. These metrics leave out labels unknown to the "
        "model. With more classes a table has rows, predicted rows, precision, recall and F1 per class.\n\n"
        "With --by COLUMN the rows of each value are measured too, or of each day if its cells have a date and a time: "
        "a table has their loss, and the means of labels (of the positive class: its share) and of predictions. The "
        "model need not know the column. With --json each slice has all metrics.",
    .examples = "greedystep evaluate my.model test.svm\n"
                "# how good it is, and what it predicts and finds, country by country\n"
                "greedystep evaluate clicks.model clicks.csv --by country\n"
                "# for a program\n"
                "greedystep evaluate my.model test.svm --json > metrics.json",
    .options = evaluate_options,
    .n_options = sizeof evaluate_options / sizeof *evaluate_options,
    .reads_data = true,
    .has_model = true,
    .positional = "MODEL and DATA",
    .run = run_evaluate,
};
