/* Groups of rows with several outputs. */
#ifndef GSA_LEARN_GROUP_MANY_H
#define GSA_LEARN_GROUP_MANY_H

#include "learn/kernel/kernel.h"
#include "learn/loss/loss.h"

/* Finds the directions of a group whose rows have much the same features, by columns; x.Dx, and what the origins of the
 * values add up to in them. False: it is to be learned by rows. */
bool gsai_group_direct_columns(gsa_state *state, const gsai_table *table, const gsai_counts_before *before,
                               bool standardised, double *xdx, double *origins);
/* Finds the greedy steps of the rows, whose directions are known, and the weighted sum of their losses; the gradient
 * scales stay in the state. False if a margin is not finite. */
bool gsai_group_greedy_steps(gsa_state *state, const gsai_table *table, const gsai_target *target,
                             gsai_greedy_step *out, double *loss);
/* Returns the gradient scales of a row, in the state's margins. */
const double *gsai_group_scales(gsa_state *state, const gsai_table *table, size_t row);
/* Moves the weights by scale times the gradient scales of each row times its direction; intercept: that of slot 0. */
void gsai_group_update_many(gsa_state *state, gsai_table *table, const float *scale, const double *intercept,
                            float past_weight);

#endif
