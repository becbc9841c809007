/* The progress line. */
#include "progress.h"

#include "printable.h"
#include "report.h"
#include "style.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double redraw_seconds = 0.1;
static const double rate_seconds = 1; /* before that a rate says little */
enum { LINE_SIZE = 160, TEXT_SIZE = 1024, FIRST_PLAIN_ROWS = 1024, FIRST_LOSS_ROWS = 512 };

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(cli_progress *progress, bool shown, const gsa_state *state)
{
    double now = progress_clock();
    shown = shown && !message_is_quiet();
    *progress = (cli_progress){.shown = shown,
                               .is_live = shown && style_is_on(stderr),
                               .began = now,
                               .drawn = now,
                               .fraction_at_start = -1,
                               .next_rows = FIRST_PLAIN_ROWS};
    gsa_summary summary = state != NULL ? summary_of(state) : (gsa_summary){0};
    recent_begin(&progress->recent, state, &summary);
    progress->rows_at_start = summary.n_rows;
    while (progress->next_rows <= progress->rows_at_start)
        progress->next_rows *= 2;
}

/* Asking the clock is cheap beside the few hundred rows (in rounds, the few blocks) between two calls. */
bool progress_is_due(cli_progress *progress, uint64_t n_rows)
{
    double now = progress->is_live ? progress_clock() : 0;
    bool is_due = progress->is_live ? now - progress->drawn >= redraw_seconds : n_rows >= progress->next_rows;
    if (!progress->shown || !is_due)
        return false;
    progress->drawn = now;
    while (progress->next_rows <= n_rows)
        progress->next_rows *= 2;
    return true;
}

void progress_draw(cli_progress *progress, const char *line)
{
    progress->is_drawn = progress->is_live;
    if (progress->is_live) /* in the last column a line may wrap */
        fprintf(stderr, "\r%.*s\033[K", style_columns(stderr) - 1, line);
    else
        fprintf(stderr, "%s\n", line);
    fflush(stderr);
}

/* 950, 12.3k, 4.56M */
static const char *short_number(double number, char buffer[32])
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    size_t unit = 0;
    for (; number >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        number /= 1000;
    snprintf(buffer, 32, unit == 0 ? "%.0f%s" : "%.3g%s", number, units[unit]);
    return buffer;
}

/* "  12.3k rows/s" since the beginning, but for the first second. */
static void append_rate(const cli_progress *progress, uint64_t n_rows, char line[LINE_SIZE])
{
    char rate[32];
    double seconds = progress_clock() - progress->began;
    if (seconds >= rate_seconds)
        report_append(line, LINE_SIZE, "  %s rows/s",
                      short_number((double)(n_rows - progress->rows_at_start) / seconds, rate));
}

/* Time and place from which the time that is left is reckoned: where this process entered the pass. */
static void note_pass(cli_progress *progress, uint64_t pass, double fraction)
{
    if (progress->fraction_at_start >= 0 && progress->pass == pass)
        return;
    progress->pass = pass;
    progress->pass_began = progress_clock();
    progress->fraction_at_start = fraction;
}

void progress_append_left(char *line, size_t size, double seconds)
{
    if (seconds < 1e6)
        report_append(line, size, "  ETA %ld:%02ld", (long)seconds / 60, (long)seconds % 60);
}

/* "  45%  ETA 1:23" of the pass, where the size of the input is known. */
static void append_fraction(const cli_progress *progress, double fraction, char line[LINE_SIZE])
{
    if (isnan(fraction) || progress->fraction_at_start >= 1)
        return;
    report_append(line, LINE_SIZE, "  %.0f%%", 100 * fraction);
    double gained = fraction - progress->fraction_at_start;
    double left = gained > 0 ? (progress_clock() - progress->pass_began) * (1 - fraction) / gained : INFINITY;
    progress_append_left(line, LINE_SIZE, left);
}

/* "/3" where the number of passes is fixed. */
static const char *of_passes(const gsa_state *state, char buffer[32])
{
    uint64_t passes = parameter_of(state, "passes");
    buffer[0] = '\0';
    if (passes > 0)
        snprintf(buffer, 32, "/%" PRIu64, passes);
    return buffer;
}

/* The parts of a training's line, from the widest line to the narrowest. */
static const struct {
    bool rate, step, fraction;
} widths[] = {{true, true, true}, {true, false, true}, {false, false, true}, {false, false, false}};

static void compose(const cli_progress *progress, const gsa_state *learner, const gsa_summary *summary, double fraction,
                    size_t width, char line[LINE_SIZE])
{
    char passes[32];
    snprintf(line, LINE_SIZE, "pass %llu%s  %llu rows", (unsigned long long)summary->pass + 1,
             of_passes(learner, passes), (unsigned long long)summary->n_rows_all);
    if (widths[width].rate)
        append_rate(progress, summary->n_rows_all, line);
    double loss = progress->loss / progress->loss_weight;
    const char *name = report_measure(summary->loss, &loss);
    if (progress->loss_weight > 0 && summary->n_rows_all >= progress->loss_from + FIRST_LOSS_ROWS)
        report_append(line, LINE_SIZE, "  progressive %s %.5g", name, loss); /* once it is of enough rows */
    if (widths[width].step && summary->step > 0)                             /* 0: rows wait */
        report_append(line, LINE_SIZE, "  step %.4g", summary->step);
    if (widths[width].fraction)
        append_fraction(progress, fraction, line);
}

void progress_show_training(cli_progress *progress, const gsa_state *learner, const gsa_summary *summary,
                            const gsa_state *state, const gsa_reader *reader)
{
    char line[LINE_SIZE];
    if (!progress->shown)
        return;
    /* Adds the losses since the last call. */
    gsa_summary base = summary_of(state);
    cli_recent *recent = &progress->recent;
    recent_add(recent, learner, summary, learner != state ? &base : NULL);
    if (progress->loss_from > 0) {
        progress->loss += recent->sum;
        progress->loss_weight += recent->weight;
    }
    if (progress->loss_from == 0 && summary->n_rows_all >= progress->rows_at_start + FIRST_LOSS_ROWS)
        progress->loss_from = summary->n_rows_all;
    recent->sum = recent->weight = 0;
    double fraction = NAN; /* of the pass, that is done */
    gsa_reader_progress reading = progress_of(reader);
    if (progress->is_live && reading.bytes_total > 0)
        fraction = fmin((double)reading.bytes_read / (double)reading.bytes_total, 1);
    note_pass(progress, summary->pass, fraction);
    if (!progress_is_due(progress, summary->n_rows_all))
        return;
    size_t width = 0, max = progress->is_live ? (size_t)style_columns(stderr) - 1 : SIZE_MAX;
    compose(progress, learner, summary, fraction, width, line);
    while (strlen(line) > max && width + 1 < sizeof widths / sizeof *widths)
        compose(progress, learner, summary, fraction, ++width, line);
    progress_draw(progress, line);
}

void progress_show_rows(cli_progress *progress, const char *doing, uint64_t n_rows, uint64_t n_total)
{
    note_pass(progress, 0, 0);
    if (!progress_is_due(progress, n_rows))
        return;
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "%s %llu rows", doing, (unsigned long long)n_rows);
    append_rate(progress, n_rows, line);
    append_fraction(progress, n_total > 0 ? (double)n_rows / (double)n_total : NAN, line);
    progress_draw(progress, line);
}

void progress_show_penalty(cli_progress *progress, uint64_t n_tried, uint64_t n_about, const char *loss,
                           double best_loss)
{
    char line[LINE_SIZE];
    if (!progress->is_live || !progress_is_due(progress, n_tried))
        return;
    const char *measure = report_measure(loss, &best_loss);
    snprintf(line, sizeof line, "penalty %llu of about %llu, best %s %.4g", (unsigned long long)n_tried,
             (unsigned long long)n_about, measure, best_loss);
    progress_draw(progress, line);
}

void progress_clear(cli_progress *progress)
{
    if (!progress->is_drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->is_drawn = false;
}

void progress_say(cli_progress *progress, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    if (!progress->shown)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    progress_clear(progress);
    style_role role = strncmp(text, "note:", 5) == 0 ? STYLE_NOTE : STYLE_NONE;
    int marked = role == STYLE_NOTE ? 5 : 0;
    fprintf(stderr, "%s%.*s%s", style_begin(stderr, role), marked, text, style_end(stderr, role));
    printable_put(stderr, text + marked);
    fputc('\n', stderr);
}
