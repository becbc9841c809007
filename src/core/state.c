/* Life of a state: made, decided, copied, summed up, freed. Learning is in learn.c and update.c, merging in merge.c. */
#include "core/state.h"
#include "core/engine.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

gsa_status gsa__state_create(const gsa__params *params, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    gsa_state *state = gsa__alloc_zeroed(&resolved, 1, sizeof *state);
    if (!state)
        return gsa__fail_memory(&resolved, error, "no memory for a state");
    state->env = resolved;
    state->params = *params;
    state->kernels = gsa__kernels_best();
    gsa__labels_init(&state->labels, &resolved);
    state->clock.restart = state->clock.pace = 1;
    state->position.last_pass_loss = state->position.held_out_loss = state->position.constant_loss = NAN;
    state->sample.below = GSA__SAMPLE_BELOW;
    state->n_merged = 1;
    *out = state;
    return GSA_OK;
}

gsa_status gsa_state_new(const gsa_config *config, const gsa_env *env, gsa_state **out, gsa_error *error)
{
    gsa__params params;
    gsa__params_init(&params);
    if (config)
        params = config->params;
    gsa_status status = gsa__state_create(&params, env, out, error);
    if (status != GSA_OK)
        return status;
    const gsa__loss *loss = params.has_custom_loss ? &gsa__loss_custom : gsa__loss_asked(&params);
    if (loss)
        status = gsa__state_decide(*out, loss, error);
    if (status == GSA_OK && loss)
        status = gsa__contest_open(*out, error);
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
    gsa_env env = state->env;
    gsa__labels_release(&state->labels);
    gsa__free(&env, state->schema);
    gsa__names_release(&state->names, &env);
    gsa__contest_close(state);
    gsa__table_release(&state->table, &env);
    gsa__sample_release(&state->sample, &env);
    gsa__free(&env, state->carried.mass);
    gsa__free(&env, state->carried.count);
    gsa__free(&env, state->class_sums.at);
    gsa__free(&env, state->ancestors);
    gsa__free(&env, state->scratch);
    gsa__free(&env, state->best.weight);
    gsa__free(&env, state->entries.memory);
    gsa__group_release(&state->group, &env);
    gsa__free(&env, state->centre.at);
    gsa__free(&env, state);
}

/* Margins, and the scales of each row, begin with a line of the cache: vectors that straddle two are stored at half the
 * speed. */
gsa_status gsa__state_reserve_scratch(gsa_state *state, size_t n_outputs, gsa_error *error)
{
    const size_t line = 64;
    size_t size, n = gsa__scales_stride(n_outputs);
    if (!gsa__multiply(n, sizeof *state->margins + GSA__GROUP_ROWS * sizeof *state->scales, &size) ||
        !gsa__add(size, line, &size) || !gsa__reserve(&state->env, &state->scratch, &state->scratch_capacity, size, 1))
        return gsa__fail_memory(&state->env, error, "no memory for %zu outputs", n_outputs);
    state->margins = (double *)(void *)((char *)state->scratch + (line - (uintptr_t)state->scratch % line));
    state->scales = (float *)(state->margins + n);
    return GSA_OK;
}

gsa_status gsa__state_decide(gsa_state *state, const gsa__loss *loss, gsa_error *error)
{
    size_t n_outputs = gsa__loss_outputs(loss, state->labels.n);
    gsa_status status = gsa__class_weight_check(&state->params, loss, error);
    if (status == GSA_OK)
        status = gsa__state_reserve_scratch(state, n_outputs, error);
    if (status == GSA_OK)
        status = gsa__table_init(&state->table, 1, n_outputs, &state->env, error);
    if (status == GSA_OK)
        state->loss = loss;
    return status;
}

/* One output for two classes to one a class: w_1 = w/2, w_0 = -w/2. Halving is exact, so the model is the same; a step
 * moves two outputs apart twice as fast as one, so that steps, and hence the sums of steps, are halved too. */
static void split_output(gsa__table *table, gsa__step_mean *step)
{
    for (size_t slot = 0; slot < table->n_slots; slot++) {
        gsa__cell *weight = gsa__table_slot(table, slot);
        gsa__cell *average = weight + gsa__table_average(table);
        weight[1].f = weight[0].f / 2;
        weight[0].f = -weight[1].f;
        average[1].f = average[0].f / 2;
        average[0].f = -average[1].f;
    }
    step->sum /= 2;
}

double gsa__state_unseen(const gsa_state *state)
{
    bool has_prior = gsa__loss_has_probabilities(state->loss) && state->params.value[GSA__PARAM_intercept] &&
                     state->params.value[GSA__PARAM_method] != GSA__METHOD_PAPER;
    return has_prior && state->rows_behind > 0 ? -gsa__log1p((double)state->rows_behind) : 0;
}

/* Outputs from `first` on are those of classes that come late. */
static void set_unseen(gsa_state *state, size_t first)
{
    float intercept = (float)gsa__state_unseen(state);
    for (size_t k = first; k < state->table.n_outputs; k++) {
        gsa__table_slot(&state->table, 0)[k].f = intercept;
        if (state->contest)
            gsa__table_slot(&state->contest->table, 0)[k].f = intercept;
    }
}

static void split_outputs(gsa_state *state)
{
    split_output(&state->table, &state->step);
    if (state->contest)
        split_output(&state->contest->table, &state->contest->step);
    if (state->loss->widened)
        state->loss = state->loss->widened;
}

/* On failure nothing has changed: the room that was made does no harm. */
static gsa_status widen(gsa_state *state, size_t n_outputs, gsa_error *error)
{
    size_t before = state->table.n_outputs;
    gsa_status status = gsa__state_reserve_scratch(state, n_outputs, error);
    if (status == GSA_OK)
        status = gsa__table_widen(&state->table, n_outputs, &state->env, error);
    if (status == GSA_OK && state->contest)
        status = gsa__table_widen(&state->contest->table, n_outputs, &state->env, error);
    if (status != GSA_OK)
        state->table.n_outputs = before;
    return status;
}

gsa_status gsa__state_fit_labels(gsa_state *state, gsa_error *error)
{
    bool binary = gsa__state_is_binary(state);
    gsa_status status = GSA_OK;
    if (gsa__params_balance(&state->params))
        status = gsa__class_sums_grow(&state->class_sums, state->labels.n + 1, &state->env, error);
    if (status != GSA_OK || state->labels.n <= (binary ? 2 : state->table.n_outputs))
        return status;
    size_t n_known = binary ? 2 : state->table.n_outputs;
    status = gsa_state_close_group(state, error); /* of rows with fewer outputs */
    if (status == GSA_OK)
        status = widen(state, state->labels.n, error);
    if (status == GSA_OK && binary)
        split_outputs(state);
    if (status == GSA_OK)
        set_unseen(state, n_known);
    return status;
}

gsa_status gsa__state_split(gsa_state *state, gsa_error *error)
{
    gsa_status status = widen(state, 2, error);
    if (status == GSA_OK)
        split_outputs(state);
    return status;
}

gsa_status gsa__carried_grow(gsa__carried *carried, size_t n, const gsa_env *env, gsa_error *error)
{
    if (n <= carried->n)
        return GSA_OK;
    if (!gsa__reserve(env, &carried->mass, &carried->capacity_mass, n, sizeof *carried->mass) ||
        !gsa__reserve(env, &carried->count, &carried->capacity_count, n, sizeof *carried->count))
        return gsa__fail_memory(env, error, "no memory for the totals of %zu features", n);
    memset(carried->mass + carried->n, 0, (n - carried->n) * sizeof *carried->mass);
    memset(carried->count + carried->n, 0, (n - carried->n) * sizeof *carried->count);
    carried->n = n;
    return GSA_OK;
}

double gsa__state_mass(const gsa_state *state, size_t slot)
{
    double mass = slot < state->carried.n ? state->carried.mass[slot] : 0.0;
    if (slot < state->table.n_slots) {
        const gsa__cell *record = gsa__table_slot(&state->table, slot);
        mass += (double)record[gsa__table_mean(&state->table)].f * (double)record[gsa__table_count(&state->table)].u;
    }
    return mass;
}

gsa_status gsa__state_fold(gsa_state *state, gsa_error *error)
{
    gsa_status status = gsa__carried_grow(&state->carried, state->table.n_slots, &state->env, error);
    if (status != GSA_OK)
        return status;
    for (size_t slot = 0; slot < state->table.n_slots; slot++) {
        double mass = gsa__state_mass(state, slot);
        uint64_t count = gsa__state_count(state, slot);
        gsa__cell *record = gsa__table_slot(&state->table, slot);
        record[gsa__table_mean(&state->table)].f = 0;
        record[gsa__table_count(&state->table)].u = 0;
        state->carried.mass[slot] = mass;
        state->carried.count[slot] = count;
    }
    state->n_counted = 0;
    return GSA_OK;
}

/* avg = w - sum total(t - 1) D_t / total(now): weights before row t lack its update D_t. */
double gsa__state_average(const gsa_state *state, size_t slot, size_t output)
{
    const gsa__table *table = gsa__state_table(state);
    const gsa__cell *record = gsa__table_slot(table, slot);
    double weight = (double)record[output].f;
    double total = gsa__clock_total(state, state->clock.now);
    if (state->params.value[GSA__PARAM_average] == GSA__AVERAGE_LAST || total == 0)
        return weight;
    return weight - (double)record[gsa__table_average(table) + output].f / total;
}

const char *gsa__state_label(const gsa_state *state, size_t number)
{
    return state->labels.at[number].text;
}

size_t gsa__state_n_outputs(const gsa_state *state)
{
    return state->table.n_outputs;
}

size_t gsa__state_count_tiny(const gsa_state *state)
{
    const gsa__table *table = &state->table;
    size_t n = 0;
    for (size_t slot = 1; slot < table->n_slots; slot++) {
        const gsa__cell *record = gsa__table_slot(table, slot) + gsa__table_mean(table);
        n += record[1].u > 0 && record[0].f <= 2 * GSA__SQUARE_LEAST;
    }
    return n;
}

static double falling(const gsa__position *at)
{
    if (!(at->late[1] >= at->earlier[1] / 4 && at->earlier[1] > 0 && at->earlier[0] > 0)) /* too few to tell */
        return NAN;
    return 1 - at->late[0] / at->late[1] / (at->earlier[0] / at->earlier[1]);
}

const char *gsa__state_method(const gsa_state *state)
{
    bool is_paper = state->params.value[GSA__PARAM_method] == GSA__METHOD_PAPER;
    return is_paper ? "paper" : state->n_solved ? "optimum" : "gsa";
}

void gsa_state_summary(const gsa_state *state, gsa_summary *out)
{
    out->loss = gsa__loss_name(state->loss);
    out->method = gsa__state_method(state);
    out->n_rows = state->n_rows + state->group.n_rows;
    out->n_rows_all = state->clock.now + state->group.n_rows * state->clock.pace; /* a tick a row and copy */
    out->n_held_out = state->sample.n;
    out->n_features = state->table.n_slots ? state->table.n_slots - 1 : 0;
    out->n_classes = state->labels.n;
    out->pass = state->position.pass;
    out->pass_rows = state->position.pass_rows;
    out->step = gsa__step_mean_value(gsa__state_step(state));
    out->loss_sum = state->position.loss_sum;
    out->loss_weight = state->position.loss_weight;
    out->last_pass_loss = state->position.last_pass_loss;
    out->n_merged = state->n_merged;
    out->best_pass = state->best.weight ? state->best.pass : 0;
    out->best_loss = state->best.weight ? state->best.loss : (double)NAN;
    out->falling = falling(&state->position);
}

const char *gsa_state_get(const gsa_state *state, const char *name)
{
    return gsa__params_get(&state->params, name);
}

gsa_status gsa_state_set(gsa_state *state, const char *name, const char *value, gsa_error *error)
{
    gsa__params changed = state->params;
    gsa_status status = gsa__params_set(&changed, name, value, error);
    if (status != GSA_OK)
        return status;
    gsa__param_id id = gsa__param_find(name);
    bool begun = state->n_rows > 0 || state->position.pass > 0 || state->position.pass_rows > 0;
    bool settled = begun || (id == GSA__PARAM_loss && state->loss);
    if (changed.value[id] != state->params.value[id] && gsa__param_decides_result(id) && settled)
        return gsa__fail(error, GSA_CONFLICT, "this run began with %s=%s and cannot go on with %s; begin a new one",
                         name, state->params.text[id], value);
    const gsa__loss *loss = gsa__loss_asked(&changed);
    status = gsa__class_weight_check(&changed, state->loss, error);
    if (status == GSA_OK && !state->loss && loss)
        status = gsa__state_decide(state, loss, error);
    if (status == GSA_OK)
        state->params = changed;
    bool new_contest = id == GSA__PARAM_units || id == GSA__PARAM_method || id == GSA__PARAM_loss;
    if (status == GSA_OK && new_contest && !begun && state->table.n_slots == 1) {
        gsa__contest_close(state); /* nothing is learned yet: what is asked for now may need another, or none */
        status = gsa__contest_open(state, error);
    }
    return status;
}

gsa_status gsa_state_set_loss(gsa_state *state, const gsa_margin_loss *loss, gsa_error *error)
{
    if (!gsa__loss_is_custom(state->loss))
        return gsa__fail(error, GSA_CONFLICT, "this state learns with the %s loss", gsa__loss_name(state->loss));
    return gsa__params_set_loss(&state->params, loss, error);
}

void gsa_state_end_pass(gsa_state *state)
{
    gsa__position *at = &state->position;
    gsa_status status = gsa_state_close_group(state, NULL);
    (void)status; /* what diverges here has weights of which no model can be made */
    gsa__contest_close(state);
    at->last_pass_loss = at->loss_weight > 0 ? at->loss_sum / at->loss_weight : NAN;
    at->pass++;
    at->pass_rows = 0;
    at->loss_sum = at->loss_weight = 0;
}

/* What belongs to the run stays, though what it came by may have been in a file, or with another process. */
static void keep_run(gsa__params *params, const gsa__params *of_run)
{
    for (int id = 0; id < GSA__PARAMS; id++)
        if (!gsa__param_decides_result((gsa__param_id)id)) {
            params->value[id] = of_run->value[id];
            memcpy(params->text[id], of_run->text[id], sizeof params->text[id]);
        }
    gsa__params_take_loss(params, of_run);
}

gsa_status gsa_state_replace(gsa_state *state, gsa_state *by, gsa_error *error)
{
    const gsa_env *mine = &state->env, *its = &by->env;
    bool same_memory = mine->alloc == its->alloc && mine->release == its->release &&
                       mine->alloc_ctx == its->alloc_ctx && mine->budget == its->budget;
    gsa_state *copy = NULL;
    gsa_status status = same_memory ? GSA_OK : gsa_state_fork(by, 1, &state->env, &copy, error);
    if (status == GSA_OK) {
        gsa_state *taken = same_memory ? by : copy, old = *state;
        gsa__origin origin = by->origin;
        *state = *taken;
        state->env = old.env;
        state->origin = origin;
        keep_run(&state->params, &old.params);
        *taken = old;
    }
    gsa_state_free(copy);
    gsa_state_free(by);
    return status;
}
