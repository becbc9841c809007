/* The best checkpoint as a part of a state; quality.c takes it. */
#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"

#include <stddef.h>
#include <string.h>

static void release(gsa_state *state)
{
    gsai_free(&state->env, state->best_checkpoint.weight);
}

static gsa_status copy_best(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    const gsai_best_checkpoint *best = &from->best_checkpoint;
    if (!best->weight)
        return GSA_OK;
    size_t size = best->n_outputs * sizeof *best->weight;
    float *weight = gsai_alloc_zeroed(&to->env, best->n_slots, size);
    GSAI_TRY_MEMORY(weight, &to->env, error, "no memory for the best weights");
    for (size_t slot = 0; slot < best->n_slots; slot = gsai_table_next(&from->table, slot + 1))
        memcpy(weight + slot * best->n_outputs, best->weight + slot * best->n_outputs, size);
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
    *out = (gsai_line_tensor){key, 2, best->n_outputs, (char *)best->weight, size, best->n_slots, NULL};
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
