/* Pairs of columns that act on one another: surfaces beside curves.
 *
 * A surface is a sum of products of parts of two sides, between few knots. Which pairs have one is found from what
 * curves leave: from the derivatives of rows in cells of two columns, less what each column has alone (Lou, Caruana,
 * Gehrke, Hooker 2013). Each fold finds its own on the rows that it fits, so that held-out rows tell what is won. */
#ifndef GSA_SOLVE_PAIRS_H
#define GSA_SOLVE_PAIRS_H

#include "solve/forms.h"

/* Tries 8 surfaces, then 32, beside curves, which are the second form: on the same rows, held out as well. */
gsa_status gsai_pairs_try(gsai_forms *forms, const gsai_design *lines, bool all, gsai_arena *arena, gsa_error *error);

#endif
