/* Features in the order of |weight| x deviation, and how many of them the held-out rows need. */
#include "learn/compact.h"
#include "learn/inside.h"

#include "learn/calibration.h"

#include "base/batch.h"
#include "base/error.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ranking {
    const gsa_state *state;
    const gsai_unlearned_rows *rows;
    gsai_calibration calibration;
    float *weight;    /* [slots x outputs], as a model would have them */
    double *strength; /* of each slot; 0: no weight */
    double *sorted;   /* those above 0, descending */
    size_t n;         /* of them */
    double *margin;   /* [outputs]: of a row */
    double *shift;    /* [outputs]: the mean of what is left out */
    double total;     /* weight of the rows */
} ranking;

static int descending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Ranks the slots by strength. Returns false if out of memory. */
static bool rank_slots(ranking *by)
{
    size_t n_outputs = by->state->table.n_outputs, n = 0;
    const gsai_table *table = &by->state->table;
    for (size_t slot = gsai_table_next(table, 1); slot < table->n_slots; slot = gsai_table_next(table, slot + 1)) {
        const float *weight = by->weight + slot * n_outputs;
        for (size_t k = 0; k < n_outputs; k++)
            by->strength[slot] += (double)weight[k] * (double)weight[k];
        if (by->strength[slot] > 0)
            by->strength[slot] = sqrt(by->strength[slot]) * gsai_state_deviation(by->state, slot) + DBL_MIN;
        by->n += by->strength[slot] > 0;
    }
    by->sorted = gsai_alloc(&by->state->env, by->n + 1, sizeof *by->sorted); /* hashed slots are mostly empty */
    if (!by->sorted)
        return false;
    for (size_t slot = gsai_table_next(table, 1); slot < table->n_slots; slot = gsai_table_next(table, slot + 1))
        if (by->strength[slot] > 0)
            by->sorted[n++] = by->strength[slot];
    qsort(by->sorted, n, sizeof *by->sorted, descending);
    return true;
}

/* Returns the least strength of the n_keep strongest features; those that are equal are kept together. */
static double least_of(const ranking *by, size_t n_keep)
{
    return n_keep > 0 && n_keep <= by->n ? by->sorted[n_keep - 1] : (double)INFINITY;
}

/* Adds a row's features to the margins, times a share: those of at least this strength, or the weaker ones. */
static void add_features(const ranking *by, const gsai_row *row, double least, bool weaker, double share,
                         double *margin)
{
    size_t n_outputs = by->state->table.n_outputs;
    for (size_t e = 0; e < row->n; e++) {
        size_t slot = (size_t)row->index[e] + 1;
        if (slot < by->state->table.n_slots && (by->strength[slot] < least) == weaker)
            for (size_t k = 0; k < n_outputs; k++)
                margin[k] += share * (double)gsai_row_value(row, e) * (double)by->weight[slot * n_outputs + k];
    }
}

/* Finds the mean of what weaker features add to the margins; 0 without an intercept. */
static void find_shift(const ranking *by, double least)
{
    memset(by->shift, 0, by->state->table.n_outputs * sizeof *by->shift);
    for (size_t i = 0; i < by->rows->n && by->state->params.value[GSAI_PARAM_intercept]; i++) {
        gsai_unlearned at = by->rows->at(by->rows->ctx, i);
        add_features(by, &at.row, least, true, at.weight / by->total, by->shift);
    }
}

/* Returns the mean loss of the rows with the n_keep strongest features, and its standard error. */
static double loss_with(const ranking *by, size_t n_keep, double *error_of_mean)
{
    const gsa_state *state = by->state;
    double mean = 0, square = 0, n = (double)by->rows->n, least = least_of(by, n_keep);
    find_shift(by, least);
    for (size_t i = 0; i < by->rows->n; i++) {
        gsai_unlearned at = by->rows->at(by->rows->ctx, i);
        gsai_target target = gsai_state_target(state, at.class_number, at.number);
        for (size_t k = 0; k < state->table.n_outputs; k++)
            by->margin[k] = by->shift[k] + (double)by->weight[k];
        add_features(by, &at.row, least, false, 1, by->margin);
        double loss = state->loss->value(by->margin, state->table.n_outputs, &target), share = at.weight / by->total;
        mean += share * loss;
        square += share * loss * loss;
    }
    double variance = square - mean * mean;
    *error_of_mean = sqrt((variance > 0 ? variance : 0) / n);
    return mean;
}

static void ranking_free(ranking *by)
{
    const gsai_env *env = &by->state->env;
    gsai_free(env, by->weight);
    gsai_free(env, by->strength);
    gsai_free(env, by->sorted);
    gsai_free(env, by->margin);
}

static gsa_status ranking_make(ranking *by, gsa_error *error)
{
    const gsa_state *state = by->state;
    size_t n_outputs = state->table.n_outputs;
    GSA_TRY(gsai_calibrate(state, gsai_state_table(state), by->rows->env, &by->calibration, error));
    by->weight = gsai_weights_of(state, &by->calibration);
    if (by->weight && gsai_state_uses_checkpoint(state)) {
        const gsai_best_checkpoint *best = &state->best_checkpoint;
        GSAI_EACH_SLOT(slot, &state->table)
        for (size_t k = 0; k < n_outputs; k++)
            by->weight[slot * n_outputs + k] = slot < best->n_slots ? best->weight[slot * n_outputs + k] : 0;
    }
    by->margin = gsai_alloc(&state->env, 2 * n_outputs, sizeof *by->margin);
    by->strength = gsai_alloc_zeroed(&state->env, state->table.n_slots, sizeof *by->strength);
    if (!by->weight || !by->margin || !by->strength || !rank_slots(by)) {
        ranking_free(by);
        return gsai_fail_memory(&state->env, error, "no memory to order %zu features", state->table.n_slots);
    }
    by->shift = by->margin + n_outputs;
    for (size_t i = 0; i < by->rows->n; i++)
        by->total += by->rows->at(by->rows->ctx, i).weight;
    return GSA_OK;
}

gsa_status gsai_compact_measure(const gsa_state *state, const gsai_unlearned_rows *rows, gsai_compaction *out,
                                gsa_error *error)
{
    ranking by = {.state = state, .rows = rows};
    *out = (gsai_compaction){0};
    if (rows->n == 0 || gsai_state_lacks_loss(state))
        return GSA_OK;
    GSA_TRY(ranking_make(&by, error));
    size_t too_few = 0, enough = by.n;
    double error_of_mean, at_most;
    out->n_before = by.n;
    out->loss_before = out->loss_after = loss_with(&by, by.n, &out->error_of_mean);
    at_most = out->loss_before + out->error_of_mean;
    while (enough > too_few + 1 + enough / 64 && !gsai_should_stop(rows->env)) { /* to a 64th, or one */
        size_t middle = too_few + (enough - too_few) / 2;
        double loss = loss_with(&by, middle, &error_of_mean);
        if (loss <= at_most)
            out->loss_after = loss;
        *(loss <= at_most ? &enough : &too_few) = middle;
    }
    out->n_after = enough;
    ranking_free(&by);
    return gsai_should_stop(rows->env) ? gsai_fail(error, GSA_STOPPED, "stopped on request") : GSA_OK;
}

/* Clears what a state knows of a feature. */
static void forget_slot(gsa_state *state, size_t slot)
{
    gsai_best_checkpoint *best = &state->best_checkpoint;
    size_t size = gsai_table_stride(&state->table) * sizeof(gsai_cell);
    memset(gsai_table_slot(&state->table, slot), 0, size);
    if (slot < state->prior.n)
        state->prior.at[slot] = (gsai_totals){0};
    if (slot < state->centre.n)
        state->centre.at[slot] = (gsai_column){0};
    if (best->weight && slot < best->n_slots)
        memset(best->weight + slot * best->n_outputs, 0, best->n_outputs * sizeof *best->weight);
    gsai_table_drop(&state->table, slot);
}

gsa_status gsai_compact_apply(gsa_state *state, const gsai_unlearned_rows *rows, gsa_error *error)
{
    ranking by = {.state = state, .rows = rows};
    GSA_TRY(ranking_make(&by, error));
    double share = (double)state->compaction.n_after / (double)state->compaction.n_before;
    double least = least_of(&by, (size_t)ceil(share * (double)by.n));
    state->compaction.n_before = by.n;
    state->compaction.n_after = 0;
    find_shift(&by, least);
    const gsai_table *table = &state->table;
    for (size_t slot = gsai_table_next(table, 1); slot < table->n_slots; slot = gsai_table_next(table, slot + 1)) {
        state->compaction.n_after += by.strength[slot] >= least;
        if (by.strength[slot] < least && !gsai_table_is_zero(&state->table, slot))
            forget_slot(state, slot);
    }
    gsai_best_checkpoint *best = &state->best_checkpoint;
    for (size_t k = 0; k < state->table.n_outputs && by.calibration.scale > 0; k++) {
        float shift = (float)(by.shift[k] / by.calibration.scale);
        gsai_table_slot(&state->table, 0)[k].f += shift;
        if (best->weight && best->n_outputs == state->table.n_outputs)
            best->weight[k] += (float)by.shift[k];
    }
    ranking_free(&by);
    return GSA_OK;
}

static gsai_unlearned held_at(const void *ctx, size_t number)
{
    const gsai_held_row *held = ((const gsai_sample *)ctx)->at[number];
    return (gsai_unlearned){gsai_held_row_view(held), held->class_number, held->number, held->seen};
}

gsa_status gsai_state_compact(gsa_state *state, const gsai_env *env, gsa_error *error)
{
    GSA_TRY(gsa_state_close_group(state, error));
    gsai_unlearned_rows rows = {held_at, &state->sample, gsai_sample_count(&state->sample), env};
    GSA_TRY(gsai_compact_measure(state, &rows, &state->compaction, error));
    return state->compaction.n_before > 0 ? gsai_compact_apply(state, &rows, error) : GSA_OK;
}
