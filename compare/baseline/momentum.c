/* Momentum, the heavy ball (Polyak 1964).
 *
 *   v = beta v - r g x,   w += v
 *
 * Lazily: a weight that m rows do not touch moves by v (beta + .. + beta^m) = v beta (1 - beta^m) / (1 - beta), and v
 * becomes beta^m v. table[0] is v, slot_time the row up to which a slot is right. */
#include "baseline/optimizer.h"

#include <math.h>

static void advance(gsai_optimizer *o, size_t slot)
{
    double m = o->time - o->slot_time[slot], beta = o->knob[1];
    double decay = pow(beta, m), travel = beta * (1 - decay) / (1 - beta);
    for (size_t k = slot * o->problem->n_outputs; k < (slot + 1) * o->problem->n_outputs; k++) {
        o->w[k] += o->table[0][k] * travel;
        o->table[0][k] *= decay;
    }
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++) {
        size_t slot = o->terms[i].slot;
        for (size_t k = 0; k < n_outputs; k++) {
            double *v = &o->table[0][slot * n_outputs + k];
            *v = o->knob[1] * *v - o->knob[0] * o->g[k] * o->terms[i].x;
            o->w[slot * n_outputs + k] += *v;
        }
        o->slot_time[slot] = (double)o->t;
    }
    o->time = (double)o->t;
    o->last_step = o->knob[0];
}

const gsai_method gsai_momentum = {
    .name = "momentum",
    .help = "stochastic gradient descent with momentum",
    .source = "Polyak 1964",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}, {"beta", 0.9, 0, 0.9999, "what is kept of the last move"}},
    .n_tables = 1,
    .learn = learn,
    .advance = advance,
};
