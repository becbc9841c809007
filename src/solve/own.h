/* Factors of customers' own intercepts and slopes: how far they may be from those of all. */
#ifndef GSA_SOLVE_OWN_H
#define GSA_SOLVE_OWN_H

#include "solve/path.h"

/* Computes the factors of a customer's features, of which the first is the intercept. From a record without any: all
 * may move margins alike; else each by as much as its weights in the record. */
void gsai_own_factors(const gsai_path *path, const gsai_record *record, float *own);
/* Returns the root mean square of the intercepts of customers in a record. */
double gsai_own_deviation(const gsai_path *path, const gsai_record *record);
/* Returns how many customers there are. */
size_t gsai_own_customers(const gsai_design *design);

#endif
