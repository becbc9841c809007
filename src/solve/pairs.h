/* Pairs of columns that act on one another: surfaces beside curves.
 *
 * A surface is a sum of products of parts of two sides, between few knots. Which pairs have one is found from what
 * curves leave: from the derivatives of rows in cells of two columns, less what each column has alone (Lou, Caruana,
 * Gehrke, Hooker 2013). Each fold finds its own on the rows that it fits, so that held-out rows tell what is won. */
#ifndef GSA_SOLVE_PAIRS_H
#define GSA_SOLVE_PAIRS_H

#include "solve/path.h"

/* Tries 8 surfaces, then 32, beside the curves of a path whose record `at` is the best; on the same rows, held out as
 * well. *path and *chosen become theirs if they are better than lines by two standard errors, and than what is before
 * them by one. */
gsa_status gsai_pairs_try(gsai_path *curves, size_t at, const gsai_design *design_of_lines, const gsai_record *lines,
                          bool all, gsai_arena *arena, gsai_path **path, size_t *chosen, gsa_error *error);

#endif
