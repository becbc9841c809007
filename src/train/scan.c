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
        gsai_block_continue(&to->block, run->last);
    run->last = &to->block;
    to->first_row = run->n_rows;
    run->status = gsai_should_stop(run->env)
                      ? gsai_fail(&run->error, GSA_STOPPED, "stopped on request")
                      : gsai_block_read(&to->block, run->scan->reader, 1, run->scan->max_rows, &to->rows, &run->error);
    if (run->status == GSA_OK)
        run->n_rows += to->rows.n_rows;
    return run->status == GSA_OK;
}

static void compute_piece(void *memory, size_t slot)
{
    scanning *run = memory;
    gsai_piece *of = &run->pieces[slot];
    of->error = (gsa_error){.row = GSA_NO_ROW};
    size_t n = of->rows.n_rows * run->scan->width;
    if (gsai_reserve(run->env, &of->number, &of->number_capacity, n, sizeof *of->number))
        of->status = run->scan->compute(run->scan->ctx, of, &of->error);
    else
        of->status = gsai_fail_memory(run->env, &of->error, "no memory for %zu predictions", n);
}

gsa_status gsai_scan_rows(const gsai_scan *scan, const gsai_env *env, gsa_error *error)
{
    static const gsai_stages stages = {read_piece, compute_piece};
    scanning run = {.scan = scan, .env = env};
    size_t n_threads = gsai_workers_count(env), n_pieces = n_threads + 2, slot;
    if (n_threads == 1 || gsai_memory_left(env) / SHARE / n_pieces < PIECE_COST) {
        n_threads = 0;
        n_pieces = 1;
    }
    run.pieces = gsai_alloc_zeroed(env, n_pieces, sizeof *run.pieces);
    GSAI_TRY_MEMORY(run.pieces, env, error, "no memory for %zu blocks of rows", n_pieces);
    for (size_t i = 0; i < n_pieces; i++)
        gsai_block_init(&run.pieces[i].block, env);
    gsai_pipeline *pipeline = gsai_pipeline_new(n_threads, n_pieces, &stages, &run, env);
    if (pipeline) {
        gsai_piece *failed = NULL;
        gsai_pipeline_start(pipeline);
        while (!failed && gsai_pipeline_next(pipeline, &slot)) {
            gsai_piece *piece = &run.pieces[slot];
            if (piece->status == GSA_OK)
                piece->status = scan->take(scan->ctx, piece, &piece->error);
            if (piece->status != GSA_OK)
                failed = piece;
            else
                gsai_pipeline_release(pipeline);
        }
        gsai_pipeline_stop(pipeline); /* the reader must be idle to locate a row */
        if (failed) {
            gsa_reader_locate(scan->reader, &failed->rows, &failed->error);
            run.status = failed->status;
            run.error = failed->error;
        }
        if (error && run.status != GSA_END)
            *error = run.error;
    } else {
        run.status = gsai_fail_memory(env, error, "no memory for %zu threads", n_threads);
    }
    gsai_pipeline_free(pipeline);
    for (size_t i = 0; i < n_pieces; i++) {
        gsai_block_free(&run.pieces[i].block);
        gsai_free(env, run.pieces[i].number);
        gsai_free(env, run.pieces[i].text);
    }
    gsai_free(env, run.pieces);
    return run.status == GSA_END ? GSA_OK : run.status;
}
