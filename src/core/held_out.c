/* The loss of the held-out rows under the weights that a model would have. */
#include "core/state.h"

#include "core/loss/loss.h"

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

/* Held-out rows may have features that no learned row has: those have no slot. */
static void averaged_margins(const gsa_state *state, const gsa__held_row *held, double *margins)
{
    gsa__row row = gsa__held_row_view(held);
    bool intercept = state->params.value[GSA__PARAM_intercept];
    for (size_t k = 0; k < state->table.n_outputs; k++) {
        margins[k] = intercept ? gsa__state_average(state, 0, k) : 0;
        for (size_t i = 0; i < row.n; i++)
            if ((size_t)row.index[i] + 1 < state->table.n_slots)
                margins[k] += gsa__state_average(state, (size_t)row.index[i] + 1, k) * (double)row.value[i];
    }
}

double gsa_state_held_out_loss(const gsa_state *state)
{
    double sum = 0, weight = 0;
    bool unknown_loss = state->loss == GSA__CUSTOM && !state->params.has_custom_loss;
    double *margins =
        state->sample.n > 0 && !unknown_loss ? gsa__alloc(&state->env, state->table.n_outputs, sizeof *margins) : NULL;
    for (size_t i = 0; i < state->sample.n && margins; i++) {
        const gsa__held_row *held = state->sample.at[i];
        averaged_margins(state, held, margins);
        sum += (double)held->weight * gsa__held_row_loss(state, held, margins);
        weight += (double)held->weight;
    }
    gsa__free(&state->env, margins);
    return weight > 0 ? sum / weight : (double)NAN;
}
