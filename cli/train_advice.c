/* What limited a training run, and what to do next: only what the run has found out, most serious first. */
#include "train.h"

#include "interrupt.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double min_collision_rate = 0.1; /* share of the words */
static const double gap_least = 0.02;         /* between two losses, as a share */
enum { FEW_ROWS = 100, MAX_BITS = 31 };

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
    say(out->next, "the same command with --resume goes on from here");
    return say(out->limit, "%s, at row %" PRIu64 " of pass %" PRIu64,
               interrupt_signal() == SIGTERM ? "a signal to end (SIGTERM)" : "Ctrl-C", run->summary.pass_rows,
               run->summary.pass + 1);
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
        say(out->next, "add rows of other classes, or tell which column is learned (--label)");
        return say(out->limit, "the labels: all rows have the same, and there is nothing to tell apart");
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
    if (!(run->held_out_loss > (1 - gap_least) * run->constant_loss))
        return false;
    out->verb = "inspect";
    out->path = gsa_reader_file(run->reader, 0);
    out->what = "";
    return say(out->limit, "the features: they tell hardly more than %s alone",
               run->summary.n_classes == 0 ? "the mean" : "the class shares");
}

/* Rows that are learned once, as they come. */
static bool of_one_pass(const train_outcome *run, train_advice *out)
{
    bool is_asked = run->passes_asked == 1;
    if (isnan(run->summary.falling))
        return false;
    if (run->summary.falling <= GSA_MIN_GAIN)
        return say(out->limit, "what the features can tell: the loss had gone flat");
    if (run->reading.is_stream) {
        say(out->next, "give more rows, or train on a file, which can be read again");
        return say(out->limit, "the stream: it ended while the loss was still falling");
    }
    say(out->next, is_asked ? "train again without --passes: as many are made as help" : "train again with --passes 2");
    return say(out->limit, "%s: the loss was still falling",
               is_asked ? "--passes 1" : "the rows, too many for a second pass without --passes");
}

static bool of_optimum(const train_outcome *run, train_advice *out)
{
    double learned = train_measure(run->summary.loss, train_progressive_loss(&run->summary));
    double held_out = train_measure(run->summary.loss, run->held_out_loss);
    if (learned < (1 - gap_least) * held_out)
        return say(out->limit, "the rows: %s %.4g on those learned, %.4g on others; more may help",
                   train_measure_name(run->summary.loss), learned, held_out);
    return say(out->limit, "what the features can tell: more rows would hardly help");
}

static bool of_passes(const train_outcome *run, train_advice *out)
{
    const gsa_summary *summary = &run->summary;
    double learned = train_measure(summary->loss, train_progressive_loss(summary));
    double held_out = train_measure(summary->loss, run->held_out_loss);
    bool has_gained = summary->best_pass == 0 || summary->best_pass == summary->pass;
    if (run->passes_asked > 0)
        return say(out->limit, "--passes %" PRIu64 ", as asked for", run->passes_asked);
    if (isnan(held_out))
        return say(out->limit, "%" PRIu64 " passes: no rows were held out to judge by", summary->pass);
    if (has_gained && summary->pass > 0 && summary->pass >= gsa_plan_passes(run->n_rows / summary->pass)) {
        say(out->next, "train again with --passes %" PRIu64, 2 * summary->pass);
        return say(out->limit, "%" PRIu64 " passes, the most without --passes: held-out rows were still gaining",
                   summary->pass);
    }
    if (summary->pass > 1 && learned < (1 - gap_least) * held_out)
        return say(out->limit, "the rows: %s %.4g on those learned, %.4g on others; more may help",
                   train_measure_name(summary->loss), learned, held_out);
    return say(out->limit, "what the features can tell: another pass gained nothing on held-out rows");
}

static bool of_rows(const train_outcome *run, train_advice *out)
{
    uint64_t n = run->summary.pass > 0 ? run->n_rows / run->summary.pass : run->n_rows;
    return n < FEW_ROWS && say(out->limit, "the rows: %" PRIu64 " are few to learn and to judge by", n);
}

train_advice train_advise(const train_outcome *run)
{
    train_advice advice = {.verb = "evaluate", .path = run->model_path, .what = " TEST_DATA"};
    if (run->test->results != NULL)
        advice = (train_advice){.verb = "predict", .path = run->model_path, .what = " NEW_DATA"};
    bool is_solved = strcmp(run->summary.method, "optimum") == 0;
    bool is_once = run->reading.is_stream || run->passes_asked == 1 || run->summary.best_pass == 1;
    if (of_stop(run, &advice) || of_input(run, &advice) || of_rows(run, &advice) || of_features(run, &advice) ||
        (is_solved && of_optimum(run, &advice)) || (run->summary.pass == 1 && is_once && of_one_pass(run, &advice)))
        return advice;
    if (run->reading.is_stream)
        say(advice.limit, "the stream: too few rows to tell whether more would help");
    else
        of_passes(run, &advice);
    return advice;
}
