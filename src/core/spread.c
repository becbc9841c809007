/* Features of a state get other numbers. */
#include "core/state.h"
#include "core/team.h"

#include "base/error.h"
#include "base/memory.h"

static size_t slot_of(const uint32_t *id, size_t slot)
{
    return slot == 0 ? 0 : (size_t)id[slot - 1] + 1;
}

static gsa_status spread_table(gsa_state *state, const uint32_t *id, size_t n_slots, gsa_error *error)
{
    gsa__table *table = &state->table, spread;
    gsa_status status = gsa__table_init(&spread, n_slots, table->n_outputs, &state->env, error);
    if (status != GSA_OK)
        return status;
    for (size_t slot = 0; slot < table->n_slots; slot++)
        gsa__table_copy_record(&spread, slot_of(id, slot), table, slot);
    gsa__table_release(table, &state->env);
    *table = spread;
    return GSA_OK;
}

static gsa_status spread_centre(gsa_state *state, const uint32_t *id, gsa_error *error)
{
    gsa__centre old = state->centre;
    size_t n = 0;
    while (n < old.n && slot_of(id, n) < GSA__COLUMNS_MOST)
        n++;
    state->centre = (gsa__centre){0};
    gsa_status status = n > 0 ? gsa__centre_grow(&state->centre, slot_of(id, n - 1) + 1, &state->env, error) : GSA_OK;
    for (size_t slot = 0; slot < n && status == GSA_OK; slot++)
        state->centre.at[slot_of(id, slot)] = old.at[slot];
    gsa__free(&state->env, old.at);
    return status;
}

gsa_status gsa__state_spread(gsa_state *state, const uint32_t *id, size_t n_ids, gsa_error *error)
{
    if (state->carried.n > 0 || state->contest || state->sample.n > 0 || state->best.weight || state->names.n > 0)
        return gsa__fail(error, GSA_ARGUMENT, "only the features of folds that were merged can get other numbers");
    if (state->table.n_slots > n_ids + 1 || n_ids == 0 || id[n_ids - 1] > GSA_MAX_ID)
        return gsa__fail(error, GSA_ARGUMENT, "%zu numbers for %zu features", n_ids, state->table.n_slots - 1);
    for (size_t i = 1; i < n_ids; i++)
        if (id[i] <= id[i - 1])
            return gsa__fail(error, GSA_ARGUMENT, "the numbers of features do not ascend");
    gsa_status status = spread_table(state, id, slot_of(id, state->table.n_slots - 1) + 1, error);
    return status == GSA_OK ? spread_centre(state, id, error) : status;
}
