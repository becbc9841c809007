/* Iterate averaging (Ruppert 1988; Polyak, Juditsky 1992): plain SGD, and the mean of its iterates is returned.
 *
 *   w -= r g x,   returned: (1/T) sum_t w_t = w_T - (1/T) sum_t (t - 1) D_t,  D_t the update of row t
 *
 * The paper prints another scheme, in which the mean is also the next search point: with w_k the mean of the first k
 * points, w_{k+1} = (k w_k + w_k - r g x) / (k + 1) = w_k - r g x / (k + 1), which is SGD with a step of r / (k + 1):
 * sgd-decay:r, but for its first step, r itself. table[0] is sum (t - 1) D_t. */
#include "baseline/optimizer.h"

#include <math.h>

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double before = (double)(o->t - 1);
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++) {
            double d = -o->knob[0] * o->g[k] * o->terms[i].x;
            o->w[o->terms[i].slot * n_outputs + k] += d;
            o->table[0][o->terms[i].slot * n_outputs + k] += before * d;
        }
    o->last_step = o->knob[0];
}

static void returned(const gsai_optimizer *o, double *out)
{
    gsai_optimizer_mean(o, (double)o->t, out);
}

const gsai_method gsai_iterate_average = {
    .name = "iterate-average",
    .help = "stochastic gradient descent; the mean of all iterates is returned",
    .source = "Polyak, Juditsky 1992",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}},
    .n_tables = 1,
    .learn = learn,
    .returned = returned,
};
