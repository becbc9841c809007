/* Adadelta (Zeiler 2012).
 *
 *   E[g^2] = gamma E[g^2] + (1 - gamma) g^2
 *   D = -sqrt(E[D^2] + eps) / sqrt(E[g^2] + eps) g,   w += D
 *   E[D^2] = gamma E[D^2] + (1 - gamma) D^2
 *
 * for every weight by itself; g is the weight's own gradient, 0 for rows that do not touch it, so that w does not move
 * there and both means only decay: by gamma^m over m rows, which is caught up with lazily. Without gamma, the paper's
 * choice gamma = (t-1)/t: both are plain means over all rows, E_t = sum / t, and the sums do not decay at all.
 * table[0] is E[g^2] (or its sum), table[1] E[D^2], slot_time the row up to which they are right. */
#include "baseline/optimizer.h"

#include <math.h>

/* gamma = 0 stands for (t-1)/t. */
static void update(gsai_optimizer *o, size_t at, double gradient, double before, double gamma)
{
    double *squares = &o->table[0][at], *moves = &o->table[1][at], eps = o->knob[0], t = (double)o->t;
    if (gamma == 0) {
        *squares += gradient * gradient;
        double step = sqrt((t > 1 ? *moves / (t - 1) : 0) + eps) / sqrt(*squares / t + eps), d = -step * gradient;
        *moves += d * d;
        o->w[at] += d;
        return;
    }
    *squares = before * gamma * *squares + (1 - gamma) * gradient * gradient;
    double moved = before * *moves, d = -sqrt(moved + eps) / sqrt(*squares + eps) * gradient;
    *moves = gamma * moved + (1 - gamma) * d * d;
    o->w[at] += d;
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double now = (double)o->t, gamma = o->knob[1];
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++) {
        size_t slot = o->terms[i].slot;
        double before = gamma == 0 ? 1 : pow(gamma, now - 1 - o->slot_time[slot]);
        for (size_t k = 0; k < n_outputs; k++)
            update(o, slot * n_outputs + k, o->g[k] * o->terms[i].x, before, gamma);
        o->slot_time[slot] = now;
    }
}

const gsai_method gsai_adadelta = {
    .name = "adadelta",
    .help = "a step for every weight, by the ratio of its moves to its gradients",
    .source = "Zeiler 2012",
    .knobs = {{"eps", NAN, 1e-30, 10, "keeps the first steps going"},
              {"gamma", 0, 0, 0.999999, "decay of both means; 0: the paper's (t-1)/t, plain means"}},
    .n_tables = 2,
    .learn = learn,
};
