/* The plain loops: portable, and the definition of what every other kernel must compute. */
#include "core/kernel/kernel.h"

#define LANES 8

static double add_lanes(const double s[LANES])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static inline double value_at(const gsa__row *row, size_t i)
{
    return row->value ? (double)row->value[i] : 1.0;
}

static inline size_t id_at(const gsa__row *row, size_t i)
{
    return row->index ? row->index[i] : i;
}

double gsa__dot_one(const gsa__table *table, const gsa__row *row, bool intercept)
{
    double lane[LANES] = {0};
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        if (x == 0)
            continue;
        lane[position++ % LANES] += (double)gsa__table_slot(table, id_at(row, i) + 1)->f * x;
    }
    return add_lanes(lane) + (intercept ? (double)gsa__table_slot(table, 0)->f : 0.0);
}

void gsa__dot_many(const gsa__table *table, const gsa__row *row, bool intercept, double *margins)
{
    size_t n_outputs = table->n_outputs;
    for (size_t k = 0; k < n_outputs; k++)
        margins[k] = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        if (x == 0)
            continue;
        const gsa__cell *weight = gsa__table_slot(table, id_at(row, i) + 1);
        for (size_t k = 0; k < n_outputs; k++)
            margins[k] += (double)weight[k].f * x;
    }
    if (intercept)
        for (size_t k = 0; k < n_outputs; k++)
            margins[k] += (double)gsa__table_slot(table, 0)[k].f;
}

double gsa__square_length(const gsa__row *row, bool intercept)
{
    if (!row->value)
        return (double)row->n + (intercept ? 1.0 : 0.0);
    double lane[LANES] = {0};
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = (double)row->value[i];
        if (x == 0)
            continue;
        lane[position++ % LANES] += x * x;
    }
    return add_lanes(lane) + (intercept ? 1.0 : 0.0);
}

/* Running mean of c x^2, which times the count gives the mass; exact for rows of ones. The square of a float may lie
 * outside the floats: it is brought back to their edge, so that no mass is infinite and none that was seen is zero. */
static inline void count_entry(gsa__cell *mean, gsa__cell *count, double mass)
{
    mass = mass < 1e-37 ? 1e-37 : mass > 1e37 ? 1e37 : mass;
    count->u++;
    double old = (double)mean->f;
    if (mass != old)
        mean->f = (float)(old + (mass - old) / (double)count->u);
}

void gsa__count_row(gsa__table *table, const gsa__row *row, bool intercept, double c)
{
    size_t mean = gsa__table_mean(table), count = gsa__table_count(table);
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        gsa__cell *record = gsa__table_slot(table, id_at(row, i) + 1);
        if (x != 0)
            count_entry(record + mean, record + count, c * x * x);
    }
    if (intercept) {
        gsa__cell *record = gsa__table_slot(table, 0);
        count_entry(record + mean, record + count, c);
    }
}

static inline void update_slot_one(gsa__cell *record, double x, double scale, double lag)
{
    float u = (float)(scale * x);
    record[0].f += u;
    record[1].f += (float)(lag * (double)u);
}

void gsa__update_one(gsa__table *table, const gsa__row *row, bool intercept, const double *along, double scale,
                     double lag)
{
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        if (x == 0)
            continue;
        update_slot_one(gsa__table_slot(table, id_at(row, i) + 1), along ? along[position] : x, scale, lag);
        position++;
    }
    if (intercept)
        update_slot_one(gsa__table_slot(table, 0), along ? along[position] : 1.0, scale, lag);
}

static inline void update_slot_many(gsa__table *table, size_t slot, double x, const double *scale, double lag)
{
    gsa__cell *weight = gsa__table_slot(table, slot);
    gsa__cell *average = weight + gsa__table_average(table);
    for (size_t k = 0; k < table->n_outputs; k++) {
        float u = (float)(scale[k] * x);
        weight[k].f += u;
        average[k].f += (float)(lag * (double)u);
    }
}

void gsa__update_many(gsa__table *table, const gsa__row *row, bool intercept, const double *along, const double *scale,
                      double lag)
{
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        if (x == 0)
            continue;
        update_slot_many(table, id_at(row, i) + 1, along ? along[position] : x, scale, lag);
        position++;
    }
    if (intercept)
        update_slot_many(table, 0, along ? along[position] : 1.0, scale, lag);
}

double gsa__model_dot_one(const float *weights, uint64_t n_features, const gsa__row *row)
{
    double lane[LANES] = {0};
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        double x = value_at(row, i);
        size_t id = id_at(row, i);
        if (x == 0 || id >= n_features)
            continue;
        lane[position++ % LANES] += (double)weights[id] * x;
    }
    return add_lanes(lane);
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
