/* L-BFGS (Nocedal 1980) with kept margins and an inverse to begin with. */
#include "solve/fit.h"

#include "base/error.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

#define LINE_TRIES 20
#define NEWTON_TRIES 5
#define SLOPE_LEFT 0.1
/* Losses of rows are floats: sums of them tell no smaller difference than this share. Slopes do. */
#define ROUNDING 1e-7

/* ---- the scale of the columns ------------------------------------------------------------------------------------ */

/* As given, all columns are divided by one common number. */
void gsai_scale_columns(gsai_problem *problem, gsai_column_scaling scaling)
{
    const gsai_design *design = problem->design;
    double sum = 0, common = 0;
    for (size_t j = 1; j < design->n_columns && !scaling.standardised; j++)
        common = design->variance[j] > 0 && design->unit[j] > common && !gsai_design_is_own(design, j) ? design->unit[j]
                                                                                                       : common;
    problem->scale[0] = problem->has_intercept ? 1 : 0;
    for (size_t j = 1; j < design->n_columns; j++) {
        double share = ((double)design->count[j] + 1) / ((double)design->n_rows + 1);
        double scale = design->variance[j] > 0 ? gsai_exp(-scaling.inverse_frequency * gsai_log(share)) : 0;
        scale *= scaling.factor ? (double)scaling.factor[j] : 1;
        scale *= gsai_design_has(design, j);
        problem->scale[j] = (float)(scaling.standardised ? scale : scale * (design->unit[j] / common));
        if (gsai_design_is_own(design, j)) {
            size_t block = (size_t)((design->id[j] - design->first_own) % design->own_each);
            bool has_own = scaling.own && design->variance[j] > 0;
            problem->scale[j] = has_own ? scaling.own[block] * (float)design->unit[j] : 0;
        }
        sum += (double)problem->scale[j] * (double)problem->scale[j] * design->variance[j];
    }
    problem->squared_norm = sum > 0 ? sum : 1;
    problem->common_unit = common > 0 ? common : 1;
    problem->scaling = scaling;
}

/* ---- the memory of a fit ---------------------------------------------------------------------------------------- */

void gsai_fit_make(gsai_fit *fit, const gsai_problem *problem, size_t n_rows, size_t n_columns, const gsai_fit *like,
                   gsai_arena *arena)
{
    size_t stride = problem->design->stride, size = gsai_fit_size(problem->design, n_columns);
    *fit = like ? *like : (gsai_fit){.n_columns = n_columns, .size = size};
    fit->problem = problem;
    float **vectors[] = {&fit->gradient, &fit->applied, &fit->next, &fit->direction};
    float **cells[] = {&fit->margin, &fit->margin_step, &fit->residual};
    fit->row = gsai_arena_take(arena, n_rows, sizeof *fit->row);
    fit->target = gsai_arena_take(arena, n_rows, sizeof *fit->target);
    fit->weight = gsai_arena_take(arena, n_rows, sizeof *fit->weight);
    fit->offset = problem->design->offset ? gsai_arena_take(arena, n_rows, sizeof *fit->offset) : NULL;
    fit->v = gsai_arena_take(arena, size, sizeof *fit->v);
    if (like)
        return;
    fit->total = gsai_arena_take(arena, stride, sizeof *fit->total);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = gsai_arena_take(arena, size, sizeof(float));
    fit->scaled = gsai_arena_take(arena, gsai_fit_entries_size(problem->design, n_columns), sizeof *fit->scaled);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        *cells[i] = gsai_arena_take(arena, n_rows, stride * sizeof(float));
    for (size_t i = 0; i < GSAI_MEMORY; i++) {
        fit->moved[i] = gsai_arena_take(arena, size, sizeof(float));
        fit->changed[i] = gsai_arena_take(arena, size, sizeof(float));
        fit->turned[i] = gsai_arena_take(arena, size, sizeof(float));
    }
}

void gsai_fit_rows(gsai_fit *fit, size_t n_rows)
{
    fit->n_rows = n_rows;
    for (size_t q = 0; q < n_rows; q++) {
        fit->target[q] = fit->problem->design->target[fit->row[q]];
        fit->weight[q] = fit->problem->design->weight[fit->row[q]];
        if (fit->offset)
            fit->offset[q] = fit->problem->design->offset[fit->row[q]];
    }
}

/* ---- passes over the rows ---------------------------------------------------------------------------------------- */

static gsai_row_list list_of(const gsai_design *design, const uint32_t *row, size_t n_rows)
{
    return (gsai_row_list){row, n_rows, design->dense, design->width, design->start, design->column, design->value};
}

void gsai_margins_of(const gsai_problem *problem, size_t n_columns, const uint32_t *row, size_t n_rows, const float *v,
                     float *scaled, float *margin)
{
    const gsai_design *design = problem->design;
    size_t stride = design->stride;
    gsai_row_list list = list_of(design, row, n_rows);
    size_t n_parts = gsai_design_parts(design), shift = gsai_design_shift(design);
    for (size_t j = 0; j < n_columns; j++) {
        float *to = scaled + (j < n_parts ? j : j + shift) * stride; /* parts come first, and are turned below */
        for (size_t k = 0; k < stride; k++)
            to[k] = problem->scale[j] * v[j * stride + k];
    }
    for (size_t k = 0; k < stride && n_rows > 0; k++) {
        double at = (double)v[k];
        for (size_t j = 1; j < n_columns && design->width == 0; j++)
            at -= (double)design->mean[j] * (double)scaled[(j < n_parts ? j : j + shift) * stride + k];
        margin[k] = (float)at;
    }
    if (design->bends)
        gsai_bends_turn(design->bends, stride, v + stride, problem->scale + 1, scaled + stride);
    for (size_t n = stride; n < n_rows * stride; n *= 2)
        memcpy(margin + n, margin, (n_rows * stride - n < n ? n_rows * stride - n : n) * sizeof *margin);
    problem->kernels->margins(&list, design->width > 0 ? scaled + stride : scaled, stride, margin);
}

static void gradient_of(const gsai_fit *fit, float *gradient)
{
    const gsai_problem *problem = fit->problem;
    const gsai_design *design = problem->design;
    size_t stride = design->stride;
    gsai_row_list list = list_of(design, fit->row, fit->n_rows);
    memset(gradient, 0, fit->size * sizeof *gradient);
    memset(fit->total, 0, stride * sizeof *fit->total);
    float *sums = design->bends ? fit->scaled : design->width > 0 ? gradient + stride : gradient;
    if (design->bends)
        memset(sums, 0, gsai_fit_entries_size(design, fit->n_columns) * sizeof *sums);
    problem->kernels->sums(&list, fit->residual, stride, sums);
    if (design->bends) {
        size_t n_parts = gsai_design_parts(design);
        gsai_bends_turn_back(design->bends, stride, sums + stride, gradient + stride);
        memcpy(gradient + n_parts * stride, sums + (n_parts + gsai_design_shift(design)) * stride,
               (fit->n_columns - n_parts) * stride * sizeof *gradient);
    }
    for (size_t q = 0; q < fit->n_rows; q++)
        for (size_t k = 0; k < stride; k++)
            fit->total[k] += (double)fit->residual[q * stride + k];
    for (size_t k = 0; k < stride; k++)
        gradient[k] = (float)fit->total[k];
    for (size_t j = 1; j < fit->n_columns && design->width == 0; j++)
        for (size_t k = 0; k < stride; k++)
            gradient[j * stride + k] -= design->mean[j] * gradient[k];
    for (size_t j = 0; j < fit->n_columns; j++)
        for (size_t k = 0; k < stride; k++)
            gradient[j * stride + k] *= problem->scale[j];
}

static gsai_rows_at rows_at(const gsai_fit *fit, const float *direction, float step)
{
    gsai_rows_at at = gsai_problem_rows(fit->problem, fit->target, fit->offset, fit->weight, fit->margin, fit->n_rows);
    at.direction = direction;
    at.step = step;
    at.residual = fit->residual;
    return at;
}

/* ---- the penalty ------------------------------------------------------------------------------------------------- */

struct parabola {
    double value, slope, bending;
};

/* lambda a . b, the intercept with its own. */
static double ridge_dot(const gsai_fit *fit, double lambda, const float *a, const float *b)
{
    double intercept = 0, all = fit->problem->kernels->math.dot(a, b, fit->size);
    for (size_t k = 0; k < fit->problem->design->stride; k++)
        intercept += (double)a[k] * (double)b[k];
    return lambda * (all - intercept) + gsai_intercept_penalty(lambda) * intercept;
}

/* The penalty of v + a d as a parabola of a. With a prior it is sum precision / 2 (v + a d - mean)^2. */
static struct parabola penalty_along(const gsai_fit *fit, const gsai_penalty *penalty)
{
    const gsai_prior *prior = fit->problem->prior;
    double lambda = penalty->lambda;
    struct parabola at = {0, 0, 0};
    if (penalty->share == 0)
        return (struct parabola){ridge_dot(fit, lambda, fit->v, fit->v) / 2,
                                 ridge_dot(fit, lambda, fit->v, fit->direction),
                                 ridge_dot(fit, lambda, fit->direction, fit->direction)};
    for (size_t i = 0; i < fit->n_columns * fit->problem->design->stride; i++) {
        double off = (double)fit->v[i] - (double)prior->mean[i], d = (double)fit->direction[i];
        double precision = (double)prior->precision[i];
        at.value += 0.5 * precision * off * off;
        at.slope += precision * off * d;
        at.bending += precision * d * d;
    }
    return at;
}

static void add_penalty(const gsai_fit *fit, const gsai_penalty *penalty, float *gradient)
{
    const gsai_prior *prior = fit->problem->prior;
    size_t stride = fit->problem->design->stride;
    if (penalty->share > 0) {
        for (size_t i = 0; i < fit->n_columns * stride; i++)
            gradient[i] += prior->precision[i] * (fit->v[i] - prior->mean[i]);
        return;
    }
    float own = (float)gsai_intercept_penalty(penalty->lambda), rest = (float)penalty->lambda;
    for (size_t k = 0; k < stride; k++)
        gradient[k] += own * fit->v[k];
    fit->problem->kernels->add(gradient + stride, rest, fit->v + stride, fit->size - stride);
}

/* ---- one minimisation -------------------------------------------------------------------------------------------- */

/* The two loops over what was remembered; the direction goes down. The inverse is applied to gradients only: what it
 * makes of their changes follows. */
static void find_direction(gsai_fit *fit, size_t n_steps)
{
    const gsai_solve_kernels *kernels = fit->problem->kernels;
    size_t n = fit->size, kept = n_steps < GSAI_MEMORY ? n_steps : GSAI_MEMORY;
    double share[GSAI_MEMORY], length = 1;
    memcpy(fit->next, fit->gradient, n * sizeof *fit->next);
    memcpy(fit->direction, fit->applied, n * sizeof *fit->next);
    for (size_t i = 1; i <= kept; i++) {
        size_t at = (n_steps - i) % GSAI_MEMORY;
        share[at] = fit->curvature[at] * kernels->math.dot(fit->moved[at], fit->next, n);
        kernels->add(fit->next, (float)-share[at], fit->changed[at], n);
        kernels->add(fit->direction, (float)-share[at], fit->turned[at], n);
    }
    if (kept > 0) {
        size_t at = (n_steps - 1) % GSAI_MEMORY;
        length = 1 / (fit->curvature[at] * kernels->math.dot(fit->changed[at], fit->turned[at], n));
    }
    for (size_t i = 0; i < n; i++)
        fit->direction[i] *= (float)-length;
    for (size_t i = kept; i >= 1; i--) {
        size_t at = (n_steps - i) % GSAI_MEMORY;
        double back = fit->curvature[at] * kernels->math.dot(fit->changed[at], fit->direction, n);
        kernels->add(fit->direction, (float)(-share[at] - back), fit->moved[at], n);
    }
}

/* The step by Newton's method between brackets, to a slope of a tenth; by halving where that is slow to come back from
 * a step too far, as down an exponential; at most `most`, from 1 on. Leaves the residuals there. False: none found that
 * is better. */
static bool search_line(gsai_fit *fit, const struct parabola *penalty, double slope, double most, double *step,
                        double *objective)
{
    double a = 1, low = 0, high = -1, before = fit->objective;
    for (int i = 0; i < LINE_TRIES; i++) {
        gsai_rows_at at = rows_at(fit, fit->margin_step, (float)a);
        fit->problem->loss(&at);
        double g = at.slope + penalty->slope + a * penalty->bending, h = at.bending + penalty->bending;
        *objective = at.value + penalty->value + a * penalty->slope + a * a / 2 * penalty->bending;
        *step = a;
        if ((fabs(g) < SLOPE_LEFT * slope || (a >= most && g < 0)) && *objective <= before + ROUNDING * fabs(before))
            return true;
        if (g > 0)
            high = a;
        else
            low = a;
        double next = a - g / h;
        if (!(next > low) || (high > 0 && (!(next < high) || (i > NEWTON_TRIES && *objective > 2 * before))))
            next = high > 0 ? (low + high) / 2 : 2 * a;
        a = fmin(high < 0 && next > 4 * a ? 4 * a : next, most);
    }
    return *objective <= before;
}

/* ---- signs of weights -------------------------------------------------------------------------------------------- */

#define MAX_SWEEPS 200
#define SWEEP_GAIN 1e-4

/* Finds the direction to the minimum of the quadratic model, by coordinate descent, where weights keep their signs.
 * Returns how far it may be followed, 1 at least. */
static double find_signed_direction(gsai_fit *fit)
{
    const gsai_problem *problem = fit->problem;
    const int8_t *sign = problem->design->sign;
    const size_t n = fit->n_columns;
    float *slope = fit->next, *d = fit->direction;
    double most = INFINITY, all = 0, gain = INFINITY;
    memcpy(slope, fit->gradient, fit->size * sizeof *slope);
    memset(d, 0, fit->size * sizeof *d);
    for (int sweep = 0; sweep < MAX_SWEEPS && gain > SWEEP_GAIN * all; sweep++) {
        gain = 0;
        for (size_t j = 0; j < n; j++) {
            const float *row = fit->inverse.factor + j * gsai_padded(n);
            if (!(row[j] > 0))
                continue;
            float at = fit->v[j] + d[j], to = at - slope[j] / row[j];
            to = to * (float)sign[j] < 0 ? 0 : to;
            float moved = to - at;
            d[j] = to - fit->v[j];
            gain += 0.5 * (double)row[j] * (double)moved * (double)moved;
            if (moved != 0)
                problem->kernels->add(slope, moved, row, n);
        }
        all += gain;
    }
    for (size_t j = 0; j < n; j++)
        if (d[j] * (float)sign[j] < 0)
            most = fmin(most, -(double)fit->v[j] / (double)d[j]);
    return fmax(most, 1);
}

/* Adds to the model what a step has shown of the curvature, as BFGS does. */
static void learn_curvature(gsai_fit *fit, size_t at)
{
    const gsai_solve_kernels *kernels = fit->problem->kernels;
    const size_t n = fit->n_columns, padded = gsai_padded(n);
    float *model = fit->inverse.factor, *applied = fit->applied;
    for (size_t j = 0; j < n; j++)
        applied[j] = (float)kernels->math.dot(model + j * padded, fit->moved[at], padded);
    double known = kernels->math.dot(fit->moved[at], applied, padded);
    for (size_t j = 0; j < n && known > 0; j++) {
        kernels->add(model + j * padded, (float)(fit->curvature[at] * (double)fit->changed[at][j]), fit->changed[at],
                     n);
        kernels->add(model + j * padded, (float)(-(double)applied[j] / known), applied, n);
    }
}

/* ---- one minimisation -------------------------------------------------------------------------------------------- */

/* Finds the gradient after a step; returns whether the step is to be remembered. */
static bool remember(gsai_fit *fit, const gsai_penalty *penalty, size_t at)
{
    const gsai_solve_kernels *kernels = fit->problem->kernels;
    size_t n = fit->size;
    gradient_of(fit, fit->next);
    add_penalty(fit, penalty, fit->next);
    for (size_t i = 0; i < n; i++)
        fit->changed[at][i] = fit->next[i] - fit->gradient[i];
    memcpy(fit->gradient, fit->next, n * sizeof *fit->next);
    double product = kernels->math.dot(fit->moved[at], fit->changed[at], n);
    fit->curvature[at] = 1 / product;
    bool is_sound = product > 0 && isfinite(fit->curvature[at]);
    if (fit->problem->design->sign) {
        if (is_sound)
            learn_curvature(fit, at);
        return is_sound;
    }
    gsai_inverse_apply(&fit->inverse, fit->problem, fit->n_columns, fit->gradient, fit->next);
    for (size_t i = 0; i < n; i++)
        fit->turned[at][i] = fit->next[i] - fit->applied[i];
    memcpy(fit->applied, fit->next, n * sizeof *fit->next);
    return is_sound;
}

gsa_status gsai_fit_minimise(gsai_fit *fit, const gsai_penalty *penalty, double tolerance, size_t max_iterations,
                             gsa_error *error)
{
    const gsai_problem *problem = fit->problem;
    const int8_t *sign = problem->design->sign;
    size_t n_steps = 0;
    for (size_t j = 1; sign && j < fit->n_columns; j++)
        fit->v[j] = fit->v[j] * (float)sign[j] < 0 ? 0 : fit->v[j];
    gsai_margins_of(problem, fit->n_columns, fit->row, fit->n_rows, fit->v, fit->scaled, fit->margin);
    gsai_rows_at at = rows_at(fit, NULL, 0);
    problem->loss(&at);
    gradient_of(fit, fit->gradient);
    add_penalty(fit, penalty, fit->gradient);
    if (!sign)
        gsai_inverse_apply(&fit->inverse, problem, fit->n_columns, fit->gradient, fit->applied);
    fit->objective = at.value + penalty_along(fit, penalty).value;
    for (fit->n_iterations = 0; fit->n_iterations < max_iterations;) {
        double step, objective, most = INFINITY;
        if (gsai_should_stop(problem->env))
            return gsai_fail(error, GSA_STOPPED, "stopped on request");
        if (sign)
            most = find_signed_direction(fit);
        else
            find_direction(fit, n_steps);
        double slope = -problem->kernels->math.dot(fit->gradient, fit->direction, fit->size);
        if (!(slope > 0) || slope / 2 < 1e-2 * tolerance * fit->objective)
            break;
        gsai_margins_of(problem, fit->n_columns, fit->row, fit->n_rows, fit->direction, fit->scaled, fit->margin_step);
        struct parabola penalty_at = penalty_along(fit, penalty);
        if (!search_line(fit, &penalty_at, slope, most, &step, &objective))
            break;
        float *moved = fit->moved[n_steps % GSAI_MEMORY];
        for (size_t i = 0; i < fit->size; i++)
            moved[i] = (float)step * fit->direction[i];
        problem->kernels->add(fit->v, 1, moved, fit->size);
        for (size_t j = 1; sign && j < fit->n_columns; j++) /* but for rounding */
            fit->v[j] = fit->v[j] * (float)sign[j] < 0 ? 0 : fit->v[j];
        double gain = fit->objective - objective;
        fit->objective = objective;
        fit->n_iterations++;
        if (gain < tolerance * fit->objective)
            break;
        problem->kernels->add(fit->margin, (float)step, fit->margin_step, fit->n_rows * problem->design->stride);
        n_steps = remember(fit, penalty, n_steps % GSAI_MEMORY) ? n_steps + 1 : 0;
    }
    return GSA_OK;
}
