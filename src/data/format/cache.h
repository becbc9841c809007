/* The cache: rows after parsing, in blocks that can each be read alone. docs/formats/cache.md says which bytes. */
#ifndef GSA_DATA_FORMAT_CACHE_H
#define GSA_DATA_FORMAT_CACHE_H

#include "data/format/format.h"

#define GSAI_CACHE_MAGIC "\x89GSAC\0\r\n" /* 8 bytes, the NUL that C adds not counted */
#define GSAI_CACHE_END \
    "\x89"             \
    "CASG\0\r\n"
#define GSAI_CACHE_VERSION 3
#define GSAI_CACHE_HEAD_SIZE 16           /* magic, version */
#define GSAI_CACHE_FOOT_SIZE 16           /* offset of the index's header, end magic */
#define GSAI_CACHE_HEADER_SIZE 80         /* the struct below and its hash */
#define GSAI_CACHE_ALIGNMENT 8            /* of headers in the file; zeros fill up what is between */
#define GSAI_CACHE_ENTRY_SIZE 24          /* of the index: offset, first row, rows of a block */
#define GSAI_CACHE_NAME_SIZE 8            /* before the text of a name: its feature, and its length << 32 */
#define GSAI_CACHE_BLOCK 0x4B434F4C42u    /* "BLOCK" */
#define GSAI_CACHE_INDEX 0x5845444E49u    /* "INDEX" */
#define GSAI_CACHE_SCHEMA 0x414D45484353u /* "SCHEMA" */
#define GSAI_CACHE_NAMES 0x73656D616Eu    /* "names" */
#define GSAI_CACHE_MAX_LABELS 256

/* Flags of a block; those from bit 32 on are the width of dense rows. MISSING is refused by name until it is read. */
enum {
    GSAI_CACHE_VALUES = 1,
    GSAI_CACHE_WEIGHTS = 2,
    GSAI_CACHE_MISSING = 4,
    GSAI_CACHE_GROUPS = 16,
    GSAI_CACHE_TIMES = 32, /* the groups are moments */
    GSAI_CACHE_FIRST = 8,  /* the first block of a file: rows before it came from another one */
    GSAI_CACHE_FORM_SHIFT = 8,
    GSAI_CACHE_WIDTH_SHIFT = 32
};
/* The forms of a block: ids and values, or dense rows of floats or halves. */
enum { GSAI_CACHE_SPARSE, GSAI_CACHE_F32, GSAI_CACHE_F16, GSAI_CACHE_BF16, GSAI_CACHE_N_FORMS };

/* A label is 8 bytes: the bits of a finite number, or these and in the low half the number of a word of the block. */
#define GSAI_CACHE_WORD 0xFFFFFFFF00000000u

/* Before each block, before the index, the schema and sections to come, as 64-bit numbers. */
typedef struct gsai_cache_header {
    uint64_t marker;       /* GSAI_CACHE_BLOCK, _INDEX, _SCHEMA, or one in small letters, which may be skipped */
    uint64_t payload_size; /* bytes after this header */
    uint64_t payload_hash;
    uint64_t first_row; /* rows before this block; index: all rows */
    uint64_t n_rows;    /* index: number of blocks */
    uint64_t n_entries;
    uint64_t n_labels; /* of the table; 0: every row has its own; index: highest feature id + 1 */
    uint64_t n_words;
    uint64_t flags;
} gsai_cache_header;

/* Returns how many zeros follow a payload of this size. */
static inline size_t gsai_cache_padding(uint64_t payload_size)
{
    return (size_t)(0 - payload_size) % GSAI_CACHE_ALIGNMENT;
}

void gsai_cache_header_write(const gsai_cache_header *header, unsigned char out[GSAI_CACHE_HEADER_SIZE]);
/* Reads a header; returns false if the hash does not match. */
bool gsai_cache_header_read(const unsigned char bytes[GSAI_CACHE_HEADER_SIZE], gsai_cache_header *out);

#endif
