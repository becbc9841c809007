/* The stochastic Polyak step with f* = 0 (Loizou, Vaswani, Laradji, Lacoste-Julien 2021, SPS_max).
 *
 *   step = min(loss / (c |gradient|^2), most),   w -= step g x
 *
 * The loss of a row that is fitted is taken to be 0, which a logistic loss never reaches. */
#include "baseline/methods.h"

#include <math.h>

static void learn(gsa__optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double loss = gsa__optimizer_gradient(o, o->w, row), squares = 0;
    for (size_t k = 0; k < n_outputs; k++)
        squares += o->g[k] * o->g[k];
    squares *= gsa__optimizer_length(o);
    if (!(squares > 0))
        return;
    double step = fmin(loss / (o->knob[0] * squares), o->knob[1]);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->w[o->terms[i].slot * n_outputs + k] -= step * o->g[k] * o->terms[i].x;
    o->last_step = step;
}

const gsa__method gsa__polyak = {
    .name = "polyak",
    .help = "the stochastic Polyak step, each row to a loss of 0; nothing to tune",
    .source = "Loizou, Vaswani, Laradji, Lacoste-Julien 2021",
    .knobs = {{"c", 0.5, 0.1, 100, "divides the step"}, {"most", 1e6, 1e-12, 1e300, "no step is longer"}},
    .learn = learn,
};
