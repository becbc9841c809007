/* Whether a run that goes on reads the rows that it has read before. */
#ifndef GSA_ENGINE_RESUME_H
#define GSA_ENGINE_RESUME_H

#include "engine/index.h"

typedef struct gsa__resumed {
    int is_open;               /* not compared yet */
    gsa_fingerprint due, read; /* rows that the state took in its first pass, and those of this input */
} gsa__resumed;

/* Nothing is to be compared if the state has taken no rows. */
void gsa__resumed_begin(gsa__resumed *resumed, const gsa_state *state);
/* Compares once all rows that are due were added to `read`: GSA_CONFLICT if they are others. */
gsa_status gsa__resumed_compare(gsa__resumed *resumed, gsa_error *error);
/* The same where blocks have an index: processes deal out the blocks that the run has read, and add up. */
gsa_status gsa__resumed_compare_index(gsa__resumed *resumed, gsa__job *job, const gsa__index *index, int shuffled,
                                      uint64_t seed, gsa_error *error);

#endif
