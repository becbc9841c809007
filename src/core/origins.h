/* Which runs a state contains or started from: two that share one must not be added up. */
#ifndef GSA_CORE_ORIGINS_H
#define GSA_CORE_ORIGINS_H

#include "core/state.h"

bool gsa__origins_have(const gsa_state *state, uint64_t origin);
/* Origins of a state by number: its ancestors, then its own if it has one. */
size_t gsa__origins_count(const gsa_state *state);
uint64_t gsa__origin_at(const gsa_state *state, size_t i);
/* The result of a merge contains all of them. */
gsa_status gsa__origins_unite(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error);
/* Copies of one run stay that run, with its ancestors as they are. */
gsa_status gsa__origins_copy(gsa_state *into, const gsa_state *base, gsa_error *error);

#endif
