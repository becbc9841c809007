/* Names of features whose ids are hashes, as they come, while there is room, and which ids came at all.
 *
 *   1 An id keeps the name that came first: at most GSA_MAX_NAMES of them, and GSA_NAMES_SIZE bytes of text.
 *   2 One bit per id says whether it came: most words cost no more.
 *   3 A thread that reads rows before their turn makes a list of what the book that it is for does not know yet, few of
 *     them more than once; lists that are added in the order of their rows give the names that one thread would have
 *     found. */
#ifndef GSA_DATA_FEATURE_NAMES_H
#define GSA_DATA_FEATURE_NAMES_H

#include "base/memory.h"

#include <greedystep/data.h>

#include <stdbool.h>

typedef struct gsai_feature_names {
    const gsai_env *env;
    uint64_t *came; /* of a list: those of its book; NULL: names are not remembered */
    size_t n_came;
    uint32_t *slot; /* open addressing: number of the name + 1; 0: none */
    uint32_t *id;   /* of each name */
    size_t *start;  /* of its text */
    char *text;
    size_t n_indexed; /* names that have a slot: the first of them */
    size_t n, text_size, id_capacity, start_capacity, text_capacity;
    bool lacks_memory; /* for a name that has room */
    bool is_list;      /* made by another thread than the one its book grows in */
    uint32_t *latest;  /* of a list: for a hash of an id, the last of these that was listed, + 1 */
} gsai_feature_names;

/* Prepares a zeroed table of names for ids below 2^bits; does nothing to one that has begun. */
gsa_status gsai_feature_names_begin(gsai_feature_names *book, unsigned bits, const gsai_env *env, gsa_error *error);
void gsai_feature_names_free(gsai_feature_names *book);
/* Adds an id that came for the first time: "column=word", or the word alone if the column has no name. Without room it
 * gets no name, and an empty one if there is a NUL in the word. */
void gsai_feature_names_enter(gsai_feature_names *book, uint32_t id, const char *column, size_t column_size,
                              const char *word, size_t word_size);
/* Make an empty list of what this book does not know; and add a list in its turn. */
bool gsai_feature_names_list(gsai_feature_names *list, const gsai_feature_names *book, const gsai_env *env);
void gsai_feature_names_take(gsai_feature_names *book, const gsai_feature_names *list);
void gsai_feature_names_clear(gsai_feature_names *list);
/* Returns the name of an id, NULL if it has none. */
const char *gsai_feature_names_find(gsai_feature_names *book, uint64_t id);

/* Prefetches an id that will be looked up soon; returns false if names are not kept. */
static inline bool gsai_feature_names_expect(const gsai_feature_names *book, uint32_t id)
{
    if (book->came)
        __builtin_prefetch(&book->came[id / 64]);
    return book->came != NULL;
}

static inline bool gsai_feature_names_is_new(const gsai_feature_names *book, uint32_t id)
{
    return book->came && !(__atomic_load_n(&book->came[id / 64], __ATOMIC_RELAXED) >> id % 64 & 1);
}

#endif
