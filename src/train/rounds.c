/* Blocks are assigned to replicas. The schedule determines which replica learns which block; this file only when and in
 * which thread. */
#include "train/rounds.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/workers.h"
#include "train/block.h"
#include "train/comm.h"

#include <string.h>

/* Rows of the replicas that are in memory together. */
static uint64_t rows_together(const gsa_step *step)
{
    return step->n_rows / (step->n_replicas / step->n_resident);
}

gsa_status gsai_round_next(gsai_round *round, gsa_error *error)
{
    const gsa_step *step = &round->replicas.step;
    double began = gsai_os_seconds();
    round->rows_left = rows_together(step);
    round->n_blocks = round->n_waiting = 0;
    gsa_status status = gsai_replicas_fork(&round->replicas, gsai_copies_all, &round->replicas, error);
    round->began = gsai_os_seconds();
    round->report.forking += round->began - began;
    return status;
}

gsa_status gsai_round_begin(gsai_round *round, const gsa_step *step, uint64_t n_rows, gsa_error *error)
{
    const gsai_job *job = round->replicas.job;
    uint64_t some = rows_together(step), n_times = n_rows / some + (n_rows % some > 0);
    size_t n_dealt =
        n_times < step->n_replicas / step->n_resident ? (size_t)n_times * step->n_resident : step->n_replicas;
    round->n_dealt = n_dealt;
    round->report = (gsa_round_report){0};
    GSA_TRY(gsai_replicas_begin(&round->replicas, step, gsai_comm_first(job, n_dealt, 0),
                                gsai_comm_first(job, n_dealt, 1), error));
    return gsai_round_next(round, error);
}

void gsai_round_drop(gsai_round *round)
{
    for (size_t i = 0; i < GSA_MAX_RESIDENT; i++) {
        gsai_free(&round->replicas.job->env, round->waiting[i].order);
        round->waiting[i].order = NULL;
    }
    gsai_replicas_free(&round->replicas);
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Task: a block that waits, by its replica. */
static gsa_status learn_waiting(void *ctx, size_t task, gsa_error *error)
{
    const gsai_round *round = ctx;
    const gsa_batch *batch = &round->waiting[task].batch;
    gsa_state *replica = round->waiting[task].replica;
    GSA_TRY(gsai_job_learn(round->replicas.job, replica, batch, round->waiting[task].order, batch->n_rows, 0, error));
    return gsa_state_close_group(replica, error);
}

static gsa_status learn_all(gsai_round *round, gsa_error *error)
{
    const gsai_job *job = round->replicas.job;
    gsa_status status =
        gsai_workers_run(gsai_workers_count(&job->env), round->n_waiting, learn_waiting, round, &job->env, error);
    const gsa_train_hooks *hooks = &job->hooks;
    if (status == GSA_OK && round->n_waiting > 0 &&
        hooks->progress) /* replicas of a sweep say how many it will have been */
        hooks->progress(hooks->ctx, round->waiting[round->n_waiting - 1].replica, job->reader);
    round->n_waiting = 0;
    return status;
}

static gsa_state *next_replica(const gsai_round *round)
{
    return round->replicas.resident[round->n_blocks % round->replicas.n];
}

int gsai_round_is_mine(const gsai_round *round)
{
    return next_replica(round) != NULL;
}

static void count_block(gsai_round *round, uint64_t n_rows)
{
    round->n_blocks++;
    round->report.n_rows += n_rows;
    round->rows_left -= n_rows < round->rows_left ? n_rows : round->rows_left;
}

static gsa_status end_replicas(gsai_round *round, gsa_error *error);

gsa_status gsai_round_skip(gsai_round *round, uint64_t n_rows, int releases, gsa_error *error)
{
    count_block(round, n_rows);
    if (round->rows_left == 0)
        return end_replicas(round, error);
    return releases ? learn_all(round, error) : GSA_OK;
}

/* Whether every replica of this process, or every thread, has a block. */
static int is_full(const gsai_round *round)
{
    size_t n_own = 0;
    for (size_t i = 0; i < round->replicas.n; i++)
        n_own += round->replicas.resident[i] != NULL;
    return round->n_waiting == n_own || round->n_waiting >= gsai_workers_count(&round->replicas.job->env);
}

gsa_status gsai_round_learn(gsai_round *round, const gsa_batch *batch, const uint32_t *order, int releases,
                            gsa_error *error)
{
    const gsai_env *env = &round->replicas.job->env;
    size_t at = round->n_waiting;
    if (!round->waiting[at].order)
        round->waiting[at].order = gsai_alloc(env, GSAI_MAX_BLOCK_ROWS, sizeof *order);
    GSAI_TRY_MEMORY(round->waiting[at].order, env, error, "no memory for the order of %zu rows", batch->n_rows);
    memcpy(round->waiting[at].order, order, batch->n_rows * sizeof *order);
    round->waiting[at].batch = *batch;
    round->report.n_mine += batch->n_rows;
    round->waiting[at].replica = next_replica(round);
    round->n_waiting++;
    count_block(round, batch->n_rows);
    if (round->rows_left == 0)
        return end_replicas(round, error);
    return is_full(round) || releases ? learn_all(round, error) : GSA_OK;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* The replicas in memory make room for the next. */
static gsa_status settle(gsai_round *round, gsa_error *error)
{
    if (gsai_replicas_have_new_labels(&round->replicas))
        return gsai_fail_about(error, "loss",
                               gsai_fail(error, GSA_INPUT,
                                         "a third label comes for the first time after %llu rows of two labels; with "
                                         "softmax loss it may come at any time",
                                         (unsigned long long)round->report.n_rows));
    return gsai_replicas_settle(&round->replicas, error);
}

typedef struct finding {
    uint64_t new_labels, n_rows;
} finding;

/* Gathers whether a process has a new label, and how few rows one has had. */
static gsa_status gather_findings(gsai_round *round, gsa_status status, bool *new_labels, gsa_error *error)
{
    gsai_job *job = round->replicas.job;
    finding mine = {gsai_replicas_have_new_labels(&round->replicas), round->report.n_mine}, each;
    const unsigned char *all;
    const size_t *sizes;
    *new_labels = false;
    round->report.n_fewest = mine.n_rows;
    status = gsai_comm_allgather(job, status, &mine, sizeof mine, &all, &sizes, error);
    for (size_t r = 0; r < gsai_comm_size(job) && status == GSA_OK; r++) {
        memcpy(&each, all + r * sizeof each, sizeof each);
        *new_labels = *new_labels || each.new_labels != 0;
        round->report.n_fewest = each.n_rows < round->report.n_fewest ? each.n_rows : round->report.n_fewest;
    }
    return status;
}

gsa_status gsai_round_end(gsai_round *round, gsa_error *error)
{
    gsai_job *job = round->replicas.job;
    gsa_round_report *report = &round->report;
    bool new_labels, is_learning = round->replicas.n > 0;
    if (round->replicas.n_begun == 0)
        return GSA_OK;
    gsa_status status = is_learning ? learn_all(round, error) : GSA_OK;
    double learned = gsai_os_seconds();
    report->learning += is_learning ? learned - round->began : 0;
    GSA_TRY(gather_findings(round, status, &new_labels, error));
    double gathered = gsai_os_seconds();
    uint64_t sent = job->n_sent;
    report->n_shards = round->replicas.n_begun;
    if (is_learning && round->replicas.first > 0)
        status = settle(round, error);
    GSA_TRY(gsai_replicas_merge(&round->replicas, status, new_labels, error));
    report->waiting = gathered - learned;
    report->merging += gsai_os_seconds() - gathered;
    report->bytes_sent = job->n_sent - sent;
    if (job->hooks.round_ended)
        job->hooks.round_ended(job->hooks.ctx, report);
    return GSA_OK;
}

/* Replicas have learned their rows. */
static gsa_status end_replicas(gsai_round *round, gsa_error *error)
{
    if (!gsai_replicas_has_next(&round->replicas))
        return gsai_round_end(round, error);
    gsa_status status = learn_all(round, error);
    double learned = gsai_os_seconds();
    round->report.learning += learned - round->began;
    if (status == GSA_OK)
        status = settle(round, error);
    round->report.merging += gsai_os_seconds() - learned;
    return status;
}
