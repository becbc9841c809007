/* A team: copies of one state that learn the same rows, each leaving out another part of them. */
#ifndef GSA_ENGINE_TEAM_H
#define GSA_ENGINE_TEAM_H

#include "engine/job.h"

/* What a team works on. */
typedef struct gsa__assignment {
    gsa__job *run; /* its state is prepared, has learned nothing yet, and becomes the result */
    const gsa_batch *rows;
    const gsa_batch *given; /* the same as they were read */
    uint64_t seed, passes;  /* passes 0: until the held-out rows gain no more */
    int shuffled;
    const uint32_t *id; /* of the features of the rows, if these were renumbered (compact.h); else NULL */
    size_t n_ids;
} gsa__assignment;

/* Whether there are rows enough for a team, and room for its tables: all that counts are the rows themselves.
 * *size: bytes of the tables. */
int gsa__team_fits(const gsa_batch *rows, uint64_t n_outputs, uint64_t *size);
/* On failure, or if it is stopped, the state is as it was. */
gsa_status gsa__team_train(const gsa__assignment *job, gsa_error *error);

#endif
