/* Deltas: what replicas (copies, below) have learned of some features, in bytes.
 *
 *   1 A delta is of a range of features and of copies that follow one another. A block of features (sums.h) is a chunk
 *     for every run of its copies that has touched any: a run is a whole part of the tree, so that sums of several
 *     deltas add up to the same bits. Reduced, a delta is of all copies, which are one run.
 *   2 A delta is a header of six words of eight bytes (kind, outputs, first feature, features, first copy, copies), the
 *     chunks, by block and run, and how many these are.
 *   3 A chunk is four words of four bytes (block, first copy of the run from that of the delta on, copies, features |
 *     WIDE if counts have eight bytes), a bit for every feature of the block that a copy of the run has touched; and of
 *     these the rows of the sums in floats, the counts, and how many copies touched each, in no byte for one copy, in
 *     one byte for up to 255, else in four.
 *   4 All of it is little-endian, and nothing is aligned. */
#ifndef GSA_MERGE_DELTA_H
#define GSA_MERGE_DELTA_H

#include "merge/sums.h"

#define GSAI_DELTA_OF_ONE UINT64_C(0x33474e4843415347)  /* "GSACHNG3" */
#define GSAI_DELTA_REDUCED UINT64_C(0x3354494e55415347) /* "GSAUNIT3" */

/* An open delta: what copies have learned of some features, and the chunks that are still to come. */
typedef struct gsai_delta {
    const unsigned char *chunks;
    uint64_t first, n_features, first_copy, n_copies, n_chunks;
    uint64_t end; /* the last feature that a copy has touched + 1, or 0 */
} gsai_delta;

typedef struct gsai_sink {
    gsa_write_fn write;
    void *ctx;
    bool failed;
    uint64_t n_chunks;
    size_t n_outputs;
    unsigned char *chunk; /* room for the largest */
} gsai_sink;

gsa_status gsai_sink_open(gsai_sink *to, size_t n_outputs, const gsai_env *env, gsa_error *error);
void gsai_sink_header(gsai_sink *to, uint64_t kind, const gsai_delta *of);
/* Writes block `number` of a delta that begins with this copy; nothing if no copy has touched it. */
void gsai_sink_chunk(gsai_sink *to, const gsai_sums *sums, size_t n_slots, uint64_t number, size_t first_copy);
/* Closes a sink, also one that was not opened; GSA_IO if anything could not be written. */
gsa_status gsai_sink_close(gsai_sink *to, const gsai_env *env, gsa_error *error);

typedef struct gsai_chunk {
    uint64_t block;
    size_t first, n_copies;          /* the run, from the first copy of the delta on */
    size_t n;                        /* features */
    size_t count_size, touched_size; /* bytes of their counts, and of the number of copies that touched them */
    size_t size;                     /* bytes in all */
    const unsigned char *bits;
} gsai_chunk;

/* Checks all of a delta of this kind. */
gsa_status gsai_delta_open(uint64_t kind, const void *bytes, size_t size, size_t *n_outputs, gsai_delta *out,
                           gsa_error *error);
/* Returns the block of the next chunk of an open delta, UINT64_MAX after the last one. */
uint64_t gsai_delta_block(const gsai_delta *delta);
/* Reads the next chunk if it is of this block, and moves on; returns whether it was. */
bool gsai_delta_next(gsai_delta *delta, uint64_t block, size_t n_outputs, gsai_chunk *out);
/* Moves to the first chunk of this block or of a later one; returns whether it is of this block. It stays the next one.
 */
bool gsai_delta_seek(gsai_delta *delta, uint64_t block, size_t n_outputs, gsai_chunk *out);
/* Copies one slot of the block into sums that are zero, as their slot i. */
void gsai_chunk_find(const gsai_chunk *of, size_t slot, size_t n_outputs, size_t i, gsai_sums *out);
void gsai_chunk_take(const gsai_chunk *of, size_t n_slots, size_t n_outputs, gsai_sums *out);

#endif
