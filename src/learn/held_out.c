/* Held-out rows under the weights that a model would have: their margins, their losses. */
#include "learn/calibration.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Adds x times the averaged weights of a slot. */
static void add_average(const gsai_table *table, double total, size_t slot, double x, double *margins)
{
    const gsai_cell *weight = gsai_table_slot(table, slot), *average = weight + gsai_table_average(table);
    for (size_t k = 0; k < table->n_outputs; k++)
        margins[k] += x * ((double)weight[k].f - (total > 0 ? (double)average[k].f / total : 0));
}

/* Asks for the records of a row to come: those of a long run lie far apart. */
static void fetch_row(const gsai_table *table, const gsai_sample *sample, size_t i)
{
    if (i >= sample->n)
        return;
    gsai_row row = gsai_held_row_view(sample->at[i]);
    for (size_t e = 0; e < row.n; e++)
        if (row.index[e] < table->n_slots)
            __builtin_prefetch(gsai_table_slot(table, row.index[e]) + gsai_table_stride(table));
}

/* Held-out rows may have features that no learned row has: those have no slot. */
bool gsai_held_margins(const gsa_state *state, const gsai_table *table, double shrinkage, const gsa_env *stop,
                       double *margins)
{
    bool is_averaged = state->params.value[GSAI_PARAM_average] != GSAI_AVERAGE_LAST;
    double total = is_averaged ? gsai_averaging_total(state, state->clock.now) : 0;
    for (size_t i = 0; i < state->sample.n; i++, margins += table->n_outputs) {
        gsai_row row = gsai_held_row_view(state->sample.at[i]);
        if (gsai_rows_should_stop(stop, table->n_outputs))
            return false;
        fetch_row(table, &state->sample, i + 1);
        memset(margins, 0, table->n_outputs * sizeof *margins);
        if (state->params.value[GSAI_PARAM_intercept])
            add_average(table, total, 0, 1, margins);
        for (size_t e = 0; e < row.n; e++) {
            size_t slot = (size_t)row.index[e] + 1;
            if (slot < table->n_slots)
                add_average(table, total, slot, (double)row.value[e] * gsai_state_shrinkage(state, slot, shrinkage),
                            margins);
        }
    }
    return true;
}

/* The loss that the best constant prediction has on the held-out rows: the shares of classes, or the mean of labels.
 * NaN for other losses, and without rows. */
static gsa_status constant_loss(const gsa_state *state, double *out, gsa_error *error)
{
    gsai_label_totals labels = {.n_classes = state->labels.n, .balanced = gsai_params_balance(&state->params)};
    *out = NAN;
    for (size_t i = 0; i < state->sample.n; i++)
        labels.weight += state->sample.at[i]->seen;
    if (!(labels.weight > 0) || !state->loss->constant)
        return GSA_OK;
    double *class_weight = gsai_alloc_zeroed(&state->env, labels.n_classes, sizeof *class_weight);
    if (!class_weight)
        return gsai_fail_memory(&state->env, error, "no memory for the weights of %zu classes", labels.n_classes);
    for (size_t i = 0; i < state->sample.n; i++) {
        const gsai_held_row *row = state->sample.at[i];
        double share = row->seen / labels.weight, y = row->number - state->label_offset.at;
        if (labels.n_classes > 0)
            class_weight[row->class_number] += row->seen;
        labels.mean += share * y;
        labels.mean_square += share * y * y;
    }
    labels.class_weight = class_weight;
    *out = state->loss->constant(&labels);
    gsai_free(&state->env, class_weight);
    return GSA_OK;
}

/* Fewer rows tell little of the shares of classes. */
#define MIN_ROWS 100u

double gsa_state_constant_loss(const gsa_state *state)
{
    double loss = state->position.constant_loss;
    if (state->sample.n == 0)
        return loss;
    bool known = state->sample.n >= MIN_ROWS && constant_loss(state, &loss, NULL) == GSA_OK;
    return known ? loss : (double)NAN;
}

double gsa_state_held_out_loss(const gsa_state *state)
{
    gsai_calibration calibration;
    gsa_state *closed = NULL;
    if (state->sample.n == 0)
        return state->position.held_out_loss;
    if (state->group.n_rows > 0) {
        bool done = gsai_state_closed(state, &state->env, &closed, NULL) == GSA_OK;
        double loss = done ? gsa_state_held_out_loss(closed) : (double)NAN;
        gsa_state_free(closed);
        return loss;
    }
    gsa_status status = gsai_calibrate(state, gsai_state_table(state), NULL, &calibration, NULL);
    return status == GSA_OK ? calibration.loss : (double)NAN;
}
