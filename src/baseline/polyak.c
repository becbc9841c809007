/* The stochastic Polyak step with f* = 0 (Loizou, Vaswani, Laradji, Lacoste-Julien 2021, SPS_max).
 *
 *   step = min(loss / (c |gradient|^2), most),   w -= step g x
 *
 * The loss of a row that is fitted is taken to be 0, which a logistic loss never reaches. */
#include "baseline/methods.h"

#include <math.h>

static void learn(gsai_optimizer *o, size_t row)
{
    double loss = gsai_optimizer_gradient(o, o->w, row), squares = gsai_optimizer_gradient_length(o);
    if (squares > 0)
        gsai_optimizer_step(o, fmin(loss / (o->knob[0] * squares), o->knob[1]));
}

const gsai_method gsai_polyak = {
    .name = "polyak",
    .help = "the stochastic Polyak step, each row to a loss of 0; nothing to tune",
    .source = "Loizou, Vaswani, Laradji, Lacoste-Julien 2021",
    .knobs = {{"c", 0.5, 0.1, 100, "divides the step"}, {"most", 1e6, 1e-12, 1e300, "no step is longer"}},
    .learn = learn,
};
