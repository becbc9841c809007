/* How a training run ends: five lines for people (what was learned, how good it is, how long it took, what limited it,
 * what to do next), or an object for programs. */
#include "train.h"

#include "interrupt.h"
#include "printable.h"
#include "report.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 256, ADVICE_SIZE = 160, FEW_ROWS = 100, MAX_BITS = 31 };

/* The loss as people know it: of squared loss the root of the mean squared error. */
static double measure(const char *loss, double value)
{
    (void)gsa_loss_measure(loss, &value);
    return value;
}

static const char *measure_name(const char *loss)
{
    double any = 0;
    const char *name = gsa_loss_measure(loss, &any);
    return name != NULL ? name : "loss";
}

double train_progressive_loss(const gsa_summary *summary)
{
    return summary->loss_weight > 0 ? summary->loss_sum / summary->loss_weight : summary->last_pass_loss;
}

uint64_t train_rows_held_out(const gsa_state *state, double held_out_loss)
{
    gsa_fingerprint rows;
    uint64_t n_held_out = summary_of(state).n_held_out;
    gsa_state_get_fingerprint(state, &rows);
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
    json_object_set_new(object, "held_out", report_count(train_rows_held_out(run->state, run->held_out_loss)));
    if (!isnan(run->held_out_loss))
        json_object_set_new(object, "held_out_loss", report_real(run->held_out_loss));
    json_object_set_new(object, "passes", report_count(summary->pass));
    json_object_set_new(object, "features", report_count(summary->n_features));
    json_object_set_new(object, "classes", report_count(summary->n_classes));
    json_object_set_new(object, "progressive_loss", report_real(train_progressive_loss(summary)));
    json_object_set_new(object, "mean_step", report_real(summary->step));
    if (summary->n_features_full > 0)
        json_object_set_new(object, "compact",
                            json_pack("{s:I, s:I, s:f, s:f, s:f}", "features_before",
                                      (json_int_t)summary->n_features_full, "features",
                                      (json_int_t)summary->n_features_kept, "loss_before", summary->full_loss, "loss",
                                      summary->compact_loss, "standard_error", summary->compact_error));
    json_object_set_new(object, "bad_rows", report_count(run->n_bad_rows));
    json_object_set_new(object, "unlabelled_rows", report_count(run->reading.n_unlabelled));
    if (!isnan(run->collision_rate))
        json_object_set_new(object, "colliding", report_real(run->collision_rate));
    json_object_set_new(object, "seconds", report_real(run->seconds));
    json_object_set_new(object, "stopped", json_boolean(run->stopped));
    if (run->test->results != NULL)
        json_object_set(object, "test", run->test->results);
    return report_print_json(object);
}

/* ---- what limited the run, and what to do next: only what the run has found out, most serious first ------------- */

static const double min_collision_rate = 0.1; /* share of the words */
static const double min_gap = 0.02;           /* between two losses, as a share */

typedef struct train_advice {
    char limit[ADVICE_SIZE];
    char next[ADVICE_SIZE];         /* "": a command, which has three parts */
    const char *verb, *path, *what; /* what: behind the path */
} train_advice;

static bool say(char *into, const char *format, ...) CLI_PRINTF(2, 3);
static bool say(char *into, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(into, ADVICE_SIZE, format, arguments);
    va_end(arguments);
    return true;
}

static bool of_stop(const train_outcome *run, train_advice *out)
{
    if (!run->stopped)
        return false;
    say(out->next, "run the same command with --resume to continue");
    return say(out->limit, "%s, at row %" PRIu64 " of pass %" PRIu64,
               interrupt_signal() == SIGINT    ? "Ctrl-C"
               : interrupt_signal() == SIGTERM ? "a signal to end (SIGTERM)"
                                               : "the end of the terminal session (SIGHUP)",
               run->summary.pass_rows, run->summary.pass + 1);
}

/* So many that fewer than half of min_collision_rate share one. */
static unsigned enough_bits(const train_outcome *run)
{
    unsigned bits = run->schema.bits;
    for (double share = run->collision_rate; share > min_collision_rate / 2 && bits < MAX_BITS; share /= 2)
        bits++;
    return bits;
}

static bool of_input(const train_outcome *run, train_advice *out)
{
    if (run->summary.n_classes == 1) {
        say(out->next, "add rows of other classes, or name the right column (--label)");
        return say(out->limit, "the labels: all rows have the same one");
    }
    if (run->is_sorted) {
        say(out->next, "shuffle the rows and train again");
        return say(out->limit, "the order of the rows: they seem to be sorted by label");
    }
    if (run->collision_rate > min_collision_rate && run->schema.bits < MAX_BITS) {
        say(out->next, "train again with --bits %u", enough_bits(run));
        return say(out->limit, "hashing: about %.3g %% of the words share a feature with another",
                   100 * run->collision_rate);
    }
    return false;
}

/* A linear model that is no better than a guess: the features do not tell the label, or not in this form. */
static bool of_features(const train_outcome *run, train_advice *out)
{
    if (!(run->held_out_loss > (1 - min_gap) * run->constant_loss))
        return false;
    out->verb = "inspect";
    out->path = gsa_reader_file(run->reader, 0);
    out->what = "";
    return say(out->limit, "the features: hardly better than %s alone",
               run->summary.n_classes == 0 ? "the mean" : "the class shares");
}

/* Rows that are learned once, as they come. */
static bool of_one_pass(const train_outcome *run, train_advice *out)
{
    bool is_asked = run->passes_asked == 1;
    if (isnan(run->summary.falling))
        return false;
    if (run->summary.falling <= GSA_MIN_GAIN)
        return say(out->limit, "the features: the loss had stopped falling");
    if (run->reading.is_stream) {
        say(out->next, "give more rows, or train on a file, which can be read again");
        return say(out->limit, "the stream: it ended while the loss was still falling");
    }
    say(out->next,
        is_asked ? "train again without --passes, which makes as many as help" : "train again with --passes 2");
    return say(out->limit, "%s: the loss was still falling",
               is_asked ? "--passes 1" : "the rows, too many for a second pass without --passes");
}

static bool of_optimum(const train_outcome *run, train_advice *out)
{
    double learned = measure(run->summary.loss, train_progressive_loss(&run->summary));
    double held_out = measure(run->summary.loss, run->held_out_loss);
    if (run->summary.n_features_kept < run->summary.n_features_full)
        return say(out->limit, "the features that --compact kept");
    if (learned < (1 - min_gap) * held_out)
        return say(out->limit, "the rows: %s %.4g on those learned, %.4g on others; more may help",
                   measure_name(run->summary.loss), learned, held_out);
    return say(out->limit, "the features: more rows would hardly help");
}

static bool of_passes(const train_outcome *run, train_advice *out)
{
    const gsa_summary *summary = &run->summary;
    double learned = measure(summary->loss, train_progressive_loss(summary));
    double held_out = measure(summary->loss, run->held_out_loss);
    bool has_gained = summary->best_pass == 0 || summary->best_pass == summary->pass;
    if (run->passes_asked > 0)
        return say(out->limit, "--passes %" PRIu64 ", as asked for", run->passes_asked);
    if (isnan(held_out))
        return say(out->limit, "%" PRIu64 " passes: no rows were held out", summary->pass);
    if (has_gained && summary->pass > 0 && summary->pass >= gsa_plan_passes(run->n_rows / summary->pass)) {
        say(out->next, "train again with --passes %" PRIu64, 2 * summary->pass);
        return say(out->limit, "%" PRIu64 " passes, the most without --passes: the held-out loss was still falling",
                   summary->pass);
    }
    if (summary->pass > 1 && learned < (1 - min_gap) * held_out)
        return say(out->limit, "the rows: %s %.4g on those learned, %.4g on others; more may help",
                   measure_name(summary->loss), learned, held_out);
    return say(out->limit, "the features: another pass gained nothing on held-out rows");
}

static bool of_rows(const train_outcome *run, train_advice *out)
{
    uint64_t n = run->summary.pass > 0 ? run->n_rows / run->summary.pass : run->n_rows;
    return n < FEW_ROWS && say(out->limit, "the rows: only %" PRIu64 "; more may help", n);
}

static train_advice advise(const train_outcome *run)
{
    train_advice advice = {.verb = "evaluate", .path = run->model_path, .what = " TEST_DATA"};
    if (run->test->results != NULL)
        advice = (train_advice){.verb = "predict", .path = run->model_path, .what = " NEW_DATA"};
    bool is_once = run->reading.is_stream || run->passes_asked == 1 || run->summary.best_pass == 1;
    if (of_stop(run, &advice) || of_input(run, &advice) || of_rows(run, &advice) || of_features(run, &advice) ||
        (is_optimum(run->summary.method) && of_optimum(run, &advice)) ||
        (run->summary.pass <= 1 && is_once && of_one_pass(run, &advice)))
        return advice;
    if (run->reading.is_stream)
        say(advice.limit, "the stream: too few rows to tell whether more would help");
    else
        of_passes(run, &advice);
    return advice;
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
        report_append(line, LINE_SIZE, ", %" PRIu64 " number and %" PRIu64 " word column%s", schema->n_numbers,
                      schema->n_words, plural(schema->n_words, "s"));
}

/* Which method ran, and why. */
static void append_method(const train_outcome *run, char line[LINE_SIZE])
{
    const char *why = "as asked for";
    if (run->chosen_by == NULL)
        why = is_optimum(run->summary.method) ? "they fit in memory"
              : run->reading.is_stream        ? "a stream"
                                              : "more than fits in memory";
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
    if (run->stopped || summary->pass == 0) /* 0: a stream that may go on */
        report_append(line, LINE_SIZE, ", %" PRIu64 " rows", run->stopped ? run->n_rows : summary->pass_rows);
    else if (is_optimum(run->summary.method))
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
    if (run->reading.n_unlabelled > 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " without a label left out", run->reading.n_unlabelled);
    append_method(run, line);
    report_field("learned", "%s", line);
}

static void print_quality(const train_outcome *run)
{
    const char *loss = run->summary.loss;
    char line[LINE_SIZE] = "";
    if (isnan(run->held_out_loss)) {
        report_append(line, LINE_SIZE, "progressive %s %.6g", measure_name(loss),
                      measure(loss, train_progressive_loss(&run->summary)));
    } else {
        report_append(line, LINE_SIZE, "held-out %s %.6g", measure_name(loss), measure(loss, run->held_out_loss));
    }
    if (!isnan(run->constant_loss))
        report_append(line, LINE_SIZE, " (%s alone: %.4g)", run->summary.n_classes == 0 ? "the mean" : "class shares",
                      measure(loss, run->constant_loss));
    report_field("how good", "%s", line);
    train_test_report(run->test);
}

/* Returns the bytes that the weights of so many features take in a model: all, or those and their numbers. */
static double weights_size(const gsa_summary *summary, uint64_t n_features)
{
    double n_outputs = summary->n_classes > 2 ? (double)summary->n_classes : 1;
    return 4 * fmin((double)summary->n_features * n_outputs, (double)n_features * (n_outputs + 1));
}

static void print_compact(const train_outcome *run)
{
    const gsa_summary *summary = &run->summary;
    const char *loss = summary->loss;
    double full = measure(loss, summary->full_loss);
    if (summary->n_features_full > 0)
        report_field("compact",
                     "%" PRIu64 " of %" PRIu64 " features kept, %.3g kB of weights instead of %.3g; held-out %s "
                     "%.6g instead of %.6g (standard error %.2g)",
                     summary->n_features_kept, summary->n_features_full,
                     weights_size(summary, summary->n_features_kept) / 1e3,
                     weights_size(summary, summary->n_features_full) / 1e3, measure_name(loss),
                     measure(loss, summary->compact_loss), full,
                     measure(loss, summary->full_loss + summary->compact_error) - full);
    else if (strcmp(gsa_state_get(run->state, "compact"), "on") == 0 && !run->stopped)
        report_field("compact", "nothing dropped: %s",
                     is_optimum(run->summary.method) ? "too few rows to hold some out" : "too few held-out rows");
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
    train_advice advice = advise(run);
    print_learned(run);
    print_quality(run);
    print_compact(run);
    report_field("how long", "%.2f s (%.0f rows/s), %.0f MB of memory", run->seconds,
                 (double)run->n_new_rows / fmax(run->seconds, 1e-9), (double)run->peak_memory / 1e6);
    report_field("limited by", "%s", advice.limit);
    print_next(&advice);
    return EXIT_DONE;
}
