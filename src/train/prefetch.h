/* Blocks of a reader, the next one read by another thread while the last is learned. */
#ifndef GSA_TRAIN_PREFETCH_H
#define GSA_TRAIN_PREFETCH_H

#include "train/index.h"

typedef struct gsai_prefetch gsai_prefetch;
/* The reader is the other thread's between two calls; what a reader says of its progress may be asked all the time. */
gsa_status gsai_prefetch_new(gsa_reader *reader, size_t n_threads, const gsai_env *env, gsai_prefetch **out,
                             gsa_error *error);
void gsai_prefetch_free(gsai_prefetch *prefetch);

/* The next block of at most max_rows rows, the same number in every call. *view is valid until the next call and, with
 * groups of several blocks, until a call that releases them. GSA_END after the last. */
gsa_status gsai_prefetch_next(gsai_prefetch *prefetch, size_t max_rows, gsa_batch *view, gsa_error *error);
/* From some call on, so many blocks are read at a time, if there are as many threads, and stay together; 1 at first. */
void gsai_prefetch_set_group(gsai_prefetch *prefetch, size_t n_blocks);
/* The rows of a stream that is learned as it comes: a block, but for the first if is_begun is 0, has the rows that are
 * there. GSA_STOPPED does not end reading: the next call goes on. */
void gsai_prefetch_set_live(gsai_prefetch *prefetch, int is_begun);
/* Whether the next call releases all views that were delivered. */
int gsai_prefetch_releases(const gsai_prefetch *prefetch);
/* To whom blocks are dealt out in turn: n replicas, numbers first on, of n_shards in all; n 0: to all. */
typedef struct gsai_deal {
    size_t first, n, n_shards;
} gsai_deal;
/* From here on the next blocks are those of the index from `from` to before `end` that are for this process; GSA_END
 * after the last. What was read ahead is forgotten. */
void gsai_prefetch_set_range(gsai_prefetch *prefetch, const gsai_index *index, size_t from, size_t end, gsai_deal deal,
                             const gsai_job *job);
/* Back to the first row of the reader. */
gsa_status gsai_prefetch_rewind(gsai_prefetch *prefetch, gsa_error *error);

#endif
