/* The door of core for the engine's team (engine/team.c): copies of a state that each leave out another part of the
 * same rows. Nobody else needs it, so that it is not public. */
#ifndef GSA_CORE_TEAM_H
#define GSA_CORE_TEAM_H

#include <greedystep/greedystep.h>

/* Keeps these rows of the batch as held-out ones: the state judges by them and does not learn them, so that nobody else
 * should hand them to it. For copies that each leave out another part of the same rows. */
gsa_status gsa__state_hold_out(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                               gsa_error *error);
/* The mean of n_states >= 2 copies of base that learned the same rows, but for those that each holds out, every row
 * being held out by one of them. Their rows count once. The result's average is calibrated by the held-out rows, and
 * *loss is the mean loss of these under the copy that had not learned them; none are held out any more. */
gsa_status gsa__state_merge_folds(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                  const gsa_env *env, gsa_state **out, double *loss, gsa_error *error);
/* The features 0, 1, 2 ... of a mean of folds become those of these ids, which ascend: for whoever renumbered the rows
 * because their features are few among many numbers. */
gsa_status gsa__state_spread(gsa_state *state, const uint32_t *id, size_t n_ids, gsa_error *error);

#endif
