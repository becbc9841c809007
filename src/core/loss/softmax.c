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
