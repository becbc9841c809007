/* Slices in bytes.
 *
 *   1 A slice is of a range of features and of copies that follow one another. A block of features (merge_sums.h) is a
 *     chunk for every run of its copies that has met any: a run is a whole part of the tree, so that sums of several
 *     slices add up to the same bits. United, a slice is of all copies, which are one run.
 *   2 A slice is a head of six words of eight bytes (kind, outputs, first feature, features, first copy, copies), the
 *     chunks, by block and run, and how many these are.
 *   3 A chunk is four words of four bytes (block, first copy of the run from that of the slice on, copies, features |
 *     WIDE if counts have eight bytes), a bit for every feature of the block that a copy of the run has met; and of
 *     these the rows of the sums in floats, the counts, and how many copies met each, in no byte for one copy, in one
 *     byte for up to 255, else in four.
 *   4 All of it is little-endian, and nothing is aligned. */
#ifndef GSA_CORE_SLICE_BYTES_H
#define GSA_CORE_SLICE_BYTES_H

#include "core/merge_slots.h"

#define GSA__SLICE_CHANGE UINT64_C(0x33474e4843415347) /* "GSACHNG3" */
#define GSA__SLICE_UNITED UINT64_C(0x3354494e55415347) /* "GSAUNIT3" */

typedef struct gsa__sink {
    gsa_write_fn write;
    void *ctx;
    bool failed;
    uint64_t n_chunks;
    size_t n_outputs;
    unsigned char *chunk; /* room for the largest */
} gsa__sink;

gsa_status gsa__sink_open(gsa__sink *to, size_t n_outputs, const gsa_env *env, gsa_error *error);
void gsa__sink_head(gsa__sink *to, uint64_t kind, const gsa__slice *of);
/* Block `number` of a slice that begins with this copy; a block that nobody met leaves nothing. */
void gsa__sink_chunk(gsa__sink *to, const gsa__sums *sums, size_t n_slots, uint64_t number, size_t first_copy);
/* GSA_IO if anything could not be written. Also of one that was not opened. */
gsa_status gsa__sink_close(gsa__sink *to, const gsa_env *env, gsa_error *error);

typedef struct gsa__chunk {
    uint64_t block;
    size_t first, n_copies;      /* the run, from the first copy of the slice on */
    size_t n;                    /* features */
    size_t count_size, met_size; /* bytes of their counts, and of the number of copies that met them */
    size_t size;                 /* bytes in all */
    const unsigned char *bits;
} gsa__chunk;

/* Checks all of a slice of this kind. */
gsa_status gsa__slice_open(uint64_t kind, const void *bytes, size_t size, size_t *n_outputs, gsa__slice *out,
                           gsa_error *error);
/* The block of the next chunk of an open slice, UINT64_MAX behind the last one. */
uint64_t gsa__slice_block(const gsa__slice *slice);
/* The next chunk, if it is of this block; the slice goes on behind it. */
bool gsa__slice_next(gsa__slice *slice, uint64_t block, size_t n_outputs, gsa__chunk *out);
/* The first chunk of this block or of a later one is next; true: it is of this block, and stays next. */
bool gsa__slice_seek(gsa__slice *slice, uint64_t block, size_t n_outputs, gsa__chunk *out);
/* One slot of the block into sums that are zero, as their slot i. */
void gsa__chunk_find(const gsa__chunk *of, size_t slot, size_t n_outputs, size_t i, gsa__sums *out);
void gsa__chunk_take(const gsa__chunk *of, size_t n_slots, size_t n_outputs, gsa__sums *out);

#endif
