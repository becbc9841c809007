/* Rows in memory to the penalised optimum: the interface for training. */
#ifndef GSA_SOLVE_SOLVE_H
#define GSA_SOLVE_SOLVE_H

#include "base/memory.h"
#include "solve/strength_hook.h"

#include <greedystep/greedystep.h>

#include <stdbool.h>

/* Rows that are gathered for a solution. */
typedef struct gsai_solver gsai_solver;

/* Rows that are more than this many cells are too many: a constant of the method. A row counts its entries and its
 * margins, a feature its weights. */
#define GSAI_SOLVER_CELLS ((uint64_t)1 << 28)

/* Returns the cells that rows and their margins take, those of features not included. Up to GSAI_SOLVER_CELLS of each.
 */
uint64_t gsai_solver_cells(uint64_t n_rows, uint64_t n_entries, uint64_t n_outputs);
/* Makes a solver for the rows that begin with these, which determine what the labels mean. The state is not changed
 * until the end. *out is NULL if there can be no solution: the loss is the caller's own. */
gsa_status gsai_solver_new(const gsa_state *state, const gsa_batch *first, const gsai_env *env, gsai_solver **out,
                           gsa_error *error);
void gsai_solver_free(gsai_solver *solver);
/* Returns the state that knows the labels of the rows so far. */
const gsa_state *gsai_solver_state(const gsai_solver *solver);
/* Adds rows. *fits is false once they are too many; nothing more is added then. */
gsa_status gsai_solver_add(gsai_solver *solver, const gsa_batch *batch, bool *fits, gsa_error *error);
/* Solves; the state becomes that of the solution. */
gsa_status gsai_solver_solve(gsai_solver *solver, gsa_state *state, gsai_strength_hook hook, gsa_error *error);

#endif
