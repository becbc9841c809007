/* greedystep-compare, from the inside out.
 *
 * Rows are read once; with every seed they are split into a task (task.c). A method (method.c) learns
 * it pass by pass by a learner (learners.c). Each pass is scored and recorded (grid.c), and the records become a
 * CSV file and a table (results.c). compare.c is the program.
 *
 * Functions that give a gsa_status print nothing, so that the progress line can be cleared before a message. */
#ifndef GREEDYSTEP_COMPARE_COMPARE_H
#define GREEDYSTEP_COMPARE_COMPARE_H

#include "cli/message.h"
#include "cli/options.h"
#include "cli/progress.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rows.h"
#include "baseline/optimizer.h"

#include <greedystep/data.h>
#include <greedystep/distributed.h>
#include <greedystep/greedystep.h>

#include <stdbool.h>
#include <stdio.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Adds all rows of the reader. */
gsa_status compare_rows_read(gsai_rows *rows, gsa_reader *reader, cli_progress *progress, gsa_error *error);

/* "64 KiB", "1.5 GiB" for messages. */
enum { COMPARE_SIZE_TEXT = 32 };
const char *compare_size_text(double bytes, char buffer[COMPARE_SIZE_TEXT]);
/* Returns GSA_STOPPED once a signal came. */
gsa_status compare_check_stop(const gsai_env *env, gsa_error *error);

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* The data of the whole comparison. */
typedef struct compare_data {
    gsai_env env;                     /* resolved */
    gsa_reader *reader, *test_reader; /* open for the places of rows; test_reader: NULL without --test */
    gsai_rows rows, test_rows;        /* test_rows: of --test */
    const char *loss, *intercept;     /* parameters as text */
} compare_data;

/* The training task of one seed. */
typedef struct compare_task {
    gsai_env env; /* that of the data */
    const compare_data *data;
    uint64_t seed;
    gsa_batch train, test;
    gsai_rows train_rows, test_rows; /* copies that the two look into, without words; empty with --test */
    uint32_t *test_number;           /* of each test row among all rows; NULL with --test, where it is its own */
    gsa_model *like;                 /* no weights, but loss and labels */
    uint32_t *classes;               /* of the training rows; NULL for regression */
    uint32_t *order;                 /* of the training rows in the pass under way */
    size_t n_features;               /* of the training rows */
    bool intercept;
} compare_task;

gsa_status compare_task_new(const compare_data *data, uint64_t seed, compare_task *out, gsa_error *error);
void compare_task_free(compare_task *task);
/* Sets the order of a pass, from 0: blocks of consecutive rows, each permuted as `train --order shuffled` does. */
void compare_task_set_order(compare_task *task, uint64_t pass);
/* Makes a state that has learned nothing but knows the loss and all labels of the training rows. */
gsa_status compare_task_state(const compare_task *task, const char *method, const char *average, gsa_state **out,
                              gsa_error *error);

/* ---- methods ----------------------------------------------------------------------------------------------------- */

enum { COMPARE_PARAMETERS_SIZE = 96 };

typedef struct compare_method {
    const char *name;
    const gsai_method *baseline; /* NULL: greedy step averaging */
    double knob[GSAI_KNOBS];     /* of the baseline */
    const char *of_state;        /* the parameter `method` of a state, NULL for baselines */
    const char *average;         /* of greedy step averaging */
    size_t n_shards;             /* copies that learn apart; 0: the state itself learns */
} compare_method;

/* Parses a list such as "gsa,sgd:0.1"; *out is to be freed. Returns an exit code. */
int compare_methods_parse(const char *list, compare_method **out, size_t *n_out);
/* Returns the parameters as text, such as "r=0.1;B=200". */
const char *compare_method_parameters(const compare_method *method, char buffer[COMPARE_PARAMETERS_SIZE]);
/* Describes a method by its number; returns false beyond the end. */
bool compare_method_describe(size_t number, verb_method *out);

/* A method that learns a task: a state of the library, or an optimiser and its weights, [slots x outputs]. */
typedef struct compare_learner {
    const compare_method *method;
    const compare_task *task;
    gsa_state *state;
    gsai_problem problem; /* of the optimiser */
    gsai_optimizer *optimizer;
    double *weights;
    float *float_weights; /* the same */
} compare_learner;

/* To be closed in every case. */
gsa_status compare_learner_open(const compare_method *method, const compare_task *task, compare_learner *out,
                                gsa_error *error);
/* Learns one pass in the task's order. */
gsa_status compare_learner_pass(compare_learner *learner, gsa_error *error);
/* Makes the model so far; GSA_DIVERGED if a weight is not finite. */
gsa_status compare_learner_model(compare_learner *learner, gsa_model **out, gsa_error *error);
/* Returns the step, for the report, or NaN. */
double compare_learner_step(const compare_learner *learner);
void compare_learner_close(compare_learner *learner);

/* ---- results ----------------------------------------------------------------------------------------------------- */

typedef enum compare_part { COMPARE_TRAIN, COMPARE_TEST, COMPARE_PARTS } compare_part;

/* NaN where undefined. */
typedef struct compare_score {
    double loss, accuracy, auc;
} compare_score;

/* A method after a pass. One that diverged has no score and no step. */
typedef struct compare_record {
    compare_score score[COMPARE_PARTS];
    double step, seconds;
    bool diverged;
} compare_record;

typedef struct compare_grid {
    const char *data_name; /* as the CSV calls it */
    const compare_method *methods;
    size_t n_methods, n_seeds, n_passes;
    size_t n_train, n_test;  /* rows of the two parts */
    uint64_t n_rows_learned; /* of the method under way, for the progress */
    compare_record *records; /* [methods x seeds x passes] */
    FILE *row_stream;        /* where every test row's result goes after the last pass; NULL: nowhere */
    cli_progress progress;
} compare_grid;

compare_record *compare_grid_at(const compare_grid *grid, size_t method, size_t seed, size_t pass);
/* Runs everything; to be freed in every case. */
gsa_status compare_grid_run(compare_grid *grid, const compare_data *data, gsa_error *error);
void compare_grid_free(compare_grid *grid);

/* Over the seeds, of the test rows after the last pass. */
typedef struct compare_spread {
    double mean, min, max;
} compare_spread;
typedef enum compare_measure { COMPARE_LOSS, COMPARE_ACCURACY, COMPARE_AUC, COMPARE_MEASURES } compare_measure;
compare_spread compare_grid_spread(const compare_grid *grid, size_t method, compare_measure measure);
size_t compare_grid_diverged(const compare_grid *grid, size_t method);

/* Writes all records as CSV; returns false if the stream fails. */
bool compare_write_csv(const compare_grid *grid, FILE *stream);
/* Prints what each method came to. */
void compare_print_table(const compare_grid *grid);

#endif
