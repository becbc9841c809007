/* The features of a row whose ids are made here: numbers of columns by position, words by their hash (of
 * Vowpal Wabbit text all features, with the namespace as the column).
 *
 *   1 Ids in a finished row ascend and are distinct: where two words meet in one id, their values are added up.
 *   2 A word's id depends on the column's name, the word, the bits and the number of number columns alone: the same on
 *     every machine and in every release (docs/formats/csv.md). */
#ifndef GSA_DATA_FORMAT_FEATURES_H
#define GSA_DATA_FORMAT_FEATURES_H

#include "data/feature_names.h"

/* The bytes that are hashed: a column's name, a NUL, and room for a short word. */
#define GSAI_KEY_ROOM 64
typedef struct gsai_key {
    char *bytes;
    size_t size; /* of the name and the NUL */
    size_t capacity;
} gsai_key;

/* Sets the name of a key that is zeroed or had another name; returns false if out of memory. */
bool gsai_key_set(gsai_key *key, const char *name, size_t name_size, const gsai_env *env);
void gsai_key_free(gsai_key *key, const gsai_env *env);
/* Returns the hash of the name, a NUL and the word: XXH3, 64 bits. */
uint64_t gsai_key_hash(const gsai_key *key, const char *word, size_t size);

typedef struct gsai_features {
    uint32_t *index; /* room for all that the row can have */
    float *value;
    size_t n;
    size_t n_numbers; /* the first of them, which ascend and are below all others */
    bool all_ones;
} gsai_features;

static inline void gsai_features_add(gsai_features *features, uint32_t id, float value)
{
    features->index[features->n] = id;
    features->value[features->n] = value;
    features->n += value != 0; /* a zero is the same as an absent feature */
    features->all_ones = features->all_ones && (value == 1 || value == 0);
}

/* Brings the ids behind the numbers into order and adds up what is twice there. False if a sum is not finite. */
bool gsai_features_finish(gsai_features *features);

/* Crosses: the products of two features of a row, one of each of two columns or namespaces.
 *
 * A cross of terms a and b has the hash XXH3 (64 bits) of the 16 bytes of hash a and hash b, little-endian, and the
 * value a * b. The hash of a word is its own; of a number it is that of its column with an empty word. */

/* A feature that may be crossed; texts are borrowed from the record or line. */
typedef struct gsai_term {
    uint64_t hash;
    float value; /* 0: absent */
    const char *name, *word;
    size_t name_size, word_size; /* word_size 0: a number */
} gsai_term;

/* Enters the name of the cross of two terms for its id, if that is new. */
void gsai_cross_enter(gsai_feature_names *names, uint32_t id, const gsai_term *a, const gsai_term *b);
/* Adds the cross of two terms, whose id is its hash & mask, from `base` on, and its name if that is new. False if its
 * value is not finite. */
bool gsai_cross_add(gsai_features *features, gsai_feature_names *names, uint32_t base, uint64_t mask,
                    const gsai_term *a, const gsai_term *b);

#endif
