/* How far a row of weight c > 1 moves: as far as that many rows of weight 1 would, but not past its own minimum.
 *
 * A row of weight 1 moves its margin by e |g|, e = eta xx, along its gradient. A heavy row does the same, and then
 * takes an implicit step for the rest of its weight, whose length follows from the gradient where it ends:
 *
 *   m1 = m - e g(m),   m' = m1 - a g(m'),   a = (c - 1) e
 *
 * so that it cannot overshoot, however large c is, and nothing jumps at c = 1. The functions return the number of plain
 * steps that this is worth, 1 + (c - 1) g(m') / g(m), for c > 1 and e > 0. With several outputs the direction is that
 * of the gradient at m, and only the length is searched for. */
#include "learn/loss/loss.h"

#include "base/real.h"

#include <math.h>

#define NEWTON_STEPS 8
#define BISECTIONS 60
#define MAX_EXPONENT 700.0

double gsai_squared_repeats(double e, double c)
{
    return 1 + (c - 1) * (1 - e) / (1 + (c - 1) * e);
}

/* The log odds of a row's own class against all others after its margin has risen by t, and their slope. The others
 * fall by t in proportion to their shares q_j = p_j / (1 - p_k); one output has no others. */
typedef struct odds {
    double start, rest; /* at t = 0; rest = 1 - p_k */
    const double *p;    /* NULL: one output */
    size_t n_classes, k;
} odds;

static double log_odds(const odds *of, double t, double *slope)
{
    double sum = 0, moment = 0;
    *slope = 1;
    if (!of->p)
        return of->start + t;
    for (size_t j = 0; j < of->n_classes; j++) {
        double q = j == of->k ? 0 : of->p[j] / of->rest;
        double left = q * gsai_exp(-fmin(t * q, MAX_EXPONENT));
        sum += left;
        moment += left * q;
    }
    if (sum > 0)
        *slope += moment / sum;
    return of->start + t - (sum > 0 ? gsai_log(sum) : 0);
}

/* Solves u = a (1 - p_k(t0 + u)) by Newton's iteration on z = log u, where
 *     f(z) = z - log a + log(1 + e^L(t0 + u))
 * is convex with a slope of at least 1. From the right it comes down to the root and never passes it: L rises by at
 * least 1 per unit, so that u <= a (1 - p_k(t0)) and u <= max(1, log a - L(t0)), which is where it begins. */
static double rise(const odds *of, double t0, double a)
{
    double slope, start = log_odds(of, t0, &slope), log_a = gsai_log(a);
    double u = a * gsai_sigmoid(-start);
    if (u > 1 && u > log_a - start)
        u = log_a - start > 1 ? log_a - start : 1;
    if (!(u > 0))
        return 0;
    double z = gsai_log(u);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double at = log_odds(of, t0 + u, &slope);
        double softplus = (at > 0 ? at : 0) + gsai_log1p(gsai_exp(-fabs(at)));
        z -= (z - log_a + softplus) / (1 + gsai_sigmoid(at) * slope * u);
        u = gsai_exp(z);
    }
    return u;
}

double gsai_probability_repeats(const double *g, size_t n_outputs, const gsai_target *target,
                                const gsai_greedy_step *step, double e, double c)
{
    bool is_one = n_outputs == 1;
    odds of = {.rest = is_one ? fabs(*g) : step->g, .p = is_one ? NULL : g, .n_classes = n_outputs};
    double plain = e * of.rest;
    if (!(plain > 0))
        return c;
    of.k = target->class_number;
    of.start = !is_one ? -step->loss - gsai_log(of.rest) : of.k == 1 ? step->m : -step->m;
    return 1 + rise(&of, plain, (c - 1) * e) / plain;
}

/* The displacement d = -a l'(m1 + d) lies between 0 and -a l'(m1), since l' does not fall. */
double gsai_custom_repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                           double e, double c)
{
    (void)n_outputs;
    const gsa_margin_loss *loss = target->custom;
    double m1 = step->m - e * *g, a = (c - 1) * e, near = 0, far = -a * loss->derivative(loss->ctx, m1, target->y);
    for (int i = 0; i < BISECTIONS && far != near; i++) {
        double middle = near + (far - near) / 2, end = -a * loss->derivative(loss->ctx, m1 + middle, target->y);
        if ((far > 0) == (end > middle))
            near = middle;
        else
            far = middle;
    }
    double repeats = 1 - near / (e * *g);
    return isfinite(repeats) ? repeats : 1;
}
