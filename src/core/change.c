/* Changes: taken from a working copy, added up. */
#include "core/change.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

bool gsa__state_splits(const gsa_state *state, const gsa_state *into)
{
    return gsa__state_is_binary(state) && !gsa__state_is_binary(into);
}

gsa_status gsa__output_map_init(gsa__output_map *map, const gsa_state *state, const gsa_state *into, gsa_error *error)
{
    memset(map, 0, sizeof *map);
    map->sign = 1;
    map->n_labels = state->labels.n;
    if (!gsa__loss_has_classes(into->loss))
        return GSA_OK;
    map->to = gsa__alloc(&into->env, state->labels.n, sizeof *map->to);
    if (!map->to)
        return gsa__fail(error, GSA_MEMORY, "no memory for %zu labels", state->labels.n);
    for (size_t k = 0; k < state->labels.n; k++)
        map->to[k] = gsa__labels_find_text(&into->labels, state->labels.at[k].text);
    map->split = gsa__state_splits(state, into);
    if (gsa__state_is_binary(into) && map->n_labels > 0 && map->to[0] == 1)
        map->sign = -1;
    return GSA_OK;
}

void gsa__output_map_release(gsa__output_map *map, const gsa_env *env)
{
    gsa__free(env, map->to);
}

/* One slot of a state in the outputs of the merged one; outputs the state does not have are zero. */
static void gather(const gsa_state *state, const gsa__output_map *map, size_t slot, bool averaged, size_t n_outputs,
                   double *out)
{
    for (size_t k = 0; k < n_outputs; k++)
        out[k] = 0;
    if (!state || slot >= state->table.n_slots)
        return;
    const gsa__cell *record = gsa__table_slot(gsa__state_table(state), slot);
    size_t n_from = state->table.n_outputs > 1 ? map->n_labels : 1;
    for (size_t k = 0; k < n_from; k++) {
        double weight = averaged ? gsa__state_average(state, slot, k) : (double)record[k].f;
        if (map->split) {
            for (size_t label = 0; label < map->n_labels; label++)
                out[map->to[label]] = label == 1 ? weight / 2 : -weight / 2;
        } else if (state->table.n_outputs > 1) {
            out[map->to[k]] = weight;
        } else {
            out[0] = map->sign * weight;
        }
    }
}

bool gsa__state_continues(const gsa_state *state, const gsa_state *base)
{
    size_t n = base->n_ancestors;
    return state->origin.hash == base->origin.hash && state->n_ancestors == n &&
           (n == 0 || memcmp(state->ancestors, base->ancestors, n * sizeof *base->ancestors) == 0) &&
           state->n_rows >= base->n_rows && state->clock.now >= base->clock.now;
}

static gsa_status allocate(gsa__change *change, const gsa_state *into, gsa_error *error)
{
    memset(change, 0, sizeof *change);
    change->n_slots = into->table.n_slots;
    change->n_outputs = into->table.n_outputs;
    change->n_class_sums = into->labels.n + 1;
    size_t n_cells;
    if (!gsa__multiply(change->n_slots, change->n_outputs, &n_cells) ||
        !(change->class_sums = gsa__alloc_zeroed(&into->env, change->n_class_sums, sizeof(double))) ||
        !(change->weight = gsa__alloc_zeroed(&into->env, n_cells, sizeof(double))) ||
        !(change->average = gsa__alloc_zeroed(&into->env, n_cells, sizeof(double))) ||
        !(change->c = gsa__alloc_zeroed(&into->env, change->n_slots, sizeof(double))) ||
        !(change->mass = gsa__alloc_zeroed(&into->env, change->n_slots, sizeof(double))) ||
        !(change->count = gsa__alloc_zeroed(&into->env, change->n_slots, sizeof(uint64_t)))) {
        gsa__change_release(change, &into->env);
        return gsa__fail(error, GSA_MEMORY, "no memory to merge tables of %zu features and %zu outputs",
                         into->table.n_slots - 1, into->table.n_outputs);
    }
    return GSA_OK;
}

void gsa__change_release(gsa__change *change, const gsa_env *env)
{
    gsa__free(env, change->weight);
    gsa__free(env, change->average);
    gsa__free(env, change->c);
    gsa__free(env, change->mass);
    gsa__free(env, change->count);
    gsa__free(env, change->class_sums);
    memset(change, 0, sizeof *change);
}

static double step_sum(const gsa_state *state, const gsa_state *into)
{
    return gsa__state_step(state)->sum / (gsa__state_splits(state, into) ? 2 : 1);
}

static void take_scalars(gsa__change *change, const gsa_state *state, const gsa_state *base, const gsa_state *into)
{
    change->n_rows = state->n_rows;
    change->rows_behind = state->rows_behind - (base ? base->rows_behind : 0);
    change->rows_free = state->units_free || gsa__state_table(state) != &state->table ? state->n_rows : 0;
    change->n_ticks = state->clock.now;
    change->n_merged = state->n_merged;
    change->step = (gsa__step_mean){step_sum(state, into), gsa__state_step(state)->weight};
    change->loss_sum = state->position.loss_sum;
    change->loss_weight = state->position.loss_weight;
    change->squared_error = state->squared_error;
    change->squared_label = state->squared_label;
    change->pass = state->position.pass;
    change->pass_rows = state->position.pass_rows;
    if (base && gsa__state_continues(state, base)) {
        change->n_rows -= base->n_rows;
        change->n_ticks -= base->clock.now;
        change->n_merged = 1;
        change->step.sum -= step_sum(base, into);
        change->step.weight -= gsa__state_step(base)->weight;
        change->squared_error -= base->squared_error;
        change->squared_label -= base->squared_label;
        if (state->position.pass == base->position.pass) { /* else these began anew with the pass */
            change->loss_sum -= base->position.loss_sum;
            change->loss_weight -= base->position.loss_weight;
            change->pass_rows -= base->position.pass_rows;
        }
    }
}

static void take_slots(gsa__change *change, const gsa_state *state, const gsa_state *base, const gsa__output_map *map,
                       const gsa__output_map *base_map, double *now, double *before)
{
    size_t n_outputs = change->n_outputs;
    bool from_finished = base && !gsa__state_continues(state, base);
    for (size_t slot = 0; slot < change->n_slots; slot++) {
        double c = gsa__state_mass(state, slot);
        double *weight = change->weight + slot * n_outputs, *average = change->average + slot * n_outputs;
        change->c[slot] = c;
        change->mass[slot] = c - (base ? gsa__state_mass(base, slot) : 0.0);
        change->count[slot] = gsa__state_count(state, slot) - (base ? gsa__state_count(base, slot) : 0);
        gather(base, base_map, slot, from_finished, n_outputs, before);
        gather(state, map, slot, false, n_outputs, now);
        for (size_t k = 0; k < n_outputs; k++)
            weight[k] = c * (now[k] - before[k]);
        gather(state, map, slot, true, n_outputs, now);
        for (size_t k = 0; k < n_outputs; k++)
            average[k] = c * (now[k] - before[k]);
    }
}

static void take_class_sums(gsa__change *change, const gsa_state *state, const gsa__output_map *map, double sign)
{
    for (size_t i = 0; i < state->class_sums.n; i++)
        change->class_sums[i > 0 ? map->to[i - 1] + 1 : 0] += sign * state->class_sums.at[i];
}

gsa_status gsa__change_of(gsa__change *change, const gsa_state *state, const gsa_state *base, const gsa_state *into,
                          gsa_error *error)
{
    gsa__output_map map = {0}, base_map = {0};
    gsa_status status = allocate(change, into, error);
    if (status != GSA_OK)
        return status;
    double *now = gsa__alloc(&into->env, 2 * change->n_outputs, sizeof *now);
    if (!now)
        status = gsa__fail(error, GSA_MEMORY, "no memory for %zu outputs", change->n_outputs);
    if (status == GSA_OK)
        status = gsa__output_map_init(&map, state, into, error);
    if (status == GSA_OK && base)
        status = gsa__output_map_init(&base_map, base, into, error);
    if (status == GSA_OK) {
        take_slots(change, state, base, &map, &base_map, now, now + change->n_outputs);
        take_scalars(change, state, base, into);
        take_class_sums(change, state, &map, 1);
        if (base)
            take_class_sums(change, base, &base_map, -1);
    } else {
        gsa__change_release(change, &into->env);
    }
    gsa__output_map_release(&map, &into->env);
    gsa__output_map_release(&base_map, &into->env);
    gsa__free(&into->env, now);
    return status;
}

static void add_doubles(double *into, const double *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        into[i] += from[i];
}

void gsa__change_add(gsa__change *into, gsa__change *from, const gsa_env *env)
{
    size_t n_cells = into->n_slots * into->n_outputs;
    add_doubles(into->weight, from->weight, n_cells);
    add_doubles(into->average, from->average, n_cells);
    add_doubles(into->c, from->c, into->n_slots);
    add_doubles(into->mass, from->mass, into->n_slots);
    add_doubles(into->class_sums, from->class_sums, into->n_class_sums);
    for (size_t slot = 0; slot < into->n_slots; slot++)
        into->count[slot] += from->count[slot];
    into->n_rows += from->n_rows;
    into->rows_behind += from->rows_behind;
    into->rows_free += from->rows_free;
    into->n_ticks += from->n_ticks;
    into->n_merged += from->n_merged;
    into->step.sum += from->step.sum;
    into->step.weight += from->step.weight;
    into->loss_sum += from->loss_sum;
    into->loss_weight += from->loss_weight;
    into->squared_error += from->squared_error;
    into->squared_label += from->squared_label;
    into->pass = into->pass > from->pass ? into->pass : from->pass;
    into->pass_rows += from->pass_rows;
    gsa__change_release(from, env);
}

void gsa__change_share(gsa__change *change, size_t shares)
{
    if (shares <= 1)
        return;
    double share = 1 / (double)shares;
    for (size_t slot = 0; slot < change->n_slots; slot++) {
        change->mass[slot] *= share;
        change->count[slot] /= shares;
    }
    for (size_t i = 0; i < change->n_class_sums; i++)
        change->class_sums[i] *= share;
    change->n_rows /= shares;
    change->rows_behind /= shares;
    change->rows_free /= shares;
    change->n_ticks /= shares;
    change->pass_rows /= shares;
    change->step.sum *= share;
    change->step.weight *= share;
    change->loss_sum *= share;
    change->loss_weight *= share;
    change->squared_error *= share;
    change->squared_label *= share;
}
