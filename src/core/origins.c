/* Origins: which runs a state contains. */
#include "core/origins.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

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

gsa_status gsa__origins_unite(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error)
{
    size_t most = 0;
    for (size_t s = 0; s < n_states; s++)
        most += gsa__origins_count(states[s]);
    into->ancestors = gsa__alloc(&into->env, most, sizeof *into->ancestors);
    if (!into->ancestors)
        return gsa__fail(error, GSA_MEMORY, "no memory for the origins of %zu states", n_states);
    for (size_t s = 0; s < n_states; s++)
        for (size_t i = 0; i < gsa__origins_count(states[s]); i++) {
            uint64_t origin = gsa__origin_at(states[s], i);
            if (gsa__origins_have(into, origin))
                continue;
            size_t at = into->n_ancestors++;
            for (; at > 0 && into->ancestors[at - 1] > origin; at--)
                into->ancestors[at] = into->ancestors[at - 1];
            into->ancestors[at] = origin;
        }
    return GSA_OK;
}

gsa_status gsa__origins_copy(gsa_state *into, const gsa_state *base, gsa_error *error)
{
    into->origin = base->origin;
    into->ancestors = gsa__alloc(&into->env, base->n_ancestors, sizeof *into->ancestors);
    if (!into->ancestors)
        return gsa__fail(error, GSA_MEMORY, "no memory for the origins of a state");
    if (base->n_ancestors > 0)
        memcpy(into->ancestors, base->ancestors, base->n_ancestors * sizeof *into->ancestors);
    into->n_ancestors = base->n_ancestors;
    return GSA_OK;
}
