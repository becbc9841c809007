/* The progress line. */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double redraw_seconds = 0.1;
enum { LINE_SIZE = 160, FIRST_PLAIN_ROWS = 1024 };

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(cli_progress *progress, bool shown, const gsa_state *state)
{
    double now = progress_clock();
    *progress = (cli_progress){.shown = shown,
                               .is_live = shown && isatty(STDERR_FILENO),
                               .began = now,
                               .drawn = now,
                               .fraction_at_start = -1,
                               .next_rows = FIRST_PLAIN_ROWS};
    if (state != NULL) {
        gsa_summary summary;
        gsa_state_summary(state, &summary);
        progress->rows_at_start = summary.n_rows;
    }
    while (progress->next_rows <= progress->rows_at_start)
        progress->next_rows *= 2;
}

double progress_rate(const cli_progress *progress, uint64_t n_rows)
{
    double seconds = progress_clock() - progress->began;
    return seconds > 0 ? (double)(n_rows - progress->rows_at_start) / seconds : 0;
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
    double now = progress_clock();
    if (now - progress->drawn < redraw_seconds)
        return false;
    progress->drawn = now;
    return true;
}

static void draw(cli_progress *progress, const char *line)
{
    if (!progress->is_live) {
        fprintf(stderr, "%s\n", line);
        return;
    }
    int width = (int)strlen(line);
    int rest = progress->width > width ? progress->width - width : 0;
    fprintf(stderr, "\r%s%*s", line, rest, "");
    fflush(stderr);
    progress->width = width;
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
    gsa_reader_progress reading;
    gsa_reader_get_progress(reader, &reading);
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

/* "  45%  ETA 1:23" of the pass at the end of the line, where the size of the input is known. */
static void append_fraction(const cli_progress *progress, double fraction, char line[LINE_SIZE])
{
    if (isnan(fraction))
        return;
    size_t used = strlen(line);
    snprintf(line + used, LINE_SIZE - used, "  %.0f%%", 100 * fraction);
    double gained = fraction - progress->fraction_at_start;
    if (!(gained > 0))
        return;
    double left = (progress_clock() - progress->pass_began) * (1 - fraction) / gained;
    used = strlen(line);
    if (left < 1e6)
        snprintf(line + used, LINE_SIZE - used, "  ETA %ld:%02ld", (long)left / 60, (long)left % 60);
}

/* "/3" where the number of passes is fixed. */
static const char *of_passes(const gsa_state *state, char buffer[32])
{
    const char *passes = gsa_state_get(state, "passes");
    bool is_fixed = passes != NULL && strcmp(passes, "0") != 0;
    snprintf(buffer, 32, "%s%s", is_fixed ? "/" : "", is_fixed ? passes : "");
    return buffer;
}

void progress_show_training(cli_progress *progress, const gsa_state *state, const gsa_summary *summary,
                            const gsa_reader *reader)
{
    if (!progress->shown)
        return;
    double fraction = progress->is_live ? fraction_read(reader) : NAN;
    note_pass(progress, summary->pass, fraction);
    if (!is_due(progress, summary->n_rows_all))
        return;
    char line[LINE_SIZE], passes[32], rate[32];
    double loss = summary->loss_weight > 0 ? summary->loss_sum / summary->loss_weight : NAN;
    snprintf(line, sizeof line, "pass %llu%s  %llu rows  %s rows/s  loss %.5f  step %.4g",
             (unsigned long long)summary->pass + 1, of_passes(state, passes), (unsigned long long)summary->n_rows_all,
             short_number(progress_rate(progress, summary->n_rows_all), rate), loss, summary->step);
    append_fraction(progress, fraction, line);
    draw(progress, line);
}

void progress_show_rows(cli_progress *progress, const char *doing, uint64_t n_rows, uint64_t n_total)
{
    note_pass(progress, 0, 0);
    if (!is_due(progress, n_rows))
        return;
    char line[LINE_SIZE], rate[32];
    snprintf(line, sizeof line, "%s %llu rows  %s rows/s", doing, (unsigned long long)n_rows,
             short_number(progress_rate(progress, n_rows), rate));
    append_fraction(progress, n_total > 0 ? (double)n_rows / (double)n_total : NAN, line);
    draw(progress, line);
}

void progress_clear(cli_progress *progress)
{
    if (!progress->is_live || progress->width == 0)
        return;
    fprintf(stderr, "\r%*s\r", progress->width, "");
    fflush(stderr);
    progress->width = 0;
}

void progress_say(cli_progress *progress, const char *text)
{
    if (!progress->shown)
        return;
    progress_clear(progress);
    fprintf(stderr, "%s\n", text);
}
