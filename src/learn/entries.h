/* A row as learning takes it: its entries that are not zero, gathered once, and what the table has of them. The
 * intercept, where there is one, is an entry of value 1 in slot 0 behind the others.
 *
 * Behind the entries the arrays go on to a whole number of blocks, so that loops need no rest; x is 0 there. */
#ifndef GSA_LEARN_ENTRIES_H
#define GSA_LEARN_ENTRIES_H

#include "learn/row.h"

#include <stdbool.h>

#define GSAI_ENTRIES_BLOCK ((size_t)16)

typedef struct gsai_entries {
    size_t n;        /* without the intercept */
    size_t n_all;    /* with it */
    size_t n_padded; /* above n */
    size_t n_slots;  /* that a table needs for them */
    double *x;
    uint32_t *slot; /* feature + 1 */
    /* Of the table's record: the weight (of one output), mean and count. */
    float *weight, *mean;
    uint32_t *count;
    double *product; /* scratch */
    float *late;
    void *memory;
    size_t capacity;
} gsai_entries;

/* Room for the entries of a row of n and an intercept; false if there is no memory, and nothing has changed. */
bool gsai_entries_reserve(gsai_entries *entries, size_t n, const gsa_env *env);

#endif
