/* One block of a cache on its way into the arrays of a batch: what its rows are (facts) comes first and is laid out,
 * ids and values are read right to where they stay and looked at piece by piece.
 *
 *   1 No number is used before it is checked: hashes find damage, but anybody can make right ones.
 *   2 The rows are part of the batch when gsai_cache_block_finish says so, which is after the hash was checked. */
#ifndef GSA_DATA_FORMAT_CACHE_BLOCK_H
#define GSA_DATA_FORMAT_CACHE_BLOCK_H

#include "data/format/cache.h"

typedef struct gsai_cache_block {
    gsai_cache_header header; /* the caller's to fill */
    const unsigned char *facts;
    bool all_ones;
    bool sound;     /* so far */
    size_t row;     /* the first whose ids were not looked at */
    int64_t breaks; /* ids that do not ascend, but for those that begin a row */
    int32_t *word;  /* the reader's numbers of the block's words; the caller's to free */
    size_t word_capacity;
} gsai_cache_block;

/* What is wrong with the header of a block, or NULL. */
const char *gsai_cache_block_objection(const gsai_cache_header *header);
/* What a block has that this release does not read, or NULL. */
const char *gsai_cache_block_novelty(const gsai_cache_header *header);
/* Bytes of labels, lengths, weights and words; ids and values follow them. */
size_t gsai_cache_info_size(const gsai_cache_header *header);

/* Makes room for the block behind the rows that there are; the facts are borrowed until the end. GSA_FORMAT (with what
 * is wrong, but not where) if they make no sense. */
gsa_status gsai_cache_block_begin(gsai_cache_block *block, const unsigned char *facts, gsai_rows *rows,
                                  gsa_error *error);
/* Ids, or values, of the entries from `from` to before `end` are there, as the file has them: turns them to the
 * machine's order and looks at them. */
void gsai_cache_block_take_ids(gsai_cache_block *block, gsai_rows *rows, size_t from, size_t end);
void gsai_cache_block_take_values(gsai_cache_block *block, gsai_rows *rows, size_t from, size_t end);
/* Everything is there. `place` is where the rows are, but for the line: that is the row's number. */
gsa_status gsai_cache_block_finish(gsai_cache_block *block, gsa_place place, gsai_rows *rows, gsa_error *error);

#endif
