/* The hinge losses: classes told apart by a margin of 1, as linear support vector machines do.
 *
 * One output for two classes, z = m for the second label and -m for the first: h = max(0, 1 - z).
 * One output per class (Crammer, Singer 2001): h = max(0, 1 + max_{j != k} m_j - m_k), whose gradient has the scale +1
 * at that runner-up j, the first of equal ones, and -1 at k. With m = m_1 - m_0 both are the same for two classes. The
 * loss is h, or squared h^2 / 2, whose gradient is h times as large. The greedy step is Algorithm 2's, exact: the least
 * step that brings h to 0, as long as no other class becomes the runner-up on the way; h never rises on it, since it
 * raises m_k and no other margin. Rows beyond the margin have nothing to gain: step 0. */
#include "learn/loss/loss_rows.h"

#include <math.h>
#include <string.h>

gsai_greedy_step gsai_hinge(double m, int y, bool squared)
{
    double h = fmax(0.0, 1.0 - (y ? m : -m)), sign = y ? -1.0 : 1.0;
    if (h == 0)
        return (gsai_greedy_step){.m = m};
    return squared ? (gsai_greedy_step){0.5 * h * h, 1, sign * h, m} : (gsai_greedy_step){h, h, sign, m};
}

/* Returns the first of the highest classes other than k; n_classes if not found. */
static size_t runner_up_of(const double *m, size_t n_classes, size_t k)
{
    size_t runner_up = n_classes;
    for (size_t j = 0; j < n_classes; j++)
        if (j != k && (runner_up == n_classes || m[j] > m[runner_up]))
            runner_up = j;
    return runner_up;
}

/* One class only has no runner-up and is fitted. */
static double shortfall(const double *m, size_t n_classes, size_t k, size_t runner_up)
{
    return runner_up == n_classes ? 0.0 : fmax(0.0, 1.0 + (m[runner_up] - (k < n_classes ? m[k] : 0.0)));
}

gsai_greedy_step gsai_hinge_many(double *m_to_g, size_t n_classes, size_t k, bool squared)
{
    size_t runner_up = runner_up_of(m_to_g, n_classes, k);
    double h = shortfall(m_to_g, n_classes, k, runner_up);
    double g = h == 0 ? 0.0 : squared ? h : 1.0;
    for (size_t j = 0; j < n_classes; j++)
        m_to_g[j] = j == runner_up ? g : j == k ? -g : 0.0;
    if (h == 0)
        return (gsai_greedy_step){0};
    return squared ? (gsai_greedy_step){0.5 * h * h, 0.5, g, 0} : (gsai_greedy_step){h, 0.5 * h, g, 0};
}

double gsai_hinge_many_loss(const double *m, size_t n_classes, size_t k, bool squared)
{
    double h = shortfall(m, n_classes, k, runner_up_of(m, n_classes, k));
    return squared ? 0.5 * h * h : h;
}

/* ---- both losses as the learner sees them ------------------------------------------------------------------------ */

static gsai_greedy_step step_of(double *m_to_g, size_t n_outputs, const gsai_target *target, bool squared)
{
    if (n_outputs > 1)
        return gsai_hinge_many(m_to_g, n_outputs, target->class_number, squared);
    gsai_greedy_step step = gsai_hinge(*m_to_g, target->class_number == 1, squared);
    *m_to_g = step.g;
    return step;
}

static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    return step_of(m_to_g, n_outputs, target, false);
}

static gsai_greedy_step greedy_step_squared(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    return step_of(m_to_g, n_outputs, target, true);
}

static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    (void)g, (void)n_outputs, (void)target;
    return gsai_hinge_repeats(step->lambda, e, c, false);
}

static double repeats_squared(const double *g, size_t n_outputs, const gsai_target *target,
                              const gsai_greedy_step *step, double e, double c)
{
    (void)g, (void)n_outputs, (void)target;
    return gsai_hinge_repeats(step->lambda, e, c, true);
}

static double value(double *margins, size_t n_outputs, const gsai_target *target)
{
    return step_of(margins, n_outputs, target, false).loss;
}

static double value_squared(double *margins, size_t n_outputs, const gsai_target *target)
{
    return step_of(margins, n_outputs, target, true).loss;
}

/* A margin per class: the two of one output lie apart by it. */
static void predict(const double *margins, size_t n_outputs, double *out)
{
    double margin = margins[0];
    if (n_outputs > 1) {
        memmove(out, margins, n_outputs * sizeof *out);
        return;
    }
    out[0] = -margin / 2;
    out[1] = margin / 2;
}

static double evaluate(const double *margins, size_t n_outputs, size_t k, double *out)
{
    predict(margins, n_outputs, out);
    return gsai_hinge_many_loss(out, n_outputs > 1 ? n_outputs : 2, k, false);
}

static double evaluate_squared(const double *margins, size_t n_outputs, size_t k, double *out)
{
    predict(margins, n_outputs, out);
    return gsai_hinge_many_loss(out, n_outputs > 1 ? n_outputs : 2, k, true);
}

/* The corner of the hinge is rounded over this width, so that it has derivatives (Huber 1964). */
#define CORNER 0.1F

/* A shortfall of h > 0 from the margin costs h^2 / 2, or h with its corner rounded. */
struct cost {
    float loss, slope, bend;
};

static inline struct cost cost_of(float h, bool squared)
{
    if (h <= 0)
        return (struct cost){0, 0, 0};
    if (squared)
        return (struct cost){0.5F * h * h, h, 1};
    if (h < CORNER)
        return (struct cost){0.5F * h * h / CORNER, h / CORNER, 1 / CORNER};
    return (struct cost){h - 0.5F * CORNER, 1, 0};
}

static void rows_of_one(gsai_rows_at *at, bool squared)
{
    gsai_rows_block block = {0};
    gsai_rows_begin(at);
    while (gsai_rows_next(&block, at)) {
        for (size_t i = 0; i < block.n_padded; i++) {
            float sign = gsai_rows_is_second(&block, at, i) ? 1.0F : -1.0F;
            struct cost cost = cost_of(1 - sign * block.m[i], squared);
            block.g[i] = -sign * cost.slope;
            block.h[i] = cost.bend;
            block.loss[i] = cost.loss;
        }
        gsai_rows_add(&block, at);
    }
}

/* The margins of all classes but y, and what they come to: the highest, rounded where several are about as high, which
 * is CORNER log(sum e^(m / CORNER)). share: the derivatives of that. */
static float rivals_of(const gsai_rows_at *at, const float *m, const float *z, size_t y, float *share)
{
    float highest = -INFINITY, sum = 0;
    for (size_t k = 0; k < at->stride; k++) {
        share[k] = k < at->n_outputs && k != y ? (z ? m[k] + at->step * z[k] : m[k]) : -INFINITY;
        highest = share[k] > highest ? share[k] : highest;
    }
    for (size_t k = 0; k < at->stride; k++)
        share[k] = (share[k] - highest) / CORNER;
    at->math->exponentials(share, at->stride);
    share[y] = 0;
    memset(share + at->n_outputs, 0, (at->stride - at->n_outputs) * sizeof *share);
    for (size_t k = 0; k < at->n_outputs; k++)
        sum += share[k];
    for (size_t k = 0; k < at->n_outputs; k++)
        share[k] /= sum;
    at->math->logarithms(&sum, 1);
    return highest + CORNER * sum;
}

/* Crammer and Singer (2001): the margin of y falls short of 1 above its rivals. */
static void add_row(gsai_rows_at *at, size_t row, float *share, bool squared)
{
    const float *m = at->margin + row * at->stride;
    const float *z = at->direction ? at->direction + row * at->stride : NULL;
    size_t y = (size_t)at->target[row];
    float own = z ? m[y] + at->step * z[y] : m[y], weight = at->weight[row], even = 0;
    struct cost cost = cost_of(1 + (rivals_of(at, m, z, y, share) - own), squared);
    double mean = 0, square = 0;
    for (size_t k = 0; k < at->n_outputs; k++) {
        even += share[k] * share[k];
        mean += z ? (double)(share[k] * z[k]) : 0;
        square += z ? (double)(share[k] * z[k]) * (double)z[k] : 0;
    }
    at->value += (double)(weight * cost.loss);
    if (z) {
        double along = mean - (double)z[y];
        at->slope += (double)(weight * cost.slope) * along;
        at->bending += (double)weight *
                       ((double)cost.bend * along * along + (double)(cost.slope / CORNER) * (square - mean * mean));
    }
    if (at->loss)
        at->loss[row] = weight * cost.loss;
    if (at->curvature)
        at->curvature[row] =
            weight * (cost.bend * (1 + even) + cost.slope / CORNER * (1 - even)) / (float)at->n_outputs;
    for (size_t k = 0; k < at->stride && at->residual; k++)
        at->residual[row * at->stride + k] = weight * cost.slope * (share[k] - (k == y ? 1.0F : 0.0F));
}

static void rows_of_many(gsai_rows_at *at, bool squared)
{
    float share[GSAI_MAX_OUTPUTS];
    gsai_rows_begin(at);
    for (size_t row = 0; row < at->n; row++)
        add_row(at, row, share, squared);
}

static void rows(gsai_rows_at *at)
{
    if (at->stride > 1)
        rows_of_many(at, false);
    else
        rows_of_one(at, false);
}

static void rows_squared(gsai_rows_at *at)
{
    if (at->stride > 1)
        rows_of_many(at, true);
    else
        rows_of_one(at, true);
}

const gsai_loss gsai_loss_hinge = {
    .name = "hinge",
    .measure = "hinge loss",
    .max_labels = SIZE_MAX,
    .many_from = 3,
    .has_searchable_scale = true,
    .unknown_loss = 2,
    .greedy_step = greedy_step,
    .repeats = repeats,
    .value = value,
    .predict = predict,
    .evaluate = evaluate,
    .rows = rows,
};

const gsai_loss gsai_loss_squared_hinge = {
    .name = "squared_hinge",
    .measure = "squared hinge loss",
    .max_labels = SIZE_MAX,
    .many_from = 3,
    .has_searchable_scale = true,
    .unknown_loss = 2,
    .greedy_step = greedy_step_squared,
    .repeats = repeats_squared,
    .value = value_squared,
    .predict = predict,
    .evaluate = evaluate_squared,
    .rows = rows_squared,
};
