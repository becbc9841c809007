/* Held-out rows under the weights that a model would have: their margins, their losses. */
#include "core/calibrate.h"
#include "core/loss/loss.h"

#include "base/memory.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

double gsa__held_row_loss(const gsa_state *state, const gsa__held_row *held, double *margins)
{
    const gsa_margin_loss *custom = &state->params.custom_loss;
    size_t n_outputs = state->table.n_outputs;
    bool squared = state->loss == GSA__SQUARED_HINGE;
    switch (state->loss) {
    case GSA__SOFTMAX:
        return gsa__softmax(margins, n_outputs, held->class_number).loss;
    case GSA__LOGISTIC:
        return gsa__logistic_loss(margins[0], held->class_number == 1);
    case GSA__HINGE:
    case GSA__SQUARED_HINGE:
        return n_outputs > 1 ? gsa__hinge_many_loss(margins, n_outputs, held->class_number, squared)
                             : gsa__hinge(margins[0], held->class_number == 1, squared).loss;
    case GSA__CUSTOM:
        return custom->loss(custom->ctx, margins[0], held->number);
    case GSA__UNDECIDED: /* it and the one below do not come here; no default, as in learn.c */
    case GSA__LOSSES:
    case GSA__SQUARED:
        break;
    }
    return gsa__squared_loss(margins[0], held->number - state->origin_of_labels.at);
}

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

/* The entropy of the classes of the held-out rows; with balanced classes each that is there has the same share. */
static gsa_status entropy(const gsa_state *const *states, size_t n_states, double total, double *out, gsa_error *error)
{
    const gsa_state *first = states[0];
    double *weight = gsa__alloc_zeroed(&first->env, first->labels.n, sizeof *weight), present = 0;
    if (!weight)
        return gsa__fail_memory(&first->env, error, "no memory for the weights of %zu classes", first->labels.n);
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < states[s]->sample.n; i++)
            weight[states[s]->sample.at[i]->class_number] += states[s]->sample.at[i]->seen;
    *out = 0;
    for (size_t k = 0; k < first->labels.n; k++) {
        present += weight[k] > 0;
        *out -= weight[k] > 0 ? weight[k] / total * gsa__log(weight[k] / total) : 0;
    }
    if (gsa__params_balance(&first->params))
        *out = gsa__log(present);
    gsa__free(&first->env, weight);
    return GSA_OK;
}

/* Half the variance of the labels of the held-out rows. */
static double half_variance(const gsa_state *const *states, size_t n_states, double total)
{
    double mean = 0, square = 0, origin = states[0]->origin_of_labels.at;
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < states[s]->sample.n; i++) {
            double share = states[s]->sample.at[i]->seen / total, y = states[s]->sample.at[i]->number - origin;
            mean += share * y;
            square += share * y * y;
        }
    return fmax(square - mean * mean, 0) / 2;
}

gsa_status gsa__constant_loss(const gsa_state *const *states, size_t n_states, double *out, gsa_error *error)
{
    double total = 0;
    *out = NAN;
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < states[s]->sample.n; i++)
            total += states[s]->sample.at[i]->seen;
    if (total > 0 && gsa__loss_has_probabilities(states[0]->loss))
        return entropy(states, n_states, total, out, error);
    if (total > 0 && states[0]->loss == GSA__SQUARED)
        *out = half_variance(states, n_states, total);
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
