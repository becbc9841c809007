/* Types and functions that the files of the verb `train` share. */
#ifndef GREEDYSTEP_CLI_TRAIN_H
#define GREEDYSTEP_CLI_TRAIN_H

#include "message.h"
#include "options.h"
#include "progress.h"

#include "base/memory.h"

#include <greedystep/data.h>
#include <greedystep/distributed.h>
#include <greedystep/greedystep.h>
#include <greedystep/train.h>

#include <jansson.h>
#include <stdatomic.h>

/* The state of a run that goes on, where --checkpoint says, or with --publish beside the model, which is replaced with
 * it; without either the path is NULL and nothing happens. */
typedef struct train_checkpoint {
    char *path;
    const char *model;   /* NULL: none is published */
    double every;        /* seconds */
    _Atomic double last; /* when the last one was written; other threads ask for this */
    atomic_bool has_new; /* rows were learned since, and for this */
} train_checkpoint;

/* Removes the checkpoint of an earlier run, unless this run resumes it. Returns an exit code. */
int train_checkpoint_open(const cli_arguments *arguments, train_checkpoint *out);
/* Says whether rows were learned since the last one, and it is time for the next. */
bool train_checkpoint_is_due(const train_checkpoint *checkpoint);
/* Saves the state, and the model that is published, if it is time, and says whether it did. A failed write is a
 * warning, not a failure. */
bool train_checkpoint_keep(train_checkpoint *checkpoint, const gsa_state *state, const gsai_env *env,
                           cli_progress *progress);
/* Removes the checkpoint of a run that has ended; a published state stays. */
void train_checkpoint_remove(const train_checkpoint *checkpoint);
void train_checkpoint_close(train_checkpoint *checkpoint);

/* Makes the state to begin with: a new one, that of an interrupted run (--resume), or one that starts from another run
 * (--start-from). Returns an exit code. */
int train_start(const cli_arguments *arguments, const train_checkpoint *checkpoint, const gsai_env *env,
                gsa_state **out);

/* The file of --test, evaluated after every pass. All members are NULL without --test. */
typedef struct train_test {
    const char *path;
    gsa_reader *reader;
    json_t *results; /* one object a pass */
    char last[256];  /* the last results as a line; "": none */
} train_test;

int train_test_open(const cli_arguments *arguments, const gsai_env *env, train_test *out);
/* Evaluates the model of the state and prints the results. */
gsa_status train_test_run(train_test *test, const gsa_state *state, const gsai_env *env, cli_progress *progress,
                          gsa_error *error);
void train_test_close(train_test *test);

/* ---- the end ----------------------------------------------------------------------------------------------------- */

enum { TRAIN_WARNINGS = 2 };

/* A run, and once it has ended its results. */
typedef struct train_outcome {
    const char *model_path;
    gsa_state *state;
    gsa_reader *reader;
    const gsa_model *model; /* NULL before it is saved */
    train_test test;
    gsa_summary summary;
    gsa_reader_progress reading;
    gsa_schema_info schema; /* of a table, else zeros */
    uint64_t n_rows;        /* learned, over all passes */
    uint64_t n_input_rows;  /* of one pass; 0: not known */
    uint64_t passes_asked;  /* 0: as many as help */
    uint64_t peak_memory;   /* bytes */
    double seconds;
    double held_out_loss;  /* NaN if none were held out */
    double constant_loss;  /* gsa_state_constant_loss */
    double collision_rate; /* share of the words that have a feature in common with another; NaN without words */
    const char *chosen_by; /* the option that decided the method, or NULL */
    char *warning[TRAIN_WARNINGS]; /* about the data, most serious first */
    size_t n_warnings;
    char note[512]; /* about the order of the rows; "": none */
    bool stopped, is_sorted, is_live;
} train_outcome;

int train_summary_print(const train_outcome *run, bool as_json);
/* Returns the mean loss of rows before they were learned: in the current pass, else in the last. */
double train_progressive_loss(const gsa_summary *summary);
/* Returns the number of rows behind a held-out loss: the sample, or all rows of a small file, each evaluated by a fold
 * that had not learned it. */
uint64_t train_rows_held_out(const gsa_state *state, double held_out_loss);

#endif
