/* The methods: how the proposals of the rows become the step that is taken. */
#ifndef GSA_CORE_METHOD_H
#define GSA_CORE_METHOD_H

#include "core/state.h"

/* gsa.c, for all methods: enters the row's own greedy step with a vote and returns the mean, 0 while nobody voted. */
double gsa__gsa_step(gsa__step_mean *mean, double eta, double vote);

/* metric.c: the direction of an update, Dx, of the state's entries, by their counts (this row included);
 * returns x.Dx. */
double gsa__metric_of(const gsa_state *state, bool units_free);

#endif
