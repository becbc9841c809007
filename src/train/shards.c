/* Shards: parts of an input that follow one another. Each is learned by a replica of the state, and the replicas are
 * merged once a pass, as the partitions of a cluster are; the same rows in the same parts give the same bits there.
 *
 * First the rows are counted, and all labels collected, so that all replicas number them alike. Then the state itself
 * learns the first rows of all shards; that ends a pass, and the rows that are held out stay the same from there on. In
 * a pass every shard has a replica; many replicas do not fit into memory, and wait as deltas. There is another pass as
 * long as held-out rows gain by it. */
#include "train/shards.h"

#include "train/block.h"
#include "train/comm.h"
#include "train/pending.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* Replicas that are merged as they are. */
#define MAX_WHOLE 8u

/* ---- one shard -------------------------------------------------------------------------------------------------- */

typedef struct shard_learner {
    const gsai_job *job; /* of which reader and env are used */
    gsai_block *block;
    uint32_t *order;
    uint64_t seed;
    int shuffled;
} shard_learner;

static gsa_status shard_learner_begin(shard_learner *worker, const gsa_state *state, gsa_error *error)
{
    (void)gsai_count_parse(gsa_state_get(state, "seed"), &worker->seed);
    worker->shuffled = strcmp(gsa_state_get(state, "order"), "file") != 0;
    worker->order = gsai_alloc(&worker->job->env, GSA_BLOCK_ROWS, sizeof *worker->order);
    if (!worker->order)
        return gsai_fail_memory(&worker->job->env, error, "no memory for the order of %u rows", GSA_BLOCK_ROWS);
    return gsai_block_new(&worker->job->env, &worker->block, error);
}

static void shard_learner_end(shard_learner *worker)
{
    gsai_block_free(worker->block);
    gsai_free(&worker->job->env, worker->order);
}

static gsa_status learn_block(shard_learner *worker, gsa_state *learner, uint64_t shard, uint64_t number,
                              const gsa_batch *rows, gsa_error *error)
{
    gsai_block_order(worker->shuffled, worker->seed, gsai_summary_of(learner).pass, (shard << 32) + number,
                     (uint32_t)rows->n_rows, worker->order);
    GSA_TRY(gsai_job_learn(worker->job, learner, rows, worker->order, rows->n_rows, 1, error));
    return gsa_state_close_group(learner, error);
}

static size_t block_rows(uint64_t left)
{
    return left < GSA_BLOCK_ROWS ? (size_t)left : GSA_BLOCK_ROWS;
}

/* The next n_rows rows, or those that there are; learner NULL: they are passed over. */
static gsa_status learn_rows(shard_learner *worker, gsa_state *learner, uint64_t shard, uint64_t n_rows,
                             uint64_t *n_learned, gsa_error *error)
{
    gsa_batch rows;
    gsa_status status = GSA_OK;
    *n_learned = 0;
    for (uint64_t number = 0; status == GSA_OK && *n_learned < n_rows; number++) {
        status = gsai_block_read(worker->block, worker->job->reader, block_rows(n_rows - *n_learned), &rows, error);
        if (status == GSA_OK && learner)
            status = learn_block(worker, learner, shard, number, &rows, error);
        *n_learned += status == GSA_OK ? rows.n_rows : 0;
    }
    return status == GSA_END ? GSA_OK : status;
}

gsa_status gsa_train_shard(gsa_state *replica, gsa_reader *reader, uint64_t shard, const gsa_env *env, uint64_t *n_rows,
                           gsa_error *error)
{
    gsai_job job = {.state = replica, .reader = reader, .env = gsai_env_resolve(env)};
    shard_learner worker = {.job = &job};
    gsa_status status = shard_learner_begin(&worker, replica, error);
    if (status == GSA_OK)
        status = learn_rows(&worker, replica, shard, UINT64_MAX, n_rows, error);
    shard_learner_end(&worker);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

typedef struct sharded {
    gsai_job *job;
    shard_learner worker;
    size_t n_shards;
    uint64_t n_rows;
    uint64_t *first;     /* by shard: rows that are learned before the first pass */
    gsa_state **replica; /* that has learned; NULL: it waits as a delta */
    gsa_state *spare;    /* the last one that was, whose memory is for the next; NULL: none */
    gsai_pending pending;
} sharded;

static gsa_status rewind_all(sharded *run, gsa_error *error)
{
    gsai_block_clear(run->worker.block);
    return gsa_reader_rewind(run->job->reader, error);
}

/* Rows of weight 0 tell their labels only. */
static gsa_status tell_labels(const sharded *run, gsa_batch *rows, const float *nothing, gsa_error *error)
{
    if (run->n_rows == 0) /* which is where the run begins */
        GSA_TRY(gsai_job_prepare(run->job, rows, error));
    rows->weight = nothing;
    return gsai_job_prepare(run->job, rows, error);
}

static gsa_status count_rows(sharded *run, gsa_error *error)
{
    float *nothing = gsai_alloc_zeroed(&run->job->env, GSA_BLOCK_ROWS, sizeof *nothing);
    gsa_status status =
        nothing ? rewind_all(run, error) : gsai_fail_memory(&run->job->env, error, "no memory for labels");
    gsa_batch rows;
    while (status == GSA_OK &&
           (status = gsai_block_read(run->worker.block, run->job->reader, GSA_BLOCK_ROWS, &rows, error)) == GSA_OK) {
        status = tell_labels(run, &rows, nothing, error);
        run->n_rows += rows.n_rows;
    }
    gsai_free(&run->job->env, nothing);
    if (status == GSA_END && run->n_rows == 0)
        return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to learn", gsa_reader_file(run->job->reader, 0));
    return status == GSA_END ? GSA_OK : status;
}

/* As even as can be; rows [n_rows * s / n_shards, n_rows * (s + 1) / n_shards). */
static uint64_t rows_of(const sharded *run, size_t s)
{
    uint64_t share = run->n_rows / run->n_shards, rest = run->n_rows % run->n_shards;
    return share + rest * (s + 1) / run->n_shards - rest * s / run->n_shards;
}

static gsa_status make_room(sharded *run, uint64_t n_shards, gsa_error *error)
{
    size_t n = run->n_shards = (size_t)(n_shards < run->n_rows ? n_shards : run->n_rows);
    run->first = gsai_alloc_zeroed(&run->job->env, n, sizeof *run->first);
    run->replica = gsai_alloc_zeroed(&run->job->env, n, sizeof *run->replica);
    return run->first && run->replica ? GSA_OK : gsai_fail_memory(&run->job->env, error, "no memory for %zu shards", n);
}

/* Of the rows, from the first on, as many as have no more entries than that. */
static size_t rows_that_fit(const gsa_batch *rows, uint64_t max_entries)
{
    size_t n = rows->n_rows;
    while (n > 0 && (uint64_t)(rows->row_start[n] - rows->row_start[0]) > max_entries)
        n--;
    return n;
}

typedef struct first_rows {
    gsai_block *block; /* of all shards, learned when it is full */
    uint64_t number;   /* of the block */
} first_rows;

static gsa_status learn_first_block(sharded *run, first_rows *all, gsa_error *error)
{
    gsa_batch rows;
    gsa_status status = gsai_block_view(all->block, &rows) > 0
                            ? learn_block(&run->worker, run->job->state, GSA_FIRST_SHARD, all->number++, &rows, error)
                            : GSA_OK;
    gsai_block_clear(all->block);
    return status;
}

static gsa_status add_first(sharded *run, first_rows *all, const gsa_batch *rows, size_t n, gsa_error *error)
{
    for (size_t at = 0; at < n;) {
        GSA_TRY(gsai_block_add(all->block, rows, n, &at, error));
        if (gsai_block_is_full(all->block))
            GSA_TRY(learn_first_block(run, all, error));
    }
    return GSA_OK;
}

static gsa_status take_first(sharded *run, size_t s, first_rows *all, gsa_error *error)
{
    gsa_batch rows;
    uint64_t max = gsa_plan_first_rows(run->n_rows, run->n_shards), left = GSA_FIRST_ENTRIES / run->n_shards, n_skipped;
    uint64_t n_read = 0, n_rows = rows_of(run, s);
    max = max < n_rows ? max : n_rows;
    for (bool fits = true; fits && n_read < max; n_read += rows.n_rows) {
        GSA_TRY(gsai_block_read(run->worker.block, run->job->reader, block_rows(max - n_read), &rows, error));
        size_t n = rows_that_fit(&rows, left);
        GSA_TRY(add_first(run, all, &rows, n, error));
        run->first[s] += n;
        left -= (uint64_t)(rows.row_start[n] - rows.row_start[0]);
        fits = n == rows.n_rows;
    }
    return learn_rows(&run->worker, NULL, 0, n_rows - n_read, &n_skipped, error);
}

static gsa_status learn_first(sharded *run, gsa_error *error)
{
    first_rows all = {0};
    gsa_status status = gsai_block_new(&run->job->env, &all.block, error);
    if (status == GSA_OK)
        status = rewind_all(run, error);
    for (size_t s = 0; s < run->n_shards && status == GSA_OK; s++)
        status = take_first(run, s, &all, error);
    if (status == GSA_OK)
        status = learn_first_block(run, &all, error);
    gsai_block_free(all.block);
    if (status == GSA_OK)
        gsa_state_end_pass(run->job->state);
    return status;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static bool by_deltas(const sharded *run)
{
    return run->n_shards > MAX_WHOLE && gsai_summary_of(run->job->state).n_rows >= GSA_SCALING_ROWS;
}

static gsa_status make_pending(sharded *run, size_t s, gsa_error *error)
{
    const gsa_state *replica = run->replica[s];
    if (!run->pending.job)
        gsai_pending_begin(&run->pending, run->job);
    run->spare = run->replica[s];
    run->replica[s] = NULL;
    return gsai_pending_add(&run->pending, &replica, 1, s, error);
}

static gsa_status make_replica(sharded *run, size_t s, size_t n_replicas, gsa_error *error)
{
    if (!run->spare)
        return gsa_state_fork(run->job->state, n_replicas, &run->job->env, &run->replica[s], error);
    run->replica[s] = run->spare;
    run->spare = NULL;
    return gsa_state_refresh(run->replica[s], run->job->state, n_replicas, error);
}

static gsa_status learn_shard(sharded *run, size_t s, gsa_error *error)
{
    uint64_t n = 0, n_skipped = 0, n_rows = rows_of(run, s);
    gsa_summary summary = gsai_summary_of(run->job->state);
    GSA_TRY(make_replica(run, s, (size_t)gsa_plan_replicas(run->n_rows, n_rows), error));
    if (summary.pass == 1)
        GSA_TRY(learn_rows(&run->worker, NULL, s, run->first[s], &n_skipped, error));
    GSA_TRY(learn_rows(&run->worker, run->replica[s], s, n_rows - n_skipped, &n, error));
    if (n + n_skipped != n_rows)
        return gsai_fail(error, GSA_CONFLICT, "the input had %llu rows and has fewer now; train on a copy",
                         (unsigned long long)run->n_rows);
    return by_deltas(run) ? make_pending(run, s, error) : GSA_OK;
}

static void forget_replicas(sharded *run)
{
    gsai_pending_drop(&run->pending);
    for (size_t s = 0; s < run->n_shards && run->replica; s++) {
        gsa_state_free(run->replica[s]);
        run->replica[s] = NULL;
    }
}

static gsa_status merge_replicas(sharded *run, gsa_error *error)
{
    gsa_state *merged = NULL, *base = run->job->state;
    gsa_status status = by_deltas(run) ? gsai_pending_merge(&run->pending, GSA_OK, run->n_shards, &merged, error)
                                       : gsa_state_merge((const gsa_state *const *)run->replica, run->n_shards, base,
                                                         &run->job->env, &merged, error);
    forget_replicas(run);
    return status == GSA_OK ? gsa_state_replace(base, merged, error) : status;
}

static gsa_status run_pass(sharded *run, bool keeps_best, gsa_error *error)
{
    GSA_TRY(rewind_all(run, error));
    for (size_t s = 0; s < run->n_shards; s++)
        GSA_TRY(learn_shard(run, s, error));
    GSA_TRY(merge_replicas(run, error));
    if (keeps_best)
        GSA_TRY(gsa_state_checkpoint_best(run->job->state, error));
    gsa_state_end_pass(run->job->state);
    return gsai_comm_end_pass(run->job, GSA_OK, run->job->state, error);
}

/* It is for experiments (docs/spark.md), and does not know what other runs do. */
static gsa_status check(const gsai_job *job, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(job->state);
    if (gsai_progress_of(job->reader).is_stream)
        return gsai_fail(error, GSA_ARGUMENT, "%s can be read only once; give a file for --shards",
                         gsa_reader_file(job->reader, 0));
    if (gsai_comm_size(job) > 1)
        return gsai_fail(error, GSA_ARGUMENT,
                         "--shards is an experiment of one process: leave it out, or start one only");
    if (summary.pass > 0 || summary.pass_rows > 0)
        return gsai_fail(error, GSA_ARGUMENT, "a run with --shards does not go on where it was stopped: begin it anew");
    return GSA_OK;
}

gsa_status gsai_shards_train(gsai_job *job, uint64_t n_shards, uint64_t passes, gsa_error *error)
{
    sharded run = {.job = job, .worker = {.job = job}};
    gsa_status status = check(job, error);
    if (status == GSA_OK)
        status = shard_learner_begin(&run.worker, job->state, error);
    if (status == GSA_OK)
        status = count_rows(&run, error);
    if (status == GSA_OK)
        status = make_room(&run, n_shards, error);
    if (status == GSA_OK)
        status = learn_first(&run, error);
    while (status == GSA_OK && gsa_plan_another_pass(job->state, passes))
        status = run_pass(&run, passes == 0, error);
    forget_replicas(&run);
    gsai_free(&job->env, run.first);
    gsai_free(&job->env, run.replica);
    gsa_state_free(run.spare);
    shard_learner_end(&run.worker);
    return status;
}
