/* A block: the next rows of a reader, brought together so that they can be learned in any order. */
#ifndef GSA_ENGINE_BLOCK_H
#define GSA_ENGINE_BLOCK_H

#include <greedystep/data.h>

typedef struct gsa__block gsa__block;
gsa_status gsa__block_new(const gsa_env *env, gsa__block **out, gsa_error *error);
void gsa__block_free(gsa__block *block);

/* Reads rows until there are most_rows (at most GSA_BLOCK_ROWS) or GSA_BLOCK_ENTRIES entries, or the input ends; rows
 * of a batch that do not fit wait for the next call. *view is valid until the next call. GSA_END if there are no rows
 * at all. After GSA_STOPPED the rows read so far wait for the next call. */
gsa_status gsa__block_read(gsa__block *block, gsa_reader *reader, size_t most_rows, gsa_batch *view, gsa_error *error);
/* What there is, into a block that is empty because it follows another: the rows that waited, or the reader's next
 * batch, most_rows of them at the most. */
gsa_status gsa__block_take(gsa__block *block, gsa_reader *reader, size_t most_rows, gsa_batch *view, gsa_error *error);
/* Rows of a batch from *at on, up to n of them, into a block that is not full; *at is what comes next. */
gsa_status gsa__block_add(gsa__block *block, const gsa_batch *rows, size_t n, size_t *at, gsa_error *error);
int gsa__block_is_full(const gsa__block *block);
/* The rows that it has, and how many these are. */
size_t gsa__block_view(const gsa__block *block, gsa_batch *view);
/* Goes on where another block of the same reader ended: rows that waited there wait here. */
void gsa__block_follow(gsa__block *block, const gsa__block *before);
/* Whether the last view reached the end of the input. */
int gsa__block_is_last(const gsa__block *block);
/* The order in which its n_rows rows are learned: the plan's, or as they come. */
void gsa__block_order(int shuffled, uint64_t seed, uint64_t pass, uint64_t block_number, uint32_t n_rows,
                      uint32_t *order);
/* Bytes that it takes. */
uint64_t gsa__block_size(const gsa__block *block);
/* Forgets everything, for a reader that was rewound. */
void gsa__block_clear(gsa__block *block);

#endif
