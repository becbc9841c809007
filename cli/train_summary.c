/* The summary of a training run: lines for people (model, quality, time, limit, next), or an object for programs. */
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

enum { LINE_SIZE = 512, ADVICE_SIZE = 160, FEW_ROWS = 100, MAX_BITS = 31 };

static double measure(const char *loss, double value)
{
    report_measure(loss, &value);
    return value;
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

/* Returns the name of the date in whose order the rows came. */
static const char *order_column(const train_outcome *run)
{
    const char *name = gsa_reader_name(run->reader, run->summary.order_feature);
    return name != NULL ? name : "";
}

static int print_json(const train_outcome *run)
{
    const gsa_summary *summary = &run->summary;
    json_t *object = json_object();
    json_object_set_new(object, "model", report_text(run->model_path));
    json_object_set_new(object, "method", json_string(summary->method));
    json_object_set_new(object, "loss", json_string(summary->loss));
    json_object_set_new(object, "rows", report_count(run->n_rows));
    json_object_set_new(object, "held_out", report_count(train_rows_held_out(run->state, run->held_out_loss)));
    report_results_json(object, run->model);
    if (!isnan(run->held_out_loss))
        json_object_set_new(object, "held_out_loss", report_real(run->held_out_loss));
    if (!is_optimum(summary->method))
        json_object_set_new(object, "passes", report_count(summary->pass));
    json_object_set_new(object, "features", report_count(summary->n_used));
    json_object_set_new(object, "classes", report_count(summary->n_classes));
    json_object_set_new(object, "progressive_loss", report_real(train_progressive_loss(summary)));
    if (!is_optimum(summary->method))
        json_object_set_new(object, "mean_step", report_real(summary->step));
    if (summary->n_features_full > 0)
        json_object_set_new(object, "compact",
                            json_pack("{s:I, s:I, s:f, s:f, s:f}", "features_before",
                                      (json_int_t)summary->n_features_full, "features",
                                      (json_int_t)summary->n_features_kept, "loss_before", summary->full_loss, "loss",
                                      summary->compact_loss, "standard_error", summary->compact_error));
    if (summary->order_feature != UINT64_MAX)
        json_object_set_new(object, "order",
                            json_pack("{s:o, s:o}", "column", report_text(order_column(run)), "held_out_loss",
                                      report_real(summary->latest_loss)));
    json_object_set_new(object, "bad_rows", report_count(run->reading.n_bad_rows));
    json_object_set_new(object, "unlabelled_rows", report_count(run->reading.n_unlabelled));
    if (!isnan(run->collision_rate))
        json_object_set_new(object, "colliding", report_real(run->collision_rate));
    json_object_set_new(object, "seconds", report_real(run->seconds));
    json_object_set_new(object, "stopped", json_boolean(run->stopped));
    if (run->n_warnings > 0) {
        json_t *warnings = json_array();
        for (size_t i = 0; i < run->n_warnings; i++)
            json_array_append_new(warnings, report_text(run->warning[i]));
        json_object_set_new(object, "warnings", warnings);
    }
    if (run->test.results != NULL)
        json_object_set(object, "test", run->test.results);
    return report_print_json(object);
}

/* ---- what limited the run, and what to do next: only what the run has found out, most serious first ------------- */

static const double min_collision_rate = 0.1; /* share of the words */
#define MIN_EVIDENCE 3.0                      /* 5 % by chance */
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

static bool of_input(const train_outcome *run, train_advice *out)
{
    if (run->stopped) {
        const char *by = interrupt_signal() == SIGINT    ? "Ctrl-C"
                         : interrupt_signal() == SIGTERM ? "a signal (SIGTERM)"
                                                         : "the end of the terminal session (SIGHUP)";
        if (is_optimum(run->summary.method)) {
            say(out->next, "train on all rows, or on later ones with --start-from");
            return say(out->limit, "interrupted by %s; rows that came later were not learned", by);
        }
        say(out->next, "run the same command with --resume to continue");
        return say(out->limit, "interrupted by %s at row %" PRIu64 " of pass %" PRIu64, by, run->summary.pass_rows,
                   run->summary.pass + 1);
    }
    if (run->summary.n_classes == 1) {
        say(out->next, "add rows of other classes, or name the right column (--label)");
        return say(out->limit, "labels: all rows have the same one");
    }
    if (run->is_sorted) {
        say(out->next, "shuffle the rows and train again");
        return say(out->limit, "row order: the rows seem to be sorted by label");
    }
    if (run->collision_rate > min_collision_rate && run->schema.bits < MAX_BITS) {
        unsigned bits = run->schema.bits; /* at which collisions fall below half of that */
        for (double share = run->collision_rate; share > min_collision_rate / 2 && bits < MAX_BITS; share /= 2)
            bits++;
        say(out->next, "train again with --bits %u", bits);
        return say(out->limit, "hashing: 2^%u slots, about %.3g %% collisions", run->schema.bits,
                   100 * run->collision_rate);
    }
    return false;
}

static uint64_t rows_of_pass(const train_outcome *run)
{
    return run->summary.pass > 0 ? run->n_rows / run->summary.pass : run->n_rows;
}

/* The features say little about the label, or not in a form that a linear model can use. */
static bool of_features(const train_outcome *run, train_advice *out)
{
    const char *loss = run->summary.loss;
    bool is_few = rows_of_pass(run)<FEW_ROWS, is_worse = run->held_out_loss>(1 - min_gap) * run->constant_loss;
    /* The gain over the baseline as a log likelihood ratio of all rows. If the features say nothing about the label, a
     * gain of x or more has the probability e^-x at most. */
    bool is_residual = strcmp(loss, "squared") == 0 || strcmp(loss, "huber") == 0;
    double evidence = (double)rows_of_pass(run) * (is_residual ? log(run->constant_loss / run->held_out_loss) / 2
                                                               : run->constant_loss - run->held_out_loss);
    if (!is_worse && !(is_few && evidence < MIN_EVIDENCE))
        return false;
    out->verb = "inspect";
    out->path = gsa_reader_file(run->reader, 0);
    out->what = "";
    return say(out->limit, "%s (%.4g held out, baseline %.4g)%s",
               !is_worse                                            ? "not clearly better than the baseline"
               : is_few || run->held_out_loss >= run->constant_loss ? "nothing was learned"
                                                                    : "features; hardly better than the baseline",
               measure(loss, run->held_out_loss), measure(loss, run->constant_loss),
               is_few ? "; the rows may be too few" : "");
}

/* Each row was learned once, in the order of the input. */
static bool of_one_pass(const train_outcome *run, train_advice *out)
{
    bool is_asked = run->passes_asked == 1;
    if (run->summary.falling <= GSA_MIN_GAIN)
        return say(out->limit, "features; the loss had stopped falling");
    if (run->reading.is_stream) {
        say(out->next, "give more rows, or train on a file, which can be read again");
        return say(out->limit, "length of the stream; the loss was still falling at its end");
    }
    say(out->next,
        is_asked ? "train again without --passes, which makes as many as help" : "train again with --passes 2");
    return say(out->limit, "%s; the loss was still falling",
               is_asked ? "--passes 1" : "one pass, the maximum for this many rows without --passes");
}

static bool of_data(const train_outcome *run, train_advice *out)
{
    double learned = measure(run->summary.loss, train_progressive_loss(&run->summary));
    double held_out = measure(run->summary.loss, run->held_out_loss);
    return learned < (1 - min_gap) * held_out &&
           say(out->limit, "amount of data (%.4g on training rows, %.4g held out); more rows may help", learned,
               held_out);
}

static bool of_passes(const train_outcome *run, train_advice *out)
{
    const gsa_summary *summary = &run->summary;
    bool has_gained = summary->best_pass == 0 || summary->best_pass == summary->pass;
    if (run->passes_asked > 0)
        return say(out->limit, "--passes %" PRIu64 ", as requested", run->passes_asked);
    if (isnan(run->held_out_loss))
        return say(out->limit, "%" PRIu64 " passes; no rows were held out to tell whether more would help",
                   summary->pass);
    if (has_gained && summary->pass > 0 && summary->pass >= gsa_plan_passes(run->n_rows / summary->pass)) {
        say(out->next, "train again with --passes %" PRIu64, 2 * summary->pass);
        return say(out->limit, "%" PRIu64 " passes, the maximum without --passes; the held-out loss was still falling",
                   summary->pass);
    }
    return (summary->pass > 1 && of_data(run, out)) ||
           say(out->limit, "features; another pass did not improve the held-out loss");
}

static train_advice advise(const train_outcome *run)
{
    const gsa_summary *summary = &run->summary;
    train_advice advice = {.verb = "evaluate", .path = run->model_path, .what = " TEST_DATA"};
    if (run->test.results != NULL)
        advice = (train_advice){.verb = "predict", .path = run->model_path, .what = " NEW_DATA"};
    bool is_once = run->reading.is_stream || run->passes_asked == 1 || summary->best_pass == 1;
    if (of_input(run, &advice) || of_features(run, &advice))
        return advice;
    if (rows_of_pass(run) < FEW_ROWS)
        say(advice.limit, "amount of data (only %" PRIu64 " rows); more rows may help", rows_of_pass(run));
    else if (is_optimum(summary->method)) {
        if (summary->n_features_kept < summary->n_features_full)
            say(advice.limit, "features kept by --compact");
        else if (!of_data(run, &advice))
            say(advice.limit, "features; more rows would hardly help");
    } else if (summary->pass <= 1 && is_once && !isnan(summary->falling))
        of_one_pass(run, &advice);
    else if (run->reading.is_stream)
        say(advice.limit, "length of the stream; too few rows to tell whether more would help");
    else
        of_passes(run, &advice);
    return advice;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static const char *plural(uint64_t n, const char *ending)
{
    return n == 1 ? "" : ending;
}

static const char *model_name(const char *loss)
{
    static const char *const names[][2] = {
        {"squared", "linear regression"},     {"huber", "linear regression (Huber loss)"},
        {"quantile", "quantile regression"},  {"poisson", "Poisson regression"},
        {"logistic", "logistic regression"},  {"softmax", "multinomial logistic regression"},
        {"hinge", "linear SVM (hinge loss)"}, {"squared_hinge", "linear SVM (squared hinge loss)"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(loss, names[i][0]) == 0)
            return names[i][1];
    return "linear model";
}

/* ", 2 numeric + 1 text columns" */
static void append_columns(char *line, const gsa_schema_info *schema)
{
    static const char *const kinds[] = {"numeric", "categorical", "text", "per-customer"};
    const uint64_t n_words = schema->n_words - schema->n_texts - schema->n_per;
    const uint64_t n[] = {schema->n_numbers, n_words, schema->n_texts, schema->n_per};
    const uint64_t n_columns = schema->n_numbers + schema->n_words;
    const char *separator = ", ";
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        if (n[i] == 0 && n_columns > 0)
            continue;
        report_append(line, LINE_SIZE, "%s%" PRIu64 " %s", separator, n[i], kinds[i]);
        separator = " + ";
        if (n_columns == 0)
            break;
    }
    report_append(line, LINE_SIZE, " column%s", plural(n_columns, "s"));
}

static void print_model(const train_outcome *run)
{
    const gsa_summary *summary = &run->summary;
    const gsa_schema_info *schema = &run->schema;
    const char *text = gsa_reader_schema(run->reader);
    bool is_solved = is_optimum(summary->method);
    uint64_t n_unlabelled = run->reading.n_unlabelled, n_skipped = run->reading.n_bad_rows + n_unlabelled;
    char line[LINE_SIZE] = "";
    report_append(line, LINE_SIZE, "%s", model_name(summary->loss));
    if (summary->n_classes > 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " class%s", summary->n_classes, plural(summary->n_classes, "es"));
    /* The columns of a table: the highest number of a hashed category says nothing. */
    if (text == NULL)
        report_append(line, LINE_SIZE, ", %" PRIu64 " feature%s", summary->n_used, plural(summary->n_used, "s"));
    else if (strstr(text, "\ncolumns namespaces\n") != NULL)
        report_append(line, LINE_SIZE, ", features hashed to 2^%u slots", schema->bits);
    else
        append_columns(line, schema);
    if (run->stopped || summary->pass == 0) /* 0: a stream that may go on */
        report_append(line, LINE_SIZE, ", %" PRIu64 " rows", run->stopped ? run->n_rows : summary->pass_rows);
    else if (is_solved)
        report_append(line, LINE_SIZE, ", %" PRIu64 " row%s", run->n_rows, plural(run->n_rows, "s"));
    else if (run->n_input_rows > 0)
        report_append(line, LINE_SIZE, ", %" PRIu64 " pass%s over %" PRIu64 " row%s", summary->pass,
                      plural(summary->pass, "es"), run->n_input_rows, plural(run->n_input_rows, "s"));
    else
        report_append(line, LINE_SIZE, ", %" PRIu64 " rows in %" PRIu64 " pass%s", run->n_rows, summary->pass,
                      plural(summary->pass, "es"));
    if (n_skipped > 0) {
        report_append(line, LINE_SIZE, " (");
        if (run->reading.n_bad_rows > 0)
            report_append(line, LINE_SIZE, "%" PRIu64 " bad%s", run->reading.n_bad_rows,
                          n_unlabelled > 0 ? " and " : "");
        if (n_unlabelled > 0)
            report_append(line, LINE_SIZE, "%" PRIu64 " unlabelled", n_unlabelled);
        report_append(line, LINE_SIZE, " row%s skipped)", plural(n_skipped, "s"));
    }
    /* How the model was trained, and why so. */
    report_append(line, LINE_SIZE, ", %s",
                  is_solved                               ? "solved in memory"
                  : strcmp(summary->method, "paper") == 0 ? "Algorithm 1 of the paper"
                                                          : "greedy step averaging");
    if (run->chosen_by != NULL)
        report_append(line, LINE_SIZE, " (--%s)", run->chosen_by);
    else if (!is_solved)
        report_append(line, LINE_SIZE, " (%s)", run->is_live ? "stream" : "too large to solve in memory");
    report_paragraph("model", "%s", line);
}

static void print_quality(const train_outcome *run)
{
    char line[LINE_SIZE] = "";
    if (isnan(run->held_out_loss))
        report_append_quality(line, LINE_SIZE, run->model, "progressive", train_progressive_loss(&run->summary),
                              run->constant_loss);
    else
        report_append_quality(line, LINE_SIZE, run->model, NULL, run->held_out_loss, run->constant_loss);
    report_append_held(line, LINE_SIZE, run->model);
    report_paragraph("quality", "%s", line);
    if (run->test.last[0] != '\0')
        report_paragraph("test", "%s", run->test.last);
    report_choices(run->model, report_paragraph);
}

/* Returns the bytes that the weights of `n_features` features take in a model: all, or those and their numbers. */
static double weights_size(const gsa_summary *summary, uint64_t n_features)
{
    double n_outputs = summary->n_classes > 2 ? (double)summary->n_classes : 1;
    return 4 * fmin((double)summary->n_features * n_outputs, (double)n_features * (n_outputs + 1));
}

static void print_compact(const train_outcome *run)
{
    const gsa_summary *summary = &run->summary;
    const char *loss = summary->loss;
    double full = summary->full_loss;
    const char *name = report_measure(loss, &full);
    if (summary->n_features_full > 0)
        report_paragraph(
            "compact",
            "%" PRIu64 " of %" PRIu64 " features kept, %.3g kB of weights instead of %.3g; held-out %s "
            "%.6g instead of %.6g (standard error %.2g)",
            summary->n_features_kept, summary->n_features_full, weights_size(summary, summary->n_features_kept) / 1e3,
            weights_size(summary, summary->n_features_full) / 1e3, name, measure(loss, summary->compact_loss), full,
            measure(loss, summary->full_loss + summary->compact_error) - full);
    else if (parameter_of(run->state, "compact") && !run->stopped)
        report_paragraph("compact", "nothing dropped: %s",
                         is_optimum(run->summary.method) ? "too few rows to hold some out" : "too few held-out rows");
}

int train_summary_print(const train_outcome *run, bool as_json)
{
    if (as_json)
        return print_json(run);
    train_advice advice = advise(run);
    print_model(run);
    print_quality(run);
    print_compact(run);
    const char *column = order_column(run), *mark = strchr(column, ' ') != NULL ? "'" : "";
    if (run->note[0] != '\0')
        report_paragraph("note", "%s; --time %s%s%s measures that", run->note, mark, column, mark);
    report_paragraph("time", "%.2f s, %.0f MB", run->seconds, (double)run->peak_memory / 1e6);
    for (size_t i = 0; i < run->n_warnings; i++)
        report_paragraph("warning", "%s", run->warning[i]);
    report_paragraph("limit", "%s", advice.limit);
    report_short_name("next");
    fputs(advice.next, stdout);
    if (advice.next[0] == '\0') { /* a command */
        printf("greedystep %s ", advice.verb);
        printable_put_word(stdout, advice.path);
        fputs(advice.what, stdout);
    }
    putchar('\n');
    return EXIT_DONE;
}
