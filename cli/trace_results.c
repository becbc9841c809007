/* --trace: what came out of a run. The model and how well it predicts rows of the test file, all of them, and the first
 * rows that it has learned, where they can be read again. */
#include "message.h"
#include "report.h"
#include "strongest.h"
#include "trace.h"
#include "trace_rows.h"
#include "views.h"

enum { STRONGEST_TOLD = 50, LABELS_TOLD = 1000 };

static void tell_model(cli_trace *trace, const gsa_model *model)
{
    strongest found;
    gsa_model_info info = info_of(model);
    if (!strongest_find(model, STRONGEST_TOLD, 0, &found))
        return;
    json_t *event = trace_event("model");
    json_object_set_new(event, "loss", json_string(info.loss));
    json_object_set_new(event, "method", json_string(info.method));
    json_object_set_new(event, "average", json_string(info.average));
    json_object_set_new(event, "features", report_count(info.n_features));
    json_object_set_new(event, "features_used", report_count(found.n_used));
    json_object_set_new(event, "outputs", report_count(info.n_outputs));
    json_object_set_new(event, "classes", report_count(info.n_classes));
    json_object_set_new(event, "labels", report_labels(model, LABELS_TOLD));
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
static void look(cli_trace *trace, const char *which, const gsa_model *model, gsa_reader *reader, uint64_t most_rows,
                 const gsa_env *env)
{
    gsa_error error = {0};
    json_t *rows = NULL, *evaluation = NULL;
    if (reader == NULL)
        return;
    if (progress_of(reader).is_stream)
        return;
    gsa_status status = gsa_reader_rewind(reader, &error);
    if (status == GSA_OK)
        status = trace_rows_look(reader, model, most_rows, env, &rows, &evaluation, &error);
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
    look(trace, "test", model, test, TRACE_ROWS_ALL, env);
    look(trace, "training", model, training, TRACE_ROWS_SOME, env);
    gsa_model_free(model);
    trace_stage(trace, "evaluate");
}
