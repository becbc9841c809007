/* The state of an optimum. */
#include "learn/solution.h"

#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/state_slots.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/* Returns the share of n rows as a whole number, at least 1. */
static double part_of(double n, double share)
{
    double part = floor(n * share + 0.5);
    return n > 0 && part < 1 ? 1 : part;
}

/* One pass that moves no weight: counts, sums of squares, the mean step at the optimum. */
static gsa_status measure_rows(gsa_state *state, const gsai_unlearned_rows *rows, gsa_error *error)
{
    gsa_status status = GSA_OK;
    double mean = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double weight = rows->at(rows->ctx, i).weight;
        gsai_row_weights_add(&state->row_weights, weight);
        mean += weight / (double)rows->n;
    }
    for (size_t i = 0; i < rows->n && gsai_params_balance(&state->params); i++) {
        gsai_unlearned row = rows->at(rows->ctx, i);
        gsai_class_sums_add(state, row.class_number, row.weight / mean);
    }
    state->is_frozen = true;
    for (size_t i = 0; i < rows->n && status == GSA_OK; i++) {
        gsai_unlearned row = rows->at(rows->ctx, i);
        gsai_row_scan scan = {.is_finite = true}; /* such rows have finite values and no zeros */
        double c;
        status = gsai_basis_bend_row(&state->basis, &state->bent, &state->env, &row.row, error);
        for (size_t e = 0; e < row.row.n && status == GSA_OK; e++)
            scan.highest = row.row.index[e] > scan.highest ? row.row.index[e] : scan.highest;
        if (status == GSA_OK)
            status = gsai_class_weight_of(state, row.class_number, row.weight / mean, &c, error);
        if (status == GSA_OK)
            status = gsai_state_learn(state, &row.row, &scan, row.class_number, row.number, c, error);
        if (status == GSA_OK && i % 256 == 0 && gsai_should_stop(rows->env))
            status = gsai_fail(error, GSA_STOPPED, "stopped on request");
    }
    if (status == GSA_OK)
        status = gsai_state_close_own_group(state, error);
    state->is_frozen = false;
    return status;
}

/* No row was at the outer knots of a curve. They count as if they had been as common as the knots beside them: a row
 * with a millionth of one would otherwise move it by millions. */
static void count_outer_knots(gsa_state *state)
{
    const gsai_basis *basis = &state->basis;
    gsai_table *table = &state->table;
    for (size_t i = 0; i < 2 * basis->n; i++) {
        const gsai_curve *curve = &basis->curve[i / 2];
        size_t last = curve->n_knots - 1, low = (size_t)basis->at + curve->first + 1, n = 0, from;
        do
            from = low + (i % 2 ? last - n : n);
        while (gsai_state_n_seen(state, from) == 0 && n++ < last);
        if (n == 0 || n > last || basis->knot[curve->first + (i % 2 ? last : 0)] == 0)
            continue;
        size_t outer = low + (i % 2 ? last : 0);
        gsai_table_use(table, outer);
        memcpy(gsai_table_slot(table, outer) + gsai_table_mean(table),
               gsai_table_slot(table, from) + gsai_table_mean(table), 2 * sizeof(gsai_cell));
    }
}

/* Nodes of surfaces that no row had count as if they had been as common as a node before them that was, or else the
 * first. */
static void count_empty_nodes(gsa_state *state)
{
    const gsai_basis *basis = &state->basis;
    gsai_table *table = &state->table;
    for (size_t s = 0; s < basis->n_surfaces; s++) {
        const gsai_surface *surface = &basis->surface[s];
        size_t n = (size_t)basis->side[surface->side[0]].n_knots * basis->side[surface->side[1]].n_knots;
        size_t low = (size_t)basis->at + surface->first + 1, from = low;
        while (from < low + n - 1 && gsai_state_n_seen(state, from) == 0)
            from++;
        for (size_t node = low; node < low + n; node++) {
            from = gsai_state_n_seen(state, node) > 0 ? node : from;
            if (node == from)
                continue;
            gsai_table_use(table, node);
            memcpy(gsai_table_slot(table, node) + gsai_table_mean(table),
                   gsai_table_slot(table, from) + gsai_table_mean(table), 2 * sizeof(gsai_cell));
        }
    }
}

gsa_status gsai_solution_finish(gsa_state *state, const gsai_solution *solution, const gsai_unlearned_rows *rows,
                                bool goes_on, gsa_error *error)
{
    bool has_intercept = state->params.value[GSAI_PARAM_intercept];
    if (solution->label_offset)
        state->label_offset = *solution->label_offset;
    state->standardised = solution->is_standardised;
    state->results = solution->results;
    for (size_t k = 0; k < state->table.n_outputs; k++)
        gsai_table_slot(&state->table, 0)[k].f = (float)solution->intercept[k];
    if (state->rows_behind > 0) {
        /* A share of the rows of earlier runs counts. Means stay as they were: counts become whole numbers, and sums
         * follow. */
        double share = solution->prior_share;
        GSA_TRY(gsai_state_fold(state, error));
        GSAI_EACH_SLOT(slot, &state->table)
        {
            gsai_totals *prior = &state->prior.at[slot];
            double before = (double)prior->count, after = part_of(before, share);
            prior->count = (uint64_t)after;
            prior->sum_sq *= before > 0 ? after / before : share;
        }
        for (size_t slot = 0; slot < state->centre.n; slot++) {
            gsai_column *column = &state->centre.at[slot];
            double after = part_of(column->n, share);
            column->squares *= column->n > 0 ? after / column->n : 0;
            column->n = after;
        }
        state->rows_behind = (uint64_t)part_of((double)state->rows_behind, share);
    }
    /* Rows that follow are weighed against these and those of earlier runs. In a later run equal ones count once. */
    const uint64_t n_behind = state->rows_behind;
    GSA_TRY(measure_rows(state, rows, error));
    count_outer_knots(state);
    count_empty_nodes(state);
    state->residuals = solution->residuals;
    state->n_solved = goes_on ? 0 : solution->n_different;
    state->averaging.now = n_behind + (goes_on ? rows->n : solution->n_different);
    /* An intercept is a float, and the rest that it lacks is in the average's term. */
    double total = gsai_averaging_total(state, state->averaging.now);
    gsai_cell *weight = gsai_table_slot(&state->table, 0), *average = weight + gsai_table_average(&state->table);
    for (size_t k = 0; k < state->table.n_outputs && total > 0 && has_intercept; k++)
        average[k].f = (float)(total * ((double)weight[k].f - solution->intercept[k]));
    if (goes_on) { /* losses under weights that were found by the same rows are not progressive */
        gsai_position *at = &state->position;
        at->loss_sum = at->loss_weight = at->late_loss_sum = at->late_loss_weight = 0;
        at->earlier_loss_sum = at->earlier_loss_weight = 0;
        return GSA_OK;
    }
    GSA_TRY(gsa_state_end_pass(state, error));
    state->position.held_out_loss = solution->held_out_loss;
    state->position.constant_loss = solution->constant_loss;
    return GSA_OK;
}

gsa_status gsai_solution_compact(gsa_state *state, const gsai_compaction *measured, const gsai_unlearned_rows *rows,
                                 gsa_error *error)
{
    double cost = fmax(0, measured->loss_after - measured->loss_before);
    state->compaction = *measured;
    state->position.held_out_loss += cost;
    state->position.last_pass_loss += cost;
    return gsai_compact_apply(state, rows, error);
}
