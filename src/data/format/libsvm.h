/* libsvm text as a format of the reader, and its INDEX:VALUE pairs, fast. */
#ifndef GSA_DATA_FORMAT_LIBSVM_H
#define GSA_DATA_FORMAT_LIBSVM_H

#include "data/format/format.h"

/* Returns why these bytes cannot be a word as label here: one that no format has (input_text.h), or with marks that
 * this text gives another meaning; NULL if they can. */
const char *gsai_libsvm_objection(const char *text, size_t size);

/* The pairs of a row so far. */
typedef struct gsai_pairs {
    uint32_t *index; /* room for all that a line of this length can have */
    float *value;
    size_t n;
    uint64_t previous; /* the last index as it was written, from 1; 0: none */
    bool all_ones;
} gsai_pairs;

/* Appends every pair from p on that is well-formed and has an index of at most 8 digits, blanks skipped. The rest is
 * left to the parser of rows, which knows the whole grammar and every error: returns where the first text begins that
 * it does not take, or `end`. The byte at `end` is neither a digit nor a blank, and 64 bytes behind it may be read. */
const char *gsai_pairs_take(gsai_pairs *pairs, const char *p, const char *end);

#endif
