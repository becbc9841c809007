/* The table: everything that learning touches for one feature, in one record.
 *
 * Slot 0 is the intercept, feature i has slot i + 1. A record of K outputs has 2 room + 2 cells of 4 bytes:
 *   weight[0..K) ... average[0..K) ... mean_square count
 * where `room` >= K, a multiple of 4 above 2, leaves space for classes to come. With K = 1 that is 16 bytes: one cache
 * line per feature.
 *
 *   T1  cells beyond K, and beyond n_slots, are zero;
 *   T2  mean_square * count is the sum of c x^2 since the last fold, count the rows where the feature was present;
 *   T3  the bit of a slot is set if the slot was ever learned, or has anything in another part of its state: prior
 *       totals, or the best checkpoint. That of the intercept is. What visits slots visits those: most of a table of
 *       hashed features is never touched;
 *   T4  the records of a table of hashed features lie in pages of GSAI_PAGE slots, in the order in which these were
 *       first asked for, and `page` says where; page 0 has zeros, and is that of all slots without one. A slot in use
 *       has a page. Once a quarter is in use, and where whole blocks are wanted, records lie side by side (`page` is
 *       NULL). */
#ifndef GSA_LEARN_TABLE_H
#define GSA_LEARN_TABLE_H

#include "base/bundle.h"

#include <stdbool.h>

typedef union gsai_cell {
    float f;
    uint32_t u;
} gsai_cell;

typedef struct gsai_table {
    gsai_cell *cells;
    uint64_t *used;  /* a bit per slot, behind the cells */
    uint32_t *page;  /* of every GSAI_PAGE slots, behind the bits */
    size_t n_pages;  /* page 0 among them */
    size_t n_used;   /* bits that are set */
    size_t n_slots;  /* 1 + features seen */
    size_t capacity; /* slots there is memory for */
    bool is_whole;   /* never in pages */
    bool is_huge;    /* large pages of the system were asked for */
    size_t n_outputs;
    size_t room; /* outputs there is space for in a record */
} gsai_table;

/* Totals that the table's counts do not hold: sums of squares and counts of features from before (another run, merged
 * states, or more rows than a 32-bit count can hold). n slots, perhaps fewer than the table's. */
typedef struct gsai_totals {
    double sum_sq;
    uint64_t count;
} gsai_totals;
typedef struct gsai_prior_totals {
    gsai_totals *at;
    size_t n, capacity;
} gsai_prior_totals;

/* The least that a mean square may be: what is below counts as this (kernel/loops.h). */
#define GSAI_MIN_SQUARE 1e-37F

/* With one output: weight, average, mean, count. */
#define GSAI_ONE_STRIDE ((size_t)4)

/* Outputs that loops run over: a few more than there are, whose cells and scales are zero, so that they have no rest.
 */
static inline size_t gsai_table_padded(size_t n_outputs)
{
    return n_outputs > 2 ? (n_outputs + 3) / 4 * 4 : n_outputs;
}

static inline size_t gsai_table_stride(const gsai_table *table)
{
    return 2 * table->room + 2;
}

#define GSAI_PAGE GSAI_LINE_PAGE

/* Returns how many records lie before that of a slot. */
static inline size_t gsai_table_place(const gsai_table *table, size_t slot)
{
    return table->page ? table->page[slot / GSAI_PAGE] * GSAI_PAGE + slot % GSAI_PAGE : slot;
}

/* The record of a slot without a page is not to be written. */
static inline gsai_cell *gsai_table_slot(const gsai_table *table, size_t slot)
{
    return table->cells + gsai_table_place(table, slot) * gsai_table_stride(table);
}

/* Gives a slot a page, if it has none: it will soon be in use. */
static inline void gsai_table_map(gsai_table *table, size_t slot)
{
    if (!table->page || table->page[slot / GSAI_PAGE] != 0)
        return;
    __builtin_prefetch(&table->used[slot / 64], 1);
    table->page[slot / GSAI_PAGE] = (uint32_t)table->n_pages++;
}

/* Positions of the parts in a record. */
static inline size_t gsai_table_average(const gsai_table *table)
{
    return table->room;
}

static inline size_t gsai_table_mean(const gsai_table *table)
{
    return 2 * table->room;
}

static inline size_t gsai_table_count(const gsai_table *table)
{
    return 2 * table->room + 1;
}

/* Grows an array of a state, {element *at; size_t n, capacity}, to at least n elements; new ones are zero. */
gsa_status gsai_array_grow(void *array, size_t n, size_t element, const gsai_env *env, gsa_error *error);

gsa_status gsai_table_init(gsai_table *table, size_t n_slots, size_t n_outputs, const gsai_env *env, gsa_error *error);
void gsai_table_release(gsai_table *table, const gsai_env *env);
/* Returns the first slot in use of this word of the bitmap and those behind it, at least n_slots beyond the last. */
size_t gsai_table_next_of_words(const gsai_table *table, size_t word);
/* Returns the first slot in use from this one on, n_slots beyond the last. */
static inline size_t gsai_table_next(const gsai_table *table, size_t slot)
{
    if (slot >= table->n_slots)
        return table->n_slots;
    uint64_t bits = table->used[slot / 64] >> slot % 64;
    slot = bits ? slot + (size_t)__builtin_ctzll(bits) : gsai_table_next_of_words(table, slot / 64 + 1);
    return slot < table->n_slots ? slot : table->n_slots; /* a view may have fewer than are in use */
}
/* Visits the slots in use, ascending. */
#define GSAI_EACH_SLOT(slot, table)                                            \
    for (size_t slot = gsai_table_next((table), 0); (slot) < (table)->n_slots; \
         (slot) = gsai_table_next((table), (slot) + 1))

static inline bool gsai_table_uses(const gsai_table *table, size_t slot)
{
    return slot < table->n_slots && (table->used[slot / 64] >> slot % 64 & 1) != 0;
}

/* Notes that a slot is in use. */
static inline void gsai_table_use(gsai_table *table, size_t slot)
{
    uint64_t *word = &table->used[slot / 64], bit = UINT64_C(1) << slot % 64;
    gsai_table_map(table, slot);
    table->n_used += (*word & bit) == 0;
    *word |= bit;
}
static inline void gsai_table_drop(gsai_table *table, size_t slot)
{
    table->n_used -= gsai_table_uses(table, slot);
    table->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}
/* Notes all slots in use of another table that is not longer. */
void gsai_table_use_all(gsai_table *table, const gsai_table *from);
/* Lays records side by side once pages save nothing, and asks the system for large pages once nearly all of its small
 * ones are in use. Records may move. */
void gsai_table_settle(gsai_table *table, const gsai_env *env);

/* Returns whether a slot has only zeros. */
static inline bool gsai_table_is_zero(const gsai_table *table, size_t slot)
{
    const gsai_cell *record = gsai_table_slot(table, slot);
    if (table->room == 1)
        return (record[0].u | record[1].u | record[2].u | record[3].u) == 0;
    uint32_t any = 0;
    for (size_t i = 0, n = gsai_table_stride(table); i < n; i++)
        any |= record[i].u;
    return any == 0;
}

/* Grows to at least n_slots slots; new ones are zero. Hashed ids come in any order: the first large one makes room for
 * those a little larger. Fails with GSA_LIMIT above the limit of the budget. */
gsa_status gsai_table_grow(gsai_table *table, size_t n_slots, const gsai_env *env, gsa_error *error);
/* Widens the table to at least n_outputs outputs; new ones are zero. */
gsa_status gsai_table_widen(gsai_table *table, size_t n_outputs, const gsai_env *env, gsa_error *error);
/* Copies a table into another, whose memory is used again if it is large enough and of the same shape. */
gsa_status gsai_table_copy(gsai_table *to, const gsai_table *from, const gsai_env *env, gsa_error *error);
/* Zeroes the average terms of all slots. */
void gsai_table_clear_average(gsai_table *table);

/* Adds x times the averaged weights of a slot; total: the total weight in the average, 0: that of the last weights. */
static inline void gsai_table_add_average(const gsai_table *table, double total, size_t slot, double x, double *margins)
{
    const gsai_cell *weight = gsai_table_slot(table, slot), *average = weight + gsai_table_average(table);
    for (size_t k = 0; k < table->n_outputs; k++)
        margins[k] += x * ((double)weight[k].f - (total > 0 ? (double)average[k].f / total : 0));
}

/* Returns the cells from this one on of every record, one per output or one, as lines of a file. */
gsai_line_tensor gsai_table_lines(const gsai_table *table, const char *name, gsai_dtype dtype, size_t cell,
                                  uint64_t limit);

/* Part of the message about features that would need a table above the memory limit: the caller knows where the
 * features come from, and so what to do. */
#define GSAI_NEEDS_TABLE " needs a table of "

#endif
