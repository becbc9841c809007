/* Reading ahead: two sides take turns, and a thread of its own fills the blocks of one while the caller has those of
 * the other.
 *
 *   A1  `busy` means that a thread runs; it alone touches the reader and the side that is not current;
 *   A2  with one thread, or where none can be made, the caller reads: the blocks are the same;
 *   A3  views of a side are valid until its last one was given and another is asked for. */
#include "train/prefetch.h"

#include "base/workers.h"
#include "train/block.h"
#include "train/comm.h"

#include "base/error.h"
#include "base/memory.h"

/* What came of reading some blocks: views, and why there are no more. */
typedef struct side {
    gsai_block *block[GSA_MAX_TOGETHER]; /* NULL until it is needed */
    gsa_batch view[GSA_MAX_TOGETHER];
    size_t n, given;
    gsa_status status;
    gsa_error error;
} side;

struct gsai_prefetch {
    gsa_env env;
    gsa_reader *reader;
    size_t n_threads, hand;
    side side[2];
    int current;
    const gsai_block *last_block; /* that was read; the next goes on where it ended */
    pthread_t thread;
    int busy;
    size_t want, most_rows; /* of the side that is read: blocks, and rows of each */
    struct {
        const gsai_index *index; /* NULL: the reader's blocks, one after the other */
        const gsai_job *job;
        gsai_deal deal;
        size_t from, next, end;
        int is_there; /* the reader's next row is the first of block `next` */
    } route;
};

gsa_status gsai_prefetch_new(gsa_reader *reader, size_t n_threads, const gsa_env *env, gsai_prefetch **out,
                             gsa_error *error)
{
    gsai_prefetch *ahead = gsai_alloc_zeroed(env, 1, sizeof *ahead);
    if (!ahead)
        return gsai_fail_memory(env, error, "no memory for blocks of rows");
    ahead->env = *env;
    ahead->reader = reader;
    ahead->n_threads = n_threads;
    ahead->hand = 1;
    *out = ahead;
    return GSA_OK;
}

static void wait_for_thread(gsai_prefetch *ahead)
{
    if (ahead->busy)
        gsai_thread_join(ahead->thread, &ahead->env);
    ahead->busy = 0;
}

void gsai_prefetch_free(gsai_prefetch *ahead)
{
    if (!ahead)
        return;
    wait_for_thread(ahead);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < GSA_MAX_TOGETHER; i++)
            gsai_block_free(ahead->side[s].block[i]);
    gsa_env env = ahead->env;
    gsai_free(&env, ahead);
}

/* Blocks of others are passed over. */
static gsa_status find_next(gsai_prefetch *ahead, gsai_block *block, size_t *n_rows, gsa_error *error)
{
    const gsai_deal *deal = &ahead->route.deal;
    size_t next = ahead->route.next;
    while (next < ahead->route.end && deal->n > 0 &&
           !gsai_comm_is_mine(ahead->route.job, deal->first + (next - ahead->route.from) % deal->n, deal->n_shards))
        next++;
    int is_there = ahead->route.is_there && next == ahead->route.next;
    ahead->route.next = next + 1;
    ahead->route.is_there = 1;
    if (next >= ahead->route.end)
        return GSA_END;
    *n_rows = (size_t)ahead->route.index->block[next].n_rows;
    if (is_there)
        return GSA_OK;
    gsai_block_clear(block);
    return gsa_reader_seek(ahead->reader, &ahead->route.index->block[next].at, error);
}

static gsa_status read_block(gsai_prefetch *ahead, side *to)
{
    gsai_block **block = &to->block[to->n];
    gsa_status status = *block ? GSA_OK : gsai_block_new(&ahead->env, block, &to->error);
    if (status != GSA_OK)
        return status;
    size_t n_rows = ahead->most_rows;
    if (ahead->last_block && ahead->last_block != *block)
        gsai_block_match(*block, ahead->last_block);
    if (ahead->route.index)
        status = find_next(ahead, *block, &n_rows, &to->error);
    if (status == GSA_OK)
        status = gsai_block_read(*block, ahead->reader, n_rows, &to->view[to->n], &to->error);
    ahead->last_block = *block;
    if (ahead->route.index && status == GSA_OK && to->view[to->n].n_rows != n_rows)
        return gsai_fail(&to->error, GSA_CONFLICT, "the input has changed while it was read; train on a copy");
    return status;
}

/* As many blocks as a hand has, but no more than a full one and a part where rows are long. */
static void read_side(gsai_prefetch *ahead, side *to)
{
    uint64_t n_entries = 0;
    to->error = (gsa_error){0};
    to->n = to->given = 0;
    do {
        to->status = read_block(ahead, to);
        if (to->status != GSA_OK)
            return;
        n_entries += (uint64_t)to->view[to->n].row_start[to->view[to->n].n_rows];
        to->n++;
    } while (to->n < ahead->want && n_entries < GSA_BLOCK_ENTRIES && !gsai_block_is_last(ahead->last_block));
}

static void *read_other(void *memory)
{
    gsai_prefetch *ahead = memory;
    read_side(ahead, &ahead->side[!ahead->current]);
    return NULL;
}

/* The other side begins to be read, if there is more to read and a thread to read it. */
static void begin_next(gsai_prefetch *ahead)
{
    const side *at = &ahead->side[ahead->current];
    if (ahead->n_threads < 2 || at->status != GSA_OK || gsai_block_is_last(ahead->last_block))
        return;
    uint64_t size = 0; /* what blocks like those of this side take: without room for as many, nothing is read ahead */
    for (size_t i = 0; i < at->n; i++)
        size += gsai_block_size(at->block[i]);
    const side *other = &ahead->side[!ahead->current];
    if (!other->block[0] && size + size / 4 > gsai_memory_left(&ahead->env))
        return;
    ahead->busy = gsai_thread_start(&ahead->thread, read_other, ahead, &ahead->env) == 0;
    if (!ahead->busy)
        ahead->n_threads = 1;
}

gsa_status gsai_prefetch_next(gsai_prefetch *ahead, size_t most_rows, gsa_batch *view, gsa_error *error)
{
    side *at = &ahead->side[ahead->current];
    if (at->given == at->n && at->status == GSA_OK) {
        int was_read = ahead->busy;
        wait_for_thread(ahead);
        ahead->want = ahead->hand;
        ahead->most_rows = most_rows;
        ahead->current = was_read ? !ahead->current : ahead->current;
        at = &ahead->side[ahead->current];
        if (!was_read)
            read_side(ahead, at);
        begin_next(ahead);
    }
    if (at->given == at->n) {
        if (error)
            *error = at->error;
        return at->status;
    }
    *view = at->view[at->given++];
    return GSA_OK;
}

void gsai_prefetch_pass_on(gsai_prefetch *ahead, size_t n_blocks)
{
    ahead->hand = n_blocks < ahead->n_threads ? n_blocks : ahead->n_threads;
}

int gsai_prefetch_releases(const gsai_prefetch *ahead)
{
    return ahead->side[ahead->current].given == ahead->side[ahead->current].n;
}

static void forget(gsai_prefetch *ahead)
{
    wait_for_thread(ahead);
    ahead->last_block = NULL;
    for (int s = 0; s < 2; s++) {
        ahead->side[s].n = ahead->side[s].given = 0;
        ahead->side[s].status = GSA_OK;
        for (size_t i = 0; i < GSA_MAX_TOGETHER; i++)
            if (ahead->side[s].block[i])
                gsai_block_clear(ahead->side[s].block[i]);
    }
}

void gsai_prefetch_match(gsai_prefetch *ahead, const gsai_index *index, size_t from, size_t end, gsai_deal deal,
                         const gsai_job *job)
{
    forget(ahead);
    ahead->route.index = index;
    ahead->route.job = job;
    ahead->route.deal = deal;
    ahead->route.from = ahead->route.next = from;
    ahead->route.end = end;
    ahead->route.is_there = 0;
}

gsa_status gsai_prefetch_rewind(gsai_prefetch *ahead, gsa_error *error)
{
    forget(ahead);
    gsa_reader_progress progress = gsai_progress_of(ahead->reader);
    return progress.bytes_read > 0 || progress.n_rows > 0 ? gsa_reader_rewind(ahead->reader, error) : GSA_OK;
}
