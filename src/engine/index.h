/* Where the blocks of an input begin, so that a process reads those that it learns and no others. */
#ifndef GSA_ENGINE_INDEX_H
#define GSA_ENGINE_INDEX_H

#include "engine/job.h"

typedef struct gsa__index {
    gsa_extent *block;
    size_t n, capacity;
} gsa__index;

/* All processes together: each reads its share of the input once and tells the others. The index is empty if the input
 * cannot be entered in the middle; then everyone has to read everything. */
gsa_status gsa__index_make(gsa__job *job, gsa__index *index, gsa_error *error);
void gsa__index_free(gsa__index *index, const gsa_env *env);

#endif
