/* --test: evaluates the model on another file after every pass. */
#include "message.h"
#include "report.h"
#include "session.h"
#include "train.h"
#include "views.h"

#include <greedystep/train.h>

#include <stdio.h>

int train_test_open(const cli_arguments *arguments, const gsai_env *env, train_test *out)
{
    *out = (train_test){.path = arguments_text(arguments, "test")};
    if (out->path == NULL)
        return EXIT_DONE;
    out->results = json_array();
    gsa_reader_options wanted = {
        .remember_names = true, .keep = arguments_text(arguments, "position"), .without_offsets = true};
    int code = session_open_reader(arguments, &wanted, &out->path, 1, env, &out->reader);
    if (code != EXIT_DONE)
        return code;
    if (progress_of(out->reader).is_stream)
        return complain_failed("--test %s: a stream can be read only once; give a file", out->path);
    return EXIT_DONE;
}

gsa_status train_test_run(train_test *test, const gsa_state *state, const gsai_env *env, cli_progress *progress,
                          gsa_error *error)
{
    gsa_summary summary = summary_of(state);
    gsa_model *model = NULL;
    gsa_metrics *metrics = NULL;
    if (test->reader == NULL || summary.n_rows == 0)
        return GSA_OK;
    gsa_status status = progress_of(test->reader).n_rows > 0 ? gsa_reader_rewind(test->reader, error) : GSA_OK;
    if (status == GSA_OK)
        status = gsa_state_finish(state, &env->call, &model, error);
    if (status == GSA_OK)
        status = gsa_metrics_new(model, &metrics, error);
    if (status == GSA_OK)
        status = gsa_evaluate(metrics, test->reader, &env->call, error);
    if (status == GSA_OK)
        status = gsa_metrics_finish(metrics, error);
    if (status == GSA_OK) { /* a line on stderr, and the object of --json */
        char results[256];
        progress_say(progress, "pass %llu  test  %s", (unsigned long long)summary.pass,
                     report_headlines(metrics, "  ", results, sizeof results));
        report_headlines(metrics, ", ", test->last, sizeof test->last);
        json_t *object = json_object();
        json_object_set_new(object, "pass", report_count(summary.pass));
        report_metrics_json(object, metrics);
        json_array_append_new(test->results, object);
    }
    gsa_metrics_free(metrics);
    gsa_model_free(model);
    return status;
}

void train_test_close(train_test *test)
{
    gsa_reader_close(test->reader);
    json_decref(test->results);
}
