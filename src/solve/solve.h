/* Rows in memory to the penalised optimum: the interface for training. */
#ifndef GSA_SOLVE_SOLVE_H
#define GSA_SOLVE_SOLVE_H

#include "learn/order.h"
#include "solve/strength_hook.h"

#include <greedystep/greedystep.h>

#include <stdbool.h>

/* Rows that are more than this many cells are too many: a constant of the method. A row counts its entries and its
 * margins, a feature its weights. */
#define GSAI_SOLVER_CELLS ((uint64_t)1 << 28)

/* Returns the cells that rows and their margins take, those of features not included. Up to GSAI_SOLVER_CELLS of each.
 */
uint64_t gsai_solver_cells(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs);
/* Returns whether rows that wait are few enough for a state. */
bool gsai_solver_fits(const gsa_state *state, const gsai_waiting *rows);
/* Solves rows; the state, which knows their labels, becomes that of the solution. On failure it can only be freed.
 * Measures the latest rows of an order (NULL: none), but not where the solution is found by sweeps. */
gsa_status gsai_solve(gsa_state *state, const gsai_waiting *rows, gsai_order *latest, gsai_strength_hook hook,
                      const gsai_env *env, gsa_error *error);
/* Solves some of the rows that wait (gsai_solve_fn). */
gsai_solve_fn gsai_solve_waiting;

#endif
