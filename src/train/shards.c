/* Contiguous steps: shards, which are parts of an input that follow one another. Each is learned by a replica of the
 * state, and the replicas are merged once a pass, as the partitions of a cluster are; the same rows in the same parts
 * give the same bits there.
 *
 * First the rows are counted, and all labels collected, so that all replicas number them alike. Then the state itself
 * learns the first rows of all shards; that ends a pass, and the rows that are held out stay the same from there on. In
 * a pass every shard has a replica; many replicas do not fit into memory, and wait as deltas. There is another pass as
 * long as held-out rows gain by it. */
#include "train/shards.h"

#include "train/block.h"
#include "train/comm.h"
#include "train/replicas.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

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
    gsai_replicas replicas;
    size_t n_shards;
    uint64_t n_rows;
    uint64_t *first; /* by shard: rows that are learned before the first pass */
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

static uint64_t rows_of(const sharded *run, size_t s)
{
    return gsa_plan_shard_start(run->n_rows, run->n_shards, s + 1) -
           gsa_plan_shard_start(run->n_rows, run->n_shards, s);
}

static gsa_status make_room(sharded *run, uint64_t n_shards, gsa_error *error)
{
    run->n_shards = (size_t)(n_shards < run->n_rows ? n_shards : run->n_rows);
    run->first = gsai_alloc_zeroed(&run->job->env, run->n_shards, sizeof *run->first);
    return run->first ? GSA_OK : gsai_fail_memory(&run->job->env, error, "no memory for %zu shards", run->n_shards);
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

static gsa_status learn_shard(sharded *run, gsa_state *replica, size_t s, gsa_error *error)
{
    uint64_t n = 0, n_skipped = 0, n_rows = rows_of(run, s);
    if (gsai_summary_of(run->job->state).pass == 1)
        GSA_TRY(learn_rows(&run->worker, NULL, s, run->first[s], &n_skipped, error));
    GSA_TRY(learn_rows(&run->worker, replica, s, n_rows - n_skipped, &n, error));
    if (n + n_skipped != n_rows)
        return gsai_fail(error, GSA_CONFLICT, "the input had %llu rows and has fewer now; train on a copy",
                         (unsigned long long)run->n_rows);
    return GSA_OK;
}

/* The replicas that are in memory together, one after the other. */
static gsa_status learn_residents(sharded *run, gsa_error *error)
{
    gsai_replicas *replicas = &run->replicas;
    for (size_t i = 0; i < replicas->n; i++)
        GSA_TRY(learn_shard(run, replicas->resident[i], replicas->first + i, error));
    return gsai_replicas_has_next(replicas) || replicas->first > 0 ? gsai_replicas_settle(replicas, error) : GSA_OK;
}

static gsa_status run_step(sharded *run, gsa_error *error)
{
    gsai_replicas *replicas = &run->replicas;
    gsa_step step = gsa_plan_shards(run->n_rows, run->n_shards, gsai_summary_of(run->job->state).n_rows);
    GSA_TRY(gsai_replicas_begin(replicas, &step, 0, run->n_shards, error));
    while (gsai_replicas_has_next(replicas)) {
        uint64_t n_copies = gsa_plan_replicas(run->n_rows, rows_of(run, replicas->n_begun));
        GSA_TRY(gsai_replicas_fork(replicas, (size_t)n_copies, error));
        GSA_TRY(learn_residents(run, error));
    }
    return gsai_replicas_merge(replicas, GSA_OK, false, error);
}

static gsa_status run_pass(sharded *run, bool keeps_best, gsa_error *error)
{
    GSA_TRY(rewind_all(run, error));
    GSA_TRY(run_step(run, error));
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
    sharded run = {.job = job, .worker = {.job = job}, .replicas = {.job = job}};
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
    gsai_replicas_free(&run.replicas);
    gsai_free(&job->env, run.first);
    shard_learner_end(&run.worker);
    return status;
}

/* ---- in memory -------------------------------------------------------------------------------------------------- */

gsa_status gsa_train_replicas(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                              size_t n_replicas, const gsa_env *env, gsa_error *error)
{
    gsai_job job = {.state = state, .env = gsai_env_resolve(env)};
    gsai_replicas replicas = {.job = &job};
    const gsa_step step = {n_replicas, n_replicas, n_rows, 1};
    gsa_status status = gsai_replicas_begin(&replicas, &step, 0, n_replicas, error);
    if (status == GSA_OK)
        status = gsai_replicas_fork(&replicas, n_replicas, error);
    for (size_t i = 0; i < n_replicas && status == GSA_OK; i++) {
        uint64_t from = gsa_plan_shard_start(n_rows, n_replicas, i),
                 end = gsa_plan_shard_start(n_rows, n_replicas, i + 1);
        status = gsai_job_learn(&job, replicas.resident[i], batch, rows + from, (size_t)(end - from), 0, error);
    }
    if (status == GSA_OK)
        status = gsai_replicas_merge(&replicas, GSA_OK, false, error);
    gsai_replicas_free(&replicas);
    return status;
}
