/* Momentum, the heavy ball (Polyak 1964).
 *
 *   v = beta v - r g x,   w += v
 *
 * Lazily: a weight that m rows do not touch moves by v (beta + .. + beta^m) = v beta (1 - beta^m) / (1 - beta), and v
 * becomes beta^m v. table[0] is v, slot_time the row up to which a slot is right. */
#include "baseline/methods.h"

#include <math.h>

/* Brings a slot to the time after row `until`. */
static void advance(gsai_optimizer *o, size_t slot, double until)
{
    double m = until - o->slot_time[slot], beta = o->knob[1];
    if (m <= 0)
        return;
    double decay = pow(beta, m), travel = beta * (1 - decay) / (1 - beta);
    for (size_t k = slot * o->problem->n_outputs; k < (slot + 1) * o->problem->n_outputs; k++) {
        o->w[k] += o->table[0][k] * travel;
        o->table[0][k] *= decay;
    }
    o->slot_time[slot] = until;
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double now = (double)o->t;
    o->n_terms = gsai_problem_terms(o->problem, row, o->terms);
    for (size_t i = 0; i < o->n_terms; i++)
        advance(o, o->terms[i].slot, now - 1);
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++) {
        size_t slot = o->terms[i].slot;
        for (size_t k = 0; k < n_outputs; k++) {
            double *v = &o->table[0][slot * n_outputs + k];
            *v = o->knob[1] * *v - o->knob[0] * o->g[k] * o->terms[i].x;
            o->w[slot * n_outputs + k] += *v;
        }
        o->slot_time[slot] = now;
    }
    o->last_step = o->knob[0];
}

static void catch_up(gsai_optimizer *o)
{
    for (size_t slot = 0; slot < gsai_problem_slots(o->problem); slot++)
        advance(o, slot, (double)o->t);
}

const gsai_method gsai_momentum = {
    .name = "momentum",
    .help = "stochastic gradient descent with momentum",
    .source = "Polyak 1964",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}, {"beta", 0.9, 0, 0.9999, "what is kept of the last move"}},
    .n_tables = 1,
    .learn = learn,
    .catch_up = catch_up,
};
