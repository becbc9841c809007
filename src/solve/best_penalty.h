/* The penalised optimum of a design, its strength chosen on held-out folds. */
#ifndef GSA_SOLVE_BEST_PENALTY_H
#define GSA_SOLVE_BEST_PENALTY_H

#include "learn/residuals.h"
#include "learn/results.h"
#include "solve/path.h"

typedef struct gsai_optimum {
    const gsai_design *design; /* whose columns have weights: of lines, or with those that bend */
    double *weight;            /* [columns x outputs], of standardised values; the intercept first */
    gsai_residuals residuals;  /* of a loss with a width */
    bool standardised;         /* which scaling was better */
    double held_out_loss;      /* in the units of the label */
    double share;              /* of the prior that was believed */
    gsai_results results;      /* what was chosen; numbers in units of the design */
} gsai_optimum;

/* Sets the results of a chosen penalty and scaling, which is the problem's. Features as given have the penalty that
 * they have in their own units. */
void gsai_optimum_describe(const gsai_problem *problem, const gsai_penalty *penalty, gsai_results *out);
/* Finds it. The memory is the arena's. */
gsa_status gsai_optimum_find(gsai_problem *problem, gsai_arena *arena, gsai_optimum *out, gsa_error *error);

#endif
