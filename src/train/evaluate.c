/* Evaluation of a model on the rows of a reader: margins on threads, sums in the order of the rows. */
#include "model/metrics.h"
#include "train/scan.h"

#include <greedystep/train.h>

#include "base/error.h"
#include "base/memory.h"

#define MAX_MARGINS ((size_t)1 << 18) /* computed at a time */

static gsa_status compute_margins(void *metrics, gsai_piece *of, gsa_error *error)
{
    return gsai_metrics_margins(metrics, &of->rows, of->number, error);
}

static gsa_status add_margins(void *metrics, gsai_piece *from, gsa_error *error)
{
    return gsai_metrics_add(metrics, &from->rows, from->number, error);
}

gsa_status gsa_evaluate(gsa_metrics *metrics, gsa_reader *reader, const gsa_call *call, gsa_error *error)
{
    gsai_env env;
    GSA_TRY(gsai_env_take(&env, gsai_metrics_memory(metrics), call, error));
    size_t width = gsai_metrics_n_margins(metrics), max_rows = MAX_MARGINS / (width + 1) + 1;
    max_rows = max_rows < GSA_BLOCK_ROWS ? max_rows : GSA_BLOCK_ROWS;
    gsai_scan scan = {reader, max_rows, width, compute_margins, add_margins, metrics};
    return gsai_scan_rows(&scan, &env, error);
}
