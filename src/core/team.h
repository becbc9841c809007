/* What the engine needs of a state and is not public: for its team (engine/team.c), copies of a state that each leave
 * out another part of the same rows, and for what it says of a run. */
#ifndef GSA_CORE_TEAM_H
#define GSA_CORE_TEAM_H

#include <greedystep/greedystep.h>

/* Returns a label by its number, in the order in which labels came. */
const char *gsa__state_label(const gsa_state *state, size_t number);
/* Returns the number of features whose values are so small that their squares are no floats: they learn nothing. */
size_t gsa__state_count_tiny(const gsa_state *state);
/* Deals rows out to 2 to 255 folds, by their features and the seed. Rows with equal features go together, unless they
 * are few kinds, or often differ in their labels. */
gsa_status gsa__fold_rows(const gsa_batch *rows, uint64_t seed, uint32_t n_folds, const gsa_env *env, uint8_t *fold,
                          gsa_error *error);
/* Tells a state that has learned nothing the weights and labels of all rows that it, or copies of it, will learn. */
gsa_status gsa__state_expect(gsa_state *state, const gsa_batch *rows, gsa_error *error);
/* Keeps these rows of the batch as held-out ones: the state judges by them and does not learn them, so that nobody else
 * should hand them to it. For copies that each leave out another part of the same rows. */
gsa_status gsa__state_hold_out(gsa_state *state, const gsa_batch *batch, const uint32_t *rows, size_t n_rows,
                               gsa_error *error);
/* These are all rows of the first pass: copies that share rows cannot add them up. */
void gsa__state_set_rows(gsa_state *state, const gsa_batch *rows);
/* The mean of n_states >= 2 copies of base that learned the same rows, but for those that each holds out, every row
 * being held out by one of them. Their rows count once. The result's average is calibrated by the held-out rows, and
 * *loss is the mean loss of these under the copy that had not learned them; none are held out any more. */
gsa_status gsa__state_merge_folds(const gsa_state *const *states, size_t n_states, const gsa_state *base,
                                  const gsa_env *env, gsa_state **out, double *loss, gsa_error *error);
/* The features 0, 1, 2 ... of a mean of folds become those of these ids, which ascend: for whoever renumbered the rows
 * because their features are few among many numbers. */
gsa_status gsa__state_spread(gsa_state *state, const uint32_t *id, size_t n_ids, gsa_error *error);

#endif
