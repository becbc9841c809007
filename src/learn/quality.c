/* The held-out loss of a state, and the best weights so far: more passes fit the learned rows better but, from some
 * pass on, others worse. The best checkpoint is a part of the state. */
#include "learn/calibration.h"
#include "learn/fork.h"
#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include <math.h>
#include <stddef.h>

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
        bool done = gsai_state_closed(state, &closed, NULL) == GSA_OK;
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
    for (size_t slot = 0; slot < state->table.n_slots && weight; slot++)
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
    if (is_paper || gsai_sample_count(&state->sample) == 0 ||
        state->n_rows == 0) /* 0: all rows are held out, and a model learns them */
        return GSA_OK;
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, &state->env.memory, call, error));
    GSA_TRY(gsa_state_close_group(state, error));
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

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static void release(gsa_state *state)
{
    gsai_free(&state->env, state->best_checkpoint.weight);
}

static gsa_status copy_best(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    const gsai_best_checkpoint *best = &from->best_checkpoint;
    if (!best->weight)
        return GSA_OK;
    float *weight = gsai_copy(&to->env, best->weight, best->n_slots * best->n_outputs, sizeof *weight);
    GSAI_TRY_MEMORY(weight, &to->env, error, "no memory for the best weights");
    to->best_checkpoint = *best;
    to->best_checkpoint.weight = weight;
    return GSA_OK;
}

static const gsai_stored_field fields[] = {
    {{"best_checkpoint.pass", GSAI_U64, GSAI_MAX_COUNT + 1},
     offsetof(gsai_best_checkpoint, pass),
     1}, /* one more than passes ended */
    {{"best_checkpoint.loss", GSAI_F64, GSAI_FINITE}, offsetof(gsai_best_checkpoint, loss), 1},
    {{"best_checkpoint.scale", GSAI_F64, GSAI_NOT_NEGATIVE}, offsetof(gsai_best_checkpoint, scale), 1},
    {{"best_checkpoint.offset", GSAI_F64, GSAI_FINITE}, offsetof(gsai_best_checkpoint, offset), 1},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static void save_best(gsai_snapshot *snapshot, const gsa_state *state)
{
    if (state->best_checkpoint.weight)
        gsai_snapshot_fields(snapshot, fields, FIELDS, &state->best_checkpoint);
}

static gsa_status load_best(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_best_checkpoint *best = &state->best_checkpoint;
    const gsai_tensor_key key = {"best_checkpoint.weight", GSAI_F32, GSAI_ANY_NUMBER}; /* for its shape */
    const gsai_tensor *weights;
    GSA_TRY(gsai_bundle_fields(bundle, fields, FIELDS, best, error));
    GSA_TRY(gsai_bundle_need(bundle, &key, GSAI_ANY_LEN, &weights, error));
    if (best->pass == 0 || weights->n_dims != 2 || weights->shape[1] < 1 || weights->shape[1] > state->table.n_outputs)
        return gsai_fail(error, GSA_FORMAT, "the weights of the best checkpoint do not fit the state");
    best->n_slots = state->table.n_slots;
    best->n_outputs = (size_t)weights->shape[1];
    best->weight = gsai_alloc_zeroed(&state->env, best->n_slots, best->n_outputs * sizeof *best->weight);
    return best->weight ? GSA_OK : gsai_fail_memory(&state->env, error, "no memory for the best weights");
}

static size_t list_lines(const gsa_state *state, gsai_line_tensor *out)
{
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    const gsai_tensor_key key = {"best_checkpoint.weight", GSAI_F32, GSAI_FINITE};
    size_t size = best->n_outputs * sizeof *best->weight;
    *out = (gsai_line_tensor){key, 2, best->n_outputs, (char *)best->weight, size, best->n_slots};
    return best->weight ? 1 : 0;
}

static bool uses_slot(const gsa_state *state, size_t slot)
{
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    bool any = false;
    for (size_t k = 0; !any && best->weight && slot < best->n_slots && k < best->n_outputs; k++)
        any = best->weight[slot * best->n_outputs + k] != 0;
    return any;
}

const gsai_part_functions gsai_best_checkpoint_part = {.release = release,
                                                       .copy = copy_best,
                                                       .key = "best_checkpoint.pass",
                                                       .save = save_best,
                                                       .load = load_best,
                                                       .lines = list_lines,
                                                       .uses = uses_slot};
