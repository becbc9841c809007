/* States on other knots: a piecewise-linear curve is one on any finer set of knots. */
#ifndef GSA_LEARN_REBASE_H
#define GSA_LEARN_REBASE_H

#include "learn/state.h"

/* Returns whether states have curves with the same knots, or none. */
bool gsai_bases_agree(const gsa_state *const *states, size_t n);
/* Makes copies of states that predict the same, with the knots of all; lines become curves where others have one. Those
 * that were made are the caller's, on failure too; out[n] is NULL at first. */
gsa_status gsai_states_rebase(const gsa_state *const *states, size_t n, gsa_state **out, gsa_error *error);

#endif
