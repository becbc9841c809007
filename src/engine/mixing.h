/* Whether the labels of an input are mixed: a file sorted by label is learned badly unless it is shuffled as a whole.
 */
#ifndef GSA_ENGINE_MIXING_H
#define GSA_ENGINE_MIXING_H

#include <greedystep/greedystep.h>

/* The first row's label against all others, in the order of the input. Begins as zeros. */
typedef struct gsa__mixing {
    double label;
    int32_t word;
    int last_is_first;
    uint64_t n_rows, n_first, n_changes;
} gsa__mixing;

void gsa__mixing_add(gsa__mixing *mixing, const gsa_batch *rows);
/* Nonzero if that label comes and goes ten times less often than it would in a mixed input. */
int gsa__mixing_is_poor(const gsa__mixing *mixing);

#endif
