/* A state from the optimum of its rows. */
#include "solve/solve.h"

#include "solve/optimum.h"
#include "solve/sweeps.h"

#include "learn/compact.h"
#include "learn/engine.h"
#include "learn/learner.h"
#include "learn/lineage.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/real.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct gsai_solver {
    gsai_env env;
    gsa_state *state; /* knows the labels of all rows; becomes the solution */
    gsai_gathered rows;
    gsa_fingerprint fingerprint;
    uint64_t n_taken; /* rows, those of weight 0 included */
};

/* Strengths on the path: up to a prior variance of margins of 1024; numbers may be predicted far more exactly. */
#define STRENGTHS_CLASSES 8u
#define STRENGTHS_NUMBERS 18u
/* The smallest width of a loss, in units of the label: labels that are fitted exactly have no outliers to tell. */
#define MIN_WIDTH 1e-6
/* Solutions with a width until it moves by less than this share. */
#define ROUND_GAIN 0.05
#define MAX_ROUNDS 6

static bool can_solve(const gsa_state *state)
{
    return state->n_rows == 0 && state->loss->rows;
}

gsa_status gsai_solver_new(const gsa_state *state, const gsa_batch *first, const gsai_env *env, gsai_solver **out,
                           gsa_error *error)
{
    gsai_solver *solver = gsai_alloc_zeroed(env, 1, sizeof *solver);
    *out = NULL;
    GSAI_TRY_MEMORY(solver, env, error, "no memory to solve");
    solver->env = *env;
    solver->rows.env = *env;
    gsa_status status = gsa_state_fork(state, 1, &solver->state, error);
    if (status == GSA_OK) {
        solver->state->run_id = state->run_id; /* it begins with these rows, not as a copy */
        status = gsa_state_prepare(solver->state, first, error);
    }
    if (status == GSA_OK && can_solve(solver->state)) {
        gsai_scaling_close(solver->state);
        *out = solver;
        return GSA_OK;
    }
    gsai_solver_free(solver);
    return status;
}

void gsai_solver_free(gsai_solver *solver)
{
    if (!solver)
        return;
    gsa_state_free(solver->state);
    gsai_gathered_release(&solver->rows);
    gsai_env env = solver->env;
    gsai_free(&env, solver);
}

const gsa_state *gsai_solver_state(const gsai_solver *solver)
{
    return solver->state;
}

/* Vectors of weights that a solution has at once, on a path and by sweeps, and margins of a row. */
#define VECTORS 64u
#define VECTORS_OF_SWEEPS 8u
#define MARGINS 24u

uint64_t gsai_solver_cells(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs)
{
    return 4 * n_entries + MARGINS * n_rows * n_outputs;
}

static bool too_many(const gsai_solver *solver)
{
    const gsai_gathered *rows = &solver->rows;
    uint64_t n_features = rows->n_features, n_outputs = solver->state->table.n_outputs;
    bool sweeps = n_outputs > 1 && n_features > GSAI_FACTOR_COLUMNS && solver->state->loss->has_probabilities;
    uint64_t per_feature = sweeps ? VECTORS_OF_SWEEPS : VECTORS;
    return n_outputs > GSAI_MAX_OUTPUTS ||
           gsai_solver_cells(rows->n_rows, rows->n_entries, n_outputs) + per_feature * n_features * n_outputs >
               GSAI_SOLVER_CELLS;
}

gsa_status gsai_solver_add(gsai_solver *solver, const gsa_batch *batch, bool *fits, gsa_error *error)
{
    gsa_status status = gsai_gather(&solver->rows, solver->state, batch, error);
    for (size_t row = 0; row < batch->n_rows && status == GSA_OK; row++)
        gsai_fingerprint_add_row(&solver->fingerprint, gsai_row_hash(batch, row));
    solver->n_taken += batch->n_rows;
    *fits = status == GSA_OK && !too_many(solver);
    return status;
}

/* ---- the state of a solution ------------------------------------------------------------------------------------- */

/* The loss of the best constant prediction. NaN for losses that have none. */
static gsa_status constant_loss(const gsa_state *state, const gsai_design *design, double *out, gsa_error *error)
{
    double *of_class = gsai_alloc_zeroed(&design->env, state->labels.n + 1, sizeof *of_class);
    gsai_label_totals totals = {.class_weight = of_class, .n_classes = state->labels.n};
    GSAI_TRY_MEMORY(of_class, &design->env, error, "no memory for the weights of %zu classes", state->labels.n);
    for (size_t i = 0; i < design->n_rows; i++) {
        double weight = (double)design->weight[i], y = (double)design->target[i];
        totals.weight += weight;
        totals.mean_square += weight * y * y / design->total_weight; /* labels are measured from their mean */
        if (state->loss->has_log_link) {
            totals.mean += weight * y / design->total_weight;
            totals.mean_log += y > 0 ? weight * y * gsai_log(y) / design->total_weight : 0;
        }
        if (gsai_loss_has_classes(state->loss))
            of_class[(size_t)y] += weight;
    }
    *out = state->loss->constant ? state->loss->constant(&totals) : (double)NAN;
    *out *= design->loss_unit;
    gsai_free(&design->env, of_class);
    return GSA_OK;
}

/* The weights of features, in their own units; those of columns that do not vary, and of features that are not there,
 * stay. Returns in intercept[k] what makes up for where columns begin, with the weights as they are rounded. */
static gsa_status set_weights(gsa_state *state, const gsai_design *design, const gsai_optimum *optimum,
                              double *intercept, gsa_error *error)
{
    size_t n_outputs = design->n_outputs, highest = 0;
    double unit = design->margin_unit;
    for (size_t j = 1; j < design->n_columns; j++)
        highest = design->id[j] > highest ? design->id[j] : highest;
    GSA_TRY(gsai_table_grow(&state->table, design->n_columns > 1 ? highest + 2 : 1, &state->env, error));
    for (size_t k = 0; k < n_outputs; k++)
        intercept[k] = optimum->weight[k] * unit;
    for (size_t j = 1; j < design->n_columns; j++) {
        gsai_cell *cell = gsai_table_slot(&state->table, (size_t)design->id[j] + 1);
        double middle = design->origin[j] + (double)design->mean[j] * design->unit[j];
        for (size_t k = 0; k < n_outputs; k++) {
            double exact = optimum->weight[j * n_outputs + k] * unit / design->unit[j];
            if (design->variance[j] > 0)
                cell[k].f = isfinite((float)exact) ? (float)exact : 0;
            intercept[k] +=
                (double)design->mean[j] * optimum->weight[j * n_outputs + k] * unit - (double)cell[k].f * middle;
        }
    }
    return GSA_OK;
}

/* Returns the share of n rows as a whole number, at least 1. */
static double part_of(double n, double share)
{
    double part = floor(n * share + 0.5);
    return n > 0 && part < 1 ? 1 : part;
}

/* Lets a share of the rows of earlier runs count. Means stay as they were: counts become whole numbers, and sums
 * follow. */
static gsa_status forget(gsa_state *state, double share, gsa_error *error)
{
    gsa_status status = gsai_state_fold(state, error);
    for (size_t slot = 0; slot < state->prior.n && status == GSA_OK; slot++) {
        double before = (double)state->prior.count[slot], after = part_of(before, share);
        state->prior.count[slot] = (uint64_t)after;
        state->prior.sum_sq[slot] *= before > 0 ? after / before : share;
    }
    for (size_t slot = 0; slot < state->centre.n; slot++) {
        gsai_column *column = &state->centre.at[slot];
        double after = part_of(column->n, share);
        column->squares *= column->n > 0 ? after / column->n : 0;
        column->n = after;
    }
    state->rows_behind = (uint64_t)part_of((double)state->rows_behind, share);
    return status;
}

/* One pass that moves no weight: counts, sums of squares, the mean step at the optimum. */
static gsa_status measure_rows(gsai_solver *solver, gsa_error *error)
{
    gsa_state *state = solver->state;
    const gsai_gathered *rows = &solver->rows;
    gsa_status status = GSA_OK;
    double mean = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        gsai_row_weights_add(&state->row_weights, rows->weight[i]);
        mean += rows->weight[i] / (double)rows->n_rows;
    }
    for (size_t i = 0; i < rows->n_rows; i++)
        gsai_class_sums_add(state, rows->class_number[i], rows->weight[i] / mean);
    state->is_frozen = true;
    for (size_t i = 0; i < rows->n_rows && status == GSA_OK; i++) {
        gsai_row row = {rows->start[i + 1] - rows->start[i], rows->index + rows->start[i],
                        rows->value + rows->start[i]};
        double c;
        status = gsai_class_weight_of(state, rows->class_number[i], rows->weight[i] / mean, &c, error);
        if (status == GSA_OK)
            status = gsai_state_learn(state, &row, rows->class_number[i], rows->number[i], c, error);
        if (status == GSA_OK && i % 256 == 0 && gsai_should_stop(&solver->env))
            status = gsai_fail(error, GSA_STOPPED, "stopped on request");
    }
    if (status == GSA_OK)
        status = gsa_state_close_group(state, error);
    state->is_frozen = false;
    return status;
}

/* An intercept is a float and the rest that it lacks is in the average's term. */
static void set_intercepts(gsa_state *state, const double *intercept)
{
    double total = gsai_averaging_total(state, state->averaging.now);
    gsai_cell *weight = gsai_table_slot(&state->table, 0), *average = weight + gsai_table_average(&state->table);
    for (size_t k = 0; k < state->table.n_outputs && total > 0; k++)
        average[k].f = (float)(total * ((double)weight[k].f - intercept[k]));
}

/* Returns the results of an optimum, in units of the label. The penalty is also said as others define it: C of
 * LogisticRegression and LinearSVC, alpha of Ridge and PoissonRegressor. With a prior it has another meaning. */
static gsai_results results_of(const gsa_state *state, const gsai_design *design, const gsai_optimum *optimum)
{
    gsai_results out = optimum->results;
    double lambda = out.at[GSAI_RESULT_lambda];
    bool halves = state->loss == gsai_loss_find("squared_hinge"); /* the square, which LinearSVC does not */
    if (optimum->share == 0 && gsai_loss_has_classes(state->loss))
        out.at[GSAI_RESULT_C] = halves ? 0.5 / lambda : 1 / lambda;
    else if (optimum->share == 0)
        out.at[GSAI_RESULT_alpha] =
            state->loss->has_log_link ? lambda * design->loss_unit / design->total_weight : lambda;
    out.at[GSAI_RESULT_mae] *= state->loss->has_log_link ? design->loss_unit : design->margin_unit;
    out.at[GSAI_RESULT_calibration_shift] *= design->margin_unit;
    return out;
}

static gsa_status make_state(gsai_solver *solver, const gsai_design *design, const gsai_optimum *optimum,
                             gsa_error *error)
{
    gsa_state *state = solver->state;
    double *intercept = gsai_alloc(&solver->env, design->n_outputs, sizeof *intercept);
    GSAI_TRY_MEMORY(intercept, &solver->env, error, "no memory for %zu intercepts", design->n_outputs);
    if (gsai_loss_has_offset(state->loss) && state->params.value[GSAI_PARAM_intercept])
        state->label_offset = (gsai_label_offset){
            design->margin_origin, state->loss->has_log_link ? design->loss_unit : design->margin_origin, 1, 1};
    state->standardised = optimum->standardised;
    state->results = results_of(state, design, optimum);
    gsa_status status = set_weights(state, design, optimum, intercept, error);
    for (size_t k = 0; k < design->n_outputs && status == GSA_OK; k++)
        gsai_table_slot(&state->table, 0)[k].f = (float)intercept[k];
    if (status == GSA_OK && state->rows_behind > 0)
        status = forget(state, optimum->share, error);
    if (status == GSA_OK)
        status = measure_rows(solver, error);
    state->residuals = optimum->residuals;
    state->n_solved = design->n_different;
    state->averaging.now = design->n_different; /* what rows that follow are weighed against: copies of a row are one */
    if (status == GSA_OK && state->params.value[GSAI_PARAM_intercept])
        set_intercepts(state, intercept);
    gsai_free(&solver->env, intercept);
    if (status != GSA_OK)
        return status;
    state->rows = solver->fingerprint;
    state->position.pass_rows = solver->n_taken;
    gsa_state_end_pass(state);
    state->position.held_out_loss = optimum->held_out_loss * design->loss_unit;
    return constant_loss(state, design, &state->position.constant_loss, error);
}

static gsa_status find(gsai_problem *problem, gsai_arena *arena, size_t n_threads, gsai_optimum *out, gsa_error *error)
{
    return gsai_sweeps_suit(problem->design) && problem->has_probabilities
               ? gsai_sweeps_find(problem, arena, out, error)
               : gsai_optimum_find(problem, arena, n_threads, out, error);
}

/* Finds the optimum of a loss with a width, and the width: that of the labels first, whose unit is their scale, then
 * that of the residuals, until it stays. */
static gsa_status find_with_width(gsai_problem *problem, gsai_arena *arena, size_t n_threads, gsai_optimum *out,
                                  gsa_error *error)
{
    const gsai_design *design = problem->design;
    double *residual = gsai_arena_take(arena, design->n_rows, sizeof *residual), before = INFINITY, width = GSAI_WIDTH;
    GSA_TRY(gsai_arena_check(arena, "the residuals", error));
    for (size_t i = 0; i < design->n_rows; i++)
        residual[i] = (double)design->target[i];
    /* Labels without noise leave no width to find: from weights of 0 it would be too small to move them. */
    for (int round = 0;
         round == 0 || (round < MAX_ROUNDS && width > 10 * MIN_WIDTH && fabs(width - before) > ROUND_GAIN * width);
         round++) {
        before = width;
        width = gsai_residuals_solve(residual, design->weight, design->n_rows, width);
        problem->width = (float)fmin(fmax(width, MIN_WIDTH), FLT_MAX);
        *out = (gsai_optimum){.results = gsai_results_none()};
        problem->n_after = round == 0 ? GSAI_EXPECTED_STRENGTHS : 0;
        GSA_TRY(find(problem, arena, n_threads, out, error));
        for (size_t i = 0; i < design->n_rows; i++)
            residual[i] = gsai_design_margin(design, i, out->weight) - (double)design->target[i];
        width = gsai_residuals_solve(residual, design->weight, design->n_rows, width);
    }
    out->held_out_loss += (double)problem->width * design->clipped;
    if (design->clipped > 0) /* these would be of the clipped labels */
        out->results.at[GSAI_RESULT_r2] = out->results.at[GSAI_RESULT_mae] = NAN;
    out->residuals =
        gsai_residuals_of(residual, design->weight, design->n_rows, (double)problem->width, design->margin_unit);
    return GSA_OK;
}

/* Makes the solver's state that of the optimum of its rows. */
static gsa_status solve(gsai_solver *solver, size_t n_threads, gsai_strength_hook hook, gsa_error *error)
{
    gsai_design design = {.env = solver->env};
    gsai_arena arena = {.env = &solver->env};
    gsai_optimum optimum = {.results = gsai_results_none()};
    gsa_state *own = solver->state;
    gsa_status status = gsai_design_make(&design, &solver->rows, own, error);
    gsai_problem problem = {.design = &design,
                            .loss = own->loss->rows,
                            .kernels = gsai_solve_kernels_best(),
                            .env = &solver->env,
                            .hook = hook,
                            .loss_name = gsai_loss_name(own->loss),
                            .width = FLT_MAX, /* none yet */
                            .asked = own->params.value[GSAI_PARAM_scale],
                            .n_strengths = gsai_loss_has_classes(own->loss) ? STRENGTHS_CLASSES : STRENGTHS_NUMBERS,
                            .has_intercept = own->params.value[GSAI_PARAM_intercept],
                            .n_classes = own->labels.n,
                            .has_log_link = own->loss->has_log_link,
                            .has_probabilities = gsai_loss_has_probabilities(own->loss)};
    if (status == GSA_OK)
        status = gsai_prior_make(&problem, own, solver->rows.n_rows, &arena, error);
    if (status == GSA_OK)
        status = own->loss->has_width ? find_with_width(&problem, &arena, n_threads, &optimum, error)
                                      : find(&problem, &arena, n_threads, &optimum, error);
    if (gsai_params_balance(&own->params)) /* rows do not count alike */
        optimum.results.at[GSAI_RESULT_accuracy] = NAN;
    if (status == GSA_OK)
        status = make_state(solver, &design, &optimum, error);
    gsai_arena_release(&arena);
    gsai_design_release(&design);
    return status;
}

/* ---- compact: how many features are enough is measured on a part of the rows, by the optimum of the rest --------- */

/* Rows with equal features are on one side. */
static bool is_held(const gsai_gathered *rows, size_t i)
{
    return gsai_mix(rows->hash[i]) % GSAI_FOLDS == 0;
}

static gsa_status solve_rest(const gsai_solver *solver, gsai_solver *rest, gsai_gathered *held, size_t n_threads,
                             gsa_error *error)
{
    const gsai_gathered *rows = &solver->rows;
    for (size_t i = 0; i < rows->n_rows; i++)
        GSA_TRY(gsai_gathered_copy(is_held(rows, i) ? held : &rest->rows, rows, i, error));
    if (held->n_rows < GSAI_COMPACT_MIN_ROWS || rest->rows.n_rows == 0)
        return GSA_OK;
    GSA_TRY(gsa_state_fork(solver->state, 1, &rest->state, error));
    return solve(rest, n_threads, (gsai_strength_hook){0}, error);
}

static gsa_status measure(const gsai_solver *solver, size_t n_threads, gsai_compaction *out, gsa_error *error)
{
    gsai_solver rest = {.env = solver->env, .rows.env = solver->env};
    gsai_gathered held = {.env = solver->env};
    gsa_status status = solve_rest(solver, &rest, &held, n_threads, error);
    gsai_unlearned_rows rows = {gsai_gathered_at, &held, held.n_rows, &solver->env};
    if (status == GSA_OK && rest.state)
        status = gsai_compact_measure(rest.state, &rows, out, error);
    gsa_state_free(rest.state);
    gsai_gathered_release(&rest.rows);
    gsai_gathered_release(&held);
    return status;
}

/* Drops features. What that costs was measured on few rows: where it seems to gain, the losses stay as they are. */
static gsa_status drop_features(gsai_solver *solver, const gsai_compaction *measured, gsa_error *error)
{
    gsai_unlearned_rows rows = {gsai_gathered_at, &solver->rows, solver->rows.n_rows, &solver->env};
    gsa_state *state = solver->state;
    double cost = fmax(0, measured->loss_after - measured->loss_before);
    state->compaction = *measured;
    state->position.held_out_loss += cost;
    state->position.last_pass_loss += cost;
    return gsai_compact_apply(state, &rows, error);
}

gsa_status gsai_solver_solve(gsai_solver *solver, gsa_state *state, size_t n_threads, gsai_strength_hook hook,
                             gsa_error *error)
{
    gsa_state *own = solver->state;
    gsai_compaction measured = {0};
    if (solver->rows.n_rows == 0)
        return gsai_fail(error, GSA_INPUT, "no row has a weight above 0: nothing to learn");
    if (own->params.value[GSAI_PARAM_compact])
        GSA_TRY(measure(solver, n_threads, &measured, error));
    GSA_TRY(solve(solver, n_threads, hook, error));
    if (measured.n_before > 0)
        GSA_TRY(drop_features(solver, &measured, error));
    solver->state = NULL;
    return gsa_state_replace(state, own, error);
}
