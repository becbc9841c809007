/* How a training run ends: five lines for people (what was learned, how good it is, how long it took, what limited it,
 * what to do next), or an object for programs. */
#include "train.h"

#include "printable.h"
#include "report.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 256 };

double train_measure(const char *loss, double value)
{
    (void)gsa_loss_measure(loss, &value);
    return value;
}

const char *train_measure_name(const char *loss)
{
    double any = 0;
    const char *name = gsa_loss_measure(loss, &any);
    return name != NULL ? name : "loss";
}

double train_progressive_loss(const gsa_summary *summary)
{
    return summary->loss_weight > 0 ? summary->loss_sum / summary->loss_weight : summary->last_pass_loss;
}

uint64_t train_rows_judged(const gsa_state *state, double held_out_loss)
{
    gsa_fingerprint rows;
    uint64_t n_held_out = summary_of(state).n_held_out;
    gsa_state_fingerprint(state, &rows);
    return n_held_out > 0 || isnan(held_out_loss) ? n_held_out : rows.n_rows;
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

static int print_json(const train_outcome *run)
{
    const gsa_summary *summary = &run->summary;
    json_t *object = json_object();
    json_object_set_new(object, "model", report_text(run->model_path));
    json_object_set_new(object, "method", json_string(summary->method));
    json_object_set_new(object, "loss", json_string(summary->loss));
    json_object_set_new(object, "rows", report_count(run->n_rows));
    json_object_set_new(object, "held_out", report_count(train_rows_judged(run->state, run->held_out_loss)));
    if (!isnan(run->held_out_loss))
        json_object_set_new(object, "held_out_loss", report_real(run->held_out_loss));
    json_object_set_new(object, "passes", report_count(summary->pass));
    json_object_set_new(object, "features", report_count(summary->n_features));
    json_object_set_new(object, "classes", report_count(summary->n_classes));
    json_object_set_new(object, "progressive_loss", report_real(train_progressive_loss(summary)));
    json_object_set_new(object, "mean_step", report_real(summary->step));
    json_object_set_new(object, "bad_rows", report_count(run->n_bad_rows));
    if (!isnan(run->collision_rate))
        json_object_set_new(object, "colliding", report_real(run->collision_rate));
    json_object_set_new(object, "seconds", report_real(run->seconds));
    json_object_set_new(object, "stopped", json_boolean(run->stopped));
    if (run->test->results != NULL)
        json_object_set(object, "test", run->test->results);
    return report_print_json(object);
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static const char *plural(uint64_t n, const char *ending)
{
    return n == 1 ? "" : ending;
}

/* A table by its columns: the highest number of a hashed word says nothing. */
static void append_features(const train_outcome *run, char line[LINE_SIZE])
{
    const gsa_schema_info *schema = &run->schema;
    const char *text = gsa_reader_schema(run->reader);
    if (text == NULL)
        report_append(line, LINE_SIZE, ", %" PRIu64 " feature%s", run->summary.n_features,
                      plural(run->summary.n_features, "s"));
    else if (strstr(text, "\ncolumns namespaces\n") != NULL)
        report_append(line, LINE_SIZE, ", features hashed to %u bits", schema->bits);
    else if (schema->n_words == 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " number column%s", schema->n_numbers,
                      plural(schema->n_numbers, "s"));
    else if (schema->n_numbers == 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " word column%s", schema->n_words, plural(schema->n_words, "s"));
    else
        report_append(line, LINE_SIZE, ", %" PRIu64 " number and %" PRIu64 " word columns", schema->n_numbers,
                      schema->n_words);
}

static bool is_solved(const train_outcome *run)
{
    return strcmp(run->summary.method, "optimum") == 0;
}

/* Which method ran, and why. */
static void append_method(const train_outcome *run, char line[LINE_SIZE])
{
    const char *why = "as asked for";
    if (run->chosen_by == NULL)
        why = is_solved(run) ? "they fit in memory" : run->reading.is_stream ? "a stream" : "more than fits in memory";
    if (run->chosen_by != NULL && strcmp(run->chosen_by, "method") != 0)
        report_append(line, LINE_SIZE, "; %s, for --%s", run->summary.method, run->chosen_by);
    else
        report_append(line, LINE_SIZE, "; %s: %s", run->summary.method, why);
}

static void print_learned(const train_outcome *run)
{
    const gsa_summary *summary = &run->summary;
    char line[LINE_SIZE] = "";
    report_append(line, LINE_SIZE, "%s", summary->loss);
    if (summary->n_classes > 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " class%s", summary->n_classes, plural(summary->n_classes, "es"));
    append_features(run, line);
    if (run->stopped)
        report_append(line, LINE_SIZE, ", %" PRIu64 " rows", run->n_rows);
    else if (is_solved(run))
        report_append(line, LINE_SIZE, ", %" PRIu64 " row%s", run->n_rows, plural(run->n_rows, "s"));
    else if (run->n_input_rows > 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " pass%s over %" PRIu64 " row%s", summary->pass,
                      plural(summary->pass, "es"), run->n_input_rows, plural(run->n_input_rows, "s"));
    else
        report_append(line, LINE_SIZE, ", %" PRIu64 " rows in %" PRIu64 " pass%s", run->n_rows, summary->pass,
                      plural(summary->pass, "es"));
    if (run->n_bad_rows > 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " bad row%s skipped", run->n_bad_rows,
                      plural(run->n_bad_rows, "s"));
    append_method(run, line);
    report_field("learned", "%s", line);
}

static void print_quality(const train_outcome *run)
{
    const char *loss = run->summary.loss;
    char line[LINE_SIZE] = "";
    if (isnan(run->held_out_loss)) {
        report_append(line, LINE_SIZE, "progressive %s %.6g", train_measure_name(loss),
                      train_measure(loss, train_progressive_loss(&run->summary)));
    } else {
        report_append(line, LINE_SIZE, "held-out %s %.6g", train_measure_name(loss),
                      train_measure(loss, run->held_out_loss));
    }
    if (!isnan(run->constant_loss))
        report_append(line, LINE_SIZE, " (%s alone: %.4g)", run->summary.n_classes == 0 ? "the mean" : "class shares",
                      train_measure(loss, run->constant_loss));
    report_field("how good", "%s", line);
    train_test_report(run->test);
}

/* A command where there is one. */
static void print_next(const train_advice *advice)
{
    report_name("next");
    fputs(advice->next, stdout);
    if (advice->next[0] == '\0') {
        printf("greedystep %s ", advice->verb);
        printable_put_word(stdout, advice->path);
        fputs(advice->what, stdout);
    }
    putchar('\n');
}

int train_summary_print(const train_outcome *run, bool as_json)
{
    if (as_json)
        return print_json(run);
    train_advice advice = train_advise(run);
    print_learned(run);
    print_quality(run);
    report_field("how long", "%.2f s (%.0f rows/s), %.0f MB of memory", run->seconds,
                 (double)run->n_new_rows / fmax(run->seconds, 1e-9), (double)run->peak_memory / 1e6);
    report_field("limited by", "%s", advice.limit);
    print_next(&advice);
    return EXIT_DONE;
}
