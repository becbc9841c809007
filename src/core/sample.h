/* The held-out sample: the rows with the smallest hashes, kept out of learning to judge by.
 *
 *   S1  rows are in ascending order of hash, no hash twice;
 *   S2  a row is held if its hash is among the `capacity` smallest seen; one that is pushed out by a smaller one goes
 *       back to the caller, who learns it: in the end every row was either learned or is held. Of rows that are equal
 *       one is held and the others are learned, in every pass; it judges for all of them (`seen`), or both labels of a
 *       kind of row that comes often would count the same;
 *   S3  merging is union and cut, so that order and grouping do not matter;
 *   S4  rows that come in wait in a short list, ascending too, which is now and then put in its place among the others:
 *       one by one each would move half of them. Whoever inserts settles before others walk over `at`. */
#ifndef GSA_CORE_SAMPLE_H
#define GSA_CORE_SAMPLE_H

#include "core/row.h"

#include <stdbool.h>

/* One row with memory of its own: a header, then n ids, then n values. */
typedef struct gsa__held_row {
    uint64_t hash;
    double number; /* label of a regression */
    double seen;   /* weight of this row and of its equals that came in the first pass while it was held */
    uint32_t class_number;
    float weight;
    uint32_t pass; /* the last pass in which it was left out */
    uint32_t n;
    uint32_t entries[]; /* n ids, n float values */
} gsa__held_row;

static inline gsa__row gsa__held_row_view(const gsa__held_row *held)
{
    return (gsa__row){held->n, held->entries, (const float *)(const void *)(held->entries + held->n)};
}

#define GSA__SAMPLE_LATE 256

/* Ascending by hash. */
typedef struct gsa__sample {
    gsa__held_row **at; /* all that are not late */
    size_t n, capacity_allocated;
    gsa__held_row *late[GSA__SAMPLE_LATE];
    size_t n_late;    /* of the n */
    uint64_t highest; /* hash: nearly all rows of a long input are above it, and need not be looked for */
} gsa__sample;

void gsa__sample_release(gsa__sample *sample, const gsa_env *env);
/* The held row of this hash, NULL if there is none. */
gsa__held_row *gsa__sample_find(const gsa__sample *sample, uint64_t hash);
/* In a later pass: whether a row of this hash is the held one, to be left out; its equals are not. */
bool gsa__sample_leaves_out(gsa__sample *sample, uint64_t hash, uint64_t pass);

/* A held row from parts, not yet in a sample; NULL if there is no memory. */
gsa__held_row *gsa__held_row_new(const gsa__row *row, uint64_t hash, size_t class_number, double y, double c,
                                 const gsa_env *env);
gsa__held_row *gsa__held_row_copy(const gsa__held_row *held, const gsa_env *env);

/* The one with the highest hash, NULL if there is none. */
const gsa__held_row *gsa__sample_last(gsa__sample *sample);
/* Would a row of this hash be held by a sample of that many? Not if its equal is. */
bool gsa__sample_wants(gsa__sample *sample, uint64_t hash, size_t most);
/* Takes the row over, also on failure; NULL is one that there was no memory for. *pushed_out is a row that no longer
 * fits (the caller's), or NULL; without pushed_out it is freed. A hash that is there already is freed and forgotten
 * (merged samples share rows). */
gsa_status gsa__sample_insert(gsa__sample *sample, gsa__held_row *held, size_t most, const gsa_env *env,
                              gsa__held_row **pushed_out, gsa_error *error);
/* Puts late rows in their place. */
void gsa__sample_settle(gsa__sample *sample);

#endif
