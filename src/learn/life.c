/* The life of a state: made, freed, copied (a replica that continues like it, or a state that begins a new run from
 * it), summed up, set. learner.c and update.c learn, merge/merge.c merges. */
#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/lineage.h"
#include "learn/schema.h"
#include "learn/state_slots.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

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
    gsai_state_scale_as_asked(*out);
    if (status != GSA_OK) {
        gsa_state_free(*out);
        *out = NULL;
    }
    return status;
}

/* NOLINTNEXTLINE(misc-no-recursion): once, of a state in which no row waits */
void gsa_state_free(gsa_state *state)
{
    if (!state)
        return;
    gsai_env env = state->env;
    gsa_state_free(state->so_far.state);
    gsai_parts_release(state);
    gsai_free(&env, state);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* Gives a state to the caller if all went well, else frees it. */
static gsa_status give_or_free(gsa_state *state, gsa_status status, gsa_state **out)
{
    if (status == GSA_OK)
        *out = state;
    else
        gsa_state_free(state);
    return status;
}

/* `memory`: a table that the copy may have, and that it takes over in any case; NULL: none. */
static gsa_status fork_into(const gsa_state *base, size_t n_copies, const gsai_env *env, gsai_table *memory,
                            gsa_state **out, gsa_error *error)
{
    gsa_state *copy = NULL;
    GSA_TRY(gsai_state_create(&base->params, env, &copy, error));
    if (memory && base->loss) {
        copy->table = *memory;
        *memory = (gsai_table){0};
    }
    gsa_status status = gsai_parts_copy(copy, base, n_copies > 1 ? GSAI_COPY_REPLICA : GSAI_COPY_WHOLE, error);
    copy->run_id.closed = 1;              /* whatever it learns now, it began as the base did */
    if (status == GSA_OK && n_copies > 1) /* its rows are not those of each copy */
        status = gsa_state_close_group(copy, error);
    copy->averaging.per_row = n_copies > 1 ? n_copies : 1;
    return give_or_free(copy, status, out);
}

gsa_status gsa_state_fork(const gsa_state *base, size_t n_copies, gsa_state **out, gsa_error *error)
{
    return fork_into(base, n_copies, &base->env, NULL, out, error);
}

gsa_status gsa_state_replace(gsa_state *state, gsa_state *by, gsa_error *error)
{
    const gsa_memory *mine = &state->env.memory, *its = &by->env.memory;
    bool same_memory = mine->alloc == its->alloc && mine->release == its->release && mine->ctx == its->ctx &&
                       mine->budget == its->budget;
    gsa_state *copy = NULL;
    gsa_status status = same_memory ? GSA_OK : fork_into(by, 1, &state->env, NULL, &copy, error);
    if (status == GSA_OK) {
        gsa_state *taken = same_memory ? by : copy, old = *state;
        gsai_run_id run_id = by->run_id;
        *state = *taken;
        state->env = old.env;
        state->run_id = run_id;
        for (int id = 0; id < GSAI_PARAMS; id++) /* what belongs to the run stays */
            if (!gsai_param_decides_result((gsai_param_id)id))
                gsai_params_set_number(&state->params, (gsai_param_id)id, old.params.value[id]);
        gsai_params_take_loss(&state->params, &old.params);
        *taken = old;
    }
    gsa_state_free(copy);
    gsa_state_free(by);
    return status;
}

gsa_status gsa_state_refresh(gsa_state *copy, const gsa_state *base, size_t n_copies, gsa_error *error)
{
    gsa_state *again;
    GSA_TRY(fork_into(base, n_copies, &copy->env, &copy->table, &again, error));
    return gsa_state_replace(copy, again, error);
}

gsa_status gsai_state_twin(const gsa_state *state, gsa_state **out, gsa_error *error)
{
    gsa_state *copy = NULL;
    GSA_TRY(gsa_state_fork(state, 1, &copy, error));
    copy->run_id = state->run_id;
    *out = copy;
    return GSA_OK;
}

static gsa_status close_copy(const gsa_state *state, bool goes_on, bool sorts, gsa_state **out, gsa_error *error)
{
    gsa_state *copy = NULL;
    GSA_TRY(gsai_state_twin(state, &copy, error));
    gsa_status status = sorts ? gsai_state_sort_labels(copy, 0, error) : GSA_OK;
    if (status == GSA_OK)
        status = gsai_state_settle(copy, goes_on, &copy->env, error);
    if (status == GSA_OK)
        status = gsa_state_close_group(copy, error);
    return give_or_free(copy, status, out);
}

gsa_status gsai_state_closed(const gsa_state *state, bool goes_on, gsa_state **out, gsa_error *error)
{
    return close_copy(state, goes_on, !goes_on && state->rows_behind == 0, out, error);
}

/* However often it is asked for, solutions cost about as much as two of all rows. */
gsa_status gsai_state_so_far(gsa_state *state, const gsa_state **out, gsa_error *error)
{
    gsai_so_far *at = &state->so_far;
    size_t n = gsai_waiting_rows(state->waiting);
    if (n == 0 || n >= 2 * at->n_rows || at->n_labels != state->labels.n) {
        gsa_state_free(at->state);
        *at = (gsai_so_far){0};
        if (n > 0)
            GSA_TRY(close_copy(state, false, false, &at->state, error)); /* predictions have the state's labels */
        at->n_rows = n;
        at->n_labels = state->labels.n;
    }
    *out = at->state ? at->state : state;
    return GSA_OK;
}

static gsa_status check_start(const gsa_state *from, const gsai_params *params, gsa_error *error)
{
    const gsai_loss *asked = gsai_loss_asked(params);
    if (asked && !gsai_losses_agree(asked, from->loss))
        return gsai_fail(error, GSA_CONFLICT, "the model to start from has %s loss, not %s; leave the loss out",
                         gsai_loss_name(from->loss), gsai_loss_name(asked));
    if (params->has_custom_loss && !gsai_loss_is_custom(from->loss))
        return gsai_fail(error, GSA_CONFLICT, "the model to start from has %s loss, not one of the caller's",
                         gsai_loss_name(from->loss));
    if (params->value[GSAI_PARAM_intercept] != from->params.value[GSAI_PARAM_intercept])
        return gsai_fail(error, GSA_CONFLICT, "the model to start from has intercept=%s; leave it out",
                         from->params.text[GSAI_PARAM_intercept]);
    if (params->value[GSAI_PARAM_quantile] != from->params.value[GSAI_PARAM_quantile])
        return gsai_fail(error, GSA_CONFLICT, "the model to start from has quantile=%s, not %s",
                         from->params.text[GSAI_PARAM_quantile], params->text[GSAI_PARAM_quantile]);
    return gsai_params_suit_loss(params, from->loss, error);
}

gsa_status gsa_state_start_from(const gsa_state *from, const gsa_config *config, gsa_state **out, gsa_error *error)
{
    gsa_state *closed = NULL;
    if (gsai_state_n_waiting(from) > 0) {
        gsa_status status = gsai_state_closed(from, false, &closed, error);
        if (status == GSA_OK)
            status = gsa_state_start_from(closed, config, out, error);
        gsa_state_free(closed);
        return status;
    }
    gsai_params params = config ? config->params : from->params;
    if (gsai_loss_is_custom(from->loss) && !params.has_custom_loss)
        gsai_params_take_loss(&params, &from->params);
    gsa_state *state = NULL;
    GSA_TRY(check_start(from, &params, error));
    GSA_TRY(gsai_state_create(&params, &from->env, &state, error));
    gsa_status status = gsai_parts_copy(state, from, GSAI_COPY_RUN, error);
    state->standardised = from->standardised;
    state->label_offset.settled = from->n_rows > 0;
    if (status == GSA_OK && from->loss) {
        GSAI_EACH_SLOT(slot, &from->table) /* the finished weights are where the new run begins */
        for (size_t k = 0; k < from->table.n_outputs; k++)
            gsai_table_slot(&state->table, slot)[k].f = (float)gsai_state_average(from, slot, k);
        gsai_table_clear_average(&state->table);
        status = gsai_state_fold(state, error);
    }
    if (status == GSA_OK && gsai_loss_widens_to(from->loss, gsai_loss_asked(&params)))
        status = gsai_state_widen(state, 2, error);
    if (status == GSA_OK && from->run_id.n_rows > 0)
        status = gsai_lineage_add(state, from->run_id.hash, error);
    return give_or_free(state, status, out);
}

/* ---- what it says of itself, and what is set -------------------------------------------------------------------- */

/* Returns the number of features that rows had: a column that bends is one. */
static uint64_t count_features(const gsa_state *state)
{
    uint64_t n = (state->table.n_used ? state->table.n_used - 1 : 0) + state->basis.n;
    for (size_t k = 0; k < state->basis.n_ids; k++)
        n -= gsai_table_uses(&state->table, (size_t)state->basis.at + k + 1);
    for (size_t i = 0; i < state->basis.n; i++)
        n -= gsai_table_uses(&state->table, (size_t)state->basis.curve[i].feature + 1);
    return n;
}

gsa_status gsa_state_get_summary(const gsa_state *state, gsa_summary *out)
{
    gsa_summary now = {0};
    now.loss = gsai_loss_name(state->loss);
    now.method = gsai_state_method(state);
    now.n_rows = state->n_rows + gsai_state_n_waiting(state);
    now.n_rows_all =
        state->averaging.now + gsai_state_n_waiting(state) * state->averaging.per_row; /* 1 per row and replica */
    now.n_held_out = gsai_sample_count(&state->sample);
    now.n_features = state->table.n_slots ? state->table.n_slots - 1 : 0;
    now.n_used = count_features(state);
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
    now.order_feature = state->dates.n_latest > 0 ? state->dates.feature : UINT64_MAX;
    now.latest_loss = state->dates.n_latest > 0 ? state->dates.loss : (double)NAN;
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
    GSA_TRY(gsai_params_suit_loss(&changed, state->loss, error));
    if (!state->loss && loss)
        GSA_TRY(gsai_state_decide(state, loss, error));
    state->params = changed;
    bool new_scaling = id == GSAI_PARAM_scale || id == GSAI_PARAM_method || id == GSAI_PARAM_loss;
    if (!new_scaling || begun || state->table.n_slots != 1)
        return GSA_OK;
    gsai_state_scale_as_asked(state);
    return GSA_OK;
}

gsa_status gsa_state_set_loss(gsa_state *state, const gsa_margin_loss *loss, gsa_error *error)
{
    if (!gsai_loss_is_custom(state->loss))
        return gsai_fail(error, GSA_CONFLICT, "this state learns with the %s loss", gsai_loss_name(state->loss));
    return gsai_params_set_loss(&state->params, loss, error);
}
