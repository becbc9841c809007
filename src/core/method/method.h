/* The methods: how the proposals of the rows become the step that is taken. */
#ifndef GSA_CORE_METHOD_H
#define GSA_CORE_METHOD_H

#include "core/state.h"

/* gsa.c: the paper's Algorithm 1. Enters the row's own greedy step (c times) and returns the mean. */
double gsa__gsa_step(gsa__step_mean *mean, double eta, double c);

#endif
