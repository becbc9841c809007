/* A run: its state, reader and hooks, and the loop over rows that all its learners share. */
#ifndef GSA_TRAIN_JOB_H
#define GSA_TRAIN_JOB_H

#include "base/memory.h"

#include <greedystep/train.h>

#include <stdbool.h>

typedef struct gsai_job {
    gsa_state *state;
    gsa_reader *reader;
    gsa_train_hooks hooks;
    gsai_env env;          /* resolved */
    uint64_t n_sent;       /* bytes, to its comm */
    int aborted;           /* a process of its comm failed: none waits for it any more */
    size_t own_size;       /* where it is the only process */
    bool keeps_names;      /* a live run: its state has no names but those that its reader gave or does not know */
    bool goes_on;          /* a live run whose input begins where the state stands */
    uint64_t lines_before; /* of a live run: lines of the input before the reader's first, modulo 2^64 */
} gsai_job;

static inline gsa_summary gsai_summary_of(const gsa_state *state)
{
    gsa_summary summary = {.size = sizeof summary};
    gsa_state_get_summary(state, &summary);
    return summary;
}

static inline gsa_reader_progress gsai_progress_of(const gsa_reader *reader)
{
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    return progress;
}

/* Calls gsa_state_prepare; a failure names the place of the row. */
gsa_status gsai_job_prepare(const gsai_job *job, gsa_state *state, const gsa_batch *first, gsa_error *error);
/* Tells what the labels of the first rows were taken for, if that is worth a notice. */
void gsai_job_tell_task(const gsai_job *job, const gsa_state *state);
/* Gives the state the names that the reader knows, while no thread reads. */
gsa_status gsai_job_take_names(const gsai_job *job, gsa_error *error);
/* Lets `learner` learn these rows of the batch, with a few hundred rows between two checks whether to stop. Reports
 * progress only in the caller's thread. */
gsa_status gsai_job_learn(const gsai_job *job, gsa_state *learner, const gsa_batch *batch, const uint32_t *rows,
                          size_t n_rows, int tells, gsa_error *error);

#endif
