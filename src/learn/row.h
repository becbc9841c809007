/* One row: what identifies it, and its entries as learning takes them. */
#ifndef GSA_LEARN_ROW_H
#define GSA_LEARN_ROW_H

#include "base/batch.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

/* Returns whether the label is a word, not a number. */
static inline bool gsai_row_is_word(const gsa_batch *batch, size_t row)
{
    return batch->word && batch->word[row] >= 0;
}

/* Its weight, 1 where rows have none. GSA_INPUT if it is negative or not finite. */
gsa_status gsai_row_weight(const gsa_batch *batch, size_t row, double *out, gsa_error *error);

#define GSAI_ONE_BITS 0x3F800000u /* 1.0f */

/* Returns the term of an entry in a hash, which is a sum of independent terms: every row of a long input is hashed, and
 * one multiplication after the other would take as long as learning the row. Equal entries at different positions, from
 * 1, have different terms. */
static inline uint64_t gsai_hash_entry(uint64_t position, uint32_t id, uint32_t value)
{
    uint64_t term = (((uint64_t)id << 32 | value) + position * 0x9E3779B97F4A7C15u) * 0xFF51AFD7ED558CCDu;
    return term ^ term >> 32;
}

/* The result of one pass over the entries of a row (kernel/kernel.h, scan_row). */
typedef struct gsai_row_scan {
    uint64_t hash;    /* gsai_row_features_hash */
    uint32_t highest; /* id, of zeros too */
    bool has_zeros, is_finite;
} gsai_row_scan;

/* The number that decides which rows are held out, the lowest ones: a hash of the features or of the group, or the
 * time. */
typedef enum gsai_held_by { GSAI_BY_FEATURES, GSAI_BY_GROUP, GSAI_BY_TIME } gsai_held_by;
static inline gsai_held_by gsai_batch_held_by(const gsa_batch *batch)
{
    return !batch->group ? GSAI_BY_FEATURES : batch->group_is_time ? GSAI_BY_TIME : GSAI_BY_GROUP;
}
static inline uint64_t gsai_held_key(const gsa_batch *batch, size_t row, uint64_t features_hash)
{
    return !batch->group ? features_hash : batch->group_is_time ? ~batch->group[row] : gsai_mix(batch->group[row]);
}

/* Returns a 64-bit hash of the nonzero entries in their order; the same for equal features of every format. It decides
 * what is held out, unless rows have groups: neither the label nor the weight of a row may. */
uint64_t gsai_row_features_hash(const gsa_batch *batch, size_t row_number);
/* Returns a 64-bit hash of features, label and weight. */
uint64_t gsai_row_hash(const gsa_batch *batch, size_t row_number);
/* Returns the same if the hash of the features is known. */
uint64_t gsai_row_hash_with(const gsa_batch *batch, size_t row, uint64_t features_hash);

/* A row as learning takes it: its entries that are not zero, gathered once, and what the table has of them. The
 * intercept, where there is one, is an entry of value 1 in slot 0 behind the others.
 *
 * Behind the entries the arrays go on to a whole number of blocks, so that loops need no rest; x is 0 there. */
#define GSAI_ENTRIES_BLOCK ((size_t)16)

typedef struct gsai_entries {
    size_t n;        /* without the intercept */
    size_t n_all;    /* with it */
    size_t n_padded; /* above n */
    size_t n_slots;  /* that a table needs for them */
    double *x;
    uint32_t *slot; /* feature + 1 */
    /* From the table's record: the weight (of one output), mean and count. */
    float *weight, *mean;
    uint32_t *count;
    double *product; /* scratch */
    float *late;
    void *memory;
    size_t capacity;
} gsai_entries;

/* Reserves memory for the entries of a row of n and an intercept; returns false, with nothing changed, if out of
 * memory. */
bool gsai_entries_reserve(gsai_entries *entries, size_t n, const gsai_env *env);

#endif
