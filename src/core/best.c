/* The best weights so far, by the held-out rows: more passes fit the learned rows better and others, one day, worse. */
#include "core/calibrate.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static void calibrate_weights(const gsa_state *state, const gsa__calibration *calibration, float *weight)
{
    size_t n_outputs = state->table.n_outputs;
    for (size_t slot = 0; slot < state->table.n_slots; slot++)
        for (size_t k = slot * n_outputs; k < (slot + 1) * n_outputs; k++)
            weight[k] = (float)gsa__calibrated(calibration, state, slot, (double)weight[k]);
}

gsa_status gsa_state_keep_best(gsa_state *state, gsa_error *error)
{
    gsa__calibration calibration;
    const gsa_state *judged = state;
    gsa__best *best = &state->best;
    if (state->sample.n == 0 || state->params.value[GSA__PARAM_method] != GSA__METHOD_AUTO)
        return GSA_OK;
    gsa_status status = gsa__calibrate(&judged, 1, &calibration, error);
    if (status != GSA_OK || !isfinite(calibration.loss))
        return status;
    if (best->weight && !(calibration.loss < (1 - GSA_GAIN_LEAST) * best->loss))
        return GSA_OK;
    float *weight;
    status = gsa__state_averages(state, &weight, error);
    if (status != GSA_OK)
        return status;
    calibrate_weights(state, &calibration, weight);
    gsa__free(&state->env, best->weight);
    *best =
        (gsa__best){weight, state->table.n_slots, state->table.n_outputs, state->position.pass + 1, calibration.loss};
    return GSA_OK;
}

gsa_status gsa__best_copy(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    size_t n_weights = from->best.n_slots * from->best.n_outputs;
    if (!from->best.weight)
        return GSA_OK;
    float *weight = gsa__alloc(&to->env, n_weights, sizeof *weight);
    if (!weight)
        return gsa__fail(error, GSA_MEMORY, "no memory for the best weights");
    memcpy(weight, from->best.weight, n_weights * sizeof *weight);
    to->best = from->best;
    to->best.weight = weight;
    return GSA_OK;
}
