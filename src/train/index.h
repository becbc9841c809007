/* Where the blocks of an input begin, so that a process reads those that it learns and no others. */
#ifndef GSA_TRAIN_INDEX_H
#define GSA_TRAIN_INDEX_H

#include "train/job.h"

typedef struct gsai_index {
    gsa_row_range *block;
    size_t n, capacity;
} gsai_index;

/* All processes together: each reads its share of the input once and tells the others. The index is empty if the input
 * cannot be entered in the middle; then everyone has to read everything. */
gsa_status gsai_index_make(gsai_job *job, gsai_index *index, gsa_error *error);
void gsai_index_free(gsai_index *index, const gsa_env *env);

#endif
