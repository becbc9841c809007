/* The line that shows how a long run is getting on.
 *
 * On a terminal that can (style.h) one line on stderr, redrawn ten times a second at most and never wider than the
 * terminal; elsewhere plain lines, at powers of two of the rows. */
#ifndef GREEDYSTEP_CLI_PROGRESS_H
#define GREEDYSTEP_CLI_PROGRESS_H

#include "chart.h"
#include "message.h"
#include "recent.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef struct cli_progress {
    bool shown;   /* false: --quiet */
    bool is_live; /* a terminal that can */
    double began, drawn;
    uint64_t rows_at_start; /* learned before this process */
    uint64_t pass;          /* the pass that the next two are of */
    double pass_began, fraction_at_start;
    uint64_t next_rows; /* plain lines: the next at this many */
    bool is_drawn;      /* there is a line on the terminal */
    cli_recent recent;  /* of a training that is live: its loss since the chart's last value */
    cli_chart chart;
} cli_progress;

/* Seconds of a clock that never goes back. */
double progress_clock(void);

/* state may be NULL. */
void progress_begin(cli_progress *progress, bool shown, const gsa_state *state);
/* With the summary of the learner, which is the state of the run or a copy of it. */
void progress_show_training(cli_progress *progress, const gsa_state *learner, const gsa_summary *summary,
                            const gsa_state *state, const gsa_reader *reader);
/* On a terminal: the loss from the first row to the last, in a line that stays. */
void progress_show_losses(cli_progress *progress);
/* For work that is rows only; n_total 0: unknown. */
void progress_show_rows(cli_progress *progress, const char *doing, uint64_t n_rows, uint64_t n_total);
/* If it is live: whether it is time to draw again, which is then to be done. */
bool progress_is_due(cli_progress *progress);
/* "  ETA 1:23" behind what is in the buffer; nothing if that is not known (NaN), or days away. */
void progress_append_left(char *line, size_t size, double seconds);
/* A line that is drawn over by the next, as far as it fits; the chart behind it may be "". Only if it is live. */
void progress_draw(cli_progress *progress, const char *line, const char *chart);
/* Removes the line from the terminal, so that something else can be said. */
/* A strength of the penalty was tried on rows in memory; shown on a terminal only. */
void progress_show_strength(cli_progress *progress, uint64_t n_tried, const char *measure, double held_out_loss);
void progress_clear(cli_progress *progress);
/* A line that stays. */
void progress_say(cli_progress *progress, const char *format, ...) CLI_PRINTF(2, 3);

#endif
