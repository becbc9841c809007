/* Rounds on threads and in processes. Which copy learns which block is the plan's: these only decide who learns when,
 * and where. */
#include "engine/rounds.h"

#include "engine/peers.h"
#include "engine/workers.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

gsa_status gsa__round_begin(gsa__round *round, const gsa_round *plan, gsa_error *error)
{
    gsa_status status = GSA_OK;
    double began = clock_now();
    round->rows_left = plan->n_rows;
    round->n_blocks = round->n_waiting = 0;
    for (round->n_shards = 0; round->n_shards < plan->n_shards && status == GSA_OK; round->n_shards++) {
        gsa_state **copy = &round->copy[round->n_shards];
        *copy = NULL;
        if (gsa__peers_is_mine(round->job, round->n_shards, plan->n_shards))
            status = gsa_state_fork(round->job->state, plan->n_shards, &round->job->env, copy, error);
    }
    round->began = clock_now();
    round->report = (gsa_round_report){.n_shards = plan->n_shards, .forking = round->began - began};
    return status;
}

/* Task: a block that waits, by its copy. */
static gsa_status learn_waiting(void *ctx, size_t task, gsa_error *error)
{
    const gsa__round *round = ctx;
    const gsa_batch *batch = &round->waiting[task].batch;
    return gsa__job_learn(round->job, round->waiting[task].copy, batch, round->waiting[task].order, batch->n_rows, 0,
                          error);
}

static gsa_status learn_all(gsa__round *round, gsa_error *error)
{
    gsa_status status = gsa__workers_run(gsa__workers_count(&round->job->env), round->n_waiting, learn_waiting, round,
                                         &round->job->env, error);
    const gsa_train_hooks *hooks = &round->job->hooks;
    if (status == GSA_OK && round->n_waiting > 0 &&
        hooks->progress) /* copies of a sweep say how many it will have been */
        hooks->progress(hooks->ctx, round->waiting[round->n_waiting - 1].copy, round->job->reader);
    round->n_waiting = 0;
    return status;
}

static size_t next_copy(const gsa__round *round)
{
    return round->n_blocks % round->n_shards;
}

int gsa__round_is_mine(const gsa__round *round)
{
    return round->copy[next_copy(round)] != NULL;
}

static void count_block(gsa__round *round, uint64_t n_rows)
{
    round->n_blocks++;
    round->report.n_rows += n_rows;
    round->rows_left -= n_rows < round->rows_left ? n_rows : round->rows_left;
}

gsa_status gsa__round_pass_over(gsa__round *round, uint64_t n_rows, int lets_go, gsa_error *error)
{
    count_block(round, n_rows);
    if (round->rows_left == 0)
        return gsa__round_end(round, error);
    return lets_go ? learn_all(round, error) : GSA_OK;
}

/* Copies that this process has: as many blocks can be learned side by side. */
static size_t n_mine(const gsa__round *round)
{
    size_t n = 0;
    for (size_t s = 0; s < round->n_shards; s++)
        n += round->copy[s] != NULL;
    return n;
}

gsa_status gsa__round_learn(gsa__round *round, const gsa_batch *batch, const uint32_t *order, int lets_go,
                            gsa_error *error)
{
    size_t at = round->n_waiting, n_threads = gsa__workers_count(&round->job->env);
    if (!round->waiting[at].order)
        round->waiting[at].order = gsa__alloc(&round->job->env, GSA_BLOCK_ROWS, sizeof *order);
    if (!round->waiting[at].order)
        return gsa__fail(error, GSA_MEMORY, "no memory for the order of %zu rows", batch->n_rows);
    memcpy(round->waiting[at].order, order, batch->n_rows * sizeof *order);
    round->waiting[at].batch = *batch;
    round->waiting[at].copy = round->copy[next_copy(round)];
    round->n_waiting++;
    count_block(round, batch->n_rows);
    if (round->rows_left == 0)
        return gsa__round_end(round, error);
    bool is_full = round->n_waiting == n_mine(round) || round->n_waiting >= n_threads;
    return is_full || lets_go ? learn_all(round, error) : GSA_OK;
}

static gsa_status merge(const gsa__round *round, gsa_status status, gsa_state **out, gsa_error *error)
{
    if (gsa__peers_count(round->job) > 1)
        return gsa__peers_merge(round->job, status, round->copy, round->n_shards, out, error);
    return status == GSA_OK ? gsa_state_merge((const gsa_state *const *)round->copy, round->n_shards, round->job->state,
                                              &round->job->env, out, error)
                            : status;
}

gsa_status gsa__round_end(gsa__round *round, gsa_error *error)
{
    const gsa_train_hooks *hooks = &round->job->hooks;
    gsa_round_report *report = &round->report;
    gsa_state *merged = NULL;
    if (round->n_shards == 0)
        return GSA_OK;
    gsa_status status = learn_all(round, error);
    double learned = clock_now();
    status = gsa__peers_agree(round->job, status, error);
    double met = clock_now();
    uint64_t sent = round->job->n_sent;
    if (status == GSA_OK)
        status = merge(round, status, &merged, error);
    if (status != GSA_OK)
        return status;
    gsa__round_drop(round);
    status = gsa_state_replace(round->job->state, merged, error);
    report->learning = learned - round->began;
    report->waiting = met - learned;
    report->merging = clock_now() - met;
    report->bytes_sent = round->job->n_sent - sent;
    if (status == GSA_OK && hooks->round_ended)
        hooks->round_ended(hooks->ctx, report);
    return status;
}

void gsa__round_drop(gsa__round *round)
{
    while (round->n_shards > 0)
        gsa_state_free(round->copy[--round->n_shards]);
    for (size_t i = 0; i < GSA_SHARDS_MOST; i++) {
        gsa__free(&round->job->env, round->waiting[i].order);
        round->waiting[i].order = NULL;
    }
    round->n_waiting = 0;
}
