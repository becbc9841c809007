/* Predicting: many rows, and one at a time as a server would. */
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH_ROWS = 4096, ONE_ROW_NNZ = 40, ONE_ROWS = 20000 };

typedef struct predicting {
    const bench_rows *rows;
    gsa_model *model;
    float *weight;
    double *out; /* of a batch */
} predicting;

static gsa_status predict_rows(void *ctx, gsa_error *error)
{
    const predicting *what = ctx;
    gsa_status status = GSA_OK;
    for (size_t r = 0; r < what->rows->n && status == GSA_OK; r += BATCH_ROWS) {
        size_t left = what->rows->n - r;
        gsa_batch batch = bench_rows_view(what->rows, r, left < BATCH_ROWS ? left : BATCH_ROWS);
        status = gsa_model_predict(what->model, &batch, what->out, error);
    }
    return status;
}

static gsa_status load_weights(void *ctx, gsa_error *error)
{
    (void)error;
    const predicting *what = ctx;
    bench_load_weights(what->weight, what->rows, 0, what->rows->n);
    return GSA_OK;
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

static double nanoseconds_since(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)(now.tv_sec - begun->tv_sec) + (double)(now.tv_nsec - begun->tv_nsec);
}

static gsa_status time_rows(const predicting *what, bool is_limit, double *taken, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t r = 0; r < what->rows->n && status == GSA_OK; r++) {
        gsa_batch row = bench_rows_view(what->rows, r, 1);
        struct timespec begun;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        if (is_limit)
            bench_load_weights(what->weight, what->rows, r, 1);
        else
            status = gsa_model_predict(what->model, &row, what->out, error);
        taken[r] = nanoseconds_since(&begun);
    }
    return status;
}

/* [0]: ours, [1]: the limit; both have the clock's own time in them. */
static gsa_status time_one_row(const predicting *what, double *taken, gsa_error *error)
{
    double middle[2][BENCH_ROUNDS], slow[2][BENCH_ROUNDS];
    for (size_t round = 0; round < BENCH_ROUNDS; round++)
        for (int is_limit = 0; is_limit < 2; is_limit++) {
            gsa_status status = time_rows(what, is_limit, taken, error);
            if (status != GSA_OK)
                return status;
            middle[is_limit][round] = bench_quantile(taken, what->rows->n, 0.5);
            slow[is_limit][round] = bench_quantile(taken, what->rows->n, 0.99);
        }
    bench_line line = {.unit = "ns", .limit_is = "the same loads, by the same clock"};
    for (int is_slow = 0; is_slow < 2; is_slow++) {
        snprintf(line.what, sizeof line.what, "predict one row of %d, %s", ONE_ROW_NNZ, is_slow ? "p99" : "p50");
        line.ours = bench_quantile(is_slow ? slow[0] : middle[0], BENCH_ROUNDS, 0.5);
        line.limit = bench_quantile(is_slow ? slow[1] : middle[1], BENCH_ROUNDS, 0.5);
        bench_print_line(&line);
    }
    return GSA_OK;
}

static gsa_status bench_one_row(bench *all, predicting what, gsa_error *error)
{
    bench_rows rows = {0};
    double *taken = calloc(ONE_ROWS, sizeof *taken);
    if (taken == NULL)
        return bench_fail_memory(error);
    gsa_status status = bench_rows_open(&rows, ONE_ROWS, BENCH_FEATURES, ONE_ROW_NNZ, &all->call, error);
    if (status == GSA_OK)
        status = bench_rows_next(&rows, error);
    what.rows = &rows;
    if (status == GSA_OK)
        status = time_one_row(&what, taken, error);
    bench_rows_close(&rows);
    free(taken);
    return status;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static gsa_status make_model(const bench *all, const bench_rows *rows, gsa_model **out, gsa_error *error)
{
    gsa_state *state = NULL;
    gsa_batch batch = bench_rows_view(rows, 0, rows->n);
    gsa_status status = gsa_state_new(NULL, NULL, &state, error);
    if (status == GSA_OK)
        status = gsa_state_update(state, &batch, error);
    if (status == GSA_OK)
        status = gsa_state_finish(state, &all->call, out, error);
    gsa_state_free(state);
    return status;
}

gsa_status bench_predicting(bench *all, const bench_rows *rows, gsa_error *error)
{
    predicting of = {.rows = rows};
    bench_job job = {.ctx = &of,
                     .ours = predict_rows,
                     .limit = load_weights,
                     .work = (double)rows->n,
                     .unit = "rows/s",
                     .limit_is = "loads of the same weights"};
    gsa_status status = make_model(all, rows, &of.model, error);
    of.weight = bench_table(BENCH_FEATURES, sizeof *of.weight);
    of.out = calloc(BATCH_ROWS, 2 * sizeof *of.out);
    if (status == GSA_OK && (of.weight == NULL || of.out == NULL))
        status = bench_fail_memory(error);
    if (status == GSA_OK)
        status = bench_compare(&job, "predict", error);
    if (status == GSA_OK)
        status = bench_one_row(all, of, error);
    gsa_model_free(of.model);
    free(of.weight);
    free(of.out);
    return status;
}
