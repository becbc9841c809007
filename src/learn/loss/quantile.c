/* The quantile (pinball) loss (Koenker, Bassett 1978): with r = m - y and q the quantile that is asked for, (1 - q) r
 * above the label and -q r below it, so that the share q of labels is below the best margin.
 *
 * Its corner is rounded between -d and d, as if labels were spread evenly over that width (Fernandes, Guerre, Horta
 * 2021): g = (r + d) / 2d - q, the loss (r + d)^2 / 4d - q r. A straight line nearby would move the quantile only by
 * what the density bends. d is a small part of the width of the residuals (learn/residuals.h).
 *
 * The greedy step is the exact one of the parabola, lambda = 2d; on the lines it moves the margin by at most that. */
#include "learn/loss/loss_rows.h"

#include <math.h>

#define CORNER 0.03F

static double slope(double r, double corner, double q)
{
    if (fabs(r) < corner)
        return (r + corner) / (2 * corner) - q;
    return r > 0 ? 1 - q : -q;
}

/* Without the rounded corner: what people call the loss. */
static double value(double *m, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double r = *m - target->y;
    return r > 0 ? (1 - target->quantile) * r : -target->quantile * r;
}

/* Without a width no weight moves. */
static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    double m = *m_to_g, corner = (double)CORNER * target->width;
    *m_to_g = corner > 0 ? slope(m - target->y, corner, target->quantile) : 0;
    return (gsai_greedy_step){value(&m, n_outputs, target), 2 * corner, *m_to_g, m};
}

static double derivative(void *ctx, double m, double y)
{
    const gsai_target *target = ctx;
    return slope(m - y, (double)CORNER * target->width, target->quantile);
}

static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    gsai_target at = *target;
    const gsa_margin_loss own = {.derivative = derivative, .ctx = &at};
    const gsai_target by_derivative = {.y = target->y, .custom = &own};
    return gsai_custom_repeats(g, n_outputs, &by_derivative, step, e, c);
}

/* Beyond the corner the curvature is that of the parabola that touches the loss from above, as of Huber's. */
static void fill(gsai_rows_block *block, const gsai_rows_at *at)
{
    float d = CORNER * at->width, q = at->quantile;
    for (size_t i = 0; i < block->n; i++) {
        float r = block->m[i] - block->y[i], far = fabsf(r);
        bool is_near = far < d;
        float g = is_near ? (r + d) / (2 * d) - q : r > 0 ? 1 - q : -q;
        block->g[i] = g;
        block->loss[i] = is_near ? (r + d) * (r + d) / (4 * d) - q * r : g * r;
        block->h[i] = 0.5F / (is_near ? d : far);
    }
}

static void rows(gsai_rows_at *at)
{
    gsai_rows_by_blocks(at, fill);
}

const gsai_loss gsai_loss_quantile = {
    .name = "quantile",
    .measure = "pinball loss",
    .many_from = SIZE_MAX,
    .depends_on_residual = true,
    .has_width = true,
    .has_quantile = true,
    .greedy_step = greedy_step,
    .repeats = repeats,
    .value = value,
    .rows = rows,
};
