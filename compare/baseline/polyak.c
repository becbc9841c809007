/* The stochastic Polyak step with f* = 0, bounded and smoothed (Loizou, Vaswani, Laradji, Lacoste-Julien 2021,
 * SPS_max).
 *
 *   step = min(loss / (c |gradient|^2), bound tau^(1 / rows of a pass)),   w -= step g x,   bound = step
 *
 * The authors' choice is c = 1/2, a first bound of 1 and tau = 2; with tau = 0 the bound stays as given. A row without
 * a gradient leaves the bound alone. The loss of a row that is fitted is taken to be 0, which a logistic loss never
 * reaches: without a bound, rows that cannot be fitted make steps of any length. scalar: the bound, tau^(1 / rows). */
#include "baseline/optimizer.h"

#include <math.h>

enum { C, FIRST, TAU };

static void begin_pass(gsai_optimizer *o)
{
    if (o->t == 0)
        o->scalar[0] = o->knob[FIRST];
    o->scalar[1] = o->knob[TAU] > 0 ? pow(o->knob[TAU], 1 / (double)o->n_order) : 1;
}

static void learn(gsai_optimizer *o, size_t row)
{
    double loss = gsai_optimizer_gradient(o, o->w, row).loss, squares = gsai_optimizer_gradient_length(o);
    if (squares <= 0)
        return;
    double step = fmin(loss / (o->knob[C] * squares), o->scalar[0] * o->scalar[1]);
    gsai_optimizer_step(o, step);
    if (o->knob[TAU] > 0)
        o->scalar[0] = step;
}

const gsai_method gsai_polyak = {
    .name = "polyak",
    .help = "the stochastic Polyak step, each row to a loss of 0, bounded by the steps before it",
    .source = "Loizou, Vaswani, Laradji, Lacoste-Julien 2021",
    .knobs = {{"c", 0.5, 0.1, 100, "divides the step"},
              {"bound", 1, 1e-12, 1e300, "of the first step"},
              {"tau", 2, 0, 1e6, "growth of the bound per pass; 0: it is constant"}},
    .begin_pass = begin_pass,
    .learn = learn,
};
