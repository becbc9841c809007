/* Checks of an input: whether its labels are mixed, and whether a resumed run reads the same rows as before. */
#ifndef GSA_TRAIN_INPUT_CHECK_H
#define GSA_TRAIN_INPUT_CHECK_H

#include "train/index.h"

/* Whether labels are mixed: a file sorted by label is learned badly unless it is shuffled as a whole.
 *
 * The first row's label against all others, in the order of the input. Begins as zeros. */
typedef struct gsai_mixing {
    double label;
    int32_t word;
    int last_is_first;
    uint64_t n_rows, n_first, n_changes;
} gsai_mixing;

void gsai_mixing_add(gsai_mixing *mixing, const gsa_batch *rows);
/* Returns nonzero if that label comes and goes ten times less often than it would in a mixed input. */
int gsai_mixing_is_poor(const gsai_mixing *mixing);

typedef struct gsai_resumed {
    int is_open;               /* not compared yet */
    gsa_fingerprint due, read; /* rows that the state took in its first pass, and those of this input */
} gsai_resumed;

/* Begins a comparison; there is none if the state has taken no rows. */
void gsai_resumed_begin(gsai_resumed *resumed, const gsa_state *state);
/* Compares once all rows that are due were added to `read`: GSA_CONFLICT if they are others. */
gsa_status gsai_resumed_compare(gsai_resumed *resumed, gsa_error *error);
/* Does the same if blocks have an index: processes divide the blocks that the run has read, and add up. */
gsa_status gsai_resumed_compare_index(gsai_resumed *resumed, gsai_job *job, const gsai_index *index, int shuffled,
                                      uint64_t seed, gsa_error *error);

#endif
