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
    GSAI_CACHE_FIRST = 8, /* the first block of a file: rows before it came from another one */
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

void gsai_cache_header_write(const gsai_cache_header *header, unsigned char out[GSAI_CACHE_HEADER_SIZE]);
/* Reads a header; returns false if the hash does not match. */
bool gsai_cache_header_read(const unsigned char bytes[GSAI_CACHE_HEADER_SIZE], gsai_cache_header *out);

/* Returns whether content begins like a cache, even if it ends within the magic. */
bool gsai_cache_matches(const unsigned char *start, size_t size);
const gsai_format *gsai_format_cache(void);

/* The index of a cache: of block i 24 bytes from entries + 24 i on. */
typedef struct gsai_cache_index {
    uint64_t offset; /* of its header */
    gsai_cache_header totals;
    unsigned char *entries; /* of the env, the caller's to free; NULL after a failure */
} gsai_cache_index;
/* Reads the index from the last bytes of a stream that can seek. */
gsa_status gsai_cache_index_read(gsai_decode *stream, const gsai_env *env, gsai_cache_index *out, gsa_error *error);

/* One block on its way into the arrays of a batch: what its rows are (labels, lengths, weights, words) comes first and
 * is laid out, ids and values are read right to where they stay and checked piece by piece.
 *
 *   1 No number is used before it is checked: hashes find damage, but anybody can make right ones.
 *   2 The rows are part of the batch when gsai_cache_block_finish says so, which is after the hash was checked. */
typedef struct gsai_cache_block {
    gsai_cache_header header; /* the caller's to fill */
    const unsigned char *layout;
    bool all_ones;
    bool sound;         /* so far */
    size_t row;         /* the first whose ids were not checked */
    int64_t breaks;     /* ids that do not ascend, but for those that begin a row */
    uint64_t n_entries; /* of dense rows: values so far that are not zero */
    int32_t *word;      /* the reader's numbers of the block's words; the caller's to free */
    size_t word_capacity;
} gsai_cache_block;

static inline unsigned gsai_cache_form(const gsai_cache_header *header)
{
    return header->flags >> GSAI_CACHE_FORM_SHIFT & 0xFF;
}
/* Values of a dense row, in a block that was found right; 0: rows are sparse. */
static inline size_t gsai_cache_width(const gsai_cache_header *header)
{
    return (size_t)(header->flags >> GSAI_CACHE_WIDTH_SHIFT);
}
/* Bytes of a value of a dense row. */
static inline size_t gsai_cache_item(const gsai_cache_header *header)
{
    return gsai_cache_form(header) == GSAI_CACHE_F32 ? 4 : 2;
}
/* Bytes of ids, or of values if these have a part of their own. */
static inline uint64_t gsai_cache_part_size(const gsai_cache_header *header)
{
    return gsai_cache_form(header) == GSAI_CACHE_SPARSE
               ? 4 * header->n_entries
               : header->n_rows * (header->flags >> GSAI_CACHE_WIDTH_SHIFT) * gsai_cache_item(header);
}

/* Returns what is wrong with the header of a block, or NULL. */
const char *gsai_cache_block_objection(const gsai_cache_header *header);
/* Returns what a block has that this release does not read, or NULL. */
const char *gsai_cache_block_novelty(const gsai_cache_header *header);
/* Bytes of labels, lengths, weights and words; ids and values follow them. */
size_t gsai_cache_info_size(const gsai_cache_header *header);

/* Makes room for the block behind the rows that there are; the bytes are borrowed until the end. GSA_FORMAT (with what
 * is wrong, but not where) if they make no sense. */
gsa_status gsai_cache_block_begin(gsai_cache_block *block, const unsigned char *layout, gsai_rows *rows,
                                  gsa_error *error);
/* Ids, or values, of the entries from `from` to before `end` are there, as the file has them: turns them to the
 * machine's order and looks at them. */
void gsai_cache_block_take_ids(gsai_cache_block *block, gsai_rows *rows, size_t from, size_t end);
void gsai_cache_block_take_values(gsai_cache_block *block, gsai_rows *rows, size_t from, size_t end);
/* Does the same for values of dense rows; halves are at `from_half`, floats in their place. */
void gsai_cache_block_take_dense(gsai_cache_block *block, gsai_rows *rows, unsigned char *from_half, size_t from,
                                 size_t end);
/* Finishes a block that is complete. `place` is where the rows are, except for the line, which is the row's number. */
gsa_status gsai_cache_block_finish(gsai_cache_block *block, gsa_place place, gsai_rows *rows, gsa_error *error);

#endif
