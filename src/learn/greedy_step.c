/* Greedy step averaging to the letter: Algorithm 1 of arXiv 1611.03608.
 *
 *   eta_bar = mean(eta_1 .. eta_t), the current row included, over all passes;   w -= eta_bar g x
 *
 * Proposals above the target are negative and enter as they are: that is how the mean comes down near convergence.
 * Other methods weigh the mean by votes. */
#include "learn/method.h"

double gsai_gsa_step(gsai_step_mean *mean, double eta, double vote)
{
    mean->sum += vote * eta;
    mean->weight += vote;
    return gsai_step_mean_value(mean);
}
