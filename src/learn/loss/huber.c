/* The Huber loss: squared up to a width d, a straight line beyond, so that an outlier pulls no harder than a residual
 * of d. With r = m - y: r^2 / 2, or d |r| - d^2 / 2; g = r, clipped to [-d, d]. The width follows from the data
 * (learn/residuals.h).
 *
 * The greedy step is that of the squared loss, lambda = 1: it moves the margin onto the label, but towards an outlier
 * only by the width. The step that would fit an outlier, |r| / d, would let outliers decide the mean of all steps. */
#include "learn/loss/loss_rows.h"

#include <math.h>

static double value(double *m, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double r = fabs(*m - target->y), g = fmin(r, target->width);
    return g * (r - g / 2);
}

static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    double m = *m_to_g;
    *m_to_g = fmax(-target->width, fmin(target->width, m - target->y));
    return (gsai_greedy_step){value(&m, n_outputs, target), 1, *m_to_g, m};
}

/* Plain steps on the line, until the residual is the width; from there on as the squared loss. */
static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    (void)g, (void)n_outputs;
    double on_line = (fabs(step->m - target->y) / target->width - 1) / e;
    if (!(on_line > 0)) /* also with an infinite width */
        return gsai_squared_repeats(e, c);
    return c <= on_line + 1 ? c : on_line + gsai_squared_repeats(e, c - on_line);
}

/* Beyond the width the curvature is that of the parabola that touches the loss from above: a step of Newton's iteration
 * never overshoots. */
static void fill(gsai_rows_block *block, const gsai_rows_at *at)
{
    float width = at->width;
    for (size_t i = 0; i < block->n; i++) {
        float r = block->m[i] - block->y[i];
        float g = r > width ? width : r < -width ? -width : r;
        block->g[i] = g;
        block->loss[i] = g * (r - 0.5F * g);
        block->h[i] = g == r ? 1 : g / r;
    }
}

static void rows(gsai_rows_at *at)
{
    gsai_rows_by_blocks(at, fill);
}

const gsai_loss gsai_loss_huber = {
    .name = "huber",
    .measure = "huber loss",
    .many_from = SIZE_MAX,
    .depends_on_residual = true,
    .has_width = true,
    .greedy_step = greedy_step,
    .repeats = repeats,
    .value = value,
    .rows = rows,
};
