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

gsai_greedy_step gsai_hinge(double *m_to_g, size_t n_outputs, size_t k, bool squared)
{
    bool is_one = n_outputs == 1;
    double m = is_one ? *m_to_g : 0, lambda = is_one ? 1 : 0.5;
    size_t runner_up = is_one ? 0 : runner_up_of(m_to_g, n_outputs, k);
    double h = is_one ? fmax(0.0, 1.0 - (k == 1 ? m : -m)) : shortfall(m_to_g, n_outputs, k, runner_up);
    double g = h == 0 ? 0.0 : squared ? h : 1.0;
    if (is_one && h > 0 && k == 1)
        g = -g;
    for (size_t j = 0; j < n_outputs; j++)
        m_to_g[j] = j == runner_up ? g : j == k ? -g : 0.0;
    if (h == 0)
        return (gsai_greedy_step){.m = m};
    return squared ? (gsai_greedy_step){0.5 * h * h, lambda, g, m} : (gsai_greedy_step){h, lambda * h, g, m};
}

double gsai_hinge_many_loss(const double *m, size_t n_classes, size_t k, bool squared)
{
    double h = shortfall(m, n_classes, k, runner_up_of(m, n_classes, k));
    return squared ? 0.5 * h * h : h;
}

/* ---- both losses as the learner sees them ------------------------------------------------------------------------ */

static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    m_to_g[0] += target->origin;
    return gsai_hinge(m_to_g, n_outputs, target->class_number, false);
}

static gsai_greedy_step greedy_step_squared(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    m_to_g[0] += target->origin;
    return gsai_hinge(m_to_g, n_outputs, target->class_number, true);
}

/* A row that is fitted by a plain step stays there: the loss is flat from there on. */
static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    (void)g, (void)n_outputs, (void)target;
    double fitting = step->lambda / e;
    return e >= step->lambda ? 1 : c < fitting ? c : fitting;
}

static double repeats_squared(const double *g, size_t n_outputs, const gsai_target *target,
                              const gsai_greedy_step *step, double e, double c)
{
    (void)g, (void)n_outputs, (void)target;
    return e >= step->lambda ? 1 : gsai_squared_repeats(e / step->lambda, c);
}

static double value(double *margins, size_t n_outputs, const gsai_target *target)
{
    return greedy_step(margins, n_outputs, target).loss;
}

static double value_squared(double *margins, size_t n_outputs, const gsai_target *target)
{
    return greedy_step_squared(margins, n_outputs, target).loss;
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

static inline void fill_by(gsai_rows_block *block, bool squared)
{
    for (size_t i = 0; i < block->n; i++) {
        float sign = block->y[i] > 0.5F ? 1.0F : -1.0F;
        struct cost cost = cost_of(1 - sign * block->m[i], squared);
        block->g[i] = -sign * cost.slope;
        block->h[i] = cost.bend;
        block->loss[i] = cost.loss;
    }
}

static void fill(gsai_rows_block *block, const gsai_rows_at *at)
{
    (void)at;
    fill_by(block, false);
}

static void fill_squared(gsai_rows_block *block, const gsai_rows_at *at)
{
    (void)at;
    fill_by(block, true);
}

/* Crammer and Singer (2001): the margin of y falls short of 1 above its rivals. These come to the highest of their
 * margins, rounded where several are about as high, which is CORNER log(sum e^(m / CORNER)). share: the derivatives of
 * that. */
static void add_row(gsai_rows_at *at, size_t row, float *share, bool squared)
{
    const float *m = at->margin + row * at->stride;
    const float *z = at->direction ? at->direction + row * at->stride : NULL;
    size_t y = (size_t)at->target[row];
    float own = z ? m[y] + at->step * z[y] : m[y], weight = at->weight[row], even = 0, highest = -INFINITY, sum = 0;
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
    double mean = 0, square = 0;
    for (size_t k = 0; k < at->n_outputs; k++) {
        share[k] /= sum;
        even += share[k] * share[k];
        mean += z ? (double)(share[k] * z[k]) : 0;
        square += z ? (double)(share[k] * z[k]) * (double)z[k] : 0;
    }
    at->math->logarithms(&sum, 1);
    struct cost cost = cost_of(1 + (highest + CORNER * sum - own), squared);
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

static void rows_by(gsai_rows_at *at, bool squared)
{
    float share[GSAI_MAX_OUTPUTS];
    if (at->stride == 1) {
        gsai_rows_by_blocks(at, squared ? fill_squared : fill);
        return;
    }
    at->value = at->slope = at->bending = 0;
    for (size_t row = 0; row < at->n; row++)
        add_row(at, row, share, squared);
}

static void rows(gsai_rows_at *at)
{
    rows_by(at, false);
}

static void rows_squared(gsai_rows_at *at)
{
    rows_by(at, true);
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
