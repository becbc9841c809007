/* `greedystep evaluate`: how good a model is on rows whose labels are known. */
#include "interrupt.h"
#include "message.h"
#include "report.h"
#include "session.h"
#include "verbs.h"
#include "views.h"

#include <greedystep/train.h>

#include <inttypes.h>

static const cli_option evaluate_options[] = {
    {"json", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "print the metrics as one JSON object"},
};

static int print_results(const cli_arguments *arguments, const gsa_metrics *metrics, const gsa_reader_progress *reading)
{
    if (!arguments_flag(arguments, "json")) {
        report_metrics(metrics);
        if (reading->n_bad_rows > 0)
            report_field("bad_rows", "%" PRIu64, reading->n_bad_rows);
        return EXIT_DONE;
    }
    json_t *object = json_object();
    report_metrics_json(object, metrics);
    json_object_set_new(object, "bad_rows", report_count(reading->n_bad_rows));
    return report_print_json(object);
}

static int measure(const cli_arguments *arguments, const gsa_model *model, gsa_reader *reader, const gsa_env *env)
{
    gsa_error error = {0};
    gsa_metrics *metrics = NULL;
    interrupt_catch();
    gsa_status status = gsa_metrics_new(model, &metrics, &error);
    if (status == GSA_OK)
        status = gsa_evaluate(metrics, reader, &env->call, &error);
    gsa_reader_progress reading = progress_of(reader);
    int code = EXIT_DONE;
    if (status == GSA_OK && reading.n_rows == 0)
        code = complain_failed("no rows in %s: nothing to evaluate; give a file with rows",
                               arguments->n_positional > 1 ? arguments->positional[1] : "the query");
    else if (status == GSA_OK)
        status = gsa_metrics_finish(metrics, &error);
    if (status != GSA_OK)
        code = complain_error(status, &error);
    else if (code == EXIT_DONE)
        code = print_results(arguments, metrics, &reading);
    gsa_metrics_free(metrics);
    return code;
}

static int run_evaluate(const cli_arguments *arguments)
{
    gsa_env env = session_env(arguments);
    gsa_model *model = NULL;
    gsa_reader *reader = NULL;
    int code = session_load_model(arguments->positional[0], &env, &model);
    if (code == EXIT_DONE)
        code = session_open_reader(arguments, arguments->positional + 1, arguments->n_positional - 1, &env, &reader);
    if (code == EXIT_DONE)
        code = session_match(reader, gsa_model_schema(model));
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
    .details = "Predicts every row of DATA, compares it with its label and prints metrics: log loss, accuracy, AUC and "
               "more for classes, errors for values. A label that the model does not know counts as wrong.",
    .examples = "greedystep evaluate my.model test.svm\n"
                "# for a program\n"
                "greedystep evaluate my.model test.svm --json > metrics.json",
    .options = evaluate_options,
    .n_options = sizeof evaluate_options / sizeof *evaluate_options,
    .reads_data = true,
    .has_model = true,
    .positional = "MODEL and DATA",
    .min_positional = 2,
    .max_positional = SIZE_MAX,
    .run = run_evaluate,
};
