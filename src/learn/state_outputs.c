/* The outputs of a state: one per class, or one for two classes, as labels come. */
#include "learn/state_outputs.h"
#include "learn/inside.h"
#include "learn/state_slots.h"

#include "base/error.h"
#include "base/real.h"

/* One output for two classes to one per class: w_1 = w/2, w_0 = -w/2. Halving is exact, so the model is the same; a
 * step moves two outputs apart twice as fast as one, so that steps, and hence the sums of steps, are halved too. */
static void split_output(gsai_table *table, gsai_step_mean *step)
{
    for (size_t slot = 0; slot < table->n_slots; slot++) {
        gsai_cell *weight = gsai_table_slot(table, slot);
        gsai_cell *average = weight + gsai_table_average(table);
        weight[1].f = weight[0].f / 2;
        weight[0].f = -weight[1].f;
        average[1].f = average[0].f / 2;
        average[0].f = -average[1].f;
    }
    step->sum /= 2;
}

double gsai_state_unseen(const gsa_state *state)
{
    bool has_prior = gsai_loss_has_probabilities(state->loss) && state->params.value[GSAI_PARAM_intercept] &&
                     state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
    return has_prior && state->rows_behind > 0 ? -gsai_log1p((double)state->rows_behind) : 0;
}

/* Outputs from `first` on are those of classes that come late. */
static void set_unseen(gsa_state *state, size_t first)
{
    float intercept = (float)gsai_state_unseen(state);
    for (size_t k = first; k < state->table.n_outputs; k++) {
        gsai_table_slot(&state->table, 0)[k].f = intercept;
        if (state->scaling)
            gsai_table_slot(&state->scaling->table, 0)[k].f = intercept;
    }
}

static void split_outputs(gsa_state *state)
{
    split_output(&state->table, &state->step);
    if (state->scaling)
        split_output(&state->scaling->table, &state->scaling->step);
    if (state->loss->widened)
        state->loss = state->loss->widened;
}

/* On failure nothing has changed: the room that was made does no harm. */
static gsa_status widen(gsa_state *state, size_t n_outputs, gsa_error *error)
{
    size_t before = state->table.n_outputs;
    gsa_status status = gsai_state_reserve_scratch(state, n_outputs, error);
    if (status == GSA_OK)
        status = gsai_table_widen(&state->table, n_outputs, &state->env, error);
    if (status == GSA_OK && state->scaling)
        status = gsai_table_widen(&state->scaling->table, n_outputs, &state->env, error);
    if (status != GSA_OK)
        state->table.n_outputs = before;
    return status;
}

gsa_status gsai_state_fit_labels(gsa_state *state, gsa_error *error)
{
    bool binary = gsai_state_is_binary(state);
    size_t n_known = binary ? 2 : state->table.n_outputs;
    if (gsai_params_balance(&state->params))
        GSA_TRY(gsai_class_sums_grow(&state->class_sums, state->labels.n + 1, &state->env, error));
    if (state->labels.n <= n_known)
        return GSA_OK;
    GSA_TRY(gsa_state_close_group(state, error)); /* of rows with fewer outputs */
    GSA_TRY(widen(state, state->labels.n, error));
    if (binary)
        split_outputs(state);
    set_unseen(state, n_known);
    return GSA_OK;
}

gsa_status gsai_state_split(gsa_state *state, gsa_error *error)
{
    GSA_TRY(widen(state, 2, error));
    split_outputs(state);
    return GSA_OK;
}
