/* Origins: how a run began, and which runs a state contains. */
#include "core/origins.h"

#include "core/engine.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

void gsa__origin_add_row(gsa__origin *origin, const gsa_batch *batch, size_t row)
{
    origin->hash = gsa__mix(origin->hash ^ gsa__row_hash(batch, row));
    origin->n_rows++;
    if (origin->n_rows >= GSA__ORIGIN_ROWS)
        origin->closed = 1;
}

void gsa_fingerprint_add(gsa_fingerprint *fingerprint, const gsa_batch *batch, const uint32_t *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++)
        gsa__fingerprint_add_row(fingerprint, gsa__row_hash(batch, rows ? rows[i] : i));
}

void gsa_state_fingerprint(const gsa_state *state, gsa_fingerprint *out)
{
    *out = state->rows;
}

int gsa_state_began_with(const gsa_state *state, const gsa_batch *first)
{
    gsa__origin origin = {0};
    if (first->n_rows < state->origin.n_rows ||
        gsa__batch_check(first, NULL, (size_t)state->origin.n_rows, 0, NULL) != GSA_OK)
        return 0;
    for (size_t row = 0; row < state->origin.n_rows; row++)
        gsa__origin_add_row(&origin, first, row);
    return origin.hash == state->origin.hash;
}

bool gsa__origins_have(const gsa_state *state, uint64_t origin)
{
    if (state->origin.n_rows > 0 && state->origin.hash == origin)
        return true;
    for (size_t i = 0; i < state->n_ancestors; i++)
        if (state->ancestors[i] == origin)
            return true;
    return false;
}

size_t gsa__origins_count(const gsa_state *state)
{
    return state->n_ancestors + (state->origin.n_rows > 0);
}

uint64_t gsa__origin_at(const gsa_state *state, size_t i)
{
    return i < state->n_ancestors ? state->ancestors[i] : state->origin.hash;
}

gsa_status gsa__ancestors_add(gsa_state *state, uint64_t origin, gsa_error *error)
{
    size_t at = state->n_ancestors;
    if (!gsa__reserve(&state->env, &state->ancestors, &state->ancestors_capacity, at + 1, sizeof origin))
        return gsa__fail_memory(&state->env, error, "no memory for the origins of a state");
    state->n_ancestors++;
    for (; at > 0 && state->ancestors[at - 1] > origin; at--)
        state->ancestors[at] = state->ancestors[at - 1];
    state->ancestors[at] = origin;
    return GSA_OK;
}

gsa_status gsa__ancestors_add_all(gsa_state *state, const uint64_t *origins, size_t n, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n && status == GSA_OK; i++)
        status = gsa__ancestors_add(state, origins[i], error);
    return status;
}

gsa_status gsa__origins_unite(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < gsa__origins_count(states[s]) && status == GSA_OK; i++) {
            uint64_t origin = gsa__origin_at(states[s], i);
            if (!gsa__origins_have(into, origin))
                status = gsa__ancestors_add(into, origin, error);
        }
    return status;
}
