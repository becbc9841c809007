/* Adagrad (Duchi, Hazan, Singer 2011), the diagonal form.
 *
 *   G_i += (g x_i)^2,   w_i -= r / sqrt(G_i + eps) g x_i
 *
 * The original adds its delta to the root, not under it. table[0] is G. */
#include "baseline/optimizer.h"

#include <math.h>

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++) {
            size_t at = o->terms[i].slot * n_outputs + k;
            double gradient = o->g[k] * o->terms[i].x;
            o->table[0][at] += gradient * gradient;
            o->w[at] -= o->knob[0] / sqrt(o->table[0][at] + o->knob[1]) * gradient;
        }
}

const gsai_method gsai_adagrad = {
    .name = "adagrad",
    .help = "a step for every weight, by the squares of its gradients so far",
    .source = "Duchi, Hazan, Singer 2011",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}, {"eps", 1e-8, 0x1p-1000, 1, "keeps the first step finite"}},
    .n_tables = 1,
    .learn = learn,
};
