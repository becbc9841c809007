/* Held-out rows under the weights that a model would have: their margins, their losses. */
#include "core/calibrate.h"
#include "core/kernel/kernel.h"
#include "core/loss/loss.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

double gsa__held_row_loss(const gsa_state *state, const gsa__held_row *held, double *margins)
{
    const gsa_margin_loss *custom = &state->params.custom_loss;
    size_t n_outputs = state->table.n_outputs;
    bool squared = state->loss == GSA__SQUARED_HINGE;
    switch (state->loss) {
    case GSA__SOFTMAX:
        return gsa__softmax(margins, n_outputs, held->class_number).loss;
    case GSA__LOGISTIC:
        return gsa__logistic(margins[0], held->class_number == 1).loss;
    case GSA__HINGE:
    case GSA__SQUARED_HINGE:
        return n_outputs > 1 ? gsa__hinge_many_loss(margins, n_outputs, held->class_number, squared)
                             : gsa__hinge(margins[0], held->class_number == 1, squared).loss;
    case GSA__CUSTOM:
        return custom->loss(custom->ctx, margins[0], held->number);
    default:
        return gsa__squared_loss(margins[0], held->number);
    }
}

gsa_status gsa__state_averages(const gsa_state *state, float **out, gsa_error *error)
{
    size_t n_outputs = state->table.n_outputs, n_weights;
    float *weight = NULL;
    if (!gsa__multiply(state->table.n_slots, n_outputs, &n_weights) ||
        !(weight = gsa__alloc(&state->env, n_weights, sizeof *weight)))
        return gsa__fail(error, GSA_MEMORY, "no memory for the weights of %zu features", state->table.n_slots - 1);
    for (size_t slot = 0; slot < state->table.n_slots; slot++)
        for (size_t k = 0; k < n_outputs; k++)
            weight[slot * n_outputs + k] = (float)gsa__state_average(state, slot, k);
    *out = weight;
    return GSA_OK;
}

/* Held-out rows may have features that no learned row has: those have no slot. */
gsa_status gsa__held_margins(const gsa_state *state, double *margins, gsa_error *error)
{
    size_t n_outputs = state->table.n_outputs, n_features = state->table.n_slots - 1;
    float *intercept;
    gsa_status status = gsa__state_averages(state, &intercept, error);
    if (status != GSA_OK)
        return status;
    const float *weights = intercept + n_outputs;
    for (size_t i = 0; i < state->sample.n; i++, margins += n_outputs) {
        gsa__row row = gsa__held_row_view(state->sample.at[i]);
        if (n_outputs == 1)
            margins[0] = gsa__model_dot_one(weights, n_features, &row);
        else
            gsa__model_dot_many(weights, n_features, n_outputs, &row, margins);
        for (size_t k = 0; k < n_outputs && state->params.value[GSA__PARAM_intercept]; k++)
            margins[k] += (double)intercept[k];
    }
    gsa__free(&state->env, intercept);
    return GSA_OK;
}

double gsa_state_held_out_loss(const gsa_state *state)
{
    gsa__calibration calibration;
    if (state->sample.n == 0)
        return state->position.held_out_loss;
    gsa_status status = gsa__calibrate(&state, 1, &calibration, NULL);
    return status == GSA_OK ? calibration.loss : (double)NAN;
}
