/* The logistic loss: two classes, one margin.
 *
 * With the signed margin v = s m, s = 2y - 1: p_y = 1 / (1 + e^-v), loss = log(1 + e^-v), g = -s (1 - p_y).
 * The greedy step is the paper's "Logistic regression derived from approximation formula": twice the step of softmax
 * with the two classes' margins, because the update of w = w_1 - w_0 is the difference of two. */
#include "core/loss/loss.h"

#include "base/real.h"

#include <math.h>

#define E 0x1.5bf0a8b145769p+1

/* One exponential serves both classes, since e^p_y e^(1-p_y) = e. What cancels in e^p_y - 1 for a small p_y is
 * multiplied by p_y; the denominator is above 0.9. */
static double approximate_lambda(double p, double rest)
{
    double growth_rest = gsa__expm1(rest);
    double growth_p = E / (1.0 + growth_rest) - 1.0;
    double denominator = GSA__P_HAT * (p * growth_p + rest * growth_rest) + p * growth_rest;
    return 2.0 * (GSA__P_HAT - p) / denominator;
}

double gsa__logistic_loss(double m, int y)
{
    double v = y ? m : -m, loss = gsa__log1p(gsa__exp(-fabs(v)));
    return v < 0 ? loss - v : loss;
}

/* All from t = e^-|v|: each of the four is then accurate at both ends. */
gsa__logistic_row gsa__logistic(double m, int y)
{
    double v = y ? m : -m;
    double t = gsa__exp(-fabs(v));
    double small = t / (1.0 + t);
    double p = v < 0 ? small : 1.0 - small;
    gsa__logistic_row row;
    row.rest = v < 0 ? 1.0 - small : small;
    row.g = y ? -row.rest : row.rest;
    row.loss = v < 0 ? gsa__log1p(t) - v : gsa__log1p(t);
    row.lambda = approximate_lambda(p, row.rest);
    return row;
}
