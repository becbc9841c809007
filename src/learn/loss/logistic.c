/* The logistic loss: two classes, one margin.
 *
 * With the signed margin v = s m, s = 2y - 1: p_y = 1 / (1 + e^-v), loss = log(1 + e^-v), g = -s (1 - p_y).
 * The greedy step is the paper's "Logistic regression derived from approximation formula": twice the step of softmax
 * with the two classes' margins, because the update of w = w_1 - w_0 is the difference of two. */
#include "learn/kernel/kernel.h"
#include "learn/loss/loss_rows.h"

#include "base/real.h"

#include <math.h>

#define E 0x1.5bf0a8b145769p+1

/* All from t = e^-|v|: each is then accurate at both ends. One exponential serves lambda, since e^p_y e^(1-p_y) = e.
 * What cancels in e^p_y - 1 for a small p_y is multiplied by p_y; the denominator is above 0.9. */
static gsai_greedy_step greedy_step(double *m_to_g, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double m = *m_to_g + target->origin, v = target->class_number == 1 ? m : -m, t = gsai_exp(-fabs(v));
    double small = t / (1.0 + t), rest = v < 0 ? 1.0 - small : small, p = v < 0 ? small : 1.0 - small;
    double loss = v < 0 ? gsai_log1p(t) - v : gsai_log1p(t);
    double growth_rest = gsai_expm1(rest), growth_p = E / (1.0 + growth_rest) - 1.0;
    double denominator = GSAI_P_HAT * (p * growth_p + rest * growth_rest) + p * growth_rest;
    *m_to_g = target->class_number == 1 ? -rest : rest;
    return (gsai_greedy_step){loss, 2.0 * (GSAI_P_HAT - p) / denominator, *m_to_g, m};
}

/* Beyond, probabilities are 0 and 1. */
#define MAX_MARGIN 1e30

/* Rows of equal weight share one logarithm: that of the product of all 1 + e^-|v|. */
static double greedy_steps(const gsai_kernels *kernels, const double *m, const gsai_target *target, const double *c,
                           size_t n, gsai_greedy_step *out)
{
    float margin[GSAI_GROUP_ROWS] = {0}, sign[GSAI_GROUP_ROWS] = {0}, rest[GSAI_GROUP_ROWS], lambda[GSAI_GROUP_ROWS];
    float e[GSAI_GROUP_ROWS];
    double product = 1, sum = 0;
    for (size_t i = 0; i < n; i++) {
        out[i].m = m[i] + target[i].origin;
        margin[i] = (float)fmin(fmax(out[i].m, -MAX_MARGIN), MAX_MARGIN);
        sign[i] = target[i].class_number == 1 ? 1.0F : -1.0F;
    }
    kernels->logistic_steps(margin, sign, rest, lambda, e);
    for (size_t i = 0; i < n; i++) {
        double v = (double)sign[i] * out[i].m, g = (double)(-sign[i] * rest[i]);
        out[i] = (gsai_greedy_step){0, (double)lambda[i], g, out[i].m};
        product *= 1 + (double)e[i];
        if (i + 1 == n || c[i + 1] != c[i]) {
            sum += c[i] * gsai_log(product);
            product = 1;
        }
        sum += v < 0 ? c[i] * -v : 0;
    }
    return sum;
}

static double value(double *m, size_t n_outputs, const gsai_target *target)
{
    (void)n_outputs;
    double all = *m + target->origin, v = target->class_number == 1 ? all : -all, loss = gsai_log1p(gsai_exp(-fabs(v)));
    return v < 0 ? loss - v : loss;
}

static void predict(const double *m, size_t n_outputs, double *out)
{
    (void)n_outputs;
    gsai_sigmoids(*m, out);
}

/* Straight from the margin: confident mistakes keep their full price. */
static double evaluate(const double *m, size_t n_outputs, size_t k, double *out)
{
    predict(m, n_outputs, out);
    return k > 1 ? GSAI_UNKNOWN_LOG_LOSS : gsai_softplus(k == 1 ? -*m : *m);
}

/* With v = y ? m : -m and e = exp(-|v|): loss = max(0, -v) + log(1 + e), 1 - p = e / (1 + e) or 1 / (1 + e). */
static void fill(gsai_rows_block *block, const gsai_rows_at *at)
{
    float e[GSAI_ROWS_BLOCK], sign[GSAI_ROWS_BLOCK];
    size_t n = block->n;
    for (size_t i = 0; i < n; i++) {
        sign[i] = block->y[i] > 0.5F ? 1.0F : -1.0F;
        e[i] = -fabsf(block->m[i]);
    }
    at->math->exponentials(e, n);
    for (size_t i = 0; i < n; i++) {
        float v = sign[i] * block->m[i], inverse = 1 / (1 + e[i]);
        float rest = v < 0 ? inverse : e[i] * inverse;
        block->g[i] = -sign[i] * rest;
        block->h[i] = (e[i] * inverse) * inverse;
        block->loss[i] = v < 0 ? -v : 0;
    }
    at->math->log1ps(e, n);
    for (size_t i = 0; i < n; i++)
        block->loss[i] += e[i];
}

static void rows(gsai_rows_at *at)
{
    gsai_rows_by_blocks(at, fill);
}

const gsai_loss gsai_loss_logistic = {
    .name = "logistic",
    .measure = "log loss",
    .max_labels = 2,
    .many_from = SIZE_MAX,
    .widened = &gsai_loss_softmax,
    .has_probabilities = true,
    .unknown_loss = GSAI_UNKNOWN_LOG_LOSS,
    .greedy_step = greedy_step,
    .greedy_steps = greedy_steps,
    .repeats = gsai_probability_repeats,
    .value = value,
    .predict = predict,
    .evaluate = evaluate,
    .constant = gsai_label_entropy,
    .rows = rows,
};
