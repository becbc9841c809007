/* Reading ahead: two sides take turns in a pipeline, which fills one while the caller has the blocks of the other.
 *
 *   1 The thread of the pipeline alone touches the reader and the side that is not current, while it runs. It does not
 *     run after a side with a status other than GSA_OK, nor without memory for a second side.
 *   2 The caller reads where the pipeline does not: the blocks are the same.
 *   3 Views of a side are valid until its last one was delivered and another is asked for. */
#include "train/prefetch.h"

#include "base/pipeline.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdatomic.h>

/* The result of reading some blocks: views, and why reading ended. */
typedef struct side {
    gsai_block block[GSA_MAX_RESIDENT];
    gsa_batch view[GSA_MAX_RESIDENT];
    size_t n, n_given;
    bool is_used;
    gsa_status status;
    gsa_error error;
} side;

struct gsai_prefetch {
    const gsai_job *job;
    size_t n_threads;
    atomic_size_t n_together; /* blocks of a side */
    size_t max_rows;          /* of a block */
    side side[2];
    size_t current;
    gsai_pipeline *pipeline;
    bool is_running, is_held;     /* the pipeline; it filled the current side */
    bool has_ended;               /* the side that was read last has a status other than GSA_OK */
    const gsai_block *last_block; /* that was read; the next goes on where it ended */
    bool is_begun;                /* of live rows, those of a first block were read */
    struct {
        const gsai_index *index; /* NULL: the reader's blocks, one after the other */
        gsai_deal deal;
        size_t from, next, end;
        bool is_there; /* the reader's next row is the first of block `next` */
    } range;
};

/* Goes to the next block of the index that is not another process's. */
static gsa_status find_next(gsai_prefetch *prefetch, gsai_block *block, size_t *n_rows, gsa_error *error)
{
    const gsai_deal *deal = &prefetch->range.deal;
    size_t next = prefetch->range.next;
    for (; next < prefetch->range.end && deal->n > 0; next++) {
        size_t replica = deal->first + (next - prefetch->range.from) % deal->n;
        if (replica >= deal->own_first && replica < deal->own_end)
            break;
    }
    bool is_there = prefetch->range.is_there && next == prefetch->range.next;
    prefetch->range.next = next + 1;
    prefetch->range.is_there = true;
    if (next >= prefetch->range.end)
        return GSA_END;
    *n_rows = (size_t)prefetch->range.index->block[next].n_rows;
    if (is_there)
        return GSA_OK;
    gsai_block_clear(block);
    return gsa_reader_seek(prefetch->job->reader, &prefetch->range.index->block[next].at, error);
}

static gsa_status read_block(gsai_prefetch *prefetch, gsai_block *block, gsa_batch *view, gsa_error *error)
{
    size_t n_rows = prefetch->max_rows;
    gsa_status status = GSA_OK;
    if (prefetch->last_block && prefetch->last_block != block)
        gsai_block_continue(block, prefetch->last_block);
    if (prefetch->range.index)
        status = find_next(prefetch, block, &n_rows, error);
    if (status == GSA_OK)
        status = gsai_block_read(block, prefetch->job->reader,
                                 prefetch->job->hooks.is_live && prefetch->is_begun ? 1 : n_rows, n_rows, view, error);
    prefetch->is_begun = prefetch->is_begun || status == GSA_OK;
    prefetch->last_block = block;
    if (prefetch->range.index && status == GSA_OK && view->n_rows != n_rows)
        return gsai_fail(error, GSA_CONFLICT, "the input has changed while it was read; train on a copy");
    return status;
}

/* Reads as many blocks as belong together, but no more than a full one and a part where rows are long. */
static void read_side(gsai_prefetch *prefetch, side *to)
{
    uint64_t n_entries = 0;
    size_t n_together = atomic_load(&prefetch->n_together);
    to->error = (gsa_error){0};
    to->n = to->n_given = 0;
    do {
        to->status = read_block(prefetch, &to->block[to->n], &to->view[to->n], &to->error);
        if (to->status != GSA_OK)
            break;
        n_entries += to->block[to->n++].n_entries;
    } while (to->n < n_together && n_entries < GSA_BLOCK_ENTRIES && !prefetch->last_block->is_last);
    prefetch->has_ended = to->status != GSA_OK;
}

/* Reads a side ahead, if there is more to read, and memory for blocks like those of the other side. */
static bool fill_side(void *memory, size_t slot)
{
    gsai_prefetch *prefetch = memory;
    side *to = &prefetch->side[slot];
    const side *other = &prefetch->side[!slot];
    if (prefetch->has_ended || (prefetch->last_block && prefetch->last_block->is_last))
        return false;
    uint64_t size = 0;
    for (size_t i = 0; i < GSA_MAX_RESIDENT; i++)
        size += gsai_rows_size(&other->block[i].rows);
    if (!to->is_used && size + size / 4 > gsai_memory_left(&prefetch->job->env))
        return false;
    to->is_used = true;
    read_side(prefetch, to);
    return to->n > 0;
}

gsa_status gsai_prefetch_new(const gsai_job *job, gsai_prefetch **out, gsa_error *error)
{
    const gsai_env *env = &job->env;
    size_t n_threads = gsai_workers_count(env);
    static const gsai_stages stages = {fill_side, NULL};
    gsai_prefetch *prefetch = gsai_alloc_zeroed(env, 1, sizeof *prefetch);
    GSAI_TRY_MEMORY(prefetch, env, error, "no memory for blocks of rows");
    prefetch->job = job;
    prefetch->n_threads = n_threads;
    prefetch->is_begun = job->goes_on;
    prefetch->n_together = 1;
    for (size_t i = 0; i < 2 * GSA_MAX_RESIDENT; i++)
        gsai_block_init(&prefetch->side[i % 2].block[i / 2], env);
    prefetch->pipeline = gsai_pipeline_new(n_threads > 1, n_threads > 1 ? 2 : 1, &stages, prefetch, env);
    if (!prefetch->pipeline) {
        gsai_free(env, prefetch);
        return gsai_fail_memory(env, error, "no memory to read ahead");
    }
    *out = prefetch;
    return GSA_OK;
}

void gsai_prefetch_free(gsai_prefetch *prefetch)
{
    if (!prefetch)
        return;
    gsai_pipeline_free(prefetch->pipeline);
    for (size_t i = 0; i < 2 * GSA_MAX_RESIDENT; i++)
        gsai_block_free(&prefetch->side[i % 2].block[i / 2]);
    gsai_free(&prefetch->job->env, prefetch);
}

/* Returns when no thread reads any more. */
static void stop_reading(gsai_prefetch *prefetch)
{
    gsai_pipeline_stop(prefetch->pipeline);
    prefetch->is_running = prefetch->is_held = prefetch->has_ended = false;
}

gsa_status gsai_prefetch_next(gsai_prefetch *prefetch, size_t max_rows, gsa_batch *view, gsa_error *error)
{
    side *at = &prefetch->side[prefetch->current];
    if (at->n_given == at->n && at->status == GSA_OK) {
        size_t slot;
        if (prefetch->is_held)
            gsai_pipeline_release(prefetch->pipeline);
        if (!prefetch->is_running) {
            prefetch->max_rows = max_rows;
            gsai_pipeline_start(prefetch->pipeline);
        }
        prefetch->is_running = prefetch->is_held = gsai_pipeline_next(prefetch->pipeline, &slot);
        if (prefetch->is_held || prefetch->side[slot].status != GSA_OK)
            prefetch->current = slot;
        else
            read_side(prefetch, at);
        at = &prefetch->side[prefetch->current];
    }
    if (at->n_given < at->n) {
        *view = at->view[at->n_given++];
        return GSA_OK;
    }
    gsa_status status = at->status;
    if (error)
        *error = at->error;
    if (status == GSA_STOPPED && prefetch->job->hooks.is_live) { /* the rows that were read wait in this side */
        stop_reading(prefetch);
        at->status = GSA_OK;
    }
    return status;
}

bool gsai_prefetch_partial(gsai_prefetch *prefetch, gsa_batch *view)
{
    side *at = &prefetch->side[prefetch->current];
    stop_reading(prefetch);
    return at->status == GSA_STOPPED && gsai_block_partial(&at->block[at->n], view);
}

void gsai_prefetch_set_group(gsai_prefetch *prefetch, size_t n_blocks)
{
    atomic_store(&prefetch->n_together, n_blocks < prefetch->n_threads ? n_blocks : prefetch->n_threads);
}

bool gsai_prefetch_releases(const gsai_prefetch *prefetch)
{
    return prefetch->side[prefetch->current].n_given == prefetch->side[prefetch->current].n;
}

static void forget(gsai_prefetch *prefetch)
{
    stop_reading(prefetch);
    prefetch->last_block = NULL;
    for (int s = 0; s < 2; s++) {
        prefetch->side[s].n = prefetch->side[s].n_given = 0;
        prefetch->side[s].status = GSA_OK;
        for (size_t i = 0; i < GSA_MAX_RESIDENT; i++)
            gsai_block_clear(&prefetch->side[s].block[i]);
    }
}

void gsai_prefetch_set_range(gsai_prefetch *prefetch, const gsai_index *index, size_t from, size_t end, gsai_deal deal)
{
    forget(prefetch);
    prefetch->range.index = index;
    prefetch->range.deal = deal;
    prefetch->range.from = prefetch->range.next = from;
    prefetch->range.end = end;
    prefetch->range.is_there = false;
}

gsa_status gsai_prefetch_rewind(gsai_prefetch *prefetch, gsa_error *error)
{
    forget(prefetch);
    gsa_reader_progress progress = gsai_progress_of(prefetch->job->reader);
    return progress.bytes_read > 0 || progress.n_rows > 0 ? gsa_reader_rewind(prefetch->job->reader, error) : GSA_OK;
}
