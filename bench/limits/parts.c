/* Single parts on one thread: reading, learning, merging. */
#include "limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct reading {
    const bench_bytes *bytes;
    const gsa_call *call;
} reading;

static gsa_status read_rows(void *ctx, gsa_error *error)
{
    const reading *what = ctx;
    gsa_reader *reader = NULL;
    gsa_batch batch;
    gsa_status status =
        gsa_reader_open_memory(what->bytes->data, what->bytes->size, "rows", NULL, NULL, what->call, &reader, error);
    while (status == GSA_OK)
        status = gsa_reader_next(reader, &batch, error);
    gsa_reader_close(reader);
    return status == GSA_END ? GSA_OK : status;
}

static gsa_status find_newlines(void *ctx, gsa_error *error)
{
    (void)error;
    bench_find_newlines(((const reading *)ctx)->bytes);
    return GSA_OK;
}

static gsa_status add_up(void *ctx, gsa_error *error)
{
    (void)error;
    bench_add_up(((const reading *)ctx)->bytes);
    return GSA_OK;
}

gsa_status bench_reading(bench *all, const bench_bytes *text, const bench_bytes *cache, gsa_error *error)
{
    reading parse = {text, &all->call}, read = {cache, &all->call};
    bench_job job = {.ctx = &parse,
                     .ours = read_rows,
                     .limit = find_newlines,
                     .work = (double)text->size * 1e-6,
                     .unit = "MB/s",
                     .limit_is = "memchr for the newlines of the same bytes"};
    gsa_status status = bench_compare(&job, "parse text", error);
    job.ctx = &read;
    job.limit = add_up;
    job.work = (double)cache->size * 1e-6;
    job.limit_is = "adding up the same bytes";
    return status == GSA_OK ? bench_compare(&job, "read a cache", error) : status;
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

typedef struct learning {
    bench_rows rows;
    gsa_state *state;
    bench_record *table;
} learning;

/* Other rows in every round, as in life. */
static gsa_status take_rows(void *ctx, gsa_error *error)
{
    return bench_rows_next(&((learning *)ctx)->rows, error);
}

static gsa_status learn_rows(void *ctx, gsa_error *error)
{
    learning *what = ctx;
    gsa_batch batch = bench_rows_view(&what->rows, 0, what->rows.n);
    return gsa_state_update(what->state, &batch, error);
}

static gsa_status touch_records(void *ctx, gsa_error *error)
{
    (void)error;
    bench_touch_records(((learning *)ctx)->table, &((learning *)ctx)->rows);
    return GSA_OK;
}

gsa_status bench_learning(bench *all, uint64_t n_features, const char *what, gsa_error *error)
{
    learning of = {.state = NULL};
    bench_job job = {.ctx = &of,
                     .prepare = take_rows,
                     .ours = learn_rows,
                     .limit = touch_records,
                     .work = (double)all->n_rows,
                     .unit = "rows/s",
                     .limit_is = "loads and stores of the same records"};
    gsa_status status = bench_rows_open(&of.rows, all->n_rows, n_features, BENCH_NNZ, &all->call, error);
    if (status == GSA_OK)
        status = gsa_state_new(NULL, NULL, &of.state, error);
    of.table = status == GSA_OK ? bench_table((size_t)n_features + 1, sizeof *of.table) : NULL;
    if (status == GSA_OK && of.table == NULL)
        status = bench_fail_memory(error);
    if (status == GSA_OK)
        status = bench_compare(&job, what, error);
    gsa_state_free(of.state);
    free(of.table);
    bench_rows_close(&of.rows);
    return status;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

typedef struct merging {
    const gsa_call *call;
    gsa_state *state[2];
    bench_record *from, *to;
    size_t n_records;
} merging;

static gsa_status merge_states(void *ctx, gsa_error *error)
{
    const merging *what = ctx;
    gsa_state *merged = NULL;
    gsa_status status = gsa_state_merge((const gsa_state *const *)what->state, 2, NULL, what->call, &merged, error);
    gsa_state_free(merged);
    return status;
}

static gsa_status copy_records(void *ctx, gsa_error *error)
{
    (void)error;
    const merging *what = ctx;
    memcpy(what->to, what->from, what->n_records * sizeof *what->to);
    volatile uint32_t last = what->to[what->n_records - 1].cell[3];
    (void)last;
    return GSA_OK;
}

gsa_status bench_merging(bench *all, const bench_rows *rows, gsa_error *error)
{
    merging of = {.call = &all->call, .n_records = 2 * ((size_t)BENCH_FEATURES + 1)};
    bench_job job = {.ctx = &of,
                     .ours = merge_states,
                     .limit = copy_records,
                     .work = BENCH_FEATURES,
                     .unit = "features/s",
                     .limit_is = "memcpy of the records of both"};
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < 2 && status == GSA_OK; i++) {
        gsa_batch half = bench_rows_view(rows, i * (rows->n / 2), rows->n / 2);
        status = gsa_state_new(NULL, NULL, &of.state[i], error);
        if (status == GSA_OK)
            status = gsa_state_update(of.state[i], &half, error);
    }
    of.from = status == GSA_OK ? bench_table(of.n_records, sizeof *of.from) : NULL;
    of.to = of.from != NULL ? bench_table(of.n_records, sizeof *of.to) : NULL;
    if (status == GSA_OK && of.to == NULL)
        status = bench_fail_memory(error);
    if (status == GSA_OK)
        status = bench_compare(&job, "merge two states, 10^6 features", error);
    for (size_t i = 0; i < 2; i++)
        gsa_state_free(of.state[i]);
    free(of.from);
    free(of.to);
    return status;
}
