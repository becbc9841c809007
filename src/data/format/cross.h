/* Crosses: the products of two features of a row, one of each of two columns or namespaces, made on the way.
 *
 * A cross of terms a and b has the hash XXH3 (64 bits) of the 16 bytes of hash a and hash b, little-endian, and the
 * value a * b. The hash of a word is its own; of a number it is that of its column with an empty word. */
#ifndef GSA_DATA_FORMAT_CROSS_H
#define GSA_DATA_FORMAT_CROSS_H

#include "data/format/features.h"
#include "data/format/format.h"

/* A feature that may be crossed; texts are borrowed from the record or line. */
typedef struct gsai_term {
    uint64_t hash;
    float value; /* 0: absent */
    const char *name, *word;
    size_t name_size, word_size; /* word_size 0: a number */
} gsai_term;

/* Adds the cross of two terms; ids are from `base` on. False if its value is not finite. */
bool gsai_cross_add(gsai_features *features, const gsai_format_input *input, uint32_t base, const gsai_term *a,
                    const gsai_term *b);

#endif
