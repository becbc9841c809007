/* Bytes that a container was written into, for the tests of store. */
#ifndef TESTS_UNIT_STORE_BYTES_H
#define TESTS_UNIT_STORE_BYTES_H

#include "base/hash.h"
#include "store/container.h"

#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    unsigned char *at; /* from malloc, so aligned to 16 */
    size_t size;
    size_t largest_piece;
} bytes;

static inline int bytes_append(void *ctx, const void *piece, size_t size)
{
    bytes *b = ctx;
    unsigned char *grown = realloc(b->at, b->size + size);
    if (!grown)
        return 1;
    b->at = grown;
    memcpy(b->at + b->size, piece, size);
    b->size += size;
    if (size > b->largest_piece)
        b->largest_piece = size;
    return 0;
}

static inline void bytes_free(bytes *b)
{
    free(b->at);
    *b = (bytes){0};
}

/* A file by hand: the header as given (padded if asked), then the data, then a right checksum. */
static inline bytes bytes_of_file(const char *header, const void *data, size_t data_size)
{
    bytes b = {0};
    size_t len = strlen(header), padded = (len + 7) / 8 * 8;
    unsigned char size[8] = {0}, sum[8];
    for (int i = 0; i < 8; i++)
        size[i] = (unsigned char)((uint64_t)padded >> (8 * i));
    bytes_append(&b, size, 8);
    bytes_append(&b, header, len);
    while (b.size < 8 + padded)
        bytes_append(&b, " ", 1);
    bytes_append(&b, data, data_size);
    uint64_t hash = gsai_hash(b.at, b.size, 0);
    for (int i = 0; i < 8; i++)
        sum[i] = (unsigned char)(hash >> (8 * i));
    bytes_append(&b, sum, 8);
    return b;
}

#endif
