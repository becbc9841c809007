/* Reading ahead: two sides take turns, and a thread of its own fills the blocks of one while the caller has those of
 * the other.
 *
 *   A1  `busy` means that a thread runs; it alone touches the reader and the side that is not current;
 *   A2  with one thread, or where none can be made, the caller reads: the blocks are the same;
 *   A3  views of a side are valid until its last one was given and another is asked for. */
#include "engine/ahead.h"

#include "base/workers.h"
#include "engine/block.h"
#include "engine/peers.h"

#include "base/error.h"
#include "base/memory.h"

/* What came of reading some blocks: views, and why there are no more. */
typedef struct side {
    gsa__block *block[GSA_TOGETHER_MOST]; /* NULL until it is needed */
    gsa_batch view[GSA_TOGETHER_MOST];
    size_t n, given;
    gsa_status status;
    gsa_error error;
} side;

struct gsa__ahead {
    gsa_env env;
    gsa_reader *reader;
    size_t n_threads, hand;
    side side[2];
    int current;
    const gsa__block *last_block; /* that was read; the next goes on where it ended */
    pthread_t thread;
    int busy;
    size_t want, most_rows; /* of the side that is read: blocks, and rows of each */
    struct {
        const gsa__index *index; /* NULL: the reader's blocks, one after the other */
        const gsa__job *job;
        gsa__deal deal;
        size_t from, next, end;
        int is_there; /* the reader's next row is the first of block `next` */
    } route;
};

gsa_status gsa__ahead_new(gsa_reader *reader, size_t n_threads, const gsa_env *env, gsa__ahead **out, gsa_error *error)
{
    gsa__ahead *ahead = gsa__alloc_zeroed(env, 1, sizeof *ahead);
    if (!ahead)
        return gsa__fail_memory(env, error, "no memory for blocks of rows");
    ahead->env = *env;
    ahead->reader = reader;
    ahead->n_threads = n_threads;
    ahead->hand = 1;
    *out = ahead;
    return GSA_OK;
}

static void wait_for_thread(gsa__ahead *ahead)
{
    if (ahead->busy)
        gsa__thread_join(ahead->thread, &ahead->env);
    ahead->busy = 0;
}

void gsa__ahead_free(gsa__ahead *ahead)
{
    if (!ahead)
        return;
    wait_for_thread(ahead);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < GSA_TOGETHER_MOST; i++)
            gsa__block_free(ahead->side[s].block[i]);
    gsa_env env = ahead->env;
    gsa__free(&env, ahead);
}

/* Blocks of others are passed over. */
static gsa_status find_next(gsa__ahead *ahead, gsa__block *block, size_t *n_rows, gsa_error *error)
{
    const gsa__deal *deal = &ahead->route.deal;
    size_t next = ahead->route.next;
    while (next < ahead->route.end && deal->n > 0 &&
           !gsa__peers_is_mine(ahead->route.job, deal->first + (next - ahead->route.from) % deal->n, deal->n_shards))
        next++;
    int is_there = ahead->route.is_there && next == ahead->route.next;
    ahead->route.next = next + 1;
    ahead->route.is_there = 1;
    if (next >= ahead->route.end)
        return GSA_END;
    *n_rows = (size_t)ahead->route.index->block[next].n_rows;
    if (is_there)
        return GSA_OK;
    gsa__block_clear(block);
    return gsa_reader_seek(ahead->reader, &ahead->route.index->block[next].at, error);
}

static gsa_status read_block(gsa__ahead *ahead, side *to)
{
    gsa__block **block = &to->block[to->n];
    gsa_status status = *block ? GSA_OK : gsa__block_new(&ahead->env, block, &to->error);
    if (status != GSA_OK)
        return status;
    size_t n_rows = ahead->most_rows;
    if (ahead->last_block && ahead->last_block != *block)
        gsa__block_follow(*block, ahead->last_block);
    if (ahead->route.index)
        status = find_next(ahead, *block, &n_rows, &to->error);
    if (status == GSA_OK)
        status = gsa__block_read(*block, ahead->reader, n_rows, &to->view[to->n], &to->error);
    ahead->last_block = *block;
    if (ahead->route.index && status == GSA_OK && to->view[to->n].n_rows != n_rows)
        return gsa__fail(&to->error, GSA_CONFLICT, "the input has changed while it was read; train on a copy");
    return status;
}

/* As many blocks as a hand has, but no more than a full one and a part where rows are long. */
static void read_side(gsa__ahead *ahead, side *to)
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
    } while (to->n < ahead->want && n_entries < GSA_BLOCK_ENTRIES && !gsa__block_is_last(ahead->last_block));
}

static void *read_other(void *memory)
{
    gsa__ahead *ahead = memory;
    read_side(ahead, &ahead->side[!ahead->current]);
    return NULL;
}

/* The other side begins to be read, if there is more to read and a thread to read it. */
static void begin_next(gsa__ahead *ahead)
{
    const side *at = &ahead->side[ahead->current];
    if (ahead->n_threads < 2 || at->status != GSA_OK || gsa__block_is_last(ahead->last_block))
        return;
    uint64_t size = 0; /* what blocks like those of this side take: without room for as many, nothing is read ahead */
    for (size_t i = 0; i < at->n; i++)
        size += gsa__block_size(at->block[i]);
    const side *other = &ahead->side[!ahead->current];
    if (!other->block[0] && size + size / 4 > gsa__memory_left(&ahead->env))
        return;
    ahead->busy = gsa__thread_start(&ahead->thread, read_other, ahead, &ahead->env) == 0;
    if (!ahead->busy)
        ahead->n_threads = 1;
}

gsa_status gsa__ahead_next(gsa__ahead *ahead, size_t most_rows, gsa_batch *view, gsa_error *error)
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

void gsa__ahead_hand(gsa__ahead *ahead, size_t n_blocks)
{
    ahead->hand = n_blocks < ahead->n_threads ? n_blocks : ahead->n_threads;
}

int gsa__ahead_lets_go(const gsa__ahead *ahead)
{
    return ahead->side[ahead->current].given == ahead->side[ahead->current].n;
}

static void forget(gsa__ahead *ahead)
{
    wait_for_thread(ahead);
    ahead->last_block = NULL;
    for (int s = 0; s < 2; s++) {
        ahead->side[s].n = ahead->side[s].given = 0;
        ahead->side[s].status = GSA_OK;
        for (size_t i = 0; i < GSA_TOGETHER_MOST; i++)
            if (ahead->side[s].block[i])
                gsa__block_clear(ahead->side[s].block[i]);
    }
}

void gsa__ahead_follow(gsa__ahead *ahead, const gsa__index *index, size_t from, size_t end, gsa__deal deal,
                       const gsa__job *job)
{
    forget(ahead);
    ahead->route.index = index;
    ahead->route.job = job;
    ahead->route.deal = deal;
    ahead->route.from = ahead->route.next = from;
    ahead->route.end = end;
    ahead->route.is_there = 0;
}

gsa_status gsa__ahead_rewind(gsa__ahead *ahead, gsa_error *error)
{
    forget(ahead);
    gsa_reader_progress progress = gsa__progress_of(ahead->reader);
    return progress.bytes_read > 0 || progress.n_rows > 0 ? gsa_reader_rewind(ahead->reader, error) : GSA_OK;
}
