/* Gradient averaging: the mean of all gradients so far is the direction (Nesterov 2009; Xiao 2010 in its simple form).
 *
 *   S += g x,   w -= (r / t) S
 *
 * Lazily: while a slot is not touched its S is constant, and rows a+1 .. b move it by -r S (H_b - H_a) with the
 * harmonic sums H_t = 1 + 1/2 + .. + 1/t. table[0] is S, time is H, slot_time the H up to which a slot is right.
 */
#include "baseline/optimizer.h"

#include <math.h>

static void advance(gsai_optimizer *o, size_t slot)
{
    double travel = o->knob[0] * (o->time - o->slot_time[slot]);
    for (size_t k = slot * o->problem->n_outputs; k < (slot + 1) * o->problem->n_outputs; k++)
        o->w[k] -= travel * o->table[0][k];
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->table[0][o->terms[i].slot * n_outputs + k] += o->g[k] * o->terms[i].x;
    o->time += 1 / (double)o->t; /* the touched slots take this row's share with their new S */
    o->last_step = o->knob[0] / (double)o->t;
}

const gsai_method gsai_gradient_average = {
    .name = "gradient-average",
    .help = "moves along the mean of all gradients so far",
    .source = "Nesterov 2009, as the paper prints it",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}},
    .n_tables = 1,
    .learn = learn,
    .advance = advance,
};
