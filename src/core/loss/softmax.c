/* The softmax loss: K classes, one margin each.
 *
 *   S1  sums over classes have the fixed order of core/kernel/kernel.h: kernels of any width give the same bits;
 *   S2  the own class k is left out of the sum and added last: 1 - p_k is the sum of the others over the total, without
 *       cancellation, however near p_k is to 1;
 *   S3  margins enter as differences from the largest: nothing overflows, and a common shift changes nothing.
 *
 * Greedy step: the paper's eq. for softmax,
 *   lambda = (P_HAT - p_k) / (P_HAT sum_j p_j (e^p_j - 1) + p_k (e^(1-p_k) - 1)). */
#include "core/kernel/kernel.h"
#include "core/loss/loss.h"

#include "base/real.h"

#include <math.h>

#define FARTHEST 0x1p1020

/* The own class takes no part: its -infinity adds 0, which changes no sum. */
gsa__softmax_row gsa__softmax(double *m_to_p, size_t n_classes, size_t k)
{
    double *p = m_to_p, own = p[k], shift = own;
    p[k] = -INFINITY;
    double others = gsa__kernels_best()->exponentiate(p, n_classes, &shift);
    double behind = shift - own;
    p[k] = gsa__exp(-behind);
    double total = others + p[k];
    for (size_t j = 0; j < n_classes; j++)
        p[j] /= total;

    gsa__softmax_row row;
    row.rest = others / total;
    if (row.rest < 0.5)
        p[k] = 1.0 - row.rest;
    row.loss = behind > 0 ? behind + gsa__log(total) : gsa__log1p(others);
    double denominator = GSA__P_HAT * gsa__kernels_best()->expected_growth(p, n_classes) + p[k] * gsa__expm1(row.rest);
    row.lambda = (GSA__P_HAT - p[k]) / denominator;
    return row;
}

void gsa__softmax_probabilities(double *m_to_p, size_t n_classes)
{
    double shift = -INFINITY, total = gsa__kernels_best()->exponentiate(m_to_p, n_classes, &shift);
    for (size_t j = 0; j < n_classes; j++)
        m_to_p[j] /= total;
}

/* The exact step.
 *
 * Let q_j = p_j / (1 - p_k) be the shares of the other classes among themselves and t = lambda (1 - p_k). After the
 * step class k has the margin m_k + t and class j has m_j - t q_j, so that p_k = P_HAT means h(t) = 0 with
 *
 *     h(t) = a - t + log sum_{j != k} q_j e^(-t q_j),   a = log((1 - p_k) / p_k) + log 19.
 *
 * h is convex, and h' = -1 - (a mean of the q_j) lies in [-2, -1]. Hence the root is unique and between a/2 and a, and
 * Newton's iteration cannot fail: the curve lies above its tangents, so that from the first step on the iterates come
 * from the left and never pass the root; a step covers at least half of what is left (slopes differ by 2 at most), and
 * since h'' <= 1/4 an error e becomes at most e^2 / 8. Everything is finite however small 1 - p_k is. */
typedef struct others {
    const double *m;
    size_t n_classes, k;
    double shift;   /* the largest other margin */
    double log_sum; /* log q_j = m_j - shift - log_sum */
} others;

static double log_share(const others *o, size_t j)
{
    return (o->m[j] - o->shift) - o->log_sum;
}

/* log sum q_j e^(-t q_j), and *slope = -its derivative: the mean of q_j under weights q_j e^(-t q_j). */
static double log_weight(const others *o, double t, double *slope)
{
    double most = -INFINITY;
    for (size_t j = 0; j < o->n_classes; j++) {
        double l = log_share(o, j);
        double exponent = l - t * gsa__exp(l);
        if (j != o->k && exponent > most)
            most = exponent;
    }
    double weight[GSA__LANES] = {0}, moment[GSA__LANES] = {0};
    for (size_t j = 0; j < o->n_classes; j++) {
        if (j == o->k)
            continue;
        double l = log_share(o, j);
        double q = gsa__exp(l);
        double e = gsa__exp((l - t * q) - most);
        weight[j % GSA__LANES] += e;
        moment[j % GSA__LANES] += e * q;
    }
    double total = gsa__add_lanes(weight);
    *slope = gsa__add_lanes(moment) / total;
    return most + gsa__log(total);
}

/* t begins with Newton's step from 0, where h = a and the mean is sum q_j^2. */
static double solve(const others *o, double a, double sum_of_squares)
{
    double low = a < 0 ? a : 0.5 * a;
    double high = a < 0 ? 0.5 * a : a;
    double t = a / (1.0 + sum_of_squares);
    for (int i = 0; i < 64; i++) {
        double slope;
        double h = (a - t) + log_weight(o, t, &slope);
        if (h > 0)
            low = t;
        else
            high = t;
        double step = h / (1.0 + slope);
        double next = t + step;
        /* Only rounding can lead out of the bracket. */
        t = next >= low && next <= high ? next : 0.5 * (low + high);
        /* What is left after this step is below step^2 / 2; far out, rounding leaves more than that. */
        if (fabs(step) <= 0x1p-27 || fabs(step) <= 0x1p-50 * fabs(t))
            break;
    }
    return t;
}

/* 1 - p_k from the sum of e^(m_j - shift) over the others and their lead = shift - m_k over class k. */
static double rest_of(double lead, double sum)
{
    if (lead > 0)
        return sum / (sum + gsa__exp(-lead));
    double e = gsa__exp(lead) * sum;
    return e / (1.0 + e);
}

double gsa__softmax_exact(const double *m, size_t n_classes, size_t k)
{
    if (n_classes < 2)
        return -INFINITY;
    others o = {m, n_classes, k, -INFINITY, 0};
    for (size_t j = 0; j < n_classes; j++)
        o.shift = j != k && m[j] > o.shift ? m[j] : o.shift;
    double lane[GSA__LANES] = {0}, squares[GSA__LANES] = {0};
    for (size_t j = 0; j < n_classes; j++) {
        double e = j == k ? 0.0 : gsa__exp(m[j] - o.shift);
        lane[j % GSA__LANES] += e;
        squares[j % GSA__LANES] += e * e;
    }
    double sum = gsa__add_lanes(lane);
    o.log_sum = gsa__log(sum);

    /* Margins beyond all reason must not make infinity minus infinity. */
    double lead = fmin(fmax(o.shift - m[k], -FARTHEST), FARTHEST);
    double rest = rest_of(lead, sum);
    if (rest == 0)
        return -INFINITY;
    double a = (lead + o.log_sum) + GSA__LOG_ODDS_HAT;
    return solve(&o, a, gsa__add_lanes(squares) / (sum * sum)) / rest;
}
