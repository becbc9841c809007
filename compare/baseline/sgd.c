/* Stochastic gradient descent (Robbins, Monro 1951), with a constant and with a decaying step.
 *
 *   sgd:        w -= r g x
 *   sgd-decay:  w -= r t0 / (t0 + t - 1) g x        t = 1, 2, ...: r at first, then like r t0 / t */
#include "baseline/optimizer.h"

#include <math.h>

static void learn_constant(gsai_optimizer *o, size_t row)
{
    gsai_optimizer_gradient(o, o->w, row);
    gsai_optimizer_step(o, o->knob[0]);
}

static void learn_decaying(gsai_optimizer *o, size_t row)
{
    gsai_optimizer_gradient(o, o->w, row);
    gsai_optimizer_step(o, o->knob[0] * o->knob[1] / (o->knob[1] + (double)(o->t - 1)));
}

const gsai_method gsai_sgd = {
    .name = "sgd",
    .help = "stochastic gradient descent with a constant step",
    .source = "Robbins, Monro 1951",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}},
    .learn = learn_constant,
};

const gsai_method gsai_sgd_decay = {
    .name = "sgd-decay",
    .help = "stochastic gradient descent with a step that falls like 1/t",
    .source = "Robbins, Monro 1951",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the first step"}, {"t0", 1, 1, 1e12, "rows until the step has halved"}},
    .learn = learn_decaying,
};
