/* The working copy: everything that learning touches for one feature, side by side in one record.
 *
 * Slot 0 is the intercept, feature i has slot i + 1. A record of K outputs has 2 room + 2 cells of 4 bytes:
 *   weight[0..K) ... average[0..K) ... mean_square count
 * where `room` >= K, a multiple of 4 above 2, leaves space for classes to come. With K = 1 that is 16 bytes: one cache
 * line a feature.
 *
 *   T1  cells beyond K, and beyond n_slots, are zero;
 *   T2  mean_square * count is the mass sum c x^2 since the last fold, count the rows where the feature was present. */
#ifndef GSA_CORE_TABLE_H
#define GSA_CORE_TABLE_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef union gsa__cell {
    float f;
    uint32_t u;
} gsa__cell;

typedef struct gsa__table {
    gsa__cell *cells;
    size_t n_slots;  /* 1 + features seen */
    size_t capacity; /* slots there is memory for */
    size_t n_outputs;
    size_t room; /* outputs there is space for in a record */
} gsa__table;

/* The least that a mean square may be: what is below counts as this (kernel/loops.h). */
#define GSA__SQUARE_LEAST 1e-37F

/* With one output: weight, average, mean, count. */
#define GSA__ONE_STRIDE ((size_t)4)

/* Outputs that loops run over: a few more than there are, whose cells and scales are zero, so that they have no rest.
 */
static inline size_t gsa__table_padded(size_t n_outputs)
{
    return n_outputs > 2 ? (n_outputs + 3) / 4 * 4 : n_outputs;
}

static inline size_t gsa__table_stride(const gsa__table *table)
{
    return 2 * table->room + 2;
}

static inline gsa__cell *gsa__table_slot(const gsa__table *table, size_t slot)
{
    return table->cells + slot * gsa__table_stride(table);
}

/* Positions of the parts in a record. */
static inline size_t gsa__table_average(const gsa__table *table)
{
    return table->room;
}

static inline size_t gsa__table_mean(const gsa__table *table)
{
    return 2 * table->room;
}

static inline size_t gsa__table_count(const gsa__table *table)
{
    return 2 * table->room + 1;
}

gsa_status gsa__table_init(gsa__table *table, size_t n_slots, size_t n_outputs, const gsa_env *env, gsa_error *error);
void gsa__table_release(gsa__table *table, const gsa_env *env);
/* True if nothing was ever learned for a slot. */
static inline bool gsa__table_is_zero(const gsa__table *table, size_t slot)
{
    const gsa__cell *record = gsa__table_slot(table, slot);
    if (table->room == 1)
        return (record[0].u | record[1].u | record[2].u | record[3].u) == 0;
    uint32_t any = 0;
    for (size_t i = 0, n = gsa__table_stride(table); i < n; i++)
        any |= record[i].u;
    return any == 0;
}

/* Grows to at least n_slots slots; new ones are zero. Hashed ids come in any order: the first large one makes room for
 * those a little larger. Fails with GSA_LIMIT above the limit of the budget. */
gsa_status gsa__table_grow(gsa__table *table, size_t n_slots, const gsa_env *env, gsa_error *error);
/* At least n_outputs outputs; new ones are zero. */
gsa_status gsa__table_widen(gsa__table *table, size_t n_outputs, const gsa_env *env, gsa_error *error);
/* A copy with memory of its own. */
gsa_status gsa__table_copy(gsa__table *out, const gsa__table *from, const gsa_env *env, gsa_error *error);
/* One record, into a table with at least as many outputs. */
void gsa__table_copy_record(gsa__table *to, size_t to_slot, const gsa__table *from, size_t slot);
/* The table becomes a copy in the memory that it has; false if that is too small or of another shape. */
bool gsa__table_refill(gsa__table *table, const gsa__table *from);
/* Zeroes the average terms of all slots. */
void gsa__table_clear_average(gsa__table *table);

#endif
