/* Shards: parts of an input that follow one another, each for a replica. They are counted and divided here, and learned
 * in contiguous steps (steps.h). */
#ifndef GSA_TRAIN_SHARDS_H
#define GSA_TRAIN_SHARDS_H

#include "train/block.h"
#include "train/comm.h"

typedef struct gsai_shards {
    gsai_job *job;
    gsai_block block; /* the last that was read */
    uint32_t *order;  /* of its rows */
    size_t n;         /* of all processes */
    size_t own_first, n_own;
    uint64_t n_rows;        /* of all shards */
    uint64_t *rows, *first; /* by shard of this process: its rows, and those that are learned before the first pass */
    size_t capacity;
} gsai_shards;

/* Prepares blocks. */
gsa_status gsai_shards_open(gsai_shards *shards, gsa_error *error);
void gsai_shards_free(gsai_shards *shards);
/* Counts the rows of all shards, collects all labels in the state, so that all replicas number them alike, and packs
 * the first rows of the shards of this process. Processes with files of their own have a shard per file, and the result
 * depends on the list of all files, not on which process has which; else the rows are divided as the parameter says. */
gsa_status gsai_shards_find(gsai_shards *shards, gsai_bytes *first, gsa_error *error);
/* Goes to the first row. */
gsa_status gsai_shards_rewind(gsai_shards *shards, gsa_error *error);
/* Reads the next block, of at most max_rows rows. */
gsa_status gsai_shards_read(gsai_shards *shards, uint64_t max_rows, gsa_batch *rows, gsa_error *error);
/* Skips rows, as many as there are. */
gsa_status gsai_shards_skip(gsai_shards *shards, uint64_t n_rows, gsa_error *error);

#endif
