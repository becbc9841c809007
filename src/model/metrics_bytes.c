/* Metrics on their way to another process: a head, what was counted, the classes, and the ranking. */
#include "model/metrics.h"

#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MAGIC 0x3152544D5F415347u /* "GSA_MTR1" */
#define COUNTED_AT offsetof(gsa_metrics, n_rows)
#define COUNTED_SIZE (offsetof(gsa_metrics, classes) - COUNTED_AT)

/* Of equal models it is equal, so that counts of other classes are not taken for these. */
static uint64_t kind_of(const gsa_model *model)
{
    uint64_t hash = gsai_hash(model->loss->name, strlen(model->loss->name), sizeof(gsa_metrics));
    for (size_t k = 0; k < model->labels.n; k++)
        hash = gsai_hash(model->labels.at[k].text, strlen(model->labels.at[k].text), hash);
    return hash;
}

gsa_status gsa_metrics_write(const gsa_metrics *metrics, gsa_write_fn write, void *ctx, gsa_error *error)
{
    const uint64_t head[] = {MAGIC, kind_of(metrics->model)};
    int failed = write(ctx, head, sizeof head) || write(ctx, (const char *)metrics + COUNTED_AT, COUNTED_SIZE) ||
                 write(ctx, metrics->classes, metrics->model->labels.n * sizeof *metrics->classes) ||
                 (metrics->ranking && gsai_ranking_write(metrics->ranking, write, ctx));
    return failed ? gsai_fail(error, GSA_IO, "metrics could not be written") : GSA_OK;
}

/* Counts and weights; other sums may be any numbers, if labels or margins are large enough. */
static bool is_possible(const gsa_metrics *metrics)
{
    double most = metrics->weight;
    bool fits = metrics->n_unknown <= metrics->n_rows && most >= 0 && isfinite(most) && metrics->correct >= 0 &&
                metrics->correct <= most && metrics->unknown_weight >= 0 && metrics->unknown_weight <= most;
    for (size_t k = 0; k < metrics->model->labels.n; k++) {
        const class_counts *counts = &metrics->classes[k];
        fits =
            fits && counts->correct >= 0 && counts->predicted >= counts->correct && counts->actual >= counts->correct;
    }
    return fits;
}

static gsa_status restore(gsa_metrics *metrics, const unsigned char *bytes, size_t size, gsa_error *error)
{
    uint64_t head[2];
    size_t classes_size = metrics->model->labels.n * sizeof *metrics->classes;
    size_t least = sizeof head + COUNTED_SIZE + classes_size;
    if (size >= sizeof head)
        memcpy(head, bytes, sizeof head);
    if (size < sizeof head || head[0] != MAGIC)
        return gsai_fail(error, GSA_FORMAT, "these bytes are no metrics");
    if (head[1] != kind_of(metrics->model))
        return gsai_fail(error, GSA_CONFLICT, "metrics of another model, with other labels or another loss");
    if (size < least)
        return gsai_fail(error, GSA_FORMAT, "metrics of %zu bytes, which have at least %zu", size, least);
    memcpy((char *)metrics + COUNTED_AT, bytes + sizeof head, COUNTED_SIZE);
    memcpy(metrics->classes, bytes + sizeof head + COUNTED_SIZE, classes_size);
    gsa_status status =
        metrics->ranking ? gsai_ranking_read(metrics->ranking, bytes + least, size - least, error) : GSA_OK;
    if (status == GSA_OK && (!is_possible(metrics) || (!metrics->ranking && size != least)))
        status = gsai_fail(error, GSA_FORMAT, "metrics that contradict themselves");
    return status;
}

gsa_status gsa_metrics_read(const void *bytes, size_t size, const gsa_model *model, const gsa_env *env,
                            gsa_metrics **out, gsa_error *error)
{
    gsa_metrics *metrics = NULL;
    gsa_status status = gsa_metrics_new(model, env, &metrics, error);
    if (status == GSA_OK)
        status = restore(metrics, bytes, size, error);
    if (status == GSA_OK)
        *out = metrics;
    else
        gsa_metrics_free(metrics);
    return status;
}
