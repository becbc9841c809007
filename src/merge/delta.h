/* Deltas: what replicas have changed since their base.
 *
 * A delta is of consecutive replicas and of some features, and adds the sums of any block of slots to the tree
 * (sums.h). It is one of two kinds, which nothing but gsai_delta_add tells apart:
 *   - of a state in memory: its slots are compared with those of the base;
 *   - of several replicas, as bytes that another process wrote.
 *
 * The bytes:
 *   1 A delta is of a range of features and of replicas that follow one another. A block of features is a chunk for
 *     every run of its replicas that has touched any: a run is a whole part of the tree, so that sums of several
 *     deltas add up to the same bits. Reduced, a delta is of all replicas, which are one run.
 *   2 A delta is a header of six words of eight bytes (kind, outputs, first feature, features, first replica,
 *     replicas), the chunks, by block and run, and how many these are.
 *   3 A chunk is four words of four bytes (block, first replica of the run from that of the delta on, replicas,
 *     features | WIDE if counts have eight bytes), a bit for every feature of the block that a replica of the run has
 *     touched; and of these the rows of the sums in floats, the counts, and how many replicas touched each, in no byte
 *     for one replica, in one byte for up to 255, else in four.
 *   4 All of it is little-endian, and nothing is aligned. */
#ifndef GSA_MERGE_DELTA_H
#define GSA_MERGE_DELTA_H

#include "merge/resident.h"
#include "merge/sums.h"

#define GSAI_DELTA_OF_ONE UINT64_C(0x33474e4843415347)  /* "GSACHNG3" */
#define GSAI_DELTA_REDUCED UINT64_C(0x3354494e55415347) /* "GSAUNIT3" */

typedef struct gsai_delta {
    uint64_t first_copy, n_copies;
    uint64_t first, n_features; /* as bytes, like the outputs */
    size_t n_outputs;
    uint64_t end;                  /* the last feature that a replica may have touched + 1, or 0 */
    const gsai_resident *resident; /* the replica; NULL: as bytes */
    const unsigned char *chunks;   /* that are still to come: blocks are asked for in ascending order */
    uint64_t n_chunks;
} gsai_delta;

/* Returns the delta of a state in memory, of all its features. */
gsai_delta gsai_delta_of(const gsai_resident *replica, size_t number);
/* Checks all of a delta of this kind. */
gsa_status gsai_delta_open(uint64_t kind, const void *bytes, size_t size, gsai_delta *out, gsa_error *error);

/* Notes the slots of a delta as bytes in a table. */
void gsai_delta_use(const gsai_delta *delta, gsai_table *table);

/* Adds up blocks of slots from deltas. */
typedef struct gsai_adder {
    gsai_arena arena;
    size_t n_outputs;
    const gsai_resident *base; /* NULL: deltas are bytes, and only added up */
    bool continues;            /* the states are replicas of the base that went on where it stood */
    gsai_delta *deltas;        /* by replica; each is at the block that was asked for last */
    size_t n_deltas;
    gsai_view start, view;         /* slots of the base, and of a replica */
    uint32_t list[GSAI_MAX_BLOCK]; /* slots in use of tables in pages */
    gsai_cell *records;            /* of those of the result */
    gsai_tree tree;
    gsai_block_steps steps;
} gsai_adder;

/* Takes the memory for up to n_copies replicas in n_deltas deltas, which the caller fills in. The adder is to be ended
 * after a failure, too. */
gsa_status gsai_adder_begin(gsai_adder *adder, size_t n_copies, size_t n_deltas, size_t n_outputs, const gsai_env *env,
                            gsa_error *error);
void gsai_adder_end(gsai_adder *adder);
/* Adds at most a block of slots of all deltas to the tree, of which `first_copy` is the first, and takes those of the
 * base. Slots ascend from call to call; those without a list begin with a block of each delta. */
gsa_status gsai_adder_add(gsai_adder *adder, const gsai_slots *slots, size_t first_copy, gsa_error *error);

/* Writes what all deltas have of some features as one delta with this header: for every run of replicas, or
 * reduced to one. */
gsa_status gsai_adder_write(gsai_adder *adder, uint64_t kind, const gsai_delta *header, gsa_write_fn write, void *ctx,
                            gsa_error *error);

#endif
