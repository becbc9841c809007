/* Pieces of a reader's rows in a pipeline, or one after the other where there is one thread or little memory. */
#include "train/scan.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"

/* The likely memory of a piece, and 1 / the share of the memory left that all pieces may have. */
#define PIECE_COST ((uint64_t)32 << 20)
#define SHARE 4

typedef struct scanning {
    const gsai_scan *scan;
    const gsai_env *env;
    gsai_piece *pieces;
    const gsai_block *last; /* read before; the next goes on where it ended */
    uint64_t n_rows;
    gsa_status status; /* of reading: why it ended */
    gsa_error error;
} scanning;

static bool read_piece(void *memory, size_t slot)
{
    scanning *run = memory;
    gsai_piece *to = &run->pieces[slot];
    if (run->last)
        gsai_block_continue(to->block, run->last);
    run->last = to->block;
    to->first_row = run->n_rows;
    run->status = gsai_should_stop(run->env)
                      ? gsai_fail(&run->error, GSA_STOPPED, "stopped on request")
                      : gsai_block_take(to->block, run->scan->reader, run->scan->max_rows, &to->rows, &run->error);
    if (run->status == GSA_OK)
        run->n_rows += to->rows.n_rows;
    return run->status == GSA_OK;
}

static void compute_piece(void *memory, size_t slot)
{
    scanning *run = memory;
    gsai_piece *of = &run->pieces[slot];
    of->error = (gsa_error){.row = GSA_NO_ROW};
    of->status = run->scan->compute(run->scan->ctx, of, &of->error);
}

/* Takes one piece after the other until one fails; returns it, or NULL. */
static gsai_piece *take_pieces(scanning *run, gsai_pipeline *pipeline)
{
    size_t slot;
    gsai_pipeline_start(pipeline);
    while (gsai_pipeline_next(pipeline, &slot)) {
        gsai_piece *piece = &run->pieces[slot];
        if (piece->status == GSA_OK)
            piece->status = run->scan->take(run->scan->ctx, piece, &piece->error);
        if (piece->status != GSA_OK)
            return piece;
        gsai_pipeline_release(pipeline);
    }
    return NULL;
}

gsa_status gsai_scan_rows(const gsai_scan *scan, const gsai_env *env, gsa_error *error)
{
    static const gsai_stages stages = {read_piece, compute_piece};
    scanning run = {.scan = scan, .env = env};
    size_t n_threads = gsai_workers_count(env), n_pieces = n_threads + 2;
    if (n_threads == 1 || gsai_memory_left(env) / SHARE / n_pieces < PIECE_COST) {
        n_threads = 0;
        n_pieces = 1;
    }
    run.pieces = gsai_alloc_zeroed(env, n_pieces, sizeof *run.pieces);
    GSAI_TRY_MEMORY(run.pieces, env, error, "no memory for %zu blocks of rows", n_pieces);
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n_pieces && status == GSA_OK; i++)
        status = gsai_block_new(env, &run.pieces[i].block, error);
    gsai_pipeline *pipeline = gsai_pipeline_new(n_threads, n_pieces, &stages, &run, env);
    if (status == GSA_OK && !pipeline)
        status = gsai_fail_memory(env, error, "no memory for %zu threads", n_threads);
    if (status == GSA_OK) {
        gsai_piece *failed = take_pieces(&run, pipeline);
        gsai_pipeline_stop(pipeline); /* the reader must be idle to locate a row */
        if (failed)
            gsa_reader_locate(scan->reader, &failed->rows, &failed->error);
        status = failed ? failed->status : run.status;
        if (error && (failed || status != GSA_END))
            *error = failed ? failed->error : run.error;
    }
    gsai_pipeline_free(pipeline);
    for (size_t i = 0; i < n_pieces; i++) {
        gsai_block_free(run.pieces[i].block);
        gsai_free(env, run.pieces[i].number);
        gsai_free(env, run.pieces[i].text);
    }
    gsai_free(env, run.pieces);
    return status == GSA_END ? GSA_OK : status;
}
