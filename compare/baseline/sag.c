/* Stochastic average gradient, SAG (Schmidt, Le Roux, Bach 2013) and SAGA (Defazio, Bach, Lacoste-Julien 2014).
 *
 * For a linear model the gradient of a row is g x, so that its memory is one number per output. D is the sum over rows
 * of the remembered g x, m the number of rows seen so far, n the number of all rows.
 *
 *   SAG:   D += (g_new - g_old) x,   w -= r/m D
 *   SAGA:  w -= r ((g_new - g_old) x + D/n),   D += (g_new - g_old) x
 *
 * Memories start at zero, as the paper suggests. Every pass takes every row of the problem once: m and n count on that.
 *
 * Lazily: while a slot is not touched its D is constant; `time` is the sum of r/m (SAG) or r/n (SAGA) over the rows so
 * far, slot_time the time up to which a slot is right. table[0] is D. */
#include "baseline/optimizer.h"

#include <math.h>

static void advance(gsai_optimizer *o, size_t slot)
{
    double travel = o->time - o->slot_time[slot];
    for (size_t k = slot * o->problem->n_outputs; k < (slot + 1) * o->problem->n_outputs; k++)
        o->w[k] -= travel * o->table[0][k];
}

/* The gradient of the row at the present weights; o->g2 becomes g_new - g_old and the memory g_new. */
static void refresh(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    double *memory = o->row_memory + row * n_outputs;
    gsai_optimizer_gradient(o, o->w, row);
    for (size_t k = 0; k < n_outputs; k++) {
        o->g2[k] = o->g[k] - memory[k];
        memory[k] = o->g[k];
    }
    o->last_step = o->knob[0];
}

static void remember(gsai_optimizer *o)
{
    size_t n_outputs = o->problem->n_outputs;
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->table[0][o->terms[i].slot * n_outputs + k] += o->g2[k] * o->terms[i].x;
}

static void learn_sag(gsai_optimizer *o, size_t row)
{
    size_t n_rows = o->problem->rows->n_rows;
    refresh(o, row);
    remember(o);
    o->time += o->knob[0] / (double)(o->t < n_rows ? o->t : n_rows);
}

static void learn_saga(gsai_optimizer *o, size_t row)
{
    size_t n_outputs = o->problem->n_outputs;
    refresh(o, row);
    o->time += o->knob[0] / (double)o->problem->rows->n_rows;
    gsai_optimizer_advance(o); /* this row's D/n, with D as it was */
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->w[o->terms[i].slot * n_outputs + k] -= o->knob[0] * o->g2[k] * o->terms[i].x;
    remember(o);
}

const gsai_method gsai_sag = {
    .name = "sag",
    .help = "moves along the mean of the last gradients of all rows; remembers a number for every row and output",
    .source = "Schmidt, Le Roux, Bach 2013",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}},
    .needs_rows = true,
    .n_tables = 1,
    .row_numbers = 1,
    .learn = learn_sag,
    .advance = advance,
};

const gsai_method gsai_saga = {
    .name = "saga",
    .help = "like sag, without its bias; remembers a number for every row and output",
    .source = "Defazio, Bach, Lacoste-Julien 2014",
    .knobs = {{"r", NAN, 1e-12, 1e6, "the step"}},
    .needs_rows = true,
    .n_tables = 1,
    .row_numbers = 1,
    .learn = learn_saga,
    .advance = advance,
};
