/* Names of features that are words, where every process has read only its share of the input: a feature has the name
 * that comes first, as if one process had read everything. */
#ifndef GSA_TRAIN_NAMES_H
#define GSA_TRAIN_NAMES_H

#include "train/job.h"

typedef struct gsai_common_names {
    const gsa_reader *reader; /* NULL: there are none, and the reader knows best */
    uint64_t *at;             /* feature << 32 | place of its text; ascending */
    size_t n;
    char *text;
    uint64_t n_columns; /* features below have the names of columns, which every reader knows */
} gsai_common_names;

/* All processes together, when each has read its share, in the order of the ranks, and before it reads more. At most
 * GSA_MAX_NAMES names come out of it, with GSA_NAMES_SIZE bytes: those that one reader would have kept, up to that
 * size. Does nothing to rows without words. */
gsa_status gsai_common_names_make(gsai_common_names *names, gsai_job *job, gsa_error *error);
/* For gsa_state_set_names; ctx is the gsai_common_names. */
const char *gsai_common_names_find(const void *ctx, uint64_t feature);
void gsai_common_names_free(gsai_common_names *names, const gsa_env *env);

#endif
