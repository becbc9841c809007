/* Schedule-Free SGD (Defazio, Yang, Mehta, Mishchenko, Khaled, Cutkosky 2024, Algorithm 1, with the warmup of its
 * reference code).
 *
 *   r_t = r min(1, t / T),  S_t = r_1^2 + .. + r_t^2
 *   y = (1 - beta) z + beta x,  z -= r_t gradient(y),  x = (1 - c) x + c z with c = r_t^2 / S_t;  returned: x
 *
 * T is a share of the first pass. The authors recommend warmup without saying how much, and used 5 % of all rows in
 * their experiments: a quarter of a pass if there are five.
 *
 * Lazily: while a slot is not touched its z is constant and x - z shrinks by S_{t-1} / S_t per row, so rows a+1 .. b
 * make it S_a / S_b times as long. w is x, table[0] is z, table[1] is y (as of the slot's time), time is S,
 * slot_time the S up to which a slot is right, scalar[0] is T. */
#include "baseline/optimizer.h"

#include <math.h>

enum { RATE, BETA, WARMUP };

static void begin_pass(gsai_optimizer *o)
{
    if (o->t == 0)
        o->scalar[0] = fmax(1, o->knob[WARMUP] * (double)o->n_order);
}

static void advance(gsai_optimizer *o, size_t slot)
{
    double left = o->slot_time[slot] / o->time;
    double beta = o->knob[BETA], *z = o->table[0];
    for (size_t k = slot * o->problem->n_outputs; k < (slot + 1) * o->problem->n_outputs; k++) {
        o->w[k] = z[k] + left * (o->w[k] - z[k]);
        o->table[1][k] = (1 - beta) * z[k] + beta * o->w[k];
    }
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double step = o->knob[RATE] * fmin(1, (double)o->t / o->scalar[0]);
    gsai_optimizer_gradient(o, o->table[1], row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->table[0][o->terms[i].slot * n_outputs + k] -= step * o->g[k] * o->terms[i].x;
    o->time += step * step; /* every slot takes this row's share of z when it is next advanced */
    o->last_step = step;
}

const gsai_method gsai_schedule_free = {
    .name = "schedule-free",
    .help = "stochastic gradient descent at points between the iterate and its average, which is returned",
    .source = "Defazio et al. 2024",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step; 10 to 50 times that of sgd is a good start"},
              {"beta", 0.9, 0, 1, "how near to the average gradients are taken"},
              {"warmup", 0.25, 0, 1e6, "passes until the step has grown to r"}},
    .n_tables = 2,
    .begin_pass = begin_pass,
    .learn = learn,
    .advance = advance,
};
