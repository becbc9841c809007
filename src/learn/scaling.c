/* The choice of scaling: features as given, or standardised.
 *
 * Some data has units that mean something (text weights, pixels), some has not (raw measurements), and the two ways to
 * learn are far apart where it matters. So the first rows are learned both ways, and progressive loss decides: over the
 * rows from 2048 to 8191, or over the last half to three quarters of the rows if the first pass is shorter. Early rows
 * are left out because standardised features learn faster at first even where they are worse in the end. With one
 * output the held-out rows count too, each as much as a row that is learned: where rows come sorted by label, the next
 * row tells nothing, and calibrated margins of held-out ones do. */
#include "learn/parts.h"

#include "base/error.h"
#include "base/memory.h"

bool gsai_scaling_prefers_standard(const gsa_state *state)
{
    const gsai_scaling *scaling = state->scaling;
    double loss[2];
    for (int i = 0; i < 2 && scaling; i++)
        loss[i] = scaling->earlier_loss[i] + scaling->loss[i] + scaling->held_out_loss[i];
    return scaling && loss[1] < (1 - GSA_MIN_GAIN) * loss[0];
}

const gsai_step_mean *gsai_state_step(const gsa_state *state)
{
    return gsai_scaling_prefers_standard(state) ? &state->scaling->step : &state->step;
}

gsa_status gsai_scaling_resume(gsa_state *state, gsa_error *error)
{
    gsai_scaling *scaling = gsai_alloc_zeroed(&state->env, 1, sizeof *scaling);
    GSAI_TRY_MEMORY(scaling, &state->env, error, "no memory for a choice of scaling");
    gsa_status status = gsai_table_copy(&scaling->table, &state->table, &state->env, error);
    if (status != GSA_OK) {
        gsai_free(&state->env, scaling);
        return status;
    }
    scaling->restart = 1;
    state->scaling = scaling;
    return GSA_OK;
}

gsa_status gsai_scaling_open(gsa_state *state, gsa_error *error)
{
    bool wanted = state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
    state->standardised = wanted && state->params.value[GSAI_PARAM_scale] == GSAI_SCALE_STANDARD;
    if (!wanted || state->params.value[GSAI_PARAM_scale] != GSAI_SCALE_AUTO)
        return GSA_OK;
    return gsai_scaling_resume(state, error);
}

void gsai_scaling_close(gsa_state *state)
{
    gsai_scaling *scaling = state->scaling;
    if (!scaling)
        return;
    if (gsai_scaling_prefers_standard(state)) {
        gsai_table loser = state->table;
        state->table = scaling->table;
        state->step = scaling->step;
        scaling->table = loser;
        state->standardised = true;
    }
    gsai_table_release(&scaling->table, &state->env);
    gsai_free(&state->env, scaling);
    state->scaling = NULL;
}
