/* The methods: how the proposals of the rows become the step that is taken. */
#ifndef GSA_LEARN_METHOD_H
#define GSA_LEARN_METHOD_H

#include "learn/state.h"

/* gsa.c, for all methods: enters the row's own greedy step with a vote and returns the mean, 0 while nobody voted. */
double gsai_gsa_step(gsai_step_mean *mean, double eta, double vote);

#endif
