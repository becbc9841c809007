/* The squared loss: 1/2 (y - m)^2, g = m - y. Its greedy step is exact: lambda = 1 moves the margin onto the label. */
#include "learn/loss/loss_rows.h"

#include <math.h>

/* Returns half the squared error. Overflows to +infinity, never NaN: |y - m| above 1.9e154. */
static double value(double *m, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    return 0.5 * (target->y - *m) * (target->y - *m);
}

static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    double m = *m_to_g;
    *m_to_g = m - target->y;
    return (gsai_greedy_step){value(&m, n_outputs, target), 1, *m_to_g, m};
}

static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    (void)g, (void)n_outputs, (void)target, (void)step;
    return gsai_squared_repeats(e, c);
}

static double half_variance(const gsai_label_totals *labels)
{
    return fmax(labels->mean_square - labels->mean * labels->mean, 0) / 2;
}

static double root_of_square(double half_square)
{
    return sqrt(2 * half_square);
}

static void fill(gsai_rows_block *block, const gsai_rows_at *at)
{
    (void)at;
    for (size_t i = 0; i < block->n; i++) {
        float r = block->m[i] - block->y[i];
        block->g[i] = r;
        block->loss[i] = 0.5F * r * r;
        block->h[i] = 1;
    }
}

static void rows(gsai_rows_at *at)
{
    gsai_rows_by_blocks(at, fill);
}

const gsai_loss gsai_loss_squared = {
    .name = "squared",
    .measure = "rmse",
    .many_from = SIZE_MAX,
    .depends_on_residual = true,
    .greedy_step = greedy_step,
    .repeats = repeats,
    .value = value,
    .constant = half_variance,
    .measure_of = root_of_square,
    .rows = rows,
};
