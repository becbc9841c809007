/* --trace: the lines of a run. */
#include "trace.h"

#include "message.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "session.h"
#include "train.h"
#include "views.h"

#include "base/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Lines of progress lie at least this share of all rows apart: some 200 for a million rows, 500 for a billion. */
static const double rows_apart = 0.025;

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static json_t *new_event(const char *name)
{
    json_t *event = json_object();
    json_object_set_new(event, "event", json_string(name));
    return event;
}

/* Writes a line with an event, which is released. */
static void write_line(cli_trace *trace, json_t *event)
{
    bool written = trace->stream != NULL && !trace->failed;
    if (written) {
        errno = ENOMEM; /* of what fails without a reason */
        written = report_json_is_whole() && json_dumpf(event, trace->stream, JSON_REAL_PRECISION(9)) == 0 &&
                  fputc('\n', trace->stream) != EOF && fflush(trace->stream) == 0 && !ferror(trace->stream);
        if (!written)
            complain("cannot write %s: %s; the run continues without a trace, and its exit code will be 1", trace->path,
                     strerror(errno));
        trace->failed = !written;
    }
    json_decref(event);
}

/* Ends an event with the time. */
static void write_timed(cli_trace *trace, json_t *event)
{
    json_object_set_new(event, "seconds", report_real(progress_clock() - trace->began));
    write_line(trace, event);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

int trace_check(const cli_arguments *arguments)
{
    const char *path = arguments_text(arguments, "trace");
    const char *model = arguments_text(arguments, "output");
    if (path == NULL)
        return EXIT_DONE;
    if (strcmp(path, "-") == 0)
        return complain_usage("--trace cannot go to standard output, which has the summary; give a file name");
    char *state = session_state_path(model);
    if (state == NULL)
        return EXIT_FAILED;
    bool is_result = strcmp(path, model) == 0 || strcmp(path, state) == 0;
    free(state);
    if (is_result)
        return complain_usage("--trace %s is the model or its state; give another name", path);
    int code = session_check_not_input(arguments, "--trace", path);
    return code == EXIT_DONE ? output_check_place(path) : code;
}

int trace_open(cli_trace *trace, const cli_arguments *arguments)
{
    trace->path = arguments_text(arguments, "trace");
    trace->began = trace->stage_began = progress_clock();
    if (trace->path == NULL)
        return EXIT_DONE;
    /* A run that was killed may have left a part of a line. */
    bool resumes = arguments_flag(arguments, "resume");
    FILE *before = resumes ? fopen(trace->path, "rb") : NULL;
    bool is_cut = before != NULL && fseek(before, -1, SEEK_END) == 0 && fgetc(before) != '\n';
    if (before != NULL)
        fclose(before);
    trace->stream = output_open_log(trace->path, resumes);
    if (trace->stream == NULL)
        return EXIT_FAILED;
    if (is_cut)
        fputc('\n', trace->stream); /* goes out, or fails, with the first line */
    return EXIT_DONE;
}

int trace_close(cli_trace *trace, int code)
{
    if (trace->stream == NULL)
        return code;
    if (!trace->ended)
        trace_fail(trace, "the run ended before the learning");
    fclose(trace->stream); /* every line is flushed */
    trace->stream = NULL;
    return trace->failed && code == EXIT_DONE ? EXIT_FAILED : code;
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static json_t *file_json(const char *path)
{
    struct stat found;
    json_t *object = json_object();
    json_object_set_new(object, "path", report_text(path));
    bool is_file = strcmp(path, "-") != 0 && stat(path, &found) == 0 && S_ISREG(found.st_mode);
    json_object_set_new(object, "bytes", is_file ? report_count((uint64_t)found.st_size) : json_null());
    return object;
}

void trace_start(cli_trace *trace, const cli_arguments *arguments, const gsa_state *state, const gsa_reader *reader)
{
    if (trace->stream == NULL)
        return;
    gsa_summary summary = summary_of(state);
    trace->rows = summary.n_rows_all;
    trace->next_rows = trace->rows;
    recent_begin(&trace->recent, state, &summary);
    trace->recent_published = trace->recent;
    const char *sql = arguments_text(arguments, "sql"), *test = arguments_text(arguments, "test");
    const char *description = gsa_reader_description(reader), *name, *value;
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) != NULL)
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_t *words = json_array(), *versions = json_object(), *files = json_array(), *parameters = json_object();
    for (int i = 0; i < arguments->argc; i++)
        json_array_append_new(words, report_text(arguments->argv[i]));
    json_object_set_new(versions, "greedystep", json_string(gsa_version()));
    for (size_t i = 0; (name = gsa_codec_at(i, &value)) != NULL; i++)
        json_object_set_new(versions, name, value != NULL ? json_string(value) : json_null());
    json_object_set_new(versions, "jansson", json_string(JANSSON_VERSION));
    for (size_t i = 0; i < arguments->n_positional; i++)
        json_array_append_new(files, file_json(arguments->positional[i]));
    for (size_t i = 0; gsa_param_at(i) != NULL; i++) {
        name = gsa_param_at(i)->name;
        value = gsa_state_get(state, name);
        json_object_set_new(parameters, name, value != NULL ? report_text(value) : json_null());
    }
    json_t *event = new_event("start");
    json_object_set_new(event, "trace", json_integer(1));
    json_object_set_new(event, "date", json_string(date));
    json_object_set_new(event, "command", words);
    json_object_set_new(event, "versions", versions);
    json_object_set_new(event, "processors", json_integer((json_int_t)gsai_os_processors()));
    json_object_set_new(event, "threads", json_string(arguments_text(arguments, "threads")));
    json_object_set_new(event, "data", files);
    if (sql != NULL)
        json_object_set_new(event, "sql", report_text(sql));
    json_object_set_new(event, "test", test != NULL ? file_json(test) : json_null());
    json_object_set_new(event, "understood", description != NULL ? report_text(description) : json_null());
    json_object_set_new(event, "model", report_text(arguments_text(arguments, "output")));
    json_object_set_new(event, "resumed", json_boolean(arguments_flag(arguments, "resume")));
    json_object_set_new(event, "rows_before", report_count(trace->rows));
    json_object_set_new(event, "parameters", parameters);
    write_line(trace, event);
    trace_stage(trace, "begin");
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

void trace_progress(cli_trace *trace, const gsa_state *learner, const gsa_summary *summary, const gsa_state *state)
{
    if (trace->stream == NULL)
        return;
    gsa_summary base = summary_of(state);
    recent_add(&trace->recent, learner, summary, learner != state ? &base : NULL);
    recent_add(&trace->recent_published, learner, summary, learner != state ? &base : NULL);
    if (!trace->has_learned)
        trace_stage(trace, "first_rows");
    trace->has_learned = true;
    trace->rows = summary->n_rows_all;
    if (trace->rows < trace->next_rows)
        return;
    trace->next_rows = trace->rows + (uint64_t)(rows_apart * (double)trace->rows) + 1;
    json_t *event = new_event("progress");
    json_object_set_new(event, "rows", report_count(trace->rows));
    json_object_set_new(event, "pass", report_count(summary->pass + 1));
    json_object_set_new(event, "progressive_loss", report_real(summary->loss_sum / summary->loss_weight));
    json_object_set_new(event, "recent_loss", report_real(recent_take(&trace->recent)));
    json_object_set_new(event, "step", report_real(summary->step));
    write_timed(trace, event);
}

void trace_pass(cli_trace *trace, const gsa_state *state, const json_t *test, double test_began)
{
    if (trace->stream == NULL)
        return;
    gsa_summary summary = summary_of(state);
    trace->test_seconds += test != NULL ? progress_clock() - test_began : 0;
    if (is_optimum(summary.method)) /* which reports no row before its end */
        trace->rows = summary.n_rows;
    json_t *event = new_event("pass");
    json_object_set_new(event, "pass", report_count(summary.pass));
    json_object_set_new(event, "rows", report_count(trace->rows));
    json_object_set_new(event, "rows_learned", report_count(summary.n_rows));
    json_object_set_new(event, "progressive_loss", report_real(summary.last_pass_loss));
    json_object_set_new(event, "held_out_loss", report_real(gsa_state_held_out_loss(state)));
    json_object_set_new(event, "step", report_real(summary.step));
    json_object_set_new(event, "test", test != NULL ? json_deep_copy(test) : json_null());
    write_timed(trace, event);
}

void trace_round(cli_trace *trace, const gsa_round_report *report)
{
    if (trace->stream == NULL)
        return;
    json_t *event = new_event("round");
    json_object_set_new(event, "shards", report_count(report->n_shards));
    json_object_set_new(event, "rows", report_count(report->n_rows));
    json_object_set_new(event, "mine", report_count(report->n_mine));
    json_object_set_new(event, "fewest", report_count(report->n_fewest));
    json_object_set_new(event, "fork", report_real(report->forking));
    json_object_set_new(event, "learn", report_real(report->learning));
    json_object_set_new(event, "wait", report_real(report->waiting));
    json_object_set_new(event, "merge", report_real(report->merging));
    json_object_set_new(event, "sent", report_count(report->bytes_sent));
    write_timed(trace, event);
}

void trace_notice(cli_trace *trace, const char *text)
{
    json_t *event = new_event("notice");
    json_object_set_new(event, "text", report_text(text));
    write_line(trace, event);
}

void trace_published(cli_trace *trace, const gsa_state *state, double began)
{
    if (trace->stream == NULL)
        return;
    gsa_summary summary = summary_of(state);
    json_t *event = new_event("published");
    json_object_set_new(event, "rows", report_count(summary.pass_rows));
    json_object_set_new(event, "position", report_text(gsa_state_position(state)));
    json_object_set_new(event, "progressive_loss", report_real(summary.loss_sum / summary.loss_weight));
    json_object_set_new(event, "recent_loss", report_real(recent_take(&trace->recent_published)));
    json_object_set_new(event, "saving", report_real(progress_clock() - began));
    write_timed(trace, event);
}

static void write_stage(cli_trace *trace, const char *name, double seconds)
{
    json_t *event = new_event("stage");
    json_object_set_new(event, "stage", json_string(name));
    json_object_set_new(event, "seconds", report_real(seconds));
    write_line(trace, event);
}

void trace_stage(cli_trace *trace, const char *name)
{
    double now = progress_clock();
    write_stage(trace, name, now - trace->stage_began);
    trace->stage_began = now;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Bytes that the process had at the most; 0 where the system does not tell. */
static uint64_t peak_memory(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
#ifdef __APPLE__
    return (uint64_t)usage.ru_maxrss;
#else
    return (uint64_t)usage.ru_maxrss * 1024;
#endif
}

void trace_learned(cli_trace *trace)
{
    trace->peak_memory = peak_memory();
    trace->stage_began += trace->test_seconds;
    trace_stage(trace, "learn");
    if (trace->test_seconds > 0)
        write_stage(trace, "test", trace->test_seconds);
}

void trace_end(cli_trace *trace, const train_outcome *run)
{
    const gsa_summary summary = run->summary;
    json_t *event = new_event("end");
    json_object_set_new(event, "status", json_string(run->stopped ? "stopped" : "done"));
    json_object_set_new(event, "loss", json_string(summary.loss));
    json_object_set_new(event, "rows", report_count(summary.n_rows));
    json_object_set_new(event, "held_out", report_count(train_rows_held_out(run->state, run->held_out_loss)));
    json_object_set_new(event, "passes", report_count(summary.pass));
    json_object_set_new(event, "progressive_loss", report_real(train_progressive_loss(&summary)));
    report_results_json(event, run->model);
    json_object_set_new(event, "held_out_loss", report_real(run->held_out_loss));
    json_object_set_new(event, "step", report_real(summary.step));
    json_object_set_new(event, "bad_rows", report_count(run->reading.n_bad_rows));
    json_object_set_new(event, "peak_memory", report_count(trace->peak_memory));
    write_timed(trace, event);
    trace->ended = true;
}

void trace_fail(cli_trace *trace, const char *message)
{
    json_t *event = new_event("end");
    json_object_set_new(event, "status", json_string("failed"));
    json_object_set_new(event, "message", report_text(message));
    write_timed(trace, event);
    trace->ended = true;
}
