/* The held-out sample: rows that are kept out of learning, to judge by.
 *
 *   S1  a row is held if the hash of its features is below a threshold, which begins at a tenth of all hashes and only
 *       ever comes down: rows with equal features, a kind of rows, are all held or all learned, whatever their labels
 *       and weights are, and copies of a row cannot judge what was learned from the others. A kind that turns out to be
 *       common is learned for good: a few of them could not judge the others;
 *   S2  rows that are equal in features and label are held as one, and their weights add up;
 *   S3  where there are too many, those of the highest hash go back to the caller, who learns them, and the threshold
 *       comes down to that hash: in the end every row was either learned or is held;
 *   S4  rows are in ascending order of hash, class and number. Those that come in wait in a short list, ascending too,
 *       which is now and then put in its place among the others: one by one each would move half of them. Callers that
 *       insert settle before others walk over `at`;
 *   S5  merging is union and cut, so that order and grouping do not matter. */
#ifndef GSA_CORE_SAMPLE_H
#define GSA_CORE_SAMPLE_H

#include "core/row.h"

#include <stdbool.h>

/* One row with memory of its own: a header, then n ids, then n values. */
typedef struct gsa__held_row {
    uint64_t hash; /* of its features */
    double number; /* label of a regression */
    double weight; /* of this row and of its equals */
    uint32_t class_number;
    uint32_t n;
    uint32_t entries[]; /* n ids, n float values */
} gsa__held_row;

static inline gsa__row gsa__held_row_view(const gsa__held_row *held)
{
    return (gsa__row){held->n, held->entries, (const float *)(const void *)(held->entries + held->n)};
}

#define GSA__SAMPLE_LATE 256
#define GSA__SAMPLE_COMMON 256
#define GSA__SAMPLE_BELOW (UINT64_MAX / 10)

typedef struct gsa__sample {
    gsa__held_row **at; /* all that are not late */
    size_t n, capacity_allocated;
    gsa__held_row *late[GSA__SAMPLE_LATE];
    size_t n_late;                       /* of the n */
    uint64_t below;                      /* rows with a lower hash are held */
    double weight;                       /* of all rows */
    uint64_t common[GSA__SAMPLE_COMMON]; /* hashes below the threshold of kinds that are learned, ascending */
    size_t n_common;
} gsa__sample;

void gsa__sample_release(gsa__sample *sample, const gsa_env *env);
/* Returns the held row that is equal to this one in features and label, NULL if there is none. */
gsa__held_row *gsa__sample_find(const gsa__sample *sample, const gsa__held_row *row);

/* Makes a held row, not yet in a sample; NULL if there is no memory. */
gsa__held_row *gsa__held_row_new(const gsa__row *row, uint64_t hash, size_t class_number, double y, double c,
                                 const gsa_env *env);
gsa__held_row *gsa__held_row_copy(const gsa__held_row *held, const gsa_env *env);

/* Inserts the row, or adds its weight to that of its equal. Takes it over, also on failure; NULL is one that there was
 * no memory for. */
gsa_status gsa__sample_insert(gsa__sample *sample, gsa__held_row *held, const gsa_env *env, gsa_error *error);
/* Returns the last row, the caller's from now on, after lowering the threshold to its hash; NULL if there is none. */
gsa__held_row *gsa__sample_pop(gsa__sample *sample);
/* Returns the last row; NULL if there is none. */
const gsa__held_row *gsa__sample_last(const gsa__sample *sample);
/* Returns whether rows of this hash are held. */
bool gsa__sample_holds(const gsa__sample *sample, uint64_t hash);
/* Returns the weight of the held rows of this hash. */
double gsa__sample_weight_of(const gsa__sample *sample, uint64_t hash);
/* Rows of this hash are no longer held. Where there are too many such kinds, the threshold comes down to it. */
void gsa__sample_add_common(gsa__sample *sample, uint64_t hash);
/* Returns the first row of this hash, the caller's from now on; NULL if there is none. Settles. */
gsa__held_row *gsa__sample_take(gsa__sample *sample, uint64_t hash);
/* Puts late rows in their place. */
void gsa__sample_settle(gsa__sample *sample);

#endif
