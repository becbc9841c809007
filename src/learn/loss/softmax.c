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

static double value(double *margins, size_t n_outputs, const gsai_target *target)
{
    return gsai_softmax(margins, n_outputs, target->class_number).loss;
}

static void predict(const double *margins, size_t n_outputs, double *out)
{
    if (out != margins)
        memcpy(out, margins, n_outputs * sizeof *out);
    double shift = -INFINITY, total = gsai_kernels_best()->exponentiate(out, n_outputs, &shift);
    for (size_t j = 0; j < n_outputs; j++)
        out[j] /= total;
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

/* As many rows at a time as fill a block. All margins are less the highest of their row. */
static void rows(gsai_rows_at *at)
{
    float cells[GSAI_MAX_OUTPUTS], own[GSAI_ROWS_BLOCK], sum[GSAI_ROWS_BLOCK], first[GSAI_ROWS_BLOCK],
        second[GSAI_ROWS_BLOCK];
    size_t stride = at->stride, max = stride > GSAI_MAX_OUTPUTS ? 1 : GSAI_MAX_OUTPUTS / stride;
    float *e = stride > GSAI_MAX_OUTPUTS ? at->scratch : cells;
    max = max < GSAI_ROWS_BLOCK ? max : GSAI_ROWS_BLOCK;
    at->value = at->slope = at->bending = 0;
    for (size_t from = 0, n; from < at->n; from += n) {
        const float *target = at->target + from, *weight = at->weight + from;
        const float *z = at->direction ? at->direction + from * stride : NULL;
        n = at->n - from < max ? at->n - from : max;
        memcpy(e, at->margin + from * stride, n * stride * sizeof *e);
        for (size_t i = 0; i < n * stride && z; i++)
            e[i] += at->step * z[i];
        for (size_t i = 0; i < n; i++)
            own[i] = e[i * stride + (size_t)target[i]];
        at->math->exponentiate_rows(e, n, at->n_outputs, stride, first, sum);
        for (size_t i = 0; i < n; i++)
            own[i] -= first[i];
        if (z) {
            at->math->moments(e, z, n, stride, first, second);
            for (size_t i = 0; i < n; i++) {
                double mean = (double)(first[i] / sum[i]), square = (double)(second[i] / sum[i]);
                at->slope += (double)weight[i] * (mean - (double)z[i * stride + (size_t)target[i]]);
                at->bending += (double)weight[i] * (square - mean * mean);
            }
        }
        if (at->curvature) {
            at->math->moments(e, e, n, stride, first, second);
            for (size_t i = 0; i < n; i++)
                at->curvature[from + i] = weight[i] * (1 - first[i] / (sum[i] * sum[i])) / (float)at->n_outputs;
        }
        if (at->residual) {
            float *residual = at->residual + from * stride;
            for (size_t i = 0; i < n; i++)
                first[i] = weight[i] / sum[i];
            at->math->scale_rows(residual, first, e, n, stride);
            for (size_t i = 0; i < n; i++)
                residual[i * stride + (size_t)target[i]] -= weight[i];
        }
        at->math->logarithms(sum, n);
        for (size_t i = 0; i < n; i++) {
            float loss = weight[i] * (sum[i] - own[i]);
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
    .repeats = gsai_probability_repeats,
    .value = value,
    .predict = predict,
    .evaluate = evaluate,
    .constant = gsai_label_entropy,
    .rows = rows,
};
