/* Whole runs: from a file to a model in memory, one pass, on one thread and on all.
 *
 * The runs use --method gsa: rows that fit in memory would be solved, and rows per second would mean little. */
#include "limits.h"

#include <greedystep/distributed.h>
#include <greedystep/train.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct training {
    const char *path;
    gsa_call call;
    gsa_config *config;
    bool is_text;
    bench_bytes *bytes; /* of the file */
    const bench_rows *rows;
    bench_record *table;
} training;

static gsa_status train_model(void *ctx, gsa_error *error)
{
    const training *what = ctx;
    gsa_reader *reader = NULL;
    gsa_state *state = NULL;
    gsa_model *model = NULL;
    gsa_status status = gsa_reader_open(&what->path, 1, NULL, NULL, &what->call, &reader, error);
    if (status == GSA_OK)
        status = gsa_state_new(what->config, NULL, &state, error);
    if (status == GSA_OK)
        status = gsa_train(state, reader, NULL, &what->call, error);
    if (status == GSA_OK)
        status = gsa_state_finish(state, &what->call, &model, error);
    gsa_model_free(model);
    gsa_state_free(state);
    gsa_reader_close(reader);
    return status;
}

/* The limits of the parts, one after the other. */
static gsa_status touch_all(void *ctx, gsa_error *error)
{
    const training *what = ctx;
    gsa_status status = bench_load(what->path, what->bytes, error);
    if (status != GSA_OK)
        return status;
    if (what->is_text)
        bench_find_newlines(what->bytes);
    else
        bench_add_up(what->bytes);
    bench_touch_records(what->table, what->rows);
    return GSA_OK;
}

static gsa_status train_file(bench *all, training *of, const char *kind, gsa_error *error)
{
    char what[48];
    bench_job job = {.ctx = of,
                     .ours = train_model,
                     .limit = touch_all,
                     .work = (double)all->n_rows,
                     .unit = "rows/s",
                     .limit_is = of->is_text ? "reading the file, memchr, loads and stores"
                                             : "reading the file, adding up, loads and stores",
                     .is_on_the_wall = true};
    gsa_status status = GSA_OK;
    for (unsigned n = 1; n <= all->n_threads && status == GSA_OK; n = n < all->n_threads ? all->n_threads : n + 1) {
        of->call.n_threads = n;
        snprintf(what, sizeof what, "%s to model, %u thread%s", kind, n, n > 1 ? "s" : "");
        status = bench_compare(&job, what, error);
    }
    return status;
}

gsa_status bench_training(bench *all, const bench_rows *rows, bench_bytes *text, bench_bytes *cache, gsa_error *error)
{
    char path[BENCH_PATH_SIZE];
    training of = {.call = all->call, .rows = rows, .table = bench_table(BENCH_FEATURES + 1, sizeof *of.table)};
    gsa_status status = of.table != NULL ? gsa_config_new(NULL, &of.config, error) : bench_fail_memory(error);
    if (status == GSA_OK)
        status = gsa_config_set(of.config, "passes", "1", error);
    if (status == GSA_OK && rows->n <= GSA_BLOCK_ROWS)
        status = gsa_config_set(of.config, "method", "gsa", error);
    of.path = bench_path(all, "rows.svm", path);
    of.is_text = true;
    of.bytes = text;
    if (status == GSA_OK)
        status = train_file(all, &of, "text", error);
    of.path = bench_path(all, "rows.gsac", path);
    of.is_text = false;
    of.bytes = cache;
    if (status == GSA_OK)
        status = train_file(all, &of, "cache", error);
    gsa_config_free(of.config);
    free(of.table);
    return status;
}
