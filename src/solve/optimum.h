/* The penalised optimum of a design, its strength chosen on held-out folds. */
#ifndef GSA_SOLVE_OPTIMUM_H
#define GSA_SOLVE_OPTIMUM_H

#include "solve/path.h"

typedef struct gsa__optimum {
    double *weight;       /* [columns x outputs], of standardised values; the intercept first */
    bool standardised;    /* which scaling was better */
    double held_out_loss; /* in the units of the label */
    double share;         /* of the prior that was believed */
} gsa__optimum;

/* Sets the scale of every column: 1 for standardised ones, their units (by one common number) for those as given,
 * times the share of rows that have it to the power -rarity. */
void gsa__scale_columns(gsa__problem *problem, bool standardised, double rarity);
/* Finds it. The memory is the arena's. */
gsa_status gsa__optimum_find(gsa__problem *problem, gsa__arena *arena, size_t n_threads, gsa__optimum *out,
                             gsa_error *error);

#endif
