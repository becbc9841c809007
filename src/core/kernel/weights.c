/* The dots over the plain weights of a model. Sums as kernel.h says. */
#include "core/kernel/kernel.h"

static inline double value_at(const gsa__row *row, size_t i)
{
    return row->value ? (double)row->value[i] : 1.0;
}

static inline size_t id_at(const gsa__row *row, size_t i)
{
    return row->index ? row->index[i] : i;
}

double gsa__model_dot_one(const float *weights, uint64_t n_features, const gsa__row *row)
{
    double lane[GSA__LANES] = {0};
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        size_t id = id_at(row, i);
        if (x == 0 || id >= n_features)
            continue;
        lane[position++ % GSA__LANES] += (double)weights[id] * x;
    }
    return gsa__add_lanes(lane);
}

void gsa__model_dot_many(const float *weights, uint64_t n_features, size_t n_outputs, const gsa__row *row,
                         double *margins)
{
    for (size_t k = 0; k < n_outputs; k++)
        margins[k] = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        size_t id = id_at(row, i);
        if (x == 0 || id >= n_features)
            continue;
        for (size_t k = 0; k < n_outputs; k++)
            margins[k] += (double)weights[id * n_outputs + k] * x;
    }
}
