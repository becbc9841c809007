/* The cache: rows after parsing, in blocks that can each be read alone. docs/formats/cache.md says which bytes. */
#ifndef GSA_DATA_FORMAT_CACHE_H
#define GSA_DATA_FORMAT_CACHE_H

#include "data/format/format.h"

#define GSAI_CACHE_MAGIC "\x89GSAC\0\r\n" /* 8 bytes, the NUL that C adds not counted */
#define GSAI_CACHE_END \
    "\x89"             \
    "CASG\0\r\n"
#define GSAI_CACHE_VERSION 2
#define GSAI_CACHE_HEAD_SIZE 16           /* magic, version */
#define GSAI_CACHE_FOOT_SIZE 16           /* offset of the index's header, end magic */
#define GSAI_CACHE_HEADER_SIZE 80         /* the struct below and its hash */
#define GSAI_CACHE_ENTRY_SIZE 24          /* of the index: offset, first row, rows of a block */
#define GSAI_CACHE_BLOCK 0x4B434F4C42u    /* "BLOCK" */
#define GSAI_CACHE_INDEX 0x5845444E49u    /* "INDEX" */
#define GSAI_CACHE_SCHEMA 0x414D45484353u /* "SCHEMA" */
#define GSAI_CACHE_MAX_LABELS 256

/* Flags of a block. What is written in the higher bits, or with MISSING, is refused by name until it is read. */
enum { GSAI_CACHE_VALUES = 1, GSAI_CACHE_WEIGHTS = 2, GSAI_CACHE_MISSING = 4, GSAI_CACHE_FORM_SHIFT = 8 };

/* A label is 8 bytes: the bits of a finite number, or these and in the low half the number of a word of the block. */
#define GSAI_CACHE_WORD 0xFFFFFFFF00000000u

/* Before each block, before the index, the schema and sections to come, as 64-bit numbers. */
typedef struct gsai_cache_header {
    uint64_t marker; /* GSAI_CACHE_BLOCK, _INDEX, _SCHEMA, or one in small letters: whoever knows it not skips it */
    uint64_t payload_size; /* bytes after this header */
    uint64_t payload_hash;
    uint64_t first_row; /* rows before this block; index: all rows */
    uint64_t n_rows;    /* index: number of blocks */
    uint64_t n_entries;
    uint64_t n_labels; /* of the table; 0: every row has its own; index: highest feature id + 1 */
    uint64_t n_words;
    uint64_t flags;
} gsai_cache_header;

void gsai_cache_header_write(const gsai_cache_header *header, unsigned char out[GSAI_CACHE_HEADER_SIZE]);
/* False if the hash does not match. */
bool gsai_cache_header_read(const unsigned char bytes[GSAI_CACHE_HEADER_SIZE], gsai_cache_header *out);

/* Content that begins like a cache, also if it is cut in the magic. */
bool gsai_cache_matches(const unsigned char *start, size_t size);
const gsai_format *gsai_format_cache(void);

/* The index of a cache: of block i 24 bytes from entries + 24 i on. */
typedef struct gsai_cache_index {
    uint64_t offset; /* of its header */
    gsai_cache_header totals;
    unsigned char *entries; /* of the env, the caller's to free; NULL after a failure */
} gsai_cache_index;
/* By the last bytes of a stream that can seek. */
gsa_status gsai_cache_index_read(gsai_decode *stream, const gsa_env *env, gsai_cache_index *out, gsa_error *error);

#endif
