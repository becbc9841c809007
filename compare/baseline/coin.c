/* Coin betting for every weight by itself: COCOB (Orabona, Tommasi 2017, Algorithm 2).
 *
 * With h = -g x_i the negative gradient of weight i:
 *   L = max(L, |h|),  G += |h|,  R = max(R + w h, 0),  T += h
 *   w = T / (L max(G + L, alpha L)) (L + R)
 * A weight that a row does not touch has h = 0 and stays. The original uses alpha = 100 for neural networks; up to 2 it
 * does nothing, and the bet is T / (G + L), which theory (their Algorithm 1) has as tanh of that. Tables: L, G, R, T.
 */
#include "baseline/optimizer.h"

#include <math.h>

static void bet(gsai_optimizer *o, size_t at, double h)
{
    double *max = &o->table[0][at], *sum = &o->table[1][at], *reward = &o->table[2][at], *total = &o->table[3][at];
    if (h == 0)
        return;
    *max = fmax(*max, fabs(h));
    *sum += fabs(h);
    *reward = fmax(*reward + o->w[at] * h, 0);
    *total += h;
    o->w[at] = *total / (*max * fmax(*sum + *max, o->knob[0] * *max)) * (*max + *reward);
}

static void learn(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            bet(o, o->terms[i].slot * n_outputs + k, -o->g[k] * o->terms[i].x);
}

const gsai_method gsai_coin = {
    .name = "coin",
    .help = "coin betting for every weight; nothing to tune, four more numbers per weight",
    .source = "Orabona, Tommasi 2017",
    .knobs = {{"alpha", 1, 1, 1e6, "how cautious the first bets are"}},
    .n_tables = 4,
    .learn = learn,
};
