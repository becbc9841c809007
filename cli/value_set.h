/* Which values there are, and how often each, in bounded memory.
 *
 *   1 While there are at most `capacity` different values, all of it is exact, and `sketch` is NULL.
 *   2 After that their number is an estimate (a sketch). A set for frequent values goes on with those: a count is too
 *     low by `lost` at most, and every value that came more often than `lost` is there (Misra and Gries 1982, with
 *     about half of the entries going at a time). Another set forgets its entries: `entry` is NULL. */
#ifndef GREEDYSTEP_CLI_VALUE_SET_H
#define GREEDYSTEP_CLI_VALUE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many different values there are, in 4 KiB: HyperLogLog (Flajolet and others 2007) over hashes of 64 bits, with
 * the estimator of Ertl (arXiv 1702.01284, section 4), which needs no case for few values.
 *
 * The estimate's relative standard error is 1.04 / sqrt(4096) = 1.6 %: one in 300 is off by more than 5 %. */
enum { SKETCH_BITS = 12, SKETCH_SIZE = 1 << SKETCH_BITS };

/* Per register: the most zeros that follow its number in the hashes that begin with it, plus 1. Begins as zeros. */
typedef struct sketch {
    uint8_t rank[SKETCH_SIZE];
} sketch;

static inline void sketch_add(sketch *to, uint64_t hash)
{
    uint8_t *rank = &to->rank[hash >> (64 - SKETCH_BITS)];
    uint64_t rest = hash << SKETCH_BITS | 1; /* the last bit ends the zeros */
    /* Seldom true once there are a few thousand values. */
    while (*rank == 0 || rest >> (64 - *rank) == 0)
        ++*rank;
}

double sketch_count(const sketch *of);

typedef struct value_entry {
    uint64_t value, count;
    uint64_t first; /* values that were added before it */
    uint64_t label; /* that came with it first */
    bool is_mixed;  /* other labels came with it later */
} value_entry;

typedef struct value_set {
    value_entry *entry;
    size_t n, capacity;
    uint16_t *slot; /* open addressing, at most a quarter is taken: number of the entry + 1; 0: none */
    uint64_t n_added, lost;
    sketch *sketch;
    bool is_for_frequent;
} value_set;

/* Prepares a set; capacity: a power of two, 64 .. 4096. Returns false if out of memory, as all of these do. */
bool value_set_init(value_set *set, size_t capacity, bool is_for_frequent);
void value_set_free(value_set *set);
bool value_set_add(value_set *set, uint64_t value, uint64_t label);
/* Returns the number of different values; exact without a sketch. */
uint64_t value_set_count(const value_set *set);
/* Sorts the values, the most frequent first, of equals the one that came first. No value can be added afterwards. */
void value_set_sort(value_set *set);

#endif
