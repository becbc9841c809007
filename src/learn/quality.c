/* The held-out loss of a state, and the best weights so far: more passes fit the learned rows better but, from some
 * pass on, others worse. */
#include "learn/calibration.h"
#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include <math.h>

/* Fewer rows tell little of the shares of classes. */
#define MIN_ROWS 100u

/* The loss that the best constant prediction has on the held-out rows: the shares of classes, or the mean of labels.
 * NaN for other losses, and where rows are few. */
double gsa_state_constant_loss(const gsa_state *state)
{
    gsai_label_totals labels = {.n_classes = state->labels.n, .balanced = gsai_params_balance(&state->params)};
    size_t n = gsai_sample_count(&state->sample);
    if (n == 0)
        return state->position.constant_loss;
    if (n < MIN_ROWS || !state->loss->constant)
        return NAN;
    double *class_weight = gsai_alloc_zeroed(&state->env, labels.n_classes, sizeof *class_weight);
    for (size_t i = 0; i < n; i++)
        labels.weight += state->sample.at[i]->seen;
    for (size_t i = 0; i < n && class_weight; i++) {
        const gsai_held_row *row = state->sample.at[i];
        double share = row->seen / labels.weight, y = gsai_held_target(state, row).y;
        if (labels.n_classes > 0)
            class_weight[row->class_number] += row->seen;
        labels.mean += share * y;
        labels.mean_square += share * y * y;
        labels.mean_log += y > 0 ? share * y * gsai_log(y) : 0;
    }
    labels.class_weight = class_weight;
    double loss = class_weight ? state->loss->constant(&labels) : (double)NAN;
    gsai_free(&state->env, class_weight);
    return loss;
}

double gsa_state_held_out_loss(const gsa_state *state)
{
    gsai_held_out held_out = {0};
    gsai_calibration by;
    gsa_state *closed = NULL;
    if (gsai_sample_count(&state->sample) == 0)
        return state->position.held_out_loss;
    if (state->group.n_rows > 0) {
        bool done = gsai_state_closed(state, true, &closed, NULL) == GSA_OK;
        double loss = done ? gsa_state_held_out_loss(closed) : (double)NAN;
        gsa_state_free(closed);
        return loss;
    }
    gsa_status status =
        gsai_state_uses_checkpoint(state) ? GSA_OK : gsai_calibrate(state, gsai_state_table(state), NULL, &by, NULL);
    if (status == GSA_OK)
        status = gsai_held_out_predict(state, &by, NULL, &held_out, NULL);
    gsai_free(&state->env, held_out.margins);
    return status == GSA_OK ? held_out.loss : (double)NAN;
}

float *gsai_weights_of(const gsa_state *state, const gsai_calibration *calibration)
{
    size_t n_outputs = state->table.n_outputs, n_weights;
    bool fits = gsai_multiply(state->table.n_slots, n_outputs, &n_weights);
    float *weight = fits ? gsai_alloc_zeroed(&state->env, n_weights, sizeof *weight) : NULL;
    const gsai_table *table = gsai_state_table(state);
    for (size_t slot = 0; slot < table->n_slots && weight; slot = gsai_table_next(table, slot + 1))
        for (size_t k = 0; k < n_outputs && (slot == 0 || !gsai_table_is_zero(table, slot)); k++) {
            float average = (float)gsai_state_average(state, slot, k);
            weight[slot * n_outputs + k] = (float)gsai_calibrated(calibration, state, slot, (double)average);
        }
    return weight;
}

gsa_status gsa_state_checkpoint_best(gsa_state *state, const gsa_call *call, gsa_error *error)
{
    gsai_calibration calibration;
    gsai_best_checkpoint *best = &state->best_checkpoint;
    bool is_paper = state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER;
    if (is_paper)
        return GSA_OK;
    GSA_TRY(gsa_state_close_group(state, error));
    if (gsai_sample_count(&state->sample) == 0 || state->n_rows == 0) /* 0: all are held out, and a model learns them */
        return GSA_OK;
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, &state->env.memory, call, error));
    GSA_TRY(gsai_calibrate(state, gsai_state_table(state), &own, &calibration, error));
    if (!isfinite(calibration.loss))
        return GSA_OK;
    if (best->weight && !(calibration.loss < (1 - GSA_MIN_GAIN) * best->loss))
        return GSA_OK;
    float *weight = gsai_weights_of(state, &calibration);
    GSAI_TRY_MEMORY(weight, &state->env, error, "no memory for the weights of %zu features", state->table.n_slots - 1);
    gsai_free(&state->env, best->weight);
    *best =
        (gsai_best_checkpoint){weight,           state->table.n_slots, state->table.n_outputs, state->position.pass + 1,
                               calibration.loss, calibration.scale,    calibration.offset};
    return GSA_OK;
}
