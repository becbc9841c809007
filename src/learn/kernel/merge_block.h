/* Some slots of states that are merged, a block at a time: arrays by quantity, then by slot, so that loops over slots
 * (kernel/merge_loops.h) become vectors, and so short that they stay in the nearest cache. */
#ifndef GSA_LEARN_KERNEL_MERGE_BLOCK_H
#define GSA_LEARN_KERNEL_MERGE_BLOCK_H

#include "learn/table.h"

/* Slots of a block, a multiple of 64. */
#define GSAI_MAX_BLOCK 256
static inline size_t gsai_sums_block(size_t n_outputs)
{
    return n_outputs < 7 ? 512 / (n_outputs + 1) / 64 * 64 : 64;
}

/* n slots from first on, or those of a list, which ascend. */
typedef struct gsai_slots {
    size_t first, n;
    const uint32_t *at; /* NULL: no list */
} gsai_slots;

static inline size_t gsai_slots_at(const gsai_slots *slots, size_t i)
{
    return slots->at ? slots->at[i] : slots->first + i;
}

/* Slots of a state in the outputs of the merged one: last weights, by how much averages are behind them, sums of
 * squares and counts. */
typedef struct gsai_view {
    float *last, *behind;   /* [outputs x block] */
    double *sum_sq, *count; /* [block] */
    size_t block, n_outputs;
    void *memory;
} gsai_view;

/* Changes of some states since the base, by slot (merge/sums.h, A1). */
typedef struct gsai_sums {
    size_t first, n; /* states [first, first + n) */
    bool is_empty;   /* none of them has touched any slot: the rest is not valid */
    float *sum;      /* [gsai_sums_width x block]: changes of weights, of averages, sum of squares, squared rows seen */
    double *count;   /* [block]: rows seen since the base; whole numbers, as is */
    double *touched; /* [block]: the number of states that touched a slot */
} gsai_sums;

static inline size_t gsai_sums_width(size_t n_outputs)
{
    return 2 * n_outputs + 2;
}

/* How far to go in the direction of the changes of a block. */
typedef struct gsai_block_steps {
    float *c;         /* what sums of changes are to be divided by */
    float *all, *one; /* rows seen since the base: of all states, and of one that stands for them */
    float *step[2];   /* steps of the last weights, and of the averaged */
    double kept;      /* share of the base's average in that of the result */
    double total;     /* total weight in the average of the result; 0: no average */
} gsai_block_steps;

#endif
