/* A stream in another order: rows that were gathered, and those that follow, mixed in memory of a fixed size.
 *
 *   1 Every row has a random key, which depends on the seed and the number of the row only. The buffer keeps the rows
 *     with keys below a threshold, so that it is a uniform sample of all rows so far; a row above the threshold passes
 *     by. Where the buffer is full the threshold comes down by an eighth, and the rows above it leave in the order of
 *     their keys. At the end of the stream those that are left do.
 *   2 The buffer is full with GSAI_SOLVER_CELLS cells, whatever memory there is.
 *   3 The same stream and seed give the same blocks, so that a run that was stopped can skip what it has learned. */
#ifndef GSA_TRAIN_SHUFFLE_H
#define GSA_TRAIN_SHUFFLE_H

#include "train/prefetch.h"

#include "learn/waiting.h"

typedef struct gsai_shuffle gsai_shuffle;
/* Makes a buffer of rows that wait in a state, which are the first of the input; the others come from the prefetch. It
 * takes the rows over, also on failure. */
gsa_status gsai_shuffle_new(const gsa_state *state, gsai_waiting *rows, gsai_prefetch *prefetch, const gsai_env *env,
                            gsai_shuffle **out, gsa_error *error);
void gsai_shuffle_free(gsai_shuffle *shuffle);
/* Returns the next block; GSA_END after the last. The view is valid until the next call. */
gsa_status gsai_shuffle_next(gsai_shuffle *shuffle, gsa_batch *view, gsa_error *error);

#endif
