/* Copies that each left out a part of the same rows, into one: their mean, calibrated by the rows each had left out.
 *
 * One copy that learns all rows in one order carries the noise of that order; the mean of several carries less of it.
 * And every row is judged by a copy that has not seen it, so that all rows tell how confident the mean may be. */
#include "core/calibrate.h"
#include "core/merge.h"
#include "core/team.h"

#include "base/error.h"

static double mean_last_pass_loss(const gsa_state *const *states, size_t n_states)
{
    double sum = 0;
    for (size_t s = 0; s < n_states; s++)
        sum += states[s]->position.last_pass_loss / (double)n_states;
    return sum;
}

/* The average term is what the average lacks of the last weights: calibrated averages make another one. */
static void calibrate_average(gsa_state *state, const gsa__calibration *calibration)
{
    gsa__table *table = &state->table;
    double total = gsa__clock_total(state, state->clock.now);
    bool averaged = state->params.value[GSA__PARAM_average] != GSA__AVERAGE_LAST && total > 0;
    for (size_t slot = 0; slot < table->n_slots; slot++) {
        gsa__cell *weight = gsa__table_slot(table, slot), *average = weight + gsa__table_average(table);
        for (size_t k = 0; k < table->n_outputs; k++) {
            double goal = gsa__calibrated(calibration, state, slot, gsa__state_average(state, slot, k));
            if (averaged)
                average[k].f = (float)(total * ((double)weight[k].f - goal));
            else
                weight[k].f = (float)goal;
        }
    }
}

gsa_status gsa__state_merge_folds(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                  const gsa_env *env, gsa_state **out, double *loss, gsa_error *error)
{
    gsa__calibration calibration;
    if (n_states < 2 || !base)
        return gsa__fail(error, GSA_ARGUMENT, "folds need a base and at least two copies of it");
    for (size_t s = 1; s < n_states; s++)
        if (states[s]->loss != states[0]->loss || !gsa__labels_equal(&states[s]->labels, &states[0]->labels))
            return gsa__fail(error, GSA_ARGUMENT,
                             "the copies have met different labels: prepare the base with all rows");
    gsa_status status = gsa__calibrate(states, n_states, &calibration, error);
    if (status == GSA_OK)
        status = gsa__merge(states, n_states, base, n_states - 1, env, out, error);
    if (status != GSA_OK)
        return status;
    (*out)->params = base->params;
    (*out)->position.last_pass_loss = mean_last_pass_loss(states, n_states);
    (*out)->position.held_out_loss = calibration.loss;
    calibrate_average(*out, &calibration);
    *loss = calibration.loss;
    return GSA_OK;
}
