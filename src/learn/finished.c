/* Slots of held-out rows and the last group, copied and learned. Slots below GSAI_MAX_COLUMNS, which may be centred,
 * keep their numbers; those from there on are numbered anew in the same order, so that the same bits come out as with
 * all of them. */
#include "learn/finished.h"

#include "learn/inside.h"
#include "learn/learner.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static void mark(uint64_t *used, size_t slot, size_t *n)
{
    uint64_t bit = UINT64_C(1) << slot % 64;
    if (slot < GSAI_MAX_COLUMNS)
        return;
    *n += (used[slot / 64] & bit) == 0;
    used[slot / 64] |= bit;
}

static uint32_t highest_slot(const gsa_state *state)
{
    uint32_t highest = 0;
    for (size_t i = 0; i < state->sample.n; i++) {
        const gsai_held_row *held = state->sample.at[i];
        for (size_t e = 0; e < held->n; e++)
            highest = held->entries[e] >= highest ? held->entries[e] + 1 : highest;
    }
    return state->group.n_rows > 0 && state->group.last > highest ? state->group.last : highest;
}

/* Lists the slots from GSAI_MAX_COLUMNS on that these rows have. */
static gsa_status list_slots(gsai_finished *out, const gsa_state *state, gsa_error *error)
{
    const gsai_env *env = &state->env;
    size_t n_words = highest_slot(state) / 64 + 1;
    uint64_t *used = gsai_alloc_zeroed(env, n_words, sizeof *used);
    GSAI_TRY_MEMORY(used, env, error, "no memory to count features");
    for (size_t i = 0; i < state->sample.n; i++)
        for (size_t e = 0; e < state->sample.at[i]->n; e++)
            mark(used, (size_t)state->sample.at[i]->entries[e] + 1, &out->n);
    for (size_t e = 0; e < state->group.n_entries; e++)
        mark(used, state->group.slot[e], &out->n);
    out->slot = gsai_alloc(env, out->n + 1, sizeof *out->slot);
    for (size_t word = 0, n = 0; word < n_words && out->slot; word++)
        for (uint64_t bits = used[word]; bits; bits &= bits - 1)
            out->slot[n++] = (uint32_t)(64 * word + (size_t)__builtin_ctzll(bits));
    if (out->slot)
        out->slot[out->n] = UINT32_MAX;
    gsai_free(env, used);
    GSAI_TRY_MEMORY(out->slot, env, error, "no memory for %zu features", out->n);
    return GSA_OK;
}

/* Returns the number that a slot has among those that are learned. */
static uint32_t number_of(const gsai_finished *finished, uint32_t slot)
{
    size_t low = 0;
    if (slot < GSAI_MAX_COLUMNS)
        return slot;
    for (size_t n = finished->n; n > 1; n -= n / 2)
        low += (finished->slot[low + n / 2 - 1] < slot) * (n / 2);
    return (uint32_t)(GSAI_MAX_COLUMNS + low + (finished->slot[low] < slot));
}

/* Copies what the table and the prior totals have of one slot. */
static void copy_slot(gsa_state *to, size_t at, const gsa_state *from, size_t slot)
{
    size_t size = gsai_table_stride(&from->table) * sizeof(gsai_cell);
    if (gsai_table_uses(&from->table, slot)) {
        gsai_table_use(&to->table, at);
        memcpy(gsai_table_slot(&to->table, at), gsai_table_slot(&from->table, slot), size);
    }
    if (slot < from->prior.n)
        to->prior.at[at] = from->prior.at[slot];
}

/* Makes a view of the state that has these slots only; its table and prior totals are its own. */
static gsa_status view_of(const gsai_finished *finished, const gsa_state *state, gsa_state *view, gsa_error *error)
{
    size_t n_slots = GSAI_MAX_COLUMNS + finished->n;
    *view = *state;
    view->names = (gsai_names){0};
    view->best_checkpoint = (gsai_best_checkpoint){0};
    view->prior = (gsai_prior_totals){0};
    GSA_TRY(gsai_table_init(&view->table, n_slots, state->table.room, &state->env, error));
    view->table.n_outputs = state->table.n_outputs;
    if (state->prior.n > 0)
        GSA_TRY(gsai_array_grow(&view->prior, n_slots, sizeof *view->prior.at, &state->env, error));
    for (size_t slot = gsai_table_next(&state->table, 0); slot < GSAI_MAX_COLUMNS;
         slot = gsai_table_next(&state->table, slot + 1))
        copy_slot(view, slot, state, slot);
    for (size_t i = 0; i < finished->n; i++)
        if (finished->slot[i] < state->table.n_slots)
            copy_slot(view, GSAI_MAX_COLUMNS + i, state, finished->slot[i]);
    return GSA_OK;
}

/* Gives the rows of a copy of the view the numbers that its slots have. */
static void number_anew(const gsai_finished *finished, gsa_state *learned)
{
    for (size_t i = 0; i < learned->sample.n; i++)
        for (size_t e = 0; e < learned->sample.at[i]->n; e++)
            learned->sample.at[i]->entries[e] = number_of(finished, learned->sample.at[i]->entries[e] + 1) - 1;
    for (size_t e = 0; e < learned->group.n_entries; e++)
        learned->group.slot[e] = number_of(finished, learned->group.slot[e]);
    learned->group.last = number_of(finished, learned->group.last);
}

/* Makes the state of all slots: the table and the prior totals are those of the first one. */
static void join(gsai_finished *finished, const gsa_state *state)
{
    const gsa_state all = *state;
    *finished->own = *finished->learned;
    finished->own->table = all.table;
    finished->own->prior = all.prior;
    finished->own->names = all.names;
    finished->state = finished->own;
}

static gsa_status open_state(gsai_finished *out, const gsa_state *state, gsa_error *error)
{
    gsa_state view;
    if (state->table.n_slots <= GSAI_MAX_COLUMNS) {
        GSA_TRY(gsa_state_fork(state, 1, &out->own, error));
        out->state = out->own;
        return gsai_state_close_own_group(out->own, error);
    }
    GSA_TRY(list_slots(out, state, error));
    gsa_status status = view_of(out, state, &view, error);
    if (status == GSA_OK)
        status = gsa_state_fork(&view, 1, &out->learned, error);
    gsai_table_release(&view.table, &state->env);
    gsai_free(&state->env, view.prior.at);
    GSA_TRY(status);
    number_anew(out, out->learned);
    GSA_TRY(gsai_state_close_own_group(out->learned, error));
    out->own = gsai_alloc(&state->env, 1, sizeof *out->own);
    GSAI_TRY_MEMORY(out->own, &state->env, error, "no memory for a state");
    join(out, state);
    return GSA_OK;
}

gsa_status gsai_finished_open(gsai_finished *out, const gsa_state *state, gsa_error *error)
{
    *out = (gsai_finished){.state = state};
    gsa_status status = open_state(out, state, error);
    if (status != GSA_OK) {
        gsai_finished_release(out);
        out->state = state;
    }
    return status;
}

gsa_status gsai_finished_learn(gsai_finished *finished, const gsai_env *stop, gsa_error *error)
{
    gsa_status status = gsai_state_learn_sample(finished->learned ? finished->learned : finished->own, stop, error);
    if (finished->learned)
        join(finished, finished->state);
    return status;
}

void gsai_finished_release(gsai_finished *finished)
{
    const gsai_env env = finished->state->env;
    if (finished->learned)
        gsai_free(&env, finished->own); /* what it has is that of the others */
    else
        gsa_state_free(finished->own);
    gsa_state_free(finished->learned);
    gsai_free(&env, finished->slot);
    *finished = (gsai_finished){0};
}

/* Returns where the first slot is that is not below this one; slots are asked for in ascending order. */
static size_t seek(gsai_finished *finished, size_t slot)
{
    if (finished->at > 0 && finished->slot[finished->at - 1] >= slot)
        finished->at = 0;
    while (finished->at < finished->n && finished->slot[finished->at] < slot)
        finished->at++;
    return finished->at;
}

size_t gsai_finished_next(gsai_finished *finished, size_t slot)
{
    const gsai_table *table = &finished->state->table;
    if (finished->learned && slot < GSAI_MAX_COLUMNS) {
        size_t low = gsai_table_next(&finished->learned->table, slot);
        if (low < GSAI_MAX_COLUMNS)
            return low;
        slot = GSAI_MAX_COLUMNS;
    }
    size_t next = gsai_table_next(table, slot), learned = seek(finished, slot);
    next = next < table->n_slots ? next : SIZE_MAX;
    return learned < finished->n && finished->slot[learned] < next ? finished->slot[learned] : next;
}

size_t gsai_finished_slots(const gsai_finished *finished)
{
    size_t n = finished->state->table.n_slots, last = finished->n > 0 ? finished->slot[finished->n - 1] : 0;
    return last < n ? n : last + 1;
}

size_t gsai_finished_count(const gsai_finished *finished)
{
    return finished->state->table.n_used + (finished->learned ? finished->learned->table.n_used : 0);
}

const gsa_state *gsai_finished_find(gsai_finished *finished, size_t slot, size_t *at)
{
    *at = slot;
    if (!finished->learned || (slot >= GSAI_MAX_COLUMNS && finished->slot[seek(finished, slot)] != slot))
        return finished->state;
    *at = slot < GSAI_MAX_COLUMNS ? slot : GSAI_MAX_COLUMNS + finished->at;
    return finished->learned;
}
