/* What all optimisers share: memory, knobs, passes. */
#include "baseline/optimizer.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { ROWS_BETWEEN_CHECKS = 1024 };

void gsa__optimizer_free(gsa__optimizer *o)
{
    if (!o)
        return;
    gsa_env env = o->env;
    gsa__free(&env, o->w);
    for (size_t i = 0; i < GSA__TABLES; i++)
        gsa__free(&env, o->table[i]);
    gsa__free(&env, o->slot_time);
    gsa__free(&env, o->row_memory);
    gsa__free(&env, o->terms);
    gsa__free(&env, o->g);
    gsa__free(&env, o->g2);
    gsa__free(&env, o);
}

static gsa_status allocate(gsa__optimizer *o, gsa_error *error)
{
    const gsa__problem *problem = o->problem;
    size_t n_cells, n_memory, n_slots = gsa__problem_slots(problem);
    bool fits = gsa__multiply(n_slots, problem->n_outputs, &n_cells) &&
                gsa__multiply(problem->rows->n_rows, o->method->row_numbers * problem->n_outputs, &n_memory);
    fits = fits && (o->w = gsa__alloc_zeroed(&o->env, n_cells, sizeof(double)));
    for (size_t i = 0; i < o->method->n_tables && fits; i++)
        fits = (o->table[i] = gsa__alloc_zeroed(&o->env, n_cells, sizeof(double))) != NULL;
    fits = fits && (o->slot_time = gsa__alloc_zeroed(&o->env, n_slots, sizeof(double))) &&
           (o->row_memory = gsa__alloc_zeroed(&o->env, n_memory, sizeof(double))) &&
           (o->terms = gsa__alloc(&o->env, gsa__problem_longest(problem), sizeof *o->terms)) &&
           (o->g = gsa__alloc(&o->env, problem->n_outputs, sizeof(double))) &&
           (o->g2 = gsa__alloc(&o->env, problem->n_outputs, sizeof(double)));
    if (!fits)
        return gsa__fail_memory(&o->env, error, "no memory for %s on %zu features and %zu outputs", o->method->name,
                                problem->n_features, problem->n_outputs);
    return GSA_OK;
}

gsa_status gsa__optimizer_new(const gsa__method *method, const double knobs[GSA__KNOBS], const gsa__problem *problem,
                              uint64_t seed, const gsa_env *env, gsa__optimizer **out, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    gsa__optimizer *o = gsa__alloc_zeroed(&resolved, 1, sizeof *o);
    if (!o)
        return gsa__fail_memory(&resolved, error, "no memory for %s", method->name);
    o->method = method;
    o->problem = problem;
    o->env = resolved;
    memcpy(o->knob, knobs, sizeof o->knob);
    o->rng = gsa__rng_of(seed, 0x0B5E, 0);
    o->last_step = NAN;
    gsa_status status = allocate(o, error);
    if (status != GSA_OK) {
        gsa__optimizer_free(o);
        return status;
    }
    *out = o;
    return GSA_OK;
}

gsa_status gsa__optimizer_pass(gsa__optimizer *o, const uint32_t *order, size_t n_rows, gsa_error *error)
{
    o->order = order;
    o->n_order = n_rows;
    if (o->method->begin_pass)
        o->method->begin_pass(o, order, n_rows);
    for (o->order_at = 0; o->order_at < n_rows; o->order_at++) {
        if (o->order_at % ROWS_BETWEEN_CHECKS == 0 && o->env.should_stop(o->env.stop_ctx))
            return gsa__fail(error, GSA_STOPPED, "stopped on request");
        o->t++;
        o->method->learn(o, order[o->order_at]);
    }
    if (o->method->catch_up)
        o->method->catch_up(o);
    for (size_t i = 0; i < gsa__problem_cells(o->problem); i++)
        if (!isfinite(o->w[i]))
            return gsa__fail(error, GSA_DIVERGED, "%s diverged: a weight is no longer finite", o->method->name);
    return GSA_OK;
}

void gsa__optimizer_weights(gsa__optimizer *o, double *out)
{
    if (o->method->catch_up)
        o->method->catch_up(o);
    if (o->method->returned)
        o->method->returned(o, out);
    else
        memcpy(out, o->w, gsa__problem_cells(o->problem) * sizeof *out);
}

double gsa__optimizer_gradient(gsa__optimizer *o, const double *w, size_t row)
{
    o->n_terms = gsa__problem_terms(o->problem, row, o->terms);
    gsa__problem_margins(o->problem, w, o->terms, o->n_terms, o->g);
    return gsa__problem_gradient(o->problem, row, o->g).loss;
}

double gsa__optimizer_length(const gsa__optimizer *o)
{
    double xx = 0;
    for (size_t i = 0; i < o->n_terms; i++)
        xx += o->terms[i].x * o->terms[i].x;
    return xx;
}

double gsa__optimizer_gradient_length(const gsa__optimizer *o)
{
    double gg = 0;
    for (size_t k = 0; k < o->problem->n_outputs; k++)
        gg += o->g[k] * o->g[k];
    return gg * gsa__optimizer_length(o);
}

void gsa__optimizer_step(gsa__optimizer *o, double step)
{
    size_t n_outputs = o->problem->n_outputs;
    for (size_t i = 0; i < o->n_terms; i++)
        for (size_t k = 0; k < n_outputs; k++)
            o->w[o->terms[i].slot * n_outputs + k] -= step * o->g[k] * o->terms[i].x;
    o->last_step = step;
}

void gsa__optimizer_mean(const gsa__optimizer *o, double total, double *out)
{
    for (size_t i = 0; i < gsa__problem_cells(o->problem); i++)
        out[i] = o->w[i] - (total > 0 ? o->table[0][i] / total : 0);
}
