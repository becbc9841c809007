/* Training by the optimum: whether a run may be solved, and its solution. */
#ifndef GSA_TRAIN_OPTIMUM_H
#define GSA_TRAIN_OPTIMUM_H

#include "train/shuffle.h"

/* Fills in whether a run that has taken no rows yet may be solved. GSA_ARGUMENT if the optimum is asked for and another
 * parameter contradicts it. */
gsa_status gsai_optimum_may(const gsai_job *job, bool *may, gsa_error *error);
/* Gathers all rows, unless they are too many, and solves; the first process does, and sends the state to the others.
 * *taken: whether it did; if not, the input is somewhere in the middle. The rows of a stream, which cannot be read
 * again, are then the first of *shuffle. Those of one that is stopped are solved as far as they came, and the state is
 * that of the solution. */
gsa_status gsai_optimum_train(gsai_job *job, gsai_prefetch *prefetch, bool *taken, gsai_shuffle **shuffle,
                              gsa_error *error);
/* Gathers the rows of a stream again, for a run that was stopped after it had begun to learn them. */
gsa_status gsai_optimum_gather_again(gsai_job *job, gsai_prefetch *prefetch, gsai_shuffle **shuffle, gsa_error *error);

#endif
