/* FTRL-Proximal (McMahan, Holt, Sculley et al. 2013, "Ad click prediction: a view from the trenches", Algorithm 1).
 *
 * With h = g x_i the gradient of weight i:
 *   s = (sqrt(N + h^2) - sqrt(N)) / alpha,  z += h - s w,  N += h^2
 *   w = 0 if |z| <= L1, else -(z - sign(z) L1) / ((beta + sqrt(N)) / alpha + L2)
 * Without L1 and L2 this is w -= alpha / (beta + sqrt(N)) h. The authors find that the best alpha varies with the data
 * and that beta = 1 is good enough. A weight that a row does not touch has h = 0 and stays. Tables: z, N. */
#include "baseline/optimizer.h"

#include <math.h>

enum { ALPHA, BETA, L1, L2 };

static void update(gsai_optimizer *o, size_t at, double h)
{
    double *z = &o->table[0][at], *squares = &o->table[1][at];
    double before = sqrt(*squares), after = sqrt(*squares + h * h);
    *z += h - (after - before) / o->knob[ALPHA] * o->w[at];
    *squares += h * h;
    o->w[at] = fabs(*z) <= o->knob[L1]
                   ? 0
                   : -(*z - copysign(o->knob[L1], *z)) / ((o->knob[BETA] + after) / o->knob[ALPHA] + o->knob[L2]);
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            update(o, o->terms[i].slot * n_outputs + k, o->g[k] * o->terms[i].x);
}

const gsai_method gsai_ftrl = {
    .name = "ftrl",
    .help = "FTRL-Proximal: a step per weight, by the squares of its gradients so far, and L1 and L2 penalties",
    .source = "McMahan et al. 2013",
    .knobs = {{"alpha", NAN, 1e-12, 1e6, "the step"},
              {"beta", 1, 1e-12, 1e6, "keeps the first steps short"},
              {"l1", 0, 0, 1e6, "L1 penalty"},
              {"l2", 0, 0, 1e6, "L2 penalty"}},
    .n_tables = 2,
    .learn = learn,
};
