/* The life of a state: made, summed up, set, freed. learner.c and update.c learn, fork.c copies, merge/merge.c merges.
 */
#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/state_slots.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

gsa_status gsai_state_create(const gsai_params *params, const gsai_env *env, gsa_state **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_kept(env);
    GSA_TRY(gsai_params_check(params, error));
    gsa_state *state = gsai_alloc_zeroed(&resolved, 1, sizeof *state);
    GSAI_TRY_MEMORY(state, &resolved, error, "no memory for a state");
    state->env = resolved;
    state->params = *params;
    state->kernels = gsai_kernels_best();
    gsai_labels_init(&state->labels, &resolved);
    state->averaging.restart = state->averaging.per_row = 1;
    state->position.last_pass_loss = state->position.held_out_loss = state->position.constant_loss = NAN;
    state->sample.below = GSAI_SAMPLE_BELOW;
    state->n_merged = 1;
    *out = state;
    return GSA_OK;
}

gsa_status gsa_state_new(const gsa_config *config, const gsa_memory *memory, gsa_state **out, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, NULL, error));
    gsai_params params;
    gsai_params_init(&params);
    if (config)
        params = config->params;
    GSA_TRY(gsai_state_create(&params, &own, out, error));
    const gsai_loss *loss = params.has_custom_loss ? &gsai_loss_custom : gsai_loss_asked(&params);
    gsa_status status = loss ? gsai_state_decide(*out, loss, error) : GSA_OK;
    if (status == GSA_OK && loss)
        status = gsai_scaling_open(*out, error);
    if (status != GSA_OK) {
        gsa_state_free(*out);
        *out = NULL;
    }
    return status;
}

void gsa_state_free(gsa_state *state)
{
    if (!state)
        return;
    gsai_env env = state->env;
    gsai_parts_release(state);
    gsai_free(&env, state);
}

gsa_status gsa_state_get_summary(const gsa_state *state, gsa_summary *out)
{
    gsa_summary now = {0};
    now.loss = gsai_loss_name(state->loss);
    now.method = gsai_state_method(state);
    now.n_rows = state->n_rows + state->group.n_rows;
    now.n_rows_all = state->averaging.now + state->group.n_rows * state->averaging.per_row; /* 1 per row and replica */
    now.n_held_out = gsai_sample_count(&state->sample);
    now.n_features = state->table.n_slots ? state->table.n_slots - 1 : 0;
    now.n_classes = state->labels.n;
    now.pass = state->position.pass;
    now.pass_rows = state->position.pass_rows;
    now.step = gsai_step_mean_value(gsai_state_step(state));
    now.loss_sum = state->position.loss_sum;
    now.loss_weight = state->position.loss_weight;
    now.last_pass_loss = state->position.last_pass_loss;
    now.n_merged = state->n_merged;
    now.best_pass = state->best_checkpoint.weight ? state->best_checkpoint.pass : 0;
    now.best_loss = state->best_checkpoint.weight ? state->best_checkpoint.loss : (double)NAN;
    now.falling = gsai_position_falling(&state->position);
    now.n_features_full = state->compaction.n_before;
    now.n_features_kept = state->compaction.n_after;
    now.full_loss = state->compaction.loss_before;
    now.compact_loss = state->compaction.loss_after;
    now.compact_error = state->compaction.error_of_mean;
    return gsai_give_sized(out, &now, sizeof now);
}

const char *gsa_state_get(const gsa_state *state, const char *name)
{
    return gsai_params_get(&state->params, name);
}

gsa_status gsa_state_get_number(const gsa_state *state, const char *name, uint64_t *out, gsa_error *error)
{
    gsai_param_id id = gsai_param_find(name);
    if (id == GSAI_PARAMS)
        return gsai_fail(error, GSA_ARGUMENT, "unknown parameter '%s'", name);
    *out = state->params.value[id];
    return GSA_OK;
}

gsa_status gsa_state_set(gsa_state *state, const char *name, const char *value, gsa_error *error)
{
    gsai_params changed = state->params;
    GSA_TRY(gsai_params_set(&changed, name, value, error));
    gsai_param_id id = gsai_param_find(name);
    bool begun = state->n_rows > 0 || state->position.pass > 0 || state->position.pass_rows > 0;
    bool settled = begun || (id == GSAI_PARAM_loss && state->loss);
    if (changed.value[id] != state->params.value[id] && gsai_param_decides_result(id) && settled)
        return gsai_fail(error, GSA_CONFLICT, "this run began with %s=%s and cannot continue with %s; begin a new one",
                         name, state->params.text[id], value);
    const gsai_loss *loss = gsai_loss_asked(&changed);
    GSA_TRY(gsai_class_weight_check(&changed, state->loss, error));
    if (!state->loss && loss)
        GSA_TRY(gsai_state_decide(state, loss, error));
    state->params = changed;
    bool new_scaling = id == GSAI_PARAM_scale || id == GSAI_PARAM_method || id == GSAI_PARAM_loss;
    if (!new_scaling || begun || state->table.n_slots != 1)
        return GSA_OK;
    gsai_scaling_close(state); /* nothing is learned yet: what is asked for now may need another, or none */
    return gsai_scaling_open(state, error);
}

gsa_status gsa_state_set_loss(gsa_state *state, const gsa_margin_loss *loss, gsa_error *error)
{
    if (!gsai_loss_is_custom(state->loss))
        return gsai_fail(error, GSA_CONFLICT, "this state learns with the %s loss", gsai_loss_name(state->loss));
    return gsai_params_set_loss(&state->params, loss, error);
}
