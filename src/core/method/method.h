/* The methods: how the proposals of the rows become the step that is taken. */
#ifndef GSA_CORE_METHOD_H
#define GSA_CORE_METHOD_H

#include "core/state.h"

/* gsa.c, for all methods: enters the row's own greedy step with a vote and returns the mean, 0 while nobody voted. */
double gsa__gsa_step(gsa__step_mean *mean, double eta, double vote);

#endif
