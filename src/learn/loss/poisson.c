/* The Poisson loss with a log link: counts and rates, y >= 0 around the mean e^m.
 *
 * The loss is half the deviance, e^m - y - y (m - log y), and e^m for y = 0: the negative log likelihood less that of
 * the best mean, so that it is never below 0. g = e^m - y. With d = m - log y and phi(d) = e^d - 1 - d, which is a
 * series where d is small, loss = y phi and g = y (d + phi): nothing cancels where a row is nearly fitted. Beyond
 * margins of MAX_EXPONENT above the label e^m goes on as a straight line.
 *
 * The greedy step is the one that fits the row, e^(m - lambda g) = y, but brings the mean to no less than 1 - P_HAT of
 * what it was: a row of y = 0 is never fitted, and stops where its gradient is down to that share, as other losses
 * without a minimum do (search.c). */
#include "learn/loss/rows.h"

#include "base/real.h"

#include <math.h>

#define MAX_EXPONENT 60.0
#define MAX_EXPONENT_FLOAT 60.0F
#define SERIES 0.25
#define SERIES_FLOAT 0.25F
#define LOG_20 2.995732273553991
#define MAX_LAMBDA 1e100

/* e^d, a straight line from MAX_EXPONENT on. */
static double exponential(double d)
{
    double e = gsai_exp(fmin(d, MAX_EXPONENT));
    return d > MAX_EXPONENT ? e * (1 + (d - MAX_EXPONENT)) : e;
}

/* e^d - 1 - d. */
static double phi(double d)
{
    if (fabs(d) >= SERIES)
        return exponential(d) - 1 - d;
    double sum = 0;
    for (int n = 12; n >= 2; n--)
        sum = (1 + sum) * d / n;
    return sum * d;
}

/* The loss and both derivatives by the margin, in units of the label. */
struct at {
    double loss, g, h;
};

static struct at look(double m, double y)
{
    if (!(y > 0)) {
        double e = exponential(m);
        return (struct at){e, e, e};
    }
    double d = m - gsai_log(y), rest = phi(d);
    return (struct at){y * rest, y * (d + rest), y * (1 + d + rest)};
}

static double value(double *m, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double unit = gsai_exp(target->origin);
    return unit * look(*m, target->y / unit).loss;
}

/* (log mean - log y) / (mean - y), which is 1 / y where both are one. */
static double lambda_of(double m, double y, double g)
{
    double d = y > 0 ? fmin(m - gsai_log(y), LOG_20) : LOG_20;
    return fmin(g != 0 ? d / g : y > 0 ? 1 / y : 0, MAX_LAMBDA);
}

static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double m = *m_to_g, unit = gsai_exp(target->origin), y = target->y / unit;
    struct at at = look(m, y);
    *m_to_g = at.g;
    return (gsai_greedy_step){unit * at.loss, lambda_of(m, y, at.g), at.g, m};
}

static double derivative(void *ctx, double m, double y)
{
    (void)ctx;
    return look(m, y).g;
}

static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    (void)n_outputs;
    const gsa_margin_loss own = {.derivative = derivative};
    return gsai_custom_repeats(&own, step->m, target->y / gsai_exp(target->origin), *g, e, c);
}

static void predict(const double *m, size_t n_outputs, double *out)
{
    (void)n_outputs;
    *out = gsai_exp(*m);
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

static void add_slope(const gsai_calibration_row *row, double scale, double offset, gsai_slope *sum)
{
    double m = row->m[0], unit = gsai_exp(row->target.origin), c = row->c * unit;
    struct at at = look(scale * m + offset, row->target.y / unit);
    sum->loss += c * at.loss;
    sum->g[0] += c * at.g * m;
    sum->g[1] += c * at.g;
    sum->h[0] += c * at.h * m * m;
    sum->h[1] += c * at.h * m;
    sum->h[2] += c * at.h;
}

/* ---- many rows --------------------------------------------------------------------------------------------------- */

/* Labels below this are 0. */
#define MIN_LABEL 1e-30F

/* The margins above the logarithms of the labels, and the labels: -1 where they are 0. */
static void load(const gsai_rows_block *block, const gsai_rows_at *at, float *y, float *d)
{
    for (size_t i = 0; i < block->n_padded; i++) {
        float label = i < block->n ? at->target[block->from + i] : 0;
        y[i] = label > MIN_LABEL ? label : -1;
        d[i] = y[i] < 0 ? 1 : y[i] < 1 ? 1 / y[i] : y[i];
    }
    at->math->logarithms(d, block->n_padded);
    for (size_t i = 0; i < block->n_padded; i++)
        d[i] = block->m[i] - (y[i] < 1 ? -d[i] : d[i]);
}

static void rows(gsai_rows_at *at)
{
    gsai_rows_block block = {0};
    float y[GSAI_ROWS_BLOCK], d[GSAI_ROWS_BLOCK], e[GSAI_ROWS_BLOCK];
    gsai_rows_begin(at);
    while (gsai_rows_next(&block, at)) {
        load(&block, at, y, d);
        for (size_t i = 0; i < block.n_padded; i++)
            e[i] = d[i] < MAX_EXPONENT_FLOAT ? d[i] : MAX_EXPONENT_FLOAT;
        at->math->exponentials(e, block.n_padded);
        for (size_t i = 0; i < block.n_padded; i++) {
            float x = d[i], grown = x > MAX_EXPONENT_FLOAT ? e[i] * (1 + (x - MAX_EXPONENT_FLOAT)) : e[i];
            float series = x * x * (0.5F + x * (1.0F / 6 + x * (1.0F / 24 + x * (1.0F / 120 + x * (1.0F / 720)))));
            float rest = fabsf(x) < SERIES_FLOAT ? series : grown - 1 - x;
            block.loss[i] = y[i] < 0 ? grown : y[i] * rest;
            block.g[i] = y[i] < 0 ? grown : y[i] * (x + rest);
            block.h[i] = y[i] < 0 ? grown : y[i] * (1 + x + rest);
        }
        gsai_rows_add(&block, at);
    }
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
    .add_slope = add_slope,
    .rows = rows,
};
