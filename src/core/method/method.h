/* The methods: how the proposals of the rows become the step that is taken. */
#ifndef GSA_CORE_METHOD_H
#define GSA_CORE_METHOD_H

#include "core/state.h"

/* gsa.c, for all methods: enters the row's own greedy step with a vote and returns the mean, 0 while nobody voted. */
double gsa__gsa_step(gsa__step_mean *mean, double eta, double vote);

/* metric.c: the direction of an update, Dx, for a row's positions and, last, for the intercept, by what the table has
 * counted (this row included); returns x.Dx. */
double gsa__metric_of(const gsa_state *state, const gsa__table *table, const gsa__row *row, bool units_free,
                      double *along);

#endif
