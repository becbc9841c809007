/* The blocks of caches, so that a process reads those that it learns and no others. */
#ifndef GSA_TRAIN_INDEX_H
#define GSA_TRAIN_INDEX_H

#include "base/env.h"
#include "train/job.h"

#include <greedystep/distributed.h>

typedef struct gsai_index {
    gsa_row_range *block;
    size_t n, capacity;
} gsai_index;

/* Finds the blocks of the job's reader by their headers, from the first row on; the reader knows the names of all
 * categories afterwards. GSA_UNSUPPORTED if a file is not a plain cache. */
gsa_status gsai_index_make(const gsai_job *job, gsai_index *index, gsa_error *error);
/* Fails with GSA_CONFLICT if a process has another index. */
gsa_status gsai_index_agree(gsai_job *job, gsa_status status, const gsai_index *index, gsa_error *error);
void gsai_index_free(gsai_index *index, const gsai_env *env);

#endif
