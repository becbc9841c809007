/* The softmax loss: K classes, one margin each.
 *
 *   S1  sums over classes have the fixed order of learn/kernel/kernel.h: kernels of any width give the same bits;
 *   S2  the own class k is left out of the sum and added last: 1 - p_k is the sum of the others over the total, without
 *       cancellation, however near p_k is to 1;
 *   S3  margins enter as differences from the largest: nothing overflows, and a common shift changes nothing.
 *
 * Greedy step: the paper's eq. for softmax,
 *   lambda = (P_HAT - p_k) / (P_HAT sum_j p_j (e^p_j - 1) + p_k (e^(1-p_k) - 1)). */
#include "learn/kernel/kernel.h"
#include "learn/loss/loss_rows.h"

#include "base/real.h"

#include <math.h>
#include <string.h>

#define E 0x1.5bf0a8b145769p+1

/* The own class takes no part: its -infinity adds 0, which changes no sum. */
gsai_greedy_step gsai_softmax(double *m_to_p, size_t n_classes, size_t k)
{
    double *p = m_to_p, own = p[k], shift = own;
    p[k] = -INFINITY;
    double others = gsai_kernels_best()->exponentiate(p, n_classes, &shift);
    double behind = shift - own;
    p[k] = gsai_exp(-behind);
    double total = others + p[k];
    for (size_t j = 0; j < n_classes; j++)
        p[j] /= total;

    double rest = others / total;
    if (rest < 0.5)
        p[k] = 1.0 - rest;
    double loss = behind > 0 ? behind + gsai_log(total) : gsai_log1p(others);
    double denominator = GSAI_P_HAT * gsai_kernels_best()->expected_growth(p, n_classes) + p[k] * gsai_expm1(rest);
    return (gsai_greedy_step){loss, (GSAI_P_HAT - p[k]) / denominator, rest, 0};
}

void gsai_softmax_probabilities(double *m_to_p, size_t n_classes)
{
    double shift = -INFINITY, total = gsai_kernels_best()->exponentiate(m_to_p, n_classes, &shift);
    for (size_t j = 0; j < n_classes; j++)
        m_to_p[j] /= total;
}

double gsai_label_entropy(const gsai_label_totals *labels)
{
    double sum = 0, present = 0;
    for (size_t k = 0; k < labels->n_classes; k++) {
        double weight = labels->class_weight[k];
        present += weight > 0;
        sum -= weight > 0 ? weight / labels->weight * gsai_log(weight / labels->weight) : 0;
    }
    return labels->balanced ? gsai_log(present) : sum;
}

static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    gsai_greedy_step step = gsai_softmax(m_to_g, n_outputs, target->class_number);
    m_to_g[target->class_number] = -step.g;
    return step;
}

/* The same from floats, the own class last; growth: e^p - 1, and e^p_k e^(1-p_k) = e. */
static gsai_greedy_step greedy_step_of_floats(const gsai_kernels *kernels, float *m_to_g, size_t n_outputs,
                                              const gsai_target *target)
{
    size_t k = target->class_number;
    float own = m_to_g[k], shift = own;
    m_to_g[k] = -INFINITY;
    double others = (double)kernels->exponentiate_floats(m_to_g, n_outputs, &shift);
    double behind = (double)shift - (double)own, e = gsai_exp(-behind), total = others + e, rest = others / total;
    double growth = (double)kernels->share_floats(m_to_g, n_outputs, (float)(1 / total));
    double p = rest < 0.5 ? 1.0 - rest : e / total, growth_rest = gsai_expm1(rest),
           growth_p = E / (1.0 + growth_rest) - 1.0;
    double loss = behind > 0 ? behind + gsai_log(total) : gsai_log1p(others);
    double denominator = GSAI_P_HAT * (growth + p * growth_p) + p * growth_rest;
    m_to_g[k] = (float)-rest;
    return (gsai_greedy_step){loss, (GSAI_P_HAT - p) / denominator, rest, 0};
}

/* The gradient scales of the other classes are their probabilities. */
static double repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c)
{
    return gsai_softmax_repeats(g, n_outputs, target->class_number, step->loss, step->g, e, c);
}

static double value(double *margins, size_t n_outputs, const gsai_target *target)
{
    return gsai_softmax(margins, n_outputs, target->class_number).loss;
}

static void predict(const double *margins, size_t n_outputs, double *out)
{
    if (out != margins)
        memcpy(out, margins, n_outputs * sizeof *out);
    gsai_softmax_probabilities(out, n_outputs);
}

static double evaluate(const double *margins, size_t n_outputs, size_t k, double *out)
{
    if (k >= n_outputs) {
        predict(margins, n_outputs, out);
        return GSAI_UNKNOWN_LOG_LOSS;
    }
    memcpy(out, margins, n_outputs * sizeof *out);
    return gsai_softmax(out, n_outputs, k).loss;
}

/* ---- many rows --------------------------------------------------------------------------------------------------- */

#define CELLS_PER_BLOCK GSAI_MAX_OUTPUTS

/* A block of rows: their exponentials, and a number of each. */
struct block {
    size_t from, n;
    float *e; /* [n x stride] */
    float own[GSAI_ROWS_BLOCK], sum[GSAI_ROWS_BLOCK], by[GSAI_ROWS_BLOCK];
    float first[GSAI_ROWS_BLOCK], second[GSAI_ROWS_BLOCK];
};

/* The exponentials of the margins less the highest of each row, and the margin of its class likewise. */
static void load(struct block *block, const gsai_rows_at *at)
{
    size_t stride = at->stride, n_cells = block->n * stride;
    float *highest = block->first;
    memcpy(block->e, at->margin + block->from * stride, n_cells * sizeof *block->e);
    if (at->direction) {
        const float *z = at->direction + block->from * stride;
        for (size_t i = 0; i < n_cells; i++)
            block->e[i] += at->step * z[i];
    }
    for (size_t i = 0; i < block->n; i++)
        block->own[i] = block->e[i * stride + (size_t)at->target[block->from + i]];
    at->math->exponentiate_rows(block->e, block->n, at->n_outputs, stride, highest, block->sum);
    for (size_t i = 0; i < block->n; i++)
        block->own[i] -= highest[i];
}

/* The first and second derivatives along the direction. */
static void add_slopes(struct block *block, gsai_rows_at *at)
{
    const float *z = at->direction + block->from * at->stride;
    at->math->moments(block->e, z, block->n, at->stride, block->first, block->second);
    for (size_t i = 0; i < block->n; i++) {
        double mean = (double)(block->first[i] / block->sum[i]), square = (double)(block->second[i] / block->sum[i]);
        double weight = (double)at->weight[block->from + i];
        at->slope += weight * (mean - (double)z[i * at->stride + (size_t)at->target[block->from + i]]);
        at->bending += weight * (square - mean * mean);
    }
}

static void set_curvature(struct block *block, gsai_rows_at *at)
{
    at->math->moments(block->e, block->e, block->n, at->stride, block->first, block->second);
    for (size_t i = 0; i < block->n; i++) {
        float even = block->first[i] / (block->sum[i] * block->sum[i]);
        at->curvature[block->from + i] = at->weight[block->from + i] * (1 - even) / (float)at->n_outputs;
    }
}

static void set_residual(struct block *block, gsai_rows_at *at)
{
    float *residual = at->residual + block->from * at->stride;
    for (size_t i = 0; i < block->n; i++)
        block->by[i] = at->weight[block->from + i] / block->sum[i];
    at->math->scale_rows(residual, block->by, block->e, block->n, at->stride);
    for (size_t i = 0; i < block->n; i++)
        residual[i * at->stride + (size_t)at->target[block->from + i]] -= at->weight[block->from + i];
}

/* As many rows at a time as fill a block. */
static void rows(gsai_rows_at *at)
{
    float cells[CELLS_PER_BLOCK];
    bool is_wide = at->stride > CELLS_PER_BLOCK;
    struct block block = {.e = is_wide ? at->scratch : cells};
    size_t max = is_wide ? 1 : CELLS_PER_BLOCK / at->stride;
    max = max < GSAI_ROWS_BLOCK ? max : GSAI_ROWS_BLOCK;
    gsai_rows_begin(at);
    for (size_t from = 0; from < at->n; from += max) {
        block.from = from;
        block.n = at->n - from < max ? at->n - from : max;
        load(&block, at);
        if (at->direction)
            add_slopes(&block, at);
        if (at->curvature)
            set_curvature(&block, at);
        if (at->residual)
            set_residual(&block, at);
        at->math->logarithms(block.sum, block.n);
        for (size_t i = 0; i < block.n; i++) {
            float loss = at->weight[from + i] * (block.sum[i] - block.own[i]);
            at->value += (double)loss;
            if (at->loss)
                at->loss[from + i] = loss;
        }
    }
}

const gsai_loss gsai_loss_softmax = {
    .name = "softmax",
    .measure = "log loss",
    .max_labels = SIZE_MAX,
    .has_probabilities = true,
    .unknown_loss = GSAI_UNKNOWN_LOG_LOSS,
    .greedy_step = greedy_step,
    .greedy_step_of_floats = greedy_step_of_floats,
    .repeats = repeats,
    .value = value,
    .predict = predict,
    .evaluate = evaluate,
    .constant = gsai_label_entropy,
    .rows = rows,
};
