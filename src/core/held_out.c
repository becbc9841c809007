/* Held-out rows under the weights that a model would have: their margins, their losses. */
#include "core/calibrate.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Adds x times the averaged weights of a slot. */
static void add_average(const gsa__table *table, double total, size_t slot, double x, double *margins)
{
    const gsa__cell *weight = gsa__table_slot(table, slot), *average = weight + gsa__table_average(table);
    for (size_t k = 0; k < table->n_outputs; k++)
        margins[k] += x * ((double)weight[k].f - (total > 0 ? (double)average[k].f / total : 0));
}

/* Held-out rows may have features that no learned row has: those have no slot. */
bool gsa__held_margins(const gsa_state *state, double doubt, const gsa_env *stop, double *margins)
{
    const gsa__table *table = gsa__state_table(state);
    bool is_averaged = state->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST;
    double total = is_averaged ? gsa__clock_total(state, state->clock.now) : 0;
    for (size_t i = 0; i < state->sample.n; i++, margins += table->n_outputs) {
        gsa__row row = gsa__held_row_view(state->sample.at[i]);
        if (gsa__rows_should_stop(stop, table->n_outputs))
            return false;
        memset(margins, 0, table->n_outputs * sizeof *margins);
        if (state->params.value[GSA__PARAM_intercept])
            add_average(table, total, 0, 1, margins);
        for (size_t e = 0; e < row.n; e++) {
            size_t slot = (size_t)row.index[e] + 1;
            if (slot < table->n_slots)
                add_average(table, total, slot, (double)row.value[e] * gsa__state_belief(state, slot, doubt), margins);
        }
    }
    return true;
}

/* Adds up classes, or else numbers. */
static void add_labels(const gsa_state *state, double origin, double *class_weight, gsa__label_totals *sum)
{
    for (size_t i = 0; i < state->sample.n; i++) {
        const gsa__held_row *row = state->sample.at[i];
        double share = row->seen / sum->weight, y = row->number - origin;
        if (sum->n_classes > 0)
            class_weight[row->class_number] += row->seen;
        sum->mean += share * y;
        sum->mean_square += share * y * y;
    }
}

gsa_status gsa__constant_loss(const gsa_state *const *states, size_t n_states, double *out, gsa_error *error)
{
    const gsa_state *first = states[0];
    gsa__label_totals labels = {.n_classes = first->labels.n, .balanced = gsa__params_balance(&first->params)};
    *out = NAN;
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < states[s]->sample.n; i++)
            labels.weight += states[s]->sample.at[i]->seen;
    if (!(labels.weight > 0) || !first->loss->constant)
        return GSA_OK;
    double *class_weight = gsa__alloc_zeroed(&first->env, labels.n_classes, sizeof *class_weight);
    if (!class_weight)
        return gsa__fail_memory(&first->env, error, "no memory for the weights of %zu classes", labels.n_classes);
    for (size_t s = 0; s < n_states; s++)
        add_labels(states[s], first->origin_of_labels.at, class_weight, &labels);
    labels.class_weight = class_weight;
    *out = first->loss->constant(&labels);
    gsa__free(&first->env, class_weight);
    return GSA_OK;
}

/* Fewer rows tell little of the shares of classes. */
#define ROWS_LEAST 100u

double gsa_state_constant_loss(const gsa_state *state)
{
    double loss = state->position.constant_loss;
    if (state->sample.n == 0)
        return loss;
    bool known = state->sample.n >= ROWS_LEAST && gsa__constant_loss(&state, 1, &loss, NULL) == GSA_OK;
    return known ? loss : (double)NAN;
}

double gsa_state_held_out_loss(const gsa_state *state)
{
    gsa__calibration calibration;
    if (state->sample.n == 0)
        return state->position.held_out_loss;
    gsa_status status = gsa__calibrate(&state, 1, NULL, &calibration, NULL);
    return status == GSA_OK ? calibration.loss : (double)NAN;
}
