/* The prior, from a state and today's columns. */
#include "solve/fit.h"

#include "learn/state.h"

#include "base/error.h"

#include <math.h>

const double gsai_shares[GSAI_SHARES] = {1, 0.99, 0.97, 0.94, 0.88, 0.75, 0.5, 0.2};

size_t gsai_prior_shares(const gsai_design *design)
{
    for (size_t i = 1; i < design->n_rows; i++)
        if (design->target[i] != design->target[0])
            return GSAI_SHARES;
    return 1;
}

/* More rows than this, or a feature whose values were far larger, are as good as it. */
#define MAX_ROWS 1e15

/* Yesterday's weights, of which those of a new feature are 0, and their certainty: a sum of squares as the number of
 * rows like today's that would have it. A statement about squares around 0 holds for those around the mean. */
static void take_weights(const gsai_problem *problem, const gsa_state *state, size_t n_rows)
{
    const gsai_design *design = problem->design;
    const gsai_table *table = gsai_state_table(state);
    gsai_prior *prior = problem->prior;
    size_t stride = design->stride;
    double joined = design->total_weight / (double)n_rows;
    for (size_t k = 0; k < design->n_outputs; k++) {
        double intercept = (double)gsai_table_slot(table, 0)[k].f + gsai_state_label_offset(state);
        intercept -= design->margin_origin;
        for (size_t j = 1; j < design->n_columns; j++) {
            size_t slot = (size_t)design->id[j] + 1;
            double w = slot < table->n_slots ? (double)gsai_table_slot(table, slot)[k].f : 0;
            float standard = (float)(w * design->unit[j] / design->margin_unit);
            prior->standard[j * stride + k] = isfinite(standard) ? standard : 0;
            intercept += w * gsai_design_middle(design, j);
        }
        prior->standard[k] = problem->has_intercept ? (float)(intercept / design->margin_unit) : 0;
    }
    for (size_t j = 0; j < design->n_columns; j++) {
        double middle = gsai_design_middle(design, j), unit = design->unit[j];
        double square = j == 0 ? 1 : design->variance[j] * unit * unit + middle * middle;
        double sum_sq = gsai_state_sum_sq(state, j == 0 ? 0 : (size_t)design->id[j] + 1);
        double rows = square > 0 ? joined * sum_sq / square : 0;
        prior->rows[j] = rows < MAX_ROWS ? rows : MAX_ROWS;
    }
}

/* The mean curvature of today's rows under yesterday's weights. For probabilities of several classes each has its own,
 * p (1 - p) from the residuals p - y: one that is new has next to none, and no certainty. Columns have the scale 1.
 * Returns false where yesterday's margins are not finite. */
static bool measure_curvature(const gsai_problem *problem, const uint32_t *row, float *scratch, float *cells)
{
    const gsai_design *design = problem->design;
    gsai_prior *prior = problem->prior;
    size_t n = design->n_rows, stride = design->stride;
    float *margin = cells, *residual = margin + n * stride, *curvature = residual + n * stride;
    bool by_class = stride > 1 && problem->has_probabilities;
    double total = 0, mean = 0;
    gsai_margins_of(problem, design->n_columns, row, n, prior->standard, scratch, margin);
    gsai_rows_at at = gsai_problem_rows(problem, design->target, design->offset, design->weight, margin, n);
    at.residual = residual;
    at.curvature = curvature;
    problem->loss(&at);
    for (size_t i = 0; i < n; i++) {
        double c = (double)design->weight[i];
        total += c;
        mean += (double)curvature[i];
        for (size_t k = 0; k < design->n_outputs && by_class; k++) {
            double p = (double)residual[i * stride + k] / c + ((size_t)design->target[i] == k ? 1 : 0);
            prior->curvature[k] += p > 0 && p < 1 ? c * p * (1 - p) : 0;
        }
    }
    for (size_t k = 0; k < design->n_outputs; k++)
        prior->curvature[k] = (by_class ? prior->curvature[k] : mean) / total;
    return isfinite(at.value) && isfinite(mean);
}

gsa_status gsai_prior_make(gsai_problem *problem, const gsa_state *state, size_t n_rows, gsai_arena *arena,
                           gsa_error *error)
{
    const gsai_design *design = problem->design;
    gsai_arena own = {.env = problem->env};
    gsai_problem unscaled = *problem;
    size_t n = design->n_rows, n_columns = design->n_columns, size = gsai_fit_size(design, n_columns);
    if (gsai_state_rows_behind(state) == 0)
        return GSA_OK;
    gsai_prior *prior = gsai_arena_take(arena, 1, sizeof *prior);
    GSA_TRY(gsai_arena_check(arena, "the weights to start from", error));
    prior->standard = gsai_arena_take(arena, size, sizeof *prior->standard);
    prior->rows = gsai_arena_take(arena, n_columns, sizeof *prior->rows);
    prior->curvature = gsai_arena_take(arena, design->stride, sizeof *prior->curvature);
    prior->mean = gsai_arena_take(arena, size, sizeof *prior->mean);
    prior->precision = gsai_arena_take(arena, size, sizeof *prior->precision);
    prior->column = gsai_arena_take(arena, n_columns, sizeof *prior->column);
    GSA_TRY(gsai_arena_check(arena, "the weights to start from", error));
    uint32_t *row = gsai_arena_take(&own, n, sizeof *row);
    float *scratch = gsai_arena_take(&own, size, sizeof *scratch);
    unscaled.scale = gsai_arena_take(&own, n_columns, sizeof(float));
    float *cells = gsai_arena_take(&own, n, (2 * design->stride + 1) * sizeof *cells);
    gsa_status status = gsai_arena_check(&own, "the rows under the weights to start from", error);
    if (status == GSA_OK) {
        for (size_t i = 0; i < n; i++)
            row[i] = (uint32_t)i;
        for (size_t j = 0; j < n_columns; j++)
            unscaled.scale[j] = 1;
        unscaled.prior = prior;
        take_weights(&unscaled, state, n_rows);
        problem->prior = measure_curvature(&unscaled, row, scratch, cells) ? prior : NULL;
    }
    gsai_arena_release(&own);
    return status;
}

void gsai_prior_set(const gsai_problem *problem, const gsai_penalty *penalty)
{
    double lambda = penalty->lambda, share = penalty->share, all = 0;
    const gsai_design *design = problem->design;
    gsai_prior *prior = problem->prior;
    size_t stride = design->stride;
    for (size_t j = 0; j < design->n_columns; j++) {
        double scale = (double)problem->scale[j], rows = prior->rows[j] * scale * scale * design->variance[j], sum = 0;
        double own = j == 0 ? gsai_intercept_penalty(lambda) : lambda, kept = j == 0 ? 1 : sqrt(fmin(share, 1));
        double certain = j == 0 ? fmin(share, 1) : share, drifted = fmax(1 - share, 0);
        for (size_t k = 0; k < design->n_outputs; k++) {
            double p = rows * prior->curvature[k]; /* of which a share counts, beyond lambda */
            double precision = own + certain * p / (1 + drifted * p / lambda);
            size_t i = j * stride + k;
            prior->mean[i] = scale > 0 ? (float)(kept * (double)prior->standard[i] / scale) : 0;
            prior->precision[i] = (float)precision;
            sum += precision;
        }
        prior->column[j] = sum / (double)design->n_outputs;
    }
    for (size_t k = 0; k < design->n_outputs; k++)
        all += prior->curvature[k] / (double)design->n_outputs;
    prior->n_rows = all > 0 ? prior->column[0] / all : 0;
}
