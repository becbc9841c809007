/* Rounds on threads and in processes. Which replica learns which block is the plan's: these only decide who learns
 * when, and where. */
#include "train/rounds.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/workers.h"
#include "train/comm.h"

#include <stdbool.h>
#include <string.h>

/* ---- replicas --------------------------------------------------------------------------------------------------- */

/* Task: a replica, in the memory of one that has learned before if there is any. */
static gsa_status make_replica(void *ctx, size_t task, gsa_error *error)
{
    gsai_round *round = ctx;
    gsa_state **replica = &round->replica[task];
    size_t n = round->plan.n_shards;
    if (!gsai_comm_is_mine(round->job, round->first + task, round->n_dealt))
        return GSA_OK;
    return *replica ? gsa_state_refresh(*replica, round->job->state, n, error)
                    : gsa_state_fork(round->job->state, n, &round->job->env, replica, error);
}

/* Rows of the replicas that learn at a time. */
static uint64_t rows_together(const gsa_round *plan)
{
    return plan->n_rows / (plan->n_shards / plan->n_together);
}

gsa_status gsai_round_next(gsai_round *round, gsa_error *error)
{
    double began = gsai_os_seconds();
    round->first = round->n_shards;
    round->rows_left = rows_together(&round->plan);
    round->n_blocks = round->n_waiting = 0;
    for (size_t i = 0; i < round->plan.n_together; i++) {
        bool is_mine = gsai_comm_is_mine(round->job, round->first + i, round->n_dealt);
        round->replica[i] = is_mine && round->n_spare > 0 ? round->spare[--round->n_spare] : NULL;
    }
    round->n = round->plan.n_together;
    gsa_status status =
        gsai_workers_run(gsai_workers_count(&round->job->env), round->n, make_replica, round, &round->job->env, error);
    round->n_shards = round->first + round->n;
    round->began = gsai_os_seconds();
    round->report.forking += round->began - began;
    return status;
}

gsa_status gsai_round_begin(gsai_round *round, const gsa_round *plan, uint64_t n_rows, gsa_error *error)
{
    uint64_t some = rows_together(plan), n_times = n_rows / some + (n_rows % some > 0);
    round->plan = *plan;
    round->n_dealt = n_times < plan->n_shards / plan->n_together ? (size_t)n_times * plan->n_together : plan->n_shards;
    round->report = (gsa_round_report){0};
    round->n_shards = 0;
    GSA_TRY(gsa_state_close_group(round->job->state, error));
    return gsai_round_next(round, error);
}

static void drop_replicas(gsai_round *round)
{
    while (round->n > 0) {
        gsa_state *replica = round->replica[--round->n];
        if (replica && round->n_spare < GSA_MAX_TOGETHER)
            round->spare[round->n_spare++] = replica;
        else
            gsa_state_free(replica);
    }
    round->n_waiting = 0;
}

static void clear(gsai_round *round)
{
    drop_replicas(round);
    gsai_pending_drop(&round->pending);
    round->n_shards = 0;
}

void gsai_round_drop(gsai_round *round)
{
    clear(round);
    while (round->n_spare > 0)
        gsa_state_free(round->spare[--round->n_spare]);
    for (size_t i = 0; i < GSA_MAX_TOGETHER; i++) {
        gsai_free(&round->job->env, round->waiting[i].order);
        round->waiting[i].order = NULL;
    }
}

/* Replicas that this process has at this time: as many blocks can be learned side by side. */
static const gsa_state *const *mine(const gsai_round *round, size_t *first, size_t *n)
{
    *n = 0;
    for (*first = 0; *first < round->n && !round->replica[*first];)
        ++*first;
    while (*first + *n < round->n && round->replica[*first + *n])
        ++*n;
    return (const gsa_state *const *)round->replica + *first;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Task: a block that waits, by its replica. */
static gsa_status learn_waiting(void *ctx, size_t task, gsa_error *error)
{
    const gsai_round *round = ctx;
    const gsa_batch *batch = &round->waiting[task].batch;
    gsa_state *replica = round->waiting[task].replica;
    GSA_TRY(gsai_job_learn(round->job, replica, batch, round->waiting[task].order, batch->n_rows, 0, error));
    return gsa_state_close_group(replica, error);
}

static gsa_status learn_all(gsai_round *round, gsa_error *error)
{
    gsa_status status = gsai_workers_run(gsai_workers_count(&round->job->env), round->n_waiting, learn_waiting, round,
                                         &round->job->env, error);
    const gsa_train_hooks *hooks = &round->job->hooks;
    if (status == GSA_OK && round->n_waiting > 0 &&
        hooks->progress) /* replicas of a sweep say how many it will have been */
        hooks->progress(hooks->ctx, round->waiting[round->n_waiting - 1].replica, round->job->reader);
    round->n_waiting = 0;
    return status;
}

static size_t next_replica(const gsai_round *round)
{
    return round->n_blocks % round->n;
}

int gsai_round_is_mine(const gsai_round *round)
{
    return round->replica[next_replica(round)] != NULL;
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

gsa_status gsai_round_learn(gsai_round *round, const gsa_batch *batch, const uint32_t *order, int releases,
                            gsa_error *error)
{
    size_t at = round->n_waiting, n_threads = gsai_workers_count(&round->job->env), first, n;
    if (!round->waiting[at].order)
        round->waiting[at].order = gsai_alloc(&round->job->env, GSA_BLOCK_ROWS, sizeof *order);
    if (!round->waiting[at].order)
        return gsai_fail_memory(&round->job->env, error, "no memory for the order of %zu rows", batch->n_rows);
    memcpy(round->waiting[at].order, order, batch->n_rows * sizeof *order);
    round->waiting[at].batch = *batch;
    round->report.n_mine += batch->n_rows;
    round->waiting[at].replica = round->replica[next_replica(round)];
    round->n_waiting++;
    count_block(round, batch->n_rows);
    if (round->rows_left == 0)
        return end_replicas(round, error);
    (void)mine(round, &first, &n);
    bool is_full = round->n_waiting == n || round->n_waiting >= n_threads;
    return is_full || releases ? learn_all(round, error) : GSA_OK;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static bool has_new_labels(const gsai_round *round)
{
    uint64_t n_known = gsai_summary_of(round->job->state).n_classes;
    bool has = false;
    for (size_t i = 0; i < round->n; i++)
        has = has || (round->replica[i] && gsai_summary_of(round->replica[i]).n_classes != n_known);
    return has;
}

/* The replicas of this time make room for the next. */
static gsa_status make_pending(gsai_round *round, gsa_error *error)
{
    size_t first, n;
    const gsa_state *const *replica = mine(round, &first, &n);
    if (!round->pending.job)
        gsai_pending_begin(&round->pending, round->job);
    if (has_new_labels(round))
        return gsai_fail(error, GSA_INPUT,
                         "a third label comes for the first time after %llu rows of two labels; with --loss softmax it "
                         "may come at any time",
                         (unsigned long long)round->report.n_rows);
    gsa_status status = n > 0 ? gsai_pending_add(&round->pending, replica, n, round->first + first, error) : GSA_OK;
    drop_replicas(round);
    return status;
}

/* Replicas of other processes may have labels that the base does not know: then every process needs them whole. */
static gsa_status merge_whole(gsai_round *round, gsa_status status, gsa_state **out, gsa_error *error)
{
    gsai_job *job = round->job;
    status = gsai_comm_share(job, status, round->replica, round->n, round->n_dealt, error);
    return status == GSA_OK
               ? gsa_state_merge((const gsa_state *const *)round->replica, round->n, job->state, &job->env, out, error)
               : status;
}

typedef struct finding {
    uint64_t new_labels, n_rows;
} finding;

/* Gathers whether a process has a new label, and how few rows one has had. */
static gsa_status gather_findings(gsai_round *round, gsa_status status, bool *new_labels, gsa_error *error)
{
    gsai_job *job = round->job;
    finding mine = {has_new_labels(round), round->report.n_mine}, each;
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

static gsa_status merge(gsai_round *round, bool new_labels, gsa_state **out, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (round->first == 0 && round->n > 0 && (new_labels || gsai_comm_size(round->job) == 1))
        return merge_whole(round, status, out, error);
    if (round->n > 0)
        status = make_pending(round, error);
    return gsai_pending_merge(&round->pending, status, round->n_shards, out, error);
}

gsa_status gsai_round_end(gsai_round *round, gsa_error *error)
{
    const gsa_train_hooks *hooks = &round->job->hooks;
    gsa_round_report *report = &round->report;
    gsa_state *merged = NULL;
    bool new_labels;
    if (round->n_shards == 0)
        return GSA_OK;
    gsa_status status = round->n > 0 ? learn_all(round, error) : GSA_OK;
    double learned = gsai_os_seconds();
    report->learning += round->n > 0 ? learned - round->began : 0;
    status = gather_findings(round, status, &new_labels, error);
    double gathered = gsai_os_seconds();
    uint64_t sent = round->job->n_sent;
    if (status == GSA_OK)
        status = merge(round, new_labels, &merged, error);
    if (status != GSA_OK)
        return status;
    report->n_shards = round->n_shards;
    clear(round);
    status = gsa_state_replace(round->job->state, merged, error);
    report->waiting = gathered - learned;
    report->merging += gsai_os_seconds() - gathered;
    report->bytes_sent = round->job->n_sent - sent;
    if (status == GSA_OK && hooks->round_ended)
        hooks->round_ended(hooks->ctx, report);
    return status;
}

/* Replicas have learned their rows. */
static gsa_status end_replicas(gsai_round *round, gsa_error *error)
{
    if (round->n_shards == round->plan.n_shards)
        return gsai_round_end(round, error);
    gsa_status status = learn_all(round, error);
    double learned = gsai_os_seconds();
    round->report.learning += learned - round->began;
    if (status == GSA_OK)
        status = make_pending(round, error);
    round->report.merging += gsai_os_seconds() - learned;
    return status;
}
