/* Copies of a state: one that goes on like it, and one that begins a new run from it. */
#include "core/origins.h"
#include "core/schema.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static gsa_status copy_table(gsa_state *to, const gsa_state *from, const gsa__table *table, gsa_error *error)
{
    if (!from->loss)
        return GSA_OK;
    gsa_status status = GSA_OK;
    if (!to->table.cells || !gsa__table_refill(&to->table, table)) {
        gsa__table_release(&to->table, &to->env);
        status = gsa__table_copy(&to->table, table, &to->env, error);
    }
    to->loss = from->loss;
    return status == GSA_OK ? gsa__state_reserve_scratch(to, table->n_outputs, error) : status;
}

static gsa_status copy_contest(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    if (!from->contest)
        return GSA_OK;
    gsa__contest *contest = gsa__alloc_zeroed(&to->env, 1, sizeof *contest);
    if (!contest)
        return gsa__fail_memory(&to->env, error, "no memory for a contest");
    *contest = *from->contest;
    gsa_status status = gsa__table_copy(&contest->table, &from->contest->table, &to->env, error);
    if (status == GSA_OK)
        to->contest = contest;
    else
        gsa__free(&to->env, contest);
    return status;
}

static gsa_status copy_carried(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    gsa_status status = gsa__carried_grow(&to->carried, from->carried.n, &to->env, error);
    if (status == GSA_OK && from->carried.n > 0) {
        memcpy(to->carried.mass, from->carried.mass, from->carried.n * sizeof *from->carried.mass);
        memcpy(to->carried.count, from->carried.count, from->carried.n * sizeof *from->carried.count);
    }
    return status;
}

static gsa_status copy_centre(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    gsa_status status = gsa__centre_grow(&to->centre, from->centre.n, &to->env, error);
    if (status == GSA_OK && from->centre.n > 0)
        memcpy(to->centre.at, from->centre.at, from->centre.n * sizeof *from->centre.at);
    return status;
}

gsa_status gsa__state_copy_sample(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < from->sample.n && status == GSA_OK; i++) {
        gsa__held_row *held = gsa__held_row_copy(from->sample.at[i], &to->env);
        status = gsa__sample_insert(&to->sample, held, &to->env, error);
    }
    to->sample.below = from->sample.below;
    return status;
}

static gsa_status copy_class_sums(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    if (!gsa__params_balance(&to->params) || from->class_sums.n == 0)
        return GSA_OK;
    gsa_status status = gsa__class_sums_grow(&to->class_sums, from->class_sums.n, &to->env, error);
    if (status == GSA_OK)
        memcpy(to->class_sums.at, from->class_sums.at, from->class_sums.n * sizeof *from->class_sums.at);
    return status;
}

/* What a new run takes over: labels, the schema, weights, mass and presence, weights of classes, ancestors. */
static gsa_status copy_knowledge(gsa_state *to, const gsa_state *from, const gsa__table *table, gsa_error *error)
{
    gsa_status status = gsa__labels_add_all(&to->labels, &from->labels, error);
    if (status == GSA_OK)
        status = gsa__schema_copy(&to->schema, from->schema, &to->env, error);
    if (status == GSA_OK)
        status = gsa__names_copy(&to->names, &from->names, &to->env, error);
    if (status == GSA_OK)
        status = copy_table(to, from, table, error);
    if (status == GSA_OK)
        status = copy_carried(to, from, error);
    if (status == GSA_OK)
        status = copy_centre(to, from, error);
    if (status == GSA_OK)
        status = copy_class_sums(to, from, error);
    return status == GSA_OK ? gsa__ancestors_add_all(to, from->ancestors, from->n_ancestors, error) : status;
}

/* `memory`: a table that the copy may have, and that it takes over in any case; NULL: none. */
static gsa_status fork_into(const gsa_state *base, size_t n_copies, const gsa_env *env, gsa__table *memory,
                            gsa_state **out, gsa_error *error)
{
    gsa_state *copy;
    gsa_status status = gsa__state_create(&base->params, env, &copy, error);
    if (status != GSA_OK)
        return status;
    if (memory && base->loss) {
        copy->table = *memory;
        *memory = (gsa__table){0};
    }
    status = copy_knowledge(copy, base, &base->table, error);
    if (status == GSA_OK)
        status = gsa__group_copy(copy, base, error);
    if (status == GSA_OK)
        status = copy_contest(copy, base, error);
    if (status == GSA_OK)
        status = gsa__state_copy_sample(copy, base, error);
    if (status == GSA_OK && n_copies <= 1) /* a merge has it from the base */
        status = gsa__best_copy(copy, base, error);
    if (status != GSA_OK) {
        gsa_state_free(copy);
        return status;
    }
    copy->step = base->step;
    copy->units_free = base->units_free;
    copy->n_solved = base->n_solved;
    copy->rows_behind = base->rows_behind;
    copy->clock = base->clock;
    copy->position = base->position;
    copy->given = base->given;
    copy->origin_of_labels = base->origin_of_labels;
    copy->n_rows = base->n_rows;
    copy->n_counted = base->n_counted;
    copy->squared_error = base->squared_error;
    copy->squared_label = base->squared_label;
    copy->origin = base->origin;
    copy->origin.closed = 1; /* whatever it learns now, it began as the base did */
    copy->rows = base->rows;
    copy->n_merged = base->n_merged;
    status = n_copies > 1 ? gsa_state_close_group(copy, error) : GSA_OK; /* its rows are not those of each copy */
    if (status != GSA_OK) {
        gsa_state_free(copy);
        return status;
    }
    copy->clock.pace = n_copies > 1 ? n_copies : 1;
    *out = copy;
    return GSA_OK;
}

gsa_status gsa_state_fork(const gsa_state *base, size_t n_copies, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    return fork_into(base, n_copies, env, NULL, out, error);
}

gsa_status gsa_state_refork(gsa_state *copy, const gsa_state *base, size_t n_copies, gsa_error *error)
{
    gsa_state *again;
    gsa_status status = fork_into(base, n_copies, &copy->env, &copy->table, &again, error);
    return status == GSA_OK ? gsa_state_replace(copy, again, error) : status;
}

gsa_status gsa__state_closed(const gsa_state *state, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsa_state *copy;
    gsa_status status = gsa_state_fork(state, 1, env, &copy, error);
    if (status == GSA_OK && (status = gsa_state_close_group(copy, error)) != GSA_OK)
        gsa_state_free(copy);
    else if (status == GSA_OK)
        *out = copy;
    return status;
}

/* The finished weights of the old run are where the new one begins. */
static void begin_at_average(gsa_state *state, const gsa_state *from)
{
    for (size_t slot = 0; slot < from->table.n_slots; slot++)
        for (size_t k = 0; k < from->table.n_outputs; k++)
            gsa__table_slot(&state->table, slot)[k].f = (float)gsa__state_average(from, slot, k);
    gsa__table_clear_average(&state->table);
}

static gsa_status check_start(const gsa_state *from, const gsa__params *params, gsa_error *error)
{
    const gsa__loss *asked = gsa__loss_asked(params);
    if (asked && !gsa__losses_agree(asked, from->loss))
        return gsa__fail(error, GSA_CONFLICT, "the model to start from has %s loss, not %s; leave the loss out",
                         gsa__loss_name(from->loss), gsa__loss_name(asked));
    if (params->has_custom_loss && !gsa__loss_is_custom(from->loss))
        return gsa__fail(error, GSA_CONFLICT, "the model to start from has %s loss, not one of the caller's",
                         gsa__loss_name(from->loss));
    if (params->value[GSA__PARAM_intercept] != from->params.value[GSA__PARAM_intercept])
        return gsa__fail(error, GSA_CONFLICT, "the model to start from has intercept=%s; leave it out",
                         from->params.text[GSA__PARAM_intercept]);
    return gsa__class_weight_check(params, from->loss, error);
}

gsa_status gsa_state_start_from(const gsa_state *from, const gsa_config *config, const gsa_env *env, gsa_state **out,
                                gsa_error *error)
{
    gsa_state *closed = NULL;
    if (from->group.n_rows > 0) {
        gsa_status status = gsa__state_closed(from, env, &closed, error);
        if (status == GSA_OK)
            status = gsa_state_start_from(closed, config, env, out, error);
        gsa_state_free(closed);
        return status;
    }
    gsa__params params = config ? config->params : from->params;
    if (gsa__loss_is_custom(from->loss) && !params.has_custom_loss)
        gsa__params_take_loss(&params, &from->params);
    gsa_status status = check_start(from, &params, error);
    if (status != GSA_OK)
        return status;
    gsa_state *state;
    status = gsa__state_create(&params, env, &state, error);
    if (status != GSA_OK)
        return status;
    status = copy_knowledge(state, from, gsa__state_table(from), error);
    state->units_free = from->units_free || gsa__state_table(from) != &from->table;
    state->rows_behind = from->rows_behind;
    state->origin_of_labels = from->origin_of_labels;
    state->origin_of_labels.settled = from->n_rows > 0;
    if (status == GSA_OK && from->loss) {
        begin_at_average(state, from);
        status = gsa__state_fold(state, error);
    }
    if (status == GSA_OK && gsa__loss_widens_to(from->loss, gsa__loss_asked(&params)))
        status = gsa__state_split(state, error);
    if (status == GSA_OK && from->origin.n_rows > 0)
        status = gsa__ancestors_add(state, from->origin.hash, error);
    if (status != GSA_OK) {
        gsa_state_free(state);
        return status;
    }
    *out = state;
    return GSA_OK;
}
