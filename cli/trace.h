/* --trace: the events of a run of `train`, one JSON object per line (docs/command.md).
 *
 * A line is in the file as soon as it is written, so that a run can be looked at while it goes on, and a run that was
 * cut short has left what it had. Every function does nothing for a trace that is not open; a line that cannot be
 * written is reported once, and the training continues. */
#ifndef GREEDYSTEP_CLI_TRACE_H
#define GREEDYSTEP_CLI_TRACE_H

#include "options.h"
#include "recent.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>
#include <greedystep/train.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct cli_trace {
    const char *path;
    FILE *stream; /* NULL: no trace */
    bool failed;
    bool ended;
    double began;       /* of the process's part of the run */
    double stage_began; /* the end of the stage before */
    double test_seconds;
    uint64_t rows, next_rows;            /* seen, and when the next line of progress is due */
    cli_recent recent, recent_published; /* since the last line of progress, and since the last model published */
    bool has_learned;
    uint64_t peak_memory;
} cli_trace;

/* Checks the place. It is opened later, so that a command that cannot be right leaves an older trace alone. */
int trace_check(const cli_arguments *arguments);
/* Takes the place of what was there; a resumed run is added to it. */
int trace_open(cli_trace *trace, const cli_arguments *arguments);
void trace_start(cli_trace *trace, const cli_arguments *arguments, const gsa_state *state, const gsa_reader *reader);
/* Writes some lines; called often. `learner` is `state`, the run's own, or a replica that learns in its place. */
void trace_progress(cli_trace *trace, const gsa_state *learner, const gsa_summary *summary, const gsa_state *state);
/* Writes the end of a pass. test: the results of --test, or NULL; test_began: when their evaluation began. */
void trace_pass(cli_trace *trace, const gsa_state *state, const json_t *test, double test_began);
void trace_round(cli_trace *trace, const gsa_round_report *report);
void trace_notice(cli_trace *trace, const char *text);
/* Writes that a model was published; began: when saving it began. */
void trace_published(cli_trace *trace, const gsa_state *state, double began);
/* Writes the time since the last stage. */
void trace_stage(cli_trace *trace, const char *name);
void trace_learned(cli_trace *trace);
struct train_outcome;
void trace_end(cli_trace *trace, const struct train_outcome *run);
/* Writes the message of a failure. */
void trace_fail(cli_trace *trace, const char *message);
/* Ends a trace that has no end yet. Returns the exit code that the run has now. */
int trace_close(cli_trace *trace, int code);

#endif
