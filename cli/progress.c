/* The progress line. */
#include "progress.h"

#include "printable.h"
#include "report.h"
#include "style.h"
#include "views.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double redraw_seconds = 0.1;
enum { LINE_SIZE = 160, TEXT_SIZE = 1024, FIRST_PLAIN_ROWS = 1024, MIN_CHART = 8 };

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
    if (state != NULL) {
        gsa_summary summary = summary_of(state);
        progress->rows_at_start = summary.n_rows;
        recent_begin(&progress->recent, state, &summary);
    }
    chart_begin(&progress->chart, progress->rows_at_start);
    while (progress->next_rows <= progress->rows_at_start)
        progress->next_rows *= 2;
}

/* Rows a second since the beginning. */
static double rate_of(const cli_progress *progress, uint64_t n_rows)
{
    double seconds = progress_clock() - progress->began;
    return seconds > 0 ? (double)(n_rows - progress->rows_at_start) / seconds : 0;
}

bool progress_is_due(cli_progress *progress)
{
    double now = progress_clock();
    if (now - progress->drawn < redraw_seconds)
        return false;
    progress->drawn = now;
    return true;
}

/* Whether it is time for another line. Asking the clock is cheap beside the few hundred rows (in rounds, the few
 * blocks) between two calls. */
static bool is_due(cli_progress *progress, uint64_t n_rows)
{
    if (!progress->shown)
        return false;
    if (!progress->is_live) {
        if (n_rows < progress->next_rows)
            return false;
        while (progress->next_rows <= n_rows)
            progress->next_rows *= 2;
        return true;
    }
    return progress_is_due(progress);
}

void progress_draw(cli_progress *progress, const char *line, const char *chart)
{
    /* In the last column a line may wrap. */
    style_role role = *chart != '\0' ? STYLE_CHART : STYLE_NONE;
    fprintf(stderr, "\r%.*s%s%s%s\033[K", style_columns(stderr) - 1, line, style_begin(stderr, role), chart,
            style_end(stderr, role));
    fflush(stderr);
    progress->is_drawn = true;
}

static void draw(cli_progress *progress, const char *line)
{
    if (progress->is_live)
        progress_draw(progress, line, "");
    else
        fprintf(stderr, "%s\n", line);
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

/* The share of the pass that is done, or NaN. */
static double fraction_read(const gsa_reader *reader)
{
    gsa_reader_progress reading = progress_of(reader);
    return reading.bytes_total > 0 ? fmin((double)reading.bytes_read / (double)reading.bytes_total, 1) : NAN;
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
    const char *passes = gsa_state_get(state, "passes");
    bool is_fixed = passes != NULL && strcmp(passes, "auto") != 0;
    snprintf(buffer, 32, "%s%s", is_fixed ? "/" : "", is_fixed ? passes : "");
    return buffer;
}

/* What a line of a training has, from the widest to the narrowest. */
static const struct {
    bool rate, step, fraction, chart;
} widths[] = {{true, true, true, true},
              {true, false, true, true},
              {true, false, true, false},
              {false, false, true, false},
              {false, false, false, false}};

static void compose(const cli_progress *progress, const gsa_state *learner, const gsa_summary *summary, double fraction,
                    size_t width, char line[LINE_SIZE])
{
    char passes[32], rate[32];
    snprintf(line, LINE_SIZE, "pass %llu%s  %llu rows", (unsigned long long)summary->pass + 1,
             of_passes(learner, passes), (unsigned long long)summary->n_rows_all);
    if (widths[width].rate)
        report_append(line, LINE_SIZE, "  %s rows/s", short_number(rate_of(progress, summary->n_rows_all), rate));
    report_append(line, LINE_SIZE, "  loss %.5f",
                  summary->loss_weight > 0 ? summary->loss_sum / summary->loss_weight : (double)NAN);
    if (widths[width].step)
        report_append(line, LINE_SIZE, "  step %.4g", summary->step);
    if (widths[width].fraction)
        append_fraction(progress, fraction, line);
}

/* Adds the loss of the rows since the last value to the chart, over all replicas. */
static void note_loss(cli_progress *progress, const gsa_state *learner, const gsa_summary *summary,
                      const gsa_state *state)
{
    gsa_summary base;
    if (learner != state)
        gsa_state_summary(state, &base);
    recent_add(&progress->recent, learner, summary, learner != state ? &base : NULL);
    if (chart_is_due(&progress->chart, summary->n_rows_all))
        chart_add(&progress->chart, summary->n_rows_all, recent_take(&progress->recent));
}

static void draw_training(cli_progress *progress, const gsa_state *learner, const gsa_summary *summary, double fraction)
{
    char line[LINE_SIZE], chart[CHART_SIZE] = "";
    size_t max = (size_t)style_columns(stderr) - 1, room = style_has_unicode() ? 2 + MIN_CHART : 0, width = 0;
    compose(progress, learner, summary, fraction, width, line);
    while (strlen(line) + (widths[width].chart ? room : 0) > max && width + 1 < sizeof widths / sizeof *widths)
        compose(progress, learner, summary, fraction, ++width, line);
    if (widths[width].chart && room > 0) {
        report_append(line, LINE_SIZE, "  ");
        chart_draw(&progress->chart, max - strlen(line), chart);
    }
    progress_draw(progress, line, chart);
}

void progress_show_training(cli_progress *progress, const gsa_state *learner, const gsa_summary *summary,
                            const gsa_state *state, const gsa_reader *reader)
{
    char line[LINE_SIZE];
    if (!progress->shown)
        return;
    double fraction = progress->is_live ? fraction_read(reader) : NAN;
    note_pass(progress, summary->pass, fraction);
    if (progress->is_live)
        note_loss(progress, learner, summary, state);
    if (!is_due(progress, summary->n_rows_all))
        return;
    if (progress->is_live) {
        draw_training(progress, learner, summary, fraction);
        return;
    }
    compose(progress, learner, summary, fraction, 0, line);
    draw(progress, line);
}

void progress_show_losses(cli_progress *progress)
{
    static const char title[] = "loss over the run  ";
    int room = style_columns(stderr) - (int)sizeof title;
    char bars[CHART_SIZE];
    progress_clear(progress);
    if (!progress->is_live || !style_has_unicode() || progress->chart.n < MIN_CHART || room < MIN_CHART)
        return;
    progress_draw(progress, title, chart_draw(&progress->chart, (size_t)room, bars));
    fputc('\n', stderr);
    progress->is_drawn = false;
}

void progress_show_rows(cli_progress *progress, const char *doing, uint64_t n_rows, uint64_t n_total)
{
    note_pass(progress, 0, 0);
    if (!is_due(progress, n_rows))
        return;
    char line[LINE_SIZE], rate[32];
    snprintf(line, sizeof line, "%s %llu rows  %s rows/s", doing, (unsigned long long)n_rows,
             short_number(rate_of(progress, n_rows), rate));
    append_fraction(progress, n_total > 0 ? (double)n_rows / (double)n_total : NAN, line);
    draw(progress, line);
}

void progress_show_strength(cli_progress *progress, uint64_t n_tried, const char *measure, double held_out_loss)
{
    char line[LINE_SIZE];
    if (!progress->shown || !progress->is_live || !progress_is_due(progress))
        return;
    snprintf(line, sizeof line, "solving  strength %llu  held-out %s %.5g", (unsigned long long)n_tried, measure,
             held_out_loss);
    draw(progress, line);
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
