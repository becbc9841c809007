/* Blocks of a reader, the next one read by another thread while the last is learned. */
#ifndef GSA_ENGINE_AHEAD_H
#define GSA_ENGINE_AHEAD_H

#include "engine/index.h"

typedef struct gsa__ahead gsa__ahead;
/* The reader is the other thread's between two calls; what a reader says of its progress may be asked all the time. */
gsa_status gsa__ahead_new(gsa_reader *reader, size_t n_threads, const gsa_env *env, gsa__ahead **out, gsa_error *error);
void gsa__ahead_free(gsa__ahead *ahead);

/* The next block of at most most_rows rows, the same number in every call. *view is valid until the next call and, with
 * hands of several blocks, until a call that lets go. GSA_END after the last. */
gsa_status gsa__ahead_next(gsa__ahead *ahead, size_t most_rows, gsa_batch *view, gsa_error *error);
/* From some call on, so many blocks are read at a time, if there are as many threads, and stay together; 1 at first. */
void gsa__ahead_hand(gsa__ahead *ahead, size_t n_blocks);
/* Whether the next call lets go of all views that were given. */
int gsa__ahead_lets_go(const gsa__ahead *ahead);
/* To whom blocks are dealt out in turn: n copies, numbers first on, of n_shards in all; n 0: to everybody. */
typedef struct gsa__deal {
    size_t first, n, n_shards;
} gsa__deal;
/* From here on the next blocks are those of the index from `from` to before `end` that are for this process; GSA_END
 * after the last. What was read ahead is forgotten. */
void gsa__ahead_follow(gsa__ahead *ahead, const gsa__index *index, size_t from, size_t end, gsa__deal deal,
                       const gsa__job *job);
/* Back to the first row of the reader. */
gsa_status gsa__ahead_rewind(gsa__ahead *ahead, gsa_error *error);

#endif
