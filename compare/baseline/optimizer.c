/* The parts that all optimisers share: memory, knobs, passes. */
#include "baseline/optimizer.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { ROWS_BETWEEN_CHECKS = 1024 };

void gsai_optimizer_free(gsai_optimizer *o)
{
    if (!o)
        return;
    gsai_env env = o->env;
    gsai_free(&env, o->w);
    for (size_t i = 0; i < GSAI_TABLES; i++)
        gsai_free(&env, o->table[i]);
    gsai_free(&env, o->slot_time);
    gsai_free(&env, o->row_memory);
    gsai_free(&env, o->terms);
    gsai_free(&env, o->g);
    gsai_free(&env, o->g2);
    gsai_free(&env, o);
}

static gsa_status allocate(gsai_optimizer *o, gsa_error *error)
{
    const gsai_problem *problem = o->problem;
    const int64_t *start = problem->rows->row_start;
    size_t n_cells, n_memory, n_slots = gsai_problem_slots(problem), longest = 0;
    for (size_t row = 0; row < problem->rows->n_rows; row++)
        longest = (size_t)(start[row + 1] - start[row]) > longest ? (size_t)(start[row + 1] - start[row]) : longest;
    bool fits = gsai_multiply(n_slots, problem->n_outputs, &n_cells) &&
                gsai_multiply(problem->rows->n_rows, o->method->row_numbers * problem->n_outputs, &n_memory);
    fits = fits && (o->w = gsai_alloc_zeroed(&o->env, n_cells, sizeof(double)));
    for (size_t i = 0; i < o->method->n_tables && fits; i++)
        fits = (o->table[i] = gsai_alloc_zeroed(&o->env, n_cells, sizeof(double))) != NULL;
    fits = fits && (o->slot_time = gsai_alloc_zeroed(&o->env, n_slots, sizeof(double))) &&
           (o->row_memory = gsai_alloc_zeroed(&o->env, n_memory, sizeof(double))) &&
           (o->terms = gsai_alloc(&o->env, longest + 1, sizeof *o->terms)) &&
           (o->g = gsai_alloc(&o->env, problem->n_outputs, sizeof(double))) &&
           (o->g2 = gsai_alloc(&o->env, problem->n_outputs, sizeof(double)));
    GSAI_TRY_MEMORY(fits, &o->env, error, "no memory for %s on %zu features and %zu outputs", o->method->name,
                    problem->n_features, problem->n_outputs);
    return GSA_OK;
}

gsa_status gsai_optimizer_new(const gsai_method *method, const double knobs[GSAI_KNOBS], const gsai_problem *problem,
                              uint64_t seed, const gsai_env *env, gsai_optimizer **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    gsai_optimizer *o = gsai_alloc_zeroed(&resolved, 1, sizeof *o);
    GSAI_TRY_MEMORY(o, &resolved, error, "no memory for %s", method->name);
    o->method = method;
    o->problem = problem;
    o->env = resolved;
    memcpy(o->knob, knobs, sizeof o->knob);
    o->rng = gsai_rng_of(seed, 0x0B5E, 0);
    o->last_step = NAN;
    gsa_status status = allocate(o, error);
    if (status != GSA_OK) {
        gsai_optimizer_free(o);
        return status;
    }
    *out = o;
    return GSA_OK;
}

gsa_status gsai_optimizer_pass(gsai_optimizer *o, const uint32_t *order, size_t n_rows, gsa_error *error)
{
    o->order = order;
    o->n_order = n_rows;
    if (o->method->begin_pass)
        o->method->begin_pass(o);
    for (o->order_at = 0; o->order_at < n_rows; o->order_at++) {
        if (o->order_at % ROWS_BETWEEN_CHECKS == 0 && gsai_should_stop(&o->env))
            return gsai_fail(error, GSA_STOPPED, "stopped on request");
        o->t++;
        o->method->learn(o, order[o->order_at]);
    }
    gsai_optimizer_catch_up(o);
    if (o->method->end_pass)
        o->method->end_pass(o);
    for (size_t i = 0; i < gsai_problem_cells(o->problem); i++)
        if (!isfinite(o->w[i]))
            return gsai_fail(error, GSA_DIVERGED, "%s diverged: a weight is no longer finite", o->method->name);
    return GSA_OK;
}

void gsai_optimizer_weights(gsai_optimizer *o, double *out)
{
    if (o->method->returned)
        o->method->returned(o, out);
    else
        memcpy(out, o->w, gsai_problem_cells(o->problem) * sizeof *out);
}

size_t gsai_problem_terms(const gsai_problem *problem, size_t row, gsai_term *terms)
{
    const gsa_batch *rows = problem->rows;
    size_t n = 0;
    if (problem->intercept)
        terms[n++] = (gsai_term){0, 1};
    for (int64_t e = rows->row_start[row]; e < rows->row_start[row + 1]; e++) {
        double x = rows->value ? (double)rows->value[e] : 1;
        if (x != 0)
            terms[n++] = (gsai_term){(size_t)rows->index[e] + 1, x};
    }
    return n;
}

static void advance(gsai_optimizer *o, size_t slot)
{
    if (o->slot_time[slot] < o->time)
        o->method->advance(o, slot);
    o->slot_time[slot] = o->time;
}

void gsai_optimizer_advance(gsai_optimizer *o)
{
    for (size_t i = 0; o->method->advance && i < o->n_terms; i++)
        advance(o, o->terms[i].slot);
}

void gsai_optimizer_catch_up(gsai_optimizer *o)
{
    for (size_t slot = 0; o->method->advance && slot < gsai_problem_slots(o->problem); slot++)
        advance(o, slot);
}

gsai_greedy_step gsai_optimizer_gradient(gsai_optimizer *o, const double *w, size_t row)
{
    const gsai_problem *problem = o->problem;
    size_t n_outputs = problem->n_outputs;
    o->n_terms = gsai_problem_terms(problem, row, o->terms);
    gsai_optimizer_advance(o);
    for (size_t k = 0; k < n_outputs; k++)
        o->g[k] = 0;
    for (size_t i = 0; i < o->n_terms; i++) {
        const double *weights = w + o->terms[i].slot * n_outputs;
        for (size_t k = 0; k < n_outputs; k++)
            o->g[k] += weights[k] * o->terms[i].x; /* margins, which become the gradient in place */
    }
    gsai_target target = {.class_number = problem->classes ? problem->classes[row] : 0, .y = problem->rows->label[row]};
    return problem->loss->greedy_step(o->g, n_outputs, &target);
}

double gsai_optimizer_length(const gsai_optimizer *o)
{
    double xx = 0;
    for (size_t i = 0; i < o->n_terms; i++)
        xx += o->terms[i].x * o->terms[i].x;
    return xx;
}

double gsai_optimizer_gradient_length(const gsai_optimizer *o)
{
    double gg = 0;
    for (size_t k = 0; k < o->problem->n_outputs; k++)
        gg += o->g[k] * o->g[k];
    return gg * gsai_optimizer_length(o);
}

void gsai_optimizer_step(gsai_optimizer *o, double step)
{
    size_t n_outputs = o->problem->n_outputs;
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->w[o->terms[i].slot * n_outputs + k] -= step * o->g[k] * o->terms[i].x;
    o->last_step = step;
}

void gsai_optimizer_mean(const gsai_optimizer *o, double total, double *out)
{
    for (size_t i = 0; i < gsai_problem_cells(o->problem); i++)
        out[i] = o->w[i] - (total > 0 ? o->table[0][i] / total : 0);
}
