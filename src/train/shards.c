/* Contiguous steps: shards, which are parts of an input that follow one another. Each is learned by a replica of the
 * state, and the replicas are merged once per pass, as the partitions of a cluster are; the same rows in the same parts
 * give the same bits there.
 *
 * First the rows are counted, and all labels collected, so that all replicas number them alike. Processes with files of
 * their own have a shard per file, and the result depends on the list of all files, not on which process has which.
 * Then the state itself learns the first rows of all shards; that ends a pass, and the rows that are held out stay the
 * same from there on. In a pass every shard has a replica; many replicas do not fit into memory, and wait as deltas.
 * There is another pass as long as it lowers the held-out loss. */
#include "train/shards.h"

#include "train/block.h"
#include "train/comm.h"
#include "train/replicas.h"
#include "train/share.h"

#include "learn/state.h"

#include "base/error.h"
#include "base/memory.h"

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
    worker->seed = gsai_state_param(state, GSAI_PARAM_seed);
    worker->shuffled = gsai_state_param(state, GSAI_PARAM_order) != GSAI_ORDER_FILE;
    worker->order = gsai_alloc(&worker->job->env, GSAI_MAX_BLOCK_ROWS, sizeof *worker->order);
    GSAI_TRY_MEMORY(worker->order, &worker->job->env, error, "no memory for the order of %u rows", GSAI_MAX_BLOCK_ROWS);
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
    return left < GSAI_MAX_BLOCK_ROWS ? (size_t)left : GSAI_MAX_BLOCK_ROWS;
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

gsa_status gsa_train_shard(gsa_state *replica, gsa_reader *reader, uint64_t shard, const gsa_call *call,
                           uint64_t *n_rows, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, &gsai_state_env(replica)->memory, call, error));
    gsai_job job = {.state = replica, .reader = reader, .env = own};
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
    bool by_file;            /* every file is a shard */
    size_t n_shards;         /* of all processes */
    size_t own_first, n_own; /* of this one */
    uint64_t n_rows;         /* of all shards */
    uint64_t *rows, *first;  /* by shard of this process: its rows, and those that are learned before the first pass */
    size_t rows_capacity;
} sharded;

static gsa_status rewind_all(sharded *run, gsa_error *error)
{
    gsai_block_clear(run->worker.block);
    return gsa_reader_rewind(run->job->reader, error);
}

static gsa_status fail_empty(const sharded *run, gsa_error *error)
{
    return gsai_fail(error, GSA_INPUT, "no rows in %s: nothing to learn", gsa_reader_file(run->job->reader, 0));
}

/* Features of all processes mean the same. */
static gsa_status check_schema(const gsai_job *job, gsa_error *error)
{
    const char *first = gsa_state_schema(job->state), *own = gsa_reader_schema(job->reader);
    if ((first == NULL) == (own == NULL) && (first == NULL || strcmp(first, own) == 0))
        return GSA_OK;
    return gsai_fail(error, GSA_CONFLICT, "%s has other columns than the files of rank 0: convert all of them together",
                     gsa_reader_file(job->reader, 0));
}

/* The first rows of rank 0 tell what labels mean. */
static gsa_status prepare(sharded *run, gsa_error *error)
{
    gsai_job *job = run->job;
    gsa_batch rows;
    gsa_state *prepared = NULL;
    gsa_status status = rewind_all(run, error);
    if (gsai_comm_rank(job) == 0 && status == GSA_OK) {
        status = gsai_block_read(run->worker.block, job->reader, GSAI_MAX_BLOCK_ROWS, &rows, error);
        prepared = job->state;
        status = status == GSA_OK    ? gsai_job_prepare(job, &rows, error)
                 : status == GSA_END ? fail_empty(run, error)
                                     : status;
        if (status == GSA_OK)
            gsai_job_tell_task(job, job->state);
    }
    status = gsai_comm_share(job, status, &prepared, 1, 0, gsai_comm_rank(job) == 0, error);
    if (status == GSA_OK && prepared != job->state)
        status = gsa_state_replace(job->state, prepared, error);
    if (status == GSA_OK)
        status = check_schema(job, error);
    return status == GSA_OK ? rewind_all(run, error) : status;
}

/* Adds rows to the shard of their file or, if files are no shards, to the only one so far. */
static gsa_status count_block(sharded *run, const gsa_batch *rows, uint32_t *file, gsa_error *error)
{
    uint32_t of = run->by_file && rows->place ? rows->place[0].file : 0;
    if (run->n_own == 0 || of != *file) {
        GSAI_TRY_MEMORY(
            gsai_reserve(&run->job->env, &run->rows, &run->rows_capacity, run->n_own + 1, sizeof *run->rows),
            &run->job->env, error, "no memory for %zu shards", run->n_own + 1);
        run->rows[run->n_own++] = 0;
    }
    *file = of;
    run->rows[run->n_own - 1] += rows->n_rows;
    return GSA_OK;
}

static gsa_status count_rows(sharded *run, gsa_error *error)
{
    gsa_status status = GSA_OK;
    gsa_batch rows;
    uint32_t file = 0;
    while (status == GSA_OK && (status = gsai_block_read(run->worker.block, run->job->reader, GSAI_MAX_BLOCK_ROWS,
                                                         &rows, error)) == GSA_OK) {
        status = gsai_job_prepare(run->job, &rows, error);
        if (status == GSA_OK)
            status = count_block(run, &rows, &file, error);
    }
    return status == GSA_END ? GSA_OK : status;
}

typedef struct shard_count {
    uint64_t n_shards, n_rows;
} shard_count;

/* Shards of ranks follow one another. */
static gsa_status number_shards(sharded *run, gsa_status status, gsa_error *error)
{
    shard_count mine = {run->n_own, 0}, each;
    const unsigned char *all;
    const size_t *sizes;
    for (size_t s = 0; s < run->n_own; s++)
        mine.n_rows += run->rows[s];
    GSA_TRY(gsai_comm_allgather(run->job, status, &mine, sizeof mine, &all, &sizes, error));
    for (size_t r = 0; r < gsai_comm_size(run->job); r++) {
        memcpy(&each, all + r * sizeof each, sizeof each);
        run->own_first += r < gsai_comm_rank(run->job) ? (size_t)each.n_shards : 0;
        run->n_shards += (size_t)each.n_shards;
        run->n_rows += each.n_rows;
    }
    return GSA_OK;
}

/* Divides all rows, which are one shard, into as many as are asked for. */
static gsa_status divide(sharded *run, uint64_t n_shards, gsa_error *error)
{
    size_t n = (size_t)(n_shards < run->n_rows ? n_shards : run->n_rows);
    GSAI_TRY_MEMORY(gsai_reserve(&run->job->env, &run->rows, &run->rows_capacity, n, sizeof *run->rows), &run->job->env,
                    error, "no memory for %zu shards", n);
    for (size_t s = 0; s < n; s++)
        run->rows[s] = gsa_plan_shard_start(run->n_rows, n, s + 1) - gsa_plan_shard_start(run->n_rows, n, s);
    run->n_shards = run->n_own = n;
    return GSA_OK;
}

static gsa_status find_shards(sharded *run, uint64_t n_shards, gsa_error *error)
{
    gsai_bytes before = {.env = &run->job->env};
    GSA_TRY(prepare(run, error));
    gsa_status status = gsai_labels_begin(run->job, &before, error);
    if (status == GSA_OK)
        status = count_rows(run, error);
    status = number_shards(run, status, error);
    if (!run->job->aborted)
        status = gsai_labels_share(run->job, status, &before, error);
    gsai_bytes_free(&before);
    if (status == GSA_OK && !run->by_file)
        status = divide(run, n_shards, error);
    if (status != GSA_OK)
        return status;
    run->first = gsai_alloc_zeroed(&run->job->env, run->n_own, sizeof *run->first);
    return run->first ? GSA_OK : gsai_fail_memory(&run->job->env, error, "no memory for %zu shards", run->n_own);
}

/* Of the rows, from the first on, as many as have no more entries than that. */
static size_t rows_that_fit(const gsa_batch *rows, uint64_t max_entries)
{
    size_t n = rows->n_rows;
    while (n > 0 && (uint64_t)(rows->row_start[n] - rows->row_start[0]) > max_entries)
        n--;
    return n;
}

static gsa_status pack_first(sharded *run, size_t s, gsai_bytes *to, gsa_error *error)
{
    gsa_batch rows;
    uint64_t max = gsa_plan_first_rows(run->n_rows, run->n_shards), left = GSA_FIRST_ENTRIES / run->n_shards, n_skipped;
    uint64_t n_read = 0, n_rows = run->rows[s];
    max = max < n_rows ? max : n_rows;
    for (bool fits = true; fits && n_read < max; n_read += rows.n_rows) {
        GSA_TRY(gsai_block_read(run->worker.block, run->job->reader, block_rows(max - n_read), &rows, error));
        GSA_TRY(gsai_block_make_sparse(run->worker.block, &rows, error));
        size_t n = rows_that_fit(&rows, left);
        if (n > 0)
            GSA_TRY(gsai_rows_add_frame(to, &rows, n, error));
        run->first[s] += n;
        left -= (uint64_t)(rows.row_start[n] - rows.row_start[0]);
        fits = n == rows.n_rows;
    }
    return learn_rows(&run->worker, NULL, 0, n_rows - n_read, &n_skipped, error);
}

/* Every process learns the first rows of all shards. */
static gsa_status learn_first(sharded *run, gsa_error *error)
{
    gsai_rows all;
    gsai_bytes mine = {.env = &run->job->env};
    gsai_rows_init(&all, 0, 0, &run->job->env);
    all.without_places = true; /* rows of other processes have none here */
    gsa_status status = rewind_all(run, error);
    for (size_t s = 0; s < run->n_own && status == GSA_OK; s++)
        status = pack_first(run, s, &mine, error);
    status = gsai_rows_share(run->job, status, &mine, &all, error);
    const gsa_batch rows = gsai_rows_view(&all);
    uint64_t number = 0;
    for (size_t first = 0, n; first < rows.n_rows && status == GSA_OK; first += n) {
        n = gsa_plan_block(&rows, first);
        const gsa_batch block = gsai_batch_slice(&rows, first, n);
        status = learn_block(&run->worker, run->job->state, GSA_FIRST_SHARD, number++, &block, error);
    }
    gsai_bytes_free(&mine);
    gsai_rows_free(&all);
    if (status == GSA_OK)
        gsa_state_end_pass(run->job->state);
    return status;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

/* s counts the shards of this process. */
static gsa_status learn_shard(sharded *run, gsa_state *replica, size_t s, gsa_error *error)
{
    uint64_t n = 0, n_skipped = 0, n_rows = run->rows[s], number = run->own_first + s;
    if (gsai_summary_of(run->job->state).pass == 1)
        GSA_TRY(learn_rows(&run->worker, NULL, number, run->first[s], &n_skipped, error));
    GSA_TRY(learn_rows(&run->worker, replica, number, n_rows - n_skipped, &n, error));
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
        if (replicas->resident[i])
            GSA_TRY(learn_shard(run, replicas->resident[i], replicas->first + i - run->own_first, error));
    return replicas->n < replicas->step.n_replicas ? gsai_replicas_settle(replicas, error) : GSA_OK;
}

static size_t copies_of(const void *ctx, size_t number)
{
    const sharded *run = ctx;
    return (size_t)gsa_plan_replicas(run->n_rows, run->rows[number - run->own_first]);
}

static gsa_status run_step(sharded *run, gsa_error *error)
{
    gsai_replicas *replicas = &run->replicas;
    uint64_t n_learned = gsai_summary_of(run->job->state).n_rows;
    gsa_step step = gsa_plan_shards(run->n_rows, run->n_shards, n_learned);
    GSA_TRY(gsai_replicas_begin(replicas, &step, run->own_first, run->own_first + run->n_own, error));
    while (gsai_replicas_has_next(replicas)) {
        GSA_TRY(gsai_replicas_fork(replicas, copies_of, run, error));
        GSA_TRY(learn_residents(run, error));
    }
    return gsai_replicas_merge(replicas, GSA_OK, n_learned < GSA_SCALING_ROWS, error);
}

static gsa_status run_pass(sharded *run, bool keeps_best, gsa_error *error)
{
    GSA_TRY(rewind_all(run, error));
    GSA_TRY(run_step(run, error));
    if (keeps_best)
        GSA_TRY(gsa_state_checkpoint_best(run->job->state, &run->job->env.call, error));
    gsa_state_end_pass(run->job->state);
    return gsai_comm_end_pass(run->job, GSA_OK, run->job->state, error);
}

/* It is for experiments (docs/spark.md), and does not know what other runs do. */
static gsa_status check(const gsai_job *job, gsa_error *error)
{
    gsa_summary summary = gsai_summary_of(job->state);
    if (gsai_progress_of(job->reader).is_stream)
        return gsai_fail_about(error, "shards",
                               gsai_fail(error, GSA_ARGUMENT, "%s can be read only once; give a file for shards",
                                         gsa_reader_file(job->reader, 0)));
    if (gsai_state_param(job->state, GSAI_PARAM_method) == GSAI_METHOD_OPTIMUM)
        return gsai_fail_about(
            error, "method",
            gsai_fail(error, GSA_ARGUMENT, "method optimum has no shards; leave the method or the shards out"));
    if (gsai_comm_size(job) > 1 && !job->hooks.files_are_own)
        return gsai_fail_about(error, "shards",
                               gsai_fail(error, GSA_ARGUMENT,
                                         "shards are an experiment of one process: leave them out, or start one only"));
    if (summary.pass > 0 || summary.pass_rows > 0)
        return gsai_fail(error, GSA_ARGUMENT, "cannot resume a run with shards: train again");
    return GSA_OK;
}

gsa_status gsai_shards_train(gsai_job *job, uint64_t n_shards, uint64_t passes, gsa_error *error)
{
    sharded run = {
        .job = job, .worker = {.job = job}, .replicas = {.job = job}, .by_file = job->hooks.files_are_own != 0};
    gsa_status status = check(job, error);
    if (status == GSA_OK)
        status = shard_learner_begin(&run.worker, job->state, error);
    if (status == GSA_OK && run.by_file)
        gsai_block_separate_files(run.worker.block);
    if (status == GSA_OK)
        status = find_shards(&run, n_shards, error);
    if (status == GSA_OK)
        status = learn_first(&run, error);
    while (status == GSA_OK && gsa_plan_another_pass(job->state, passes))
        status = run_pass(&run, passes == 0, error);
    gsai_replicas_free(&run.replicas);
    gsai_free(&job->env, run.rows);
    gsai_free(&job->env, run.first);
    shard_learner_end(&run.worker);
    return status;
}

/* ---- in memory -------------------------------------------------------------------------------------------------- */

gsa_status gsa_train_replicas(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                              size_t n_replicas, const gsa_call *call, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, &gsai_state_env(state)->memory, call, error));
    if (n_replicas == 0)
        return gsai_fail(error, GSA_ARGUMENT, "0 replicas: expected at least one");
    gsai_job job = {.state = state, .env = own};
    gsai_replicas replicas = {.job = &job};
    const gsa_step step = {n_replicas, n_replicas, n_rows, 1};
    gsa_status status = gsai_replicas_begin(&replicas, &step, 0, n_replicas, error);
    if (status == GSA_OK)
        status = gsai_replicas_fork(&replicas, gsai_copies_all, &replicas, error);
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
