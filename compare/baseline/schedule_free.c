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
 * make it S_a / S_b times as long. w is x, table[0] is z, table[1] is y (of the touched slots), time is S,
 * slot_time the S up to which a slot is right, scalar[0] is T. */
#include "baseline/methods.h"

#include <math.h>

enum { RATE, BETA, WARMUP };

static void begin_pass(gsai_optimizer *o, const uint32_t *order, size_t n_rows)
{
    (void)order;
    if (o->t == 0)
        o->scalar[0] = fmax(1, o->knob[WARMUP] * (double)n_rows);
}

static void advance(gsai_optimizer *o, size_t slot)
{
    double left = o->time > 0 ? o->slot_time[slot] / o->time : 1;
    for (size_t k = slot * o->problem->n_outputs; k < (slot + 1) * o->problem->n_outputs; k++)
        o->w[k] = o->table[0][k] + left * (o->w[k] - o->table[0][k]);
    o->slot_time[slot] = o->time;
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double beta = o->knob[BETA], *z = o->table[0], *y = o->table[1];
    double step = o->knob[RATE] * fmin(1, (double)o->t / o->scalar[0]);
    o->n_terms = gsai_problem_terms(o->problem, row, o->terms);
    for (size_t i = 0; i < o->n_terms; i++) {
        size_t first = o->terms[i].slot * n_outputs;
        advance(o, o->terms[i].slot);
        for (size_t k = first; k < first + n_outputs; k++)
            y[k] = (1 - beta) * z[k] + beta * o->w[k];
    }
    gsai_optimizer_gradient(o, y, row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            z[o->terms[i].slot * n_outputs + k] -= step * o->g[k] * o->terms[i].x;
    o->time += step * step; /* every slot takes this row's share of z when it is next advanced */
    o->last_step = step;
}

static void catch_up(gsai_optimizer *o)
{
    for (size_t slot = 0; slot < gsai_problem_slots(o->problem); slot++)
        advance(o, slot);
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
    .catch_up = catch_up,
};
