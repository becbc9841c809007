/* How good a model is on the rows of a reader.
 *
 * Sums of doubles depend on how they are grouped. So that they do not depend on the number of processes, rows that are
 * evaluated together come in parts that depend on the blocks of the input alone, and are added up in their order, in
 * one process too. */
#include "model/metrics.h"
#include "train/block.h"
#include "train/comm.h"
#include "train/index.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"

/* The maximum of parts: no more processes have something to do. */
#define MAX_PARTS 64u

/* On threads: rows of a block at most, margins of a block at most, and what a block is likely to take of the memory
 * that is left, of which all may have a quarter. */
#define MAX_MARGINS ((size_t)1 << 18)
#define BLOCK_COST ((uint64_t)32 << 20)
#define SHARE 4

typedef struct slot {
    gsai_block *block;
    gsa_batch rows;
    double *margins;
    size_t capacity;
    gsa_status status;
    gsa_error error;
} slot;

typedef struct evaluating {
    gsa_metrics *metrics;
    gsa_reader *reader;
    gsa_env env;
    slot *slots;
    size_t n_slots, max_rows;
    uint64_t rows_left; /* to be read */
    const gsai_block *last;
    gsa_status status; /* of reading */
    gsa_error error;
} evaluating;

static bool read_rows(void *memory, size_t number)
{
    evaluating *run = memory;
    slot *to = &run->slots[number];
    if (run->last)
        gsai_block_continue(to->block, run->last);
    run->last = to->block;
    size_t max = run->rows_left < run->max_rows ? (size_t)run->rows_left : run->max_rows;
    run->status = max > 0 ? gsai_block_take(to->block, run->reader, max, &to->rows, &run->error) : GSA_END;
    run->rows_left -= run->status == GSA_OK ? to->rows.n_rows : 0;
    return run->status == GSA_OK;
}

static void compute_margins(void *memory, size_t number)
{
    evaluating *run = memory;
    slot *of = &run->slots[number];
    size_t n = of->rows.n_rows * gsai_metrics_n_margins(run->metrics);
    of->status = gsai_reserve(&run->env, &of->margins, &of->capacity, n, sizeof *of->margins)
                     ? gsai_metrics_margins(run->metrics, &of->rows, of->margins, &of->error)
                     : gsai_fail_memory(&run->env, &of->error, "no memory for %zu margins", n);
}

static gsa_status add_slot(evaluating *run, slot *from, gsa_error *error)
{
    if (run->env.should_stop(run->env.stop_ctx))
        return gsai_fail(error, GSA_STOPPED, "stopped on request");
    if (from->status != GSA_OK && error)
        *error = from->error;
    return from->status == GSA_OK ? gsai_metrics_add(run->metrics, &from->rows, from->margins, error) : from->status;
}

/* The sums of all slots, in the order of the rows. */
static gsa_status add_slots(evaluating *run, gsai_pipeline *pipeline, gsa_error *error)
{
    gsa_status status = GSA_OK;
    size_t number;
    gsai_pipeline_start(pipeline);
    while (status == GSA_OK && gsai_pipeline_next(pipeline, &number)) {
        slot *from = &run->slots[number];
        status = add_slot(run, from, error);
        if (status == GSA_OK) {
            gsai_pipeline_release(pipeline);
            continue;
        }
        gsai_pipeline_stop(pipeline); /* the reader must be idle when it is asked where the row is */
        gsa_reader_locate(run->reader, &from->rows, error);
    }
    if (status != GSA_OK || run->status == GSA_END)
        return status;
    if (error)
        *error = run->error;
    return run->status;
}

/* One block after the other, by the caller. */
static gsa_status evaluate_alone(evaluating *run, gsa_error *error)
{
    gsa_batch batch;
    gsa_status status = GSA_END;
    while (run->rows_left > 0 && (status = gsa_reader_next(run->reader, &batch, error)) == GSA_OK) {
        run->rows_left -= batch.n_rows < run->rows_left ? batch.n_rows : run->rows_left;
        if (run->env.should_stop(run->env.stop_ctx))
            return gsai_fail(error, GSA_STOPPED, "stopped on request");
        status = gsa_metrics_update(run->metrics, &batch, error);
        if (status != GSA_OK) {
            gsa_reader_locate(run->reader, &batch, error);
            return status;
        }
    }
    return status == GSA_END || run->rows_left == 0 ? GSA_OK : status;
}

/* NULL if there is one thread, or no memory for blocks of several. */
static gsai_pipeline *make_pipeline(evaluating *run)
{
    static const gsai_stages stages = {read_rows, compute_margins};
    size_t n_threads = gsai_workers_count(&run->env), n_slots = n_threads + 2;
    if (n_threads > 1 && gsai_memory_left(&run->env) / SHARE / n_slots >= BLOCK_COST)
        run->slots = gsai_alloc_zeroed(&run->env, n_slots, sizeof *run->slots);
    while (run->slots && run->n_slots < n_slots &&
           gsai_block_new(&run->env, &run->slots[run->n_slots].block, NULL) == GSA_OK)
        run->n_slots++;
    return run->n_slots == n_slots ? gsai_pipeline_new(n_threads, n_slots, &stages, run, &run->env) : NULL;
}

/* The next n_rows rows, or all that there are. */
static gsa_status evaluate(gsa_metrics *metrics, gsa_reader *reader, uint64_t n_rows, const gsa_env *env,
                           gsa_error *error)
{
    evaluating run = {.metrics = metrics, .reader = reader, .env = gsai_env_resolve(env), .rows_left = n_rows};
    size_t max = MAX_MARGINS / (gsai_metrics_n_margins(metrics) + 1) + 1;
    run.max_rows = max < GSA_BLOCK_ROWS ? max : GSA_BLOCK_ROWS;
    gsai_pipeline *pipeline = make_pipeline(&run);
    gsa_status status = pipeline ? add_slots(&run, pipeline, error) : evaluate_alone(&run, error);
    gsai_pipeline_free(pipeline);
    for (size_t i = 0; i < run.n_slots; i++) {
        gsai_block_free(run.slots[i].block);
        gsai_free(&run.env, run.slots[i].margins);
    }
    gsai_free(&run.env, run.slots);
    return status;
}

gsa_status gsa_evaluate(gsa_metrics *metrics, gsa_reader *reader, const gsa_env *env, gsa_error *error)
{
    return evaluate(metrics, reader, UINT64_MAX, env, error);
}

typedef struct evaluation {
    gsai_job job;
    gsa_model *model;
    gsa_metrics *sum; /* of the parts so far; of rank 0 only */
    gsai_bytes parts; /* what others have for it */
} evaluation;

/* Takes the metrics over. */
static gsa_status take_part(evaluation *all, gsa_metrics *part, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (gsai_comm_rank(&all->job) > 0) {
        size_t start = gsai_frame_begin(&all->parts);
        status = gsa_metrics_write(part, gsai_bytes_add, &all->parts, error);
        if (status == GSA_OK)
            status = gsai_frame_end(&all->parts, start, error);
    } else if (all->sum) {
        status = gsa_metrics_merge(all->sum, part, error);
    } else {
        all->sum = part;
        return GSA_OK;
    }
    gsa_metrics_free(part);
    return status;
}

static gsa_status evaluate_rows(evaluation *all, uint64_t n_rows, gsa_error *error)
{
    gsa_metrics *part = NULL;
    gsa_status status = gsa_metrics_new(all->model, &all->job.env, &part, error);
    if (status == GSA_OK)
        status = evaluate(part, all->job.reader, n_rows, &all->job.env, error);
    if (status == GSA_OK)
        return take_part(all, part, error);
    gsa_metrics_free(part);
    return status;
}

/* What cannot be divided is evaluated by rank 0. */
static gsa_status evaluate_all(evaluation *all, gsa_error *error)
{
    if (gsai_comm_rank(&all->job) > 0)
        return GSA_OK;
    GSA_TRY(gsa_reader_rewind(all->job.reader, error));
    return evaluate_rows(all, UINT64_MAX, error);
}

/* Blocks [from, end) of the index. */
static gsa_status evaluate_part(evaluation *all, const gsai_index *index, size_t from, size_t end, gsa_error *error)
{
    uint64_t n_rows = 0;
    for (size_t i = from; i < end; i++)
        n_rows += index->block[i].n_rows;
    GSA_TRY(gsa_reader_seek(all->job.reader, &index->block[from].at, error));
    return evaluate_rows(all, n_rows, error);
}

static gsa_status evaluate_parts(evaluation *all, gsa_error *error)
{
    gsai_index index = {0};
    gsa_status status = gsai_index_make(&all->job, &index, error);
    size_t n_parts = index.n < MAX_PARTS ? index.n : MAX_PARTS;
    bool is_divided = status == GSA_OK && n_parts > 0;
    for (size_t part = 0; part < n_parts && status == GSA_OK; part++)
        if (gsai_comm_is_mine(&all->job, part, n_parts))
            status = evaluate_part(all, &index, part * index.n / n_parts, (part + 1) * index.n / n_parts, error);
    gsai_index_free(&index, &all->job.env);
    return is_divided || (status != GSA_OK && status != GSA_UNSUPPORTED) ? status : evaluate_all(all, error);
}

static gsa_status add_others(evaluation *all, const unsigned char *from, size_t left, gsa_error *error)
{
    const unsigned char *part;
    gsa_status status = GSA_OK;
    for (size_t size; status == GSA_OK && gsai_frame_next(&from, &left, &part, &size);) {
        gsa_metrics *of;
        status = gsa_metrics_read(part, size, all->model, &all->job.env, &of, error);
        if (status == GSA_OK)
            status = take_part(all, of, error);
    }
    return status;
}

/* Rank 0 gets what all have found. */
static gsa_status gather_parts(evaluation *all, gsa_status status, gsa_error *error)
{
    size_t n_ranks = gsai_comm_size(&all->job);
    size_t *sizes = gsai_alloc_zeroed(&all->job.env, n_ranks, sizeof *sizes);
    const unsigned char *others;
    const size_t *received_sizes;
    if (sizes)
        sizes[0] = all->parts.size;
    else if (status == GSA_OK)
        status = gsai_fail_memory(&all->job.env, error, "no memory for %zu sizes", n_ranks);
    status = gsai_comm_alltoall(&all->job, status, all->parts.at, sizes, &others, &received_sizes, error);
    if (status == GSA_OK)
        status = add_others(all, others, gsai_comm_total(&all->job, received_sizes), error);
    gsai_free(&all->job.env, sizes);
    return status;
}

gsa_status gsa_evaluate_together(const gsa_state *state, gsa_reader *reader, const gsa_judgement_hooks *hooks,
                                 const gsa_env *env, gsa_error *error)
{
    evaluation all = {.job = {.reader = reader, .hooks = {.comm = hooks->comm}, .env = gsai_env_resolve(env)}};
    all.parts.env = &all.job.env;
    gsa_status status = gsa_state_finish(state, env, &all.model, error);
    if (status == GSA_OK)
        status = evaluate_parts(&all, error);
    status = gather_parts(&all, status, error);
    if (status == GSA_OK && all.sum)
        status = gsa_metrics_finish(all.sum, error);
    status = gsai_comm_agree(&all.job, status, error);
    if (status == GSA_OK && all.sum)
        hooks->tell(hooks->ctx, all.sum);
    gsai_bytes_free(&all.parts);
    gsa_metrics_free(all.sum);
    gsa_model_free(all.model);
    return status;
}
