/* The best weights so far, by the held-out rows: more passes fit the learned rows better and others, one day, worse. */
#include "learn/calibration.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

/* The averaged and calibrated weights of all slots and outputs; NULL if there is no memory. */
static float *weights_of(const gsa_state *state, const gsai_calibration *calibration)
{
    size_t n_outputs = state->table.n_outputs, n_weights;
    bool fits = gsai_multiply(state->table.n_slots, n_outputs, &n_weights);
    float *weight = fits ? gsai_alloc_zeroed(&state->env, n_weights, sizeof *weight) : NULL;
    const gsai_table *table = gsai_state_table(state);
    for (size_t slot = 0; slot < state->table.n_slots && weight; slot++)
        for (size_t k = 0; k < n_outputs && (slot == 0 || !gsai_table_is_zero(table, slot)); k++) {
            float average = (float)gsai_state_average(state, slot, k);
            weight[slot * n_outputs + k] = (float)gsai_calibrated(calibration, state, slot, (double)average);
        }
    return weight;
}

gsa_status gsa_state_checkpoint_best(gsa_state *state, gsa_error *error)
{
    gsai_calibration calibration;
    const gsa_state *judged = state;
    gsai_best_checkpoint *best = &state->best;
    bool is_paper = state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER;
    if (is_paper || state->sample.n == 0 || state->n_rows == 0) /* 0: all rows are held out, and a model learns them */
        return GSA_OK;
    gsa_status status = gsa_state_close_group(state, error);
    if (status == GSA_OK)
        status = gsai_calibrate(judged, gsai_state_table(judged), &state->env, &calibration, error);
    if (status != GSA_OK || !isfinite(calibration.loss))
        return status;
    if (best->weight && !(calibration.loss < (1 - GSA_MIN_GAIN) * best->loss))
        return GSA_OK;
    float *weight = weights_of(state, &calibration);
    if (!weight)
        return gsai_fail_memory(&state->env, error, "no memory for the weights of %zu features",
                                state->table.n_slots - 1);
    gsai_free(&state->env, best->weight);
    *best = (gsai_best_checkpoint){weight, state->table.n_slots, state->table.n_outputs, state->position.pass + 1,
                                   calibration.loss};
    return GSA_OK;
}

gsa_status gsai_best_checkpoint_copy(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    if (!from->best.weight)
        return GSA_OK;
    float *weight = gsai_copy(&to->env, from->best.weight, from->best.n_slots * from->best.n_outputs, sizeof *weight);
    if (!weight)
        return gsai_fail_memory(&to->env, error, "no memory for the best weights");
    to->best = from->best;
    to->best.weight = weight;
    return GSA_OK;
}
