/* What metrics say of a model. */
#ifndef TESTS_UNIT_CORE_EVALUATED_H
#define TESTS_UNIT_CORE_EVALUATED_H

#include "rows.h"

#include <math.h>

static inline gsa_metrics *evaluated(const gsa_model *model, const gsa_batch *batch)
{
    gsa_error error = {0};
    gsa_metrics *metrics;
    must_be_ok(gsa_metrics_new(model, &metrics, &error), &error);
    must_be_ok(gsa_metrics_update(metrics, batch, &error), &error);
    must_be_ok(gsa_metrics_finish(metrics, &error), &error);
    return metrics;
}

/* NaN if there is none of this name. */
static inline double value_of(const gsa_metrics *metrics, const char *name)
{
    gsa_metric metric;
    for (size_t i = 0; gsa_metrics_at(metrics, i, &metric) == GSA_OK; i++)
        if (strcmp(metric.name, name) == 0)
            return metric.value;
    return NAN;
}

static inline double metric_of(const gsa_model *model, const gsa_batch *batch, const char *name)
{
    gsa_metrics *metrics = evaluated(model, batch);
    double value = value_of(metrics, name);
    gsa_metrics_free(metrics);
    return value;
}

#endif
