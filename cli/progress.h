/* The progress line of a long run.
 *
 * On a terminal that can (style.h) one line on stderr, redrawn ten times a second at most and never wider than the
 * terminal; elsewhere plain lines, at powers of two of the rows. */
#ifndef GREEDYSTEP_CLI_PROGRESS_H
#define GREEDYSTEP_CLI_PROGRESS_H

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
    cli_recent recent;
    uint64_t loss_from;       /* rows before the first of these, 0: not there yet */
    double loss, loss_weight; /* progressive: of all rows but the first */
} cli_progress;

/* Seconds of a clock that never goes back. */
double progress_clock(void);

/* Begins a progress line; state may be NULL. */
void progress_begin(cli_progress *progress, bool shown, const gsa_state *state);
/* Shows the progress of training. The loss is the mean of those that all rows of all passes had before they were
 * learned, but for the first rows, whose losses say how the run began. It falls while the run learns. learner: the
 * state of the run, or a replica of it. */
void progress_show_training(cli_progress *progress, const gsa_state *learner, const gsa_summary *summary,
                            const gsa_state *state, const gsa_reader *reader);
/* Shows the number of rows done; n_total 0: unknown. */
void progress_show_rows(cli_progress *progress, const char *doing, uint64_t n_rows, uint64_t n_total);
/* Says whether it is time for another line at this number of rows (on a terminal whatever it is), and notes that it
 * was drawn. */
bool progress_is_due(cli_progress *progress, uint64_t n_rows);
/* Appends "  ETA 1:23"; nothing if it is unknown (NaN) or days away. */
void progress_append_left(char *line, size_t size, double seconds);
/* Draws a line; on a terminal it is cut to fit, and the next one replaces it. */
void progress_draw(cli_progress *progress, const char *line);
/* Shows that a penalty was tried on rows in memory; on a terminal only. */
void progress_show_penalty(cli_progress *progress, uint64_t n_tried, uint64_t n_about, const char *loss,
                           double best_loss);
/* Removes the line from the terminal before something else is printed. */
void progress_clear(cli_progress *progress);
/* Prints a line that stays. */
void progress_say(cli_progress *progress, const char *format, ...) CLI_PRINTF(2, 3);

#endif
