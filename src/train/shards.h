/* The parameter `shards`: an input learned by one machine as a cluster would. */
#ifndef GSA_TRAIN_SHARDS_H
#define GSA_TRAIN_SHARDS_H

#include "train/job.h"

/* Passes until held-out rows gain no more, or so many as are asked for (passes > 0). */
gsa_status gsai_shards_train(gsai_job *job, uint64_t n_shards, uint64_t passes, gsa_error *error);

#endif
