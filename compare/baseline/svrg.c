/* Variance reduction by a snapshot: SVRG (Johnson, Zhang 2013) and SCSG (Lei, Jordan 2016).
 *
 *   mu = mean gradient at the snapshot v:  of all rows (SVRG), of B rows (SCSG)
 *   then for a number of rows:  w -= r (g(w) x - g(v) x + mu)
 *
 * SVRG takes a snapshot at the start of every pass and goes over every row once. SCSG takes one whenever the last is
 * used up: the next B rows of the order give mu, and it serves N rows, N geometric with mean B. A pass costs about two.
 * The originals draw the rows of the steps at random, here they come in the order of the pass; SCSG's own N may be 0.
 *
 * Lazily: while a slot is not touched it moves by -r mu at every row since the snapshot. table[0] is v, table[1] mu,
 * slot_time the row up to which a slot is right. */
#include "baseline/optimizer.h"

#include "base/real.h"

#include <math.h>
#include <string.h>

static void advance(gsai_optimizer *o, size_t slot)
{
    double travel = o->knob[0] * (o->time - o->slot_time[slot]);
    for (size_t k = slot * o->problem->n_outputs; k < (slot + 1) * o->problem->n_outputs; k++)
        o->w[k] -= travel * o->table[1][k];
}

/* A new snapshot of the weights, and the mean gradient of n rows of the order from `from` on. */
static void take_snapshot(gsai_optimizer *o, size_t from, size_t n)
{
    size_t n_outputs = o->problem->n_outputs, n_cells = gsai_problem_cells(o->problem);
    double *mu = o->table[1];
    gsai_optimizer_catch_up(o);
    memcpy(o->table[0], o->w, n_cells * sizeof *mu);
    memset(mu, 0, n_cells * sizeof *mu);
    for (size_t j = 0; j < n; j++) {
        gsai_optimizer_gradient(o, o->w, o->order[(from + j) % o->n_order]);
        for (size_t i = 0; i < o->n_terms; i++)
            for (size_t k = 0; k < n_outputs; k++)
                mu[o->terms[i].slot * n_outputs + k] += o->g[k] * o->terms[i].x / (double)n;
    }
}

static void step(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    gsai_optimizer_gradient(o, o->table[0], row);
    memcpy(o->g2, o->g, n_outputs * sizeof *o->g);
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->w[o->terms[i].slot * n_outputs + k] -= o->knob[0] * (o->g[k] - o->g2[k]) * o->terms[i].x;
    o->time = (double)o->t;
    gsai_optimizer_advance(o);
    o->last_step = o->knob[0];
}

static void begin_svrg(gsai_optimizer *o)
{
    take_snapshot(o, 0, o->n_order);
}

/* scalar[0]: rows that the present snapshot still serves. */
static void learn_scsg(gsai_optimizer *o, size_t row)
{
    if (o->scalar[0] < 1) {
        double mean = fmin(floor(o->knob[1]), (double)o->n_order);
        take_snapshot(o, o->order_at, (size_t)mean);
        /* P(N = j) = q^(j-1) (1 - q), j >= 1, mean 1 / (1 - q): a snapshot that served no row would be wasted. */
        double q = 1 - 1 / mean;
        o->scalar[0] = q > 0 ? 1 + floor(gsai_log(gsai_rng_unit(&o->rng)) / gsai_log(q)) : 1;
    }
    o->scalar[0]--;
    step(o, row);
}

const gsai_method gsai_svrg = {
    .name = "svrg",
    .help = "corrects each gradient by the full one of a snapshot; a pass costs two",
    .source = "Johnson, Zhang 2013",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}},
    .needs_rows = true,
    .n_tables = 2,
    .begin_pass = begin_svrg,
    .learn = step,
    .advance = advance,
};

const gsai_method gsai_scsg = {
    .name = "scsg",
    .help = "like svrg with the gradient of B rows; a pass costs two, a snapshot O(features)",
    .source = "Lei, Jordan 2016",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}, {"B", NAN, 1, 1e9, "rows of a snapshot's gradient"}},
    .needs_rows = true,
    .n_tables = 2,
    .learn = learn_scsg,
    .advance = advance,
};
