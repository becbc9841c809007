/* The Poisson loss with a log link: counts and rates, y >= 0 around the mean e^m.
 *
 * The loss is half the deviance, e^m - y - y (m - log y), and e^m for y = 0: the negative log likelihood less that of
 * the best mean, so that it is never below 0. g = e^m - y. With d = m - log y and phi(d) = e^d - 1 - d, loss = y phi
 * and g = y (d + phi): by a series where d is small, nothing cancels in rows that are nearly fitted.
 *
 * The greedy step is the one that fits the row, e^(m - lambda g) = y, but brings the mean to no less than 1 - P_HAT of
 * what it was: a row of y = 0 is never fitted, and stops where its gradient is down to that share, as other losses
 * without a minimum do (search.c). */
#include "learn/loss/loss_rows.h"

#include "base/real.h"

#include <float.h>
#include <math.h>

/* Beyond this margin, and beyond the label, e^m goes on as a straight line. */
#define MAX_MARGIN 300.0
#define MAX_MARGIN_FLOAT 60.0F
/* Nearer to the label than this, a series. */
#define NEAR 0.25
#define NEAR_FLOAT 0.25F
#define LOG_20 2.995732273553991
#define MAX_LAMBDA 1e100

/* e^d - 1 - d for small d. */
static double phi(double d)
{
    double sum = 0;
    for (int n = 12; n >= 2; n--)
        sum = (1 + sum) * d / n;
    return sum * d;
}

/* The loss and its derivative by the margin, in units of the label. */
struct at {
    double loss, g;
};

static struct at look(double m, double y)
{
    double log_y = y > 0 ? gsai_log(y) : (double)-INFINITY, d = m - log_y;
    double max = fmax(MAX_MARGIN, log_y + 1), e = gsai_exp(fmin(m, max));
    e = m > max ? e * (1 + (m - max)) : e;
    if (fabs(d) < NEAR)
        return (struct at){y * phi(d), y * (d + phi(d))};
    return (struct at){y > 0 ? e - y * (1 + d) : e, e - y};
}

static double value(double *m, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double unit = gsai_exp(target->origin);
    return unit * look(*m, target->y / unit).loss;
}

/* lambda: (log mean - log y) / (mean - y), which is 1 / y where both are one. */
static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double m = *m_to_g, unit = gsai_exp(target->origin), y = target->y / unit;
    struct at at = look(m, y);
    double d = y > 0 ? fmin(m - gsai_log(y), LOG_20) : LOG_20, lambda = at.g != 0 ? d / at.g : y > 0 ? 1 / y : 0;
    *m_to_g = at.g;
    return (gsai_greedy_step){unit * at.loss, fmin(lambda, MAX_LAMBDA), at.g, m};
}

static double derivative(void *ctx, double m, double y)
{
    (void)ctx;
    return look(m, y).g;
}

static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    const gsa_margin_loss own = {.derivative = derivative};
    const gsai_target in_units = {.y = target->y / gsai_exp(target->origin), .custom = &own};
    return gsai_custom_repeats(g, n_outputs, &in_units, step, e, c);
}

static void predict(const double *m, size_t n_outputs, double *out)
{
    (void)n_outputs;
    *out = fmin(gsai_exp(*m), DBL_MAX);
}

/* The mean of y log y less that of the mean. */
static double constant(const gsai_label_totals *labels)
{
    return labels->mean > 0 ? fmax(labels->mean_log - labels->mean * gsai_log(labels->mean), 0) : 0;
}

static double deviance(double half)
{
    return 2 * half;
}

/* ---- many rows --------------------------------------------------------------------------------------------------- */

/* Labels below this are 0. */
#define MIN_LABEL 1e-30F
#define FAR 1e6F

static void fill(gsai_rows_block *block, const gsai_rows_at *at)
{
    const float *y = block->y, *m = block->m;
    float d[GSAI_ROWS_BLOCK]; /* the margins above the logarithms of the labels, FAR where labels are 0 */
    float e[GSAI_ROWS_BLOCK]; /* the means */
    for (size_t i = 0; i < block->n; i++) {
        d[i] = y[i] < MIN_LABEL ? 1 : y[i] < 1 ? 1 / y[i] : y[i];
        e[i] = m[i] < MAX_MARGIN_FLOAT ? m[i] : MAX_MARGIN_FLOAT;
    }
    at->math->logarithms(d, block->n);
    at->math->exponentials(e, block->n);
    for (size_t i = 0; i < block->n; i++) {
        d[i] = y[i] < MIN_LABEL ? FAR : m[i] - (y[i] < 1 ? -d[i] : d[i]);
        e[i] = m[i] > MAX_MARGIN_FLOAT ? e[i] * (1 + (m[i] - MAX_MARGIN_FLOAT)) : e[i];
    }
    for (size_t i = 0; i < block->n; i++) {
        float x = d[i], phi_x = x * x * (0.5F + x * (1.0F / 6 + x * (1.0F / 24 + x * (1.0F / 120 + x / 720))));
        bool is_near = fabsf(x) < NEAR_FLOAT;
        block->loss[i] = is_near ? y[i] * phi_x : e[i] - y[i] * (1 + x);
        block->g[i] = is_near ? y[i] * (x + phi_x) : e[i] - y[i];
        block->h[i] = e[i];
    }
}

static void rows(gsai_rows_at *at)
{
    gsai_rows_by_blocks(at, fill);
}

const gsai_loss gsai_loss_poisson = {
    .name = "poisson",
    .measure = "poisson deviance",
    .many_from = SIZE_MAX,
    .has_log_link = true,
    .greedy_step = greedy_step,
    .repeats = repeats,
    .value = value,
    .predict = predict,
    .constant = constant,
    .measure_of = deviance,
    .rows = rows,
};
