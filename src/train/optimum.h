/* Training by the optimum: whether a run may be solved, and its solution. */
#ifndef GSA_TRAIN_OPTIMUM_H
#define GSA_TRAIN_OPTIMUM_H

#include "train/prefetch.h"

/* Fills in whether a run that has taken no rows yet may be solved. GSA_ARGUMENT if the optimum is asked for and another
 * parameter contradicts it. */
gsa_status gsai_optimum_may(const gsai_job *job, bool *may, gsa_error *error);
/* Reads all rows, unless they are too many, and solves; the first process does, and sends the state to the others.
 * *taken: whether it did; if not, the input is somewhere in the middle. */
gsa_status gsai_optimum_train(gsai_job *job, gsai_prefetch *prefetch, bool *taken, gsa_error *error);

#endif
