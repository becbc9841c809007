/* Whether the labels of an input are mixed: a file sorted by label is learned badly unless it is shuffled as a whole.
 */
#ifndef GSA_TRAIN_MIXING_H
#define GSA_TRAIN_MIXING_H

#include <greedystep/greedystep.h>

/* The first row's label against all others, in the order of the input. Begins as zeros. */
typedef struct gsai_mixing {
    double label;
    int32_t word;
    int last_is_first;
    uint64_t n_rows, n_first, n_changes;
} gsai_mixing;

void gsai_mixing_add(gsai_mixing *mixing, const gsa_batch *rows);
/* Nonzero if that label comes and goes ten times less often than it would in a mixed input. */
int gsai_mixing_is_poor(const gsai_mixing *mixing);

#endif
