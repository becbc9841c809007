/* Reading ahead: two blocks take turns, and a thread of its own fills one while the caller has the other.
 *
 *   A1  `busy` means that a thread runs; it alone touches the reader, the block that is not current, and `result`;
 *   A2  with one thread, or where none can be made, the caller reads: the blocks are the same. */
#include "engine/ahead.h"

#include "engine/block.h"
#include "engine/workers.h"

#include "base/error.h"
#include "base/memory.h"

struct gsa__ahead {
    gsa_env env;
    gsa_reader *reader;
    size_t n_threads;
    gsa__block *block[2];
    int current;
    pthread_t thread;
    int busy, again;
    gsa_batch last; /* the view that the caller has */
    size_t most_rows;
    struct {
        gsa_status status;
        gsa_error error;
        gsa_batch view;
    } result;
};

gsa_status gsa__ahead_new(gsa_reader *reader, size_t n_threads, const gsa_env *env, gsa__ahead **out, gsa_error *error)
{
    gsa__ahead *ahead = gsa__alloc_zeroed(env, 1, sizeof *ahead);
    if (!ahead)
        return gsa__fail(error, GSA_MEMORY, "no memory for blocks of rows");
    ahead->env = *env;
    ahead->reader = reader;
    ahead->n_threads = n_threads;
    gsa_status status = gsa__block_new(env, &ahead->block[0], error);
    if (status == GSA_OK && n_threads > 1)
        status = gsa__block_new(env, &ahead->block[1], error);
    if (status != GSA_OK) {
        gsa__ahead_free(ahead);
        return status;
    }
    *out = ahead;
    return GSA_OK;
}

static void wait_for_thread(gsa__ahead *ahead)
{
    if (ahead->busy)
        pthread_join(ahead->thread, NULL);
    ahead->busy = 0;
}

void gsa__ahead_free(gsa__ahead *ahead)
{
    if (!ahead)
        return;
    wait_for_thread(ahead);
    gsa__block_free(ahead->block[0]);
    gsa__block_free(ahead->block[1]);
    gsa_env env = ahead->env;
    gsa__free(&env, ahead);
}

static void *read_other(void *memory)
{
    gsa__ahead *ahead = memory;
    ahead->result.error = (gsa_error){0};
    ahead->result.status = gsa__block_read(ahead->block[!ahead->current], ahead->reader, ahead->most_rows,
                                           &ahead->result.view, &ahead->result.error);
    return NULL;
}

/* The other block begins to be read, if there is more to read and a thread to read it. */
static void begin_next(gsa__ahead *ahead)
{
    if (ahead->n_threads < 2 || gsa__ahead_is_last(ahead))
        return;
    gsa__block_follow(ahead->block[!ahead->current], ahead->block[ahead->current]);
    ahead->busy = gsa__thread_start(&ahead->thread, read_other, ahead) == 0;
    if (!ahead->busy)
        ahead->n_threads = 1;
}

gsa_status gsa__ahead_next(gsa__ahead *ahead, size_t most_rows, gsa_batch *view, gsa_error *error)
{
    gsa_status status;
    if (ahead->again) {
        ahead->again = 0;
        *view = ahead->last;
        return GSA_OK;
    }
    if (ahead->busy) {
        wait_for_thread(ahead);
        ahead->current = !ahead->current;
        status = ahead->result.status;
        *view = ahead->result.view;
        if (status != GSA_OK && error)
            *error = ahead->result.error;
    } else {
        status = gsa__block_read(ahead->block[ahead->current], ahead->reader, most_rows, view, error);
    }
    ahead->most_rows = most_rows;
    if (status == GSA_OK) {
        ahead->last = *view;
        begin_next(ahead);
    }
    return status;
}

void gsa__ahead_again(gsa__ahead *ahead)
{
    ahead->again = 1;
}

int gsa__ahead_is_last(const gsa__ahead *ahead)
{
    return gsa__block_is_last(ahead->block[ahead->current]);
}

gsa_status gsa__ahead_rewind(gsa__ahead *ahead, gsa_error *error)
{
    gsa_reader_progress progress;
    wait_for_thread(ahead);
    ahead->again = 0;
    for (int i = 0; i < 2; i++)
        if (ahead->block[i])
            gsa__block_clear(ahead->block[i]);
    gsa_reader_get_progress(ahead->reader, &progress);
    return progress.bytes_read > 0 || progress.n_rows > 0 ? gsa_reader_rewind(ahead->reader, error) : GSA_OK;
}
