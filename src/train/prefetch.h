/* Blocks of a reader, the next one read by another thread while the last is learned. */
#ifndef GSA_TRAIN_PREFETCH_H
#define GSA_TRAIN_PREFETCH_H

#include "train/block.h"
#include "train/job.h"

/* The blocks of caches, so that a process reads those that it learns and no others. */
typedef struct gsai_index {
    gsa_row_range *block;
    size_t n, capacity;
} gsai_index;

typedef struct gsai_prefetch gsai_prefetch;
/* Makes a prefetch. Between two calls the reader belongs to the other thread; only its progress may be queried at any
 * time. In a live run, which learns a stream as it comes, a block has the rows that are there, except the first of a
 * new one; and GSA_STOPPED does not end reading: the next call continues. */
gsa_status gsai_prefetch_new(const gsai_job *job, gsai_prefetch **out, gsa_error *error);
void gsai_prefetch_free(gsai_prefetch *prefetch);

/* Returns the next block of at most max_rows rows, the same number in every call. *view is valid until the next call
 * and, with groups of several blocks, until a call that releases them. GSA_END after the last. */
gsa_status gsai_prefetch_next(gsai_prefetch *prefetch, size_t max_rows, gsa_batch *view, gsa_error *error);
/* Returns the rows of the block in which a stream was stopped (GSA_STOPPED); false if it has not one. Nothing more is
 * read.
 */
bool gsai_prefetch_partial(gsai_prefetch *prefetch, gsa_batch *view);
/* Sets the number of blocks that are read and released together, at most one per thread; 1 at first. */
void gsai_prefetch_set_group(gsai_prefetch *prefetch, size_t n_blocks);
/* Returns whether the next call releases all views that were delivered. */
bool gsai_prefetch_releases(const gsai_prefetch *prefetch);
/* The replicas to which blocks are assigned in turn: n of them, numbers first on; those from own_first to before
 * own_end are this process's. n 0: every block is. */
typedef struct gsai_deal {
    size_t first, n, own_first, own_end;
} gsai_deal;
/* Delivers from now on the blocks of the index from `from` to before `end` that are for this process; GSA_END after the
 * last. Forgets what was read ahead. */
void gsai_prefetch_set_range(gsai_prefetch *prefetch, const gsai_index *index, size_t from, size_t end, gsai_deal deal);
/* Returns to the first row of the reader. */
gsa_status gsai_prefetch_rewind(gsai_prefetch *prefetch, gsa_error *error);

#endif
