/* Evaluation of a model on the rows of a reader: margins on threads, sums in the order of the rows. */
#include "model/metrics.h"
#include "train/block.h"

#include <greedystep/train.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"

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
    gsai_env env;
    slot *slots;
    size_t n_slots, max_rows;
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
    run->status = gsai_block_take(to->block, run->reader, run->max_rows, &to->rows, &run->error);
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
    if (gsai_should_stop(&run->env))
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
    gsa_status status;
    while ((status = gsa_reader_next(run->reader, &batch, error)) == GSA_OK) {
        if (gsai_should_stop(&run->env))
            return gsai_fail(error, GSA_STOPPED, "stopped on request");
        status = gsa_metrics_update(run->metrics, &batch, error);
        if (status != GSA_OK) {
            gsa_reader_locate(run->reader, &batch, error);
            return status;
        }
    }
    return status == GSA_END ? GSA_OK : status;
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

gsa_status gsa_evaluate(gsa_metrics *metrics, gsa_reader *reader, const gsa_call *call, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, gsai_metrics_memory(metrics), call, error));
    evaluating run = {.metrics = metrics, .reader = reader, .env = own};
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
