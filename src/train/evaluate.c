/* Evaluation of a model on the rows of a reader: margins on threads, sums in the order of the rows. */
#include "model/metrics.h"
#include "train/scan.h"

#include <greedystep/train.h>

#include "base/error.h"
#include "base/memory.h"

#define MAX_MARGINS ((size_t)1 << 18) /* computed at a time */

typedef struct evaluating {
    gsa_metrics *metrics;
    gsai_env env;
} evaluating;

static gsa_status compute_margins(void *ctx, gsai_piece *of, gsa_error *error)
{
    const evaluating *run = ctx;
    size_t n = of->rows.n_rows * gsai_metrics_n_margins(run->metrics);
    GSAI_TRY_MEMORY(gsai_reserve(&run->env, &of->number, &of->number_capacity, n, sizeof *of->number), &run->env, error,
                    "no memory for %zu margins", n);
    return gsai_metrics_margins(run->metrics, &of->rows, of->number, error);
}

static gsa_status add_margins(void *ctx, gsai_piece *from, gsa_error *error)
{
    const evaluating *run = ctx;
    return gsai_metrics_add(run->metrics, &from->rows, from->number, error);
}

gsa_status gsa_evaluate(gsa_metrics *metrics, gsa_reader *reader, const gsa_call *call, gsa_error *error)
{
    evaluating run = {.metrics = metrics};
    GSA_TRY(gsai_env_take(&run.env, gsai_metrics_memory(metrics), call, error));
    size_t max_rows = MAX_MARGINS / (gsai_metrics_n_margins(metrics) + 1) + 1;
    gsai_scan scan = {.reader = reader,
                      .max_rows = max_rows < GSA_BLOCK_ROWS ? max_rows : GSA_BLOCK_ROWS,
                      .compute = compute_margins,
                      .take = add_margins,
                      .ctx = &run};
    return gsai_scan_rows(&scan, &run.env, error);
}
