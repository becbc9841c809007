/* How a run began, and which runs a state contains or started from: two that share one must not be added up. */
#ifndef GSA_CORE_ORIGINS_H
#define GSA_CORE_ORIGINS_H

#include "core/state.h"

/* One more row of a fingerprint, by its hash (gsa__row_hash). */
static inline void gsa__fingerprint_add_row(gsa_fingerprint *fingerprint, uint64_t hash)
{
    fingerprint->sum += gsa__mix(hash);
    fingerprint->n_rows++;
}
/* One more of the first rows of a run. */
void gsa__origin_add_row(gsa__origin *origin, const gsa_batch *batch, size_t row);

bool gsa__origins_have(const gsa_state *state, uint64_t origin);
/* Origins of a state by number: its ancestors, then its own if it has one. */
size_t gsa__origins_count(const gsa_state *state);
uint64_t gsa__origin_at(const gsa_state *state, size_t i);
/* The result of a merge contains all of them. */
gsa_status gsa__origins_unite(gsa_state *into, const gsa_state *const *states, size_t n_states, gsa_error *error);
/* One more that a state contains or started from, and several. */
gsa_status gsa__ancestors_add(gsa_state *state, uint64_t origin, gsa_error *error);
gsa_status gsa__ancestors_add_all(gsa_state *state, const uint64_t *origins, size_t n, gsa_error *error);

#endif
