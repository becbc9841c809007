/* One block of a cache in memory: its columns checked, then its rows piece by piece.
 *
 *   1 No number of the payload is used before it is checked: hashes find damage, but anybody can make right ones.
 *   2 Batches end at the same rows as those of text with the same rows. */
#ifndef GSA_DATA_CACHE_BLOCK_H
#define GSA_DATA_CACHE_BLOCK_H

#include "data/format/cache.h"
#include "data/format/packed.h"

typedef struct gsa__cache_block {
    gsa__cache_header header;                               /* the caller's to fill and check */
    size_t row;                                             /* the next to be delivered */
    const unsigned char *labels, *codes, *weights, *values; /* codes, weights, values: NULL if there are none */
    gsa__packed ids;
    int32_t *word; /* the reader's numbers of the block's words; the caller's to free */
    size_t word_capacity;
    uint32_t length[GSA_BLOCK_ROWS]; /* entries of each row */
} gsa__cache_block;

/* The payload is borrowed until the last row; GSA__PACKED_SLACK bytes behind it must be readable. GSA_FORMAT (with what
 * is wrong, but not where) if it makes no sense. */
gsa_status gsa__cache_block_open(gsa__cache_block *block, const unsigned char *payload, gsa__words *words,
                                 gsa_error *error);
/* Adds as many rows as fit. `place` is where they are, but for the line: that is the row's number. */
gsa_status gsa__cache_block_read(gsa__cache_block *block, gsa_place place, gsa__rows *rows, gsa_error *error);

#endif
