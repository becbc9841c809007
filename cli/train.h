/* What the files of the verb `train` share. */
#ifndef GREEDYSTEP_CLI_TRAIN_H
#define GREEDYSTEP_CLI_TRAIN_H

#include "options.h"
#include "progress.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <jansson.h>

/* The state to begin with: a new one, that of an interrupted run (--resume), or what another run has learned
 * (--start-from). Gives an exit code. */
int train_start(const cli_arguments *arguments, const gsa_env *env, gsa_state **out);

/* The file of --test, judged after every pass. All members are NULL without --test. */
typedef struct train_test {
    const char *path;
    gsa_reader *reader;
    json_t *results; /* one object a pass */
    bool was_read;
} train_test;

int train_test_open(const cli_arguments *arguments, const gsa_env *env, train_test *out);
/* Judges the model that the state stands for, and tells it. */
gsa_status train_test_run(train_test *test, const gsa_state *state, const gsa_env *env, cli_progress *progress,
                          gsa_error *error);
/* Prints the last results. */
void train_test_report(const train_test *test);
void train_test_close(train_test *test);

/* Compressed rows of several passes, kept in a temporary cache after the first. */
typedef struct train_keep {
    const char *folder; /* NULL: nothing is kept */
    uint64_t first_pass;
} train_keep;

/* Keeps rows where that pays. It is no failure if they cannot be kept. */
train_keep train_keep_begin(const gsa_state *state, gsa_reader *reader, cli_progress *progress);
/* Once, when a later pass reads what was kept, or finds that it could not be. */
void train_keep_tell(train_keep *keep, uint64_t pass, const gsa_reader *reader, cli_progress *progress);

#endif
