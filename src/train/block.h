/* A block: the next rows of a reader, brought together so that they can be learned in any order. */
#ifndef GSA_TRAIN_BLOCK_H
#define GSA_TRAIN_BLOCK_H

#include "base/rows.h"

#include <greedystep/data.h>
#include <greedystep/distributed.h>

/* A file is cut into parts of GSA_BLOCK_ROWS rows or GSA_BLOCK_ENTRIES entries, and a block is a part; the last part of
 * a file, if it is small, and the first of the next are one block. So blocks do not depend on how rows are stored, a
 * block of a cache is never divided, and many small files make few blocks. */
#define GSAI_MAX_BLOCK_ROWS (GSA_BLOCK_ROWS + GSA_FIRST_ROWS)
/* Returns whether rows that end with their file are a block. */
static inline int gsai_block_ends(uint64_t n_rows, uint64_t n_entries)
{
    return n_rows >= GSA_FIRST_ROWS || n_entries >= GSA_BLOCK_ENTRIES / 2;
}

/*   1 Rows [0, n_rows) of the block are consecutive rows of the input.
 *   2 `pending` is what is left of the reader's last batch, from row pending_row on; it is copied before the reader is
 *     asked again.
 *   3 A batch that is a whole block, as those of caches are, is not copied: its arrays are taken from the reader.
 *   4 Rows are dense as long as batches are, all of one width and with more values than zeros; else they are sparse.
 *     Entries are values that are not zero, so that blocks end at the same rows either way. */
typedef struct gsai_block {
    gsai_rows rows;
    bool is_complete, is_last; /* last: the last view reached the end of the input */
    const char **words;        /* a copy of the reader's table, which may move; the words themselves stay */
    size_t n_words, words_capacity;
    gsa_batch pending;
    size_t pending_row;
    bool is_cut;                   /* what is pending begins another file, and another block */
    bool by_file;                  /* set by the caller: even small files are blocks of their own */
    size_t n_entries;              /* of its rows */
    size_t part_row, part_entries; /* where the rows of the last file begin */
} gsai_block;

/* Prepares a block without memory, which must not move afterwards. */
void gsai_block_init(gsai_block *block, const gsai_env *env);
void gsai_block_free(gsai_block *block);

/* Reads rows until they are a block, or max_rows, or the input ends; rows of a batch that do not fit wait for the next
 * call. min_rows are enough, if rows of a stream are not to wait for others. *view is valid until the next call.
 * GSA_END if not a single row is left. After GSA_STOPPED the rows read so far wait for the next call. */
gsa_status gsai_block_read(gsai_block *block, gsa_reader *reader, size_t min_rows, size_t max_rows, gsa_batch *view,
                           gsa_error *error);
/* Returns the rows that a call has read before it was stopped; false: none. */
bool gsai_block_partial(gsai_block *block, gsa_batch *view);
/* Goes on where another block of the same reader ended: rows that waited there wait here. */
void gsai_block_continue(gsai_block *block, const gsai_block *before);
/* Fills in the order in which its n_rows rows are learned: the plan's, or as they come. */
void gsai_block_order(int shuffled, uint64_t seed, uint64_t pass, uint64_t block_number, uint32_t n_rows,
                      uint32_t *order);
/* Makes its rows sparse ones, and returns the view of them. */
gsa_status gsai_block_make_sparse(gsai_block *block, gsa_batch *view, gsa_error *error);
/* Forgets everything, for a reader that was rewound. */
void gsai_block_clear(gsai_block *block);

#endif
