/* The parameter shards: an input learned as a cluster would, by one machine. */
#ifndef GSA_ENGINE_SHARDS_H
#define GSA_ENGINE_SHARDS_H

#include "engine/job.h"

/* Passes until held-out rows gain no more, or so many as are asked for (passes > 0). */
gsa_status gsa__shards_train(gsa__job *job, uint64_t n_shards, uint64_t passes, gsa_error *error);

#endif
