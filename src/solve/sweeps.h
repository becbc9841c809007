/* Dual sweeps: the optimum for wide sparse rows of several classes.
 *
 * The weights are w = sum_i a_i z_i / lambda, a_i = c_i (y_i - p_i) in a row per class, c_i the weight of the row. A
 * visit to a row takes its own share of the weights back, looks at its margins under what the others say, and sets a_i
 * anew: to y - p of these margins (others), or to y - p of the margins that the row will have with it (own, which is
 * coordinate ascent on the dual: SDCA, Shalev-Shwartz and Zhang 2013).
 *
 * With a prior the weights are w = mean + sum_i a_i z_i / precision: the margins of rows begin at those of the mean,
 * and a column that is known well has a smaller scale. */
#ifndef GSA_SOLVE_SWEEPS_H
#define GSA_SOLVE_SWEEPS_H

#include "solve/best_penalty.h"

/* Returns whether this is the way for a design: several outputs, and sparse rows of many columns. */
bool gsai_sweeps_suit(const gsai_design *design);
gsa_status gsai_sweeps_find(gsai_problem *problem, gsai_arena *arena, gsai_optimum *out, gsa_error *error);

#endif
