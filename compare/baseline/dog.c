/* Distance over gradients, DoG (Ivgi, Hinder, Carmon 2023), with its polynomial-decay average.
 *
 *   d = max_{s <= t} |w_s - w_0| (at least the initial radius),  S += |gradient|^2,  w -= d / sqrt(S) gradient
 *   returned: avg_t = (1 - c_t) avg_{t-1} + c_t w_t,  c_t = (1 + gamma) / (t + gamma),  gamma = 8
 *
 * The authors' initial radius is 1e-6 (1 + |w_0|), and w_0 = 0 here. They advise 100 times as much where the step does
 * not grow in a few hundred rows, which happens where rows have few features in common.
 *
 * |w|^2 changes only in the touched weights. The average is that of iterates with weights a_t, A_t = a_1 + .. + a_t and
 * a_t / A_t = c_t, so that A_t = A_{t-1} (t + gamma) / (t - 1), and avg = w - (1/A) sum_t A_{t-1} D_t with D_t the
 * update of row t. table[0] is that sum; scalar: |w|^2, d, S, A. */
#include "baseline/optimizer.h"

#include <math.h>

enum { DISTANCE2, FARTHEST, GRADIENTS, SHARES };
static const double gamma_decay = 8;

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double *number = o->scalar, before = number[SHARES], t = (double)o->t;
    gsai_optimizer_gradient(o, o->w, row);
    number[GRADIENTS] += gsai_optimizer_gradient_length(o);
    number[FARTHEST] = fmax(number[FARTHEST], fmax(sqrt(fmax(number[DISTANCE2], 0)), o->knob[0]));
    number[SHARES] = o->t == 1 ? 1 : before * (t + gamma_decay) / (t - 1);
    if (number[GRADIENTS] == 0)
        return;
    double step = number[FARTHEST] / sqrt(number[GRADIENTS]);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++) {
            size_t at = o->terms[i].slot * n_outputs + k;
            double d = -step * o->g[k] * o->terms[i].x;
            number[DISTANCE2] += d * (2 * o->w[at] + d);
            o->w[at] += d;
            o->table[0][at] += before * d;
        }
    o->last_step = step;
}

static void returned(const gsai_optimizer *o, double *out)
{
    gsai_optimizer_mean(o, o->scalar[SHARES], out);
}

const gsai_method gsai_dog = {
    .name = "dog",
    .help = "distance over gradients, averaged; nothing to tune",
    .source = "Ivgi, Hinder, Carmon 2023",
    .knobs = {{"radius", 1e-6, 1e-300, 1e6, "initial distance"}},
    .n_tables = 1,
    .learn = learn,
    .returned = returned,
};
