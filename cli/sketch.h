/* How many different values there are, in 4 KiB: HyperLogLog (Flajolet and others 2007) over hashes of 64 bits, with
 * the estimator of Ertl (arXiv 1702.01284, section 4), which needs no case for few values.
 *
 * The estimate's relative standard error is 1.04 / sqrt(4096) = 1.6 %: one in 300 is off by more than 5 %. */
#ifndef GREEDYSTEP_CLI_SKETCH_H
#define GREEDYSTEP_CLI_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { SKETCH_BITS = 12, SKETCH_SIZE = 1 << SKETCH_BITS };

/* Of the hashes that begin with a register's number: the most zeros that follow, plus 1. Begins as zeros. */
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

#endif
