/* The held-out sample: rows that are kept out of learning, to measure loss on.
 *
 *   S1  a row is held if the hash of its features is below a threshold, which begins at a tenth of all hashes and only
 *       ever comes down: rows with equal features, a kind of rows, are all held or all learned, whatever their labels
 *       and weights are, so that no held row is a copy of one that was learned;
 *   S2  rows that are equal in features and label are one entry, and their weights add up;
 *   S3  a kind of very many rows is common: they are not copies, and the kind cannot be spared. All its rows are
 *       learned, its entries hold no weight any more, and count in the loss by the weight that was seen;
 *       So are, with labels that are classes, the 16 kinds of the lowest hashes where fewer are below the threshold:
 *       tables of few kinds would often have no sample, and their models no calibration. Above the threshold they count
 *       if they have more rows on average than makes a kind common;
 *   S4  where there are too many entries, those of the highest hash go back to the caller, who learns what they hold,
 *       and the threshold comes down to that hash: in the end every row was either learned or is held;
 *   S5  entries are in ascending order of hash, class and number. Those that come in wait in a short list, ascending
 *       too, which is now and then put in its place among the others: one by one each would move half of them. Callers
 *       that insert settle before others walk over `at`;
 *   S6  rows that have groups are held by the hash of their group in place of that of their features: all of a group,
 *       or none. No group is common, and rows that differ in features are entries of their own;
 *   S7  rows that have times are held by a number that falls as their time rises, and not more than a tenth of the rows
 *       so far: later rows push earlier ones out, which are learned;
 *   S8  merging is union and cut, so that order and grouping do not matter. */
#ifndef GSA_LEARN_HOLDOUT_H
#define GSA_LEARN_HOLDOUT_H

#include "base/memory.h"
#include "learn/row.h"

#include <stdbool.h>

/* One row with memory of its own: a header, then n ids, then n values. */
typedef struct gsai_held_row {
    uint64_t hash; /* of its features, or what it is held by in place of these */
    uint64_t features;
    double number; /* label of a regression */
    double weight; /* of this row and of its equals that are held; 0: the kind is common */
    double seen;   /* of all that came while the entry was here: its weight in the held-out loss */
    uint32_t class_number;
    uint32_t n;
    uint32_t entries[]; /* n ids, n float values */
} gsai_held_row;

static inline gsai_row gsai_held_row_view(const gsai_held_row *held)
{
    return (gsai_row){held->n, held->entries, (const float *)(const void *)(held->entries + held->n)};
}

#define GSAI_SAMPLE_LATE 256
#define GSAI_SAMPLE_BELOW (UINT64_MAX / 10)

typedef struct gsai_sample {
    gsai_held_row **at; /* ascending, then those that are late, ascending too */
    uint64_t *hash;     /* theirs, side by side: most rows of a long input are looked for and not found */
    size_t n, n_late, capacity, hash_capacity;
    uint64_t below; /* rows with a lower hash are held */
    uint64_t by;    /* gsai_held_by */
} gsai_sample;

void gsai_sample_release(gsai_sample *sample, const gsai_env *env);
/* Returns the held row that is equal to this one in features and label, NULL if not found. */
gsai_held_row *gsai_sample_find(const gsai_sample *sample, const gsai_held_row *row);

/* Makes a held row, not yet in a sample; NULL if out of memory. */
gsai_held_row *gsai_held_row_new(const gsai_row *row, uint64_t hash, uint64_t features, size_t class_number, double y,
                                 double c, const gsai_env *env);

/* Inserts the row, or adds its weights to those of its equal. Takes it over, also on failure; NULL is one that there
 * was no memory for. */
gsa_status gsai_sample_insert(gsai_sample *sample, gsai_held_row *held, const gsai_env *env, gsa_error *error);
/* Returns the last row, the caller's from now on, after lowering the threshold to its hash; NULL if empty. */
gsai_held_row *gsai_sample_pop(gsai_sample *sample);
/* Returns the last row; NULL if the sample is empty. */
const gsai_held_row *gsai_sample_last(const gsai_sample *sample);
/* Returns whether fewer than GSAI_SAMPLE_MANY kinds have a lower hash. */
bool gsai_sample_is_low(const gsai_sample *sample, uint64_t hash);
/* Returns whether the last row is one too many. keeps_low: rows of low kinds stay above the threshold if learned. */
bool gsai_sample_is_over(const gsai_sample *sample, size_t max, bool keeps_low);
/* Returns the number of rows that count, which are the first ones. For a settled sample. */
size_t gsai_sample_count(const gsai_sample *sample);
/* Rows above which a kind is common; and different labels above which others of a common kind do not count. */
#define GSAI_COMMON_WEIGHT 64.0
#define GSAI_COMMON_LABELS 64u
/* The held rows of one hash, a kind. */
typedef struct gsai_kind {
    size_t n;      /* entries */
    double weight; /* that they hold; 0: the kind is common, or not there */
} gsai_kind;
gsai_kind gsai_sample_kind(const gsai_sample *sample, uint64_t hash);
/* Returns the next entry of a hash that holds weight; NULL if not found. Settles. */
gsai_held_row *gsai_sample_next_held(gsai_sample *sample, uint64_t hash);
/* Returns the mean number of rows of a kind if it is above 1.5 and they are copies, which is to say that nearly all
 * rows of a kind have the same label; else 1. Common kinds are left out. For a settled sample. */
#define GSAI_SAMPLE_MANY 16u /* kinds; tables of few combinations repeat them all, which are not copies */
double gsai_sample_copies(const gsai_sample *sample);
/* Puts late rows in their place. */
void gsai_sample_settle(gsai_sample *sample);

#endif
