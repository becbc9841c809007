/* A block: the next rows of a reader, brought together so that they can be learned in any order. */
#ifndef GSA_TRAIN_BLOCK_H
#define GSA_TRAIN_BLOCK_H

#include "base/env.h"

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

typedef struct gsai_block gsai_block;
gsa_status gsai_block_new(const gsai_env *env, gsai_block **out, gsa_error *error);
void gsai_block_free(gsai_block *block);
/* Ends every block with its file from now on, however small it is. */
void gsai_block_separate_files(gsai_block *block);

/* Reads rows until they are a block, or max_rows, or the input ends; rows of a batch that do not fit wait for the next
 * call. *view is valid until the next call. GSA_END if not a single row is left. After GSA_STOPPED the rows read so far
 * wait for the next call. */
gsa_status gsai_block_read(gsai_block *block, gsa_reader *reader, size_t max_rows, gsa_batch *view, gsa_error *error);
/* Does the same, but min_rows are enough: rows of a stream do not wait for others. */
gsa_status gsai_block_read_some(gsai_block *block, gsa_reader *reader, size_t min_rows, size_t max_rows,
                                gsa_batch *view, gsa_error *error);
/* Goes back to a range of rows and reads it; GSA_CONFLICT if the input has changed since. */
gsa_status gsai_block_read_range(gsai_block *block, gsa_reader *reader, const gsa_row_range *range, gsa_batch *view,
                                 gsa_error *error);
/* Takes what there is into a block that is empty because it follows another: the rows that waited, or the reader's next
 * batch, at most max_rows rows. */
gsa_status gsai_block_take(gsai_block *block, gsa_reader *reader, size_t max_rows, gsa_batch *view, gsa_error *error);
/* Goes on where another block of the same reader ended: rows that waited there wait here. */
void gsai_block_continue(gsai_block *block, const gsai_block *before);
/* Returns whether the last view reached the end of the input. */
int gsai_block_is_last(const gsai_block *block);
/* Fills in the order in which its n_rows rows are learned: the plan's, or as they come. */
void gsai_block_order(int shuffled, uint64_t seed, uint64_t pass, uint64_t block_number, uint32_t n_rows,
                      uint32_t *order);
/* Makes its rows sparse ones, and returns the view of them. */
gsa_status gsai_block_make_sparse(gsai_block *block, gsa_batch *view, gsa_error *error);
/* Values of its rows that are not zero. */
uint64_t gsai_block_entries(const gsai_block *block);
/* Bytes that it takes. */
uint64_t gsai_block_size(const gsai_block *block);
/* Forgets everything, for a reader that was rewound. */
void gsai_block_clear(gsai_block *block);

#endif
