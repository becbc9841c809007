/* Words, numbered in the order in which they came: those of labels, and the names of columns. Nothing is ever removed,
 * so that a number keeps its meaning for the life of the reader, over all passes. */
#ifndef GSA_BASE_WORDS_H
#define GSA_BASE_WORDS_H

#include "base/memory.h"

#include <stdbool.h>

#define GSAI_MAX_WORDS ((size_t)1 << 20)

/* Empty with the environment alone: (gsai_words){.env = env}. */
typedef struct gsai_words {
    const gsai_env *env; /* borrowed, resolved */
    char **word;         /* NUL-terminated */
    size_t n_words;
    size_t capacity;
    int32_t *slot; /* open addressing: number of the word or -1 */
    size_t n_slots;
    uint64_t n_bytes; /* taken for all of it */
} gsai_words;

void gsai_words_free(gsai_words *words);
/* Returns the number of a word, -1 if it did not come. */
int32_t gsai_words_find(const gsai_words *words, const char *text, size_t size);
/* Adds a word that did not come before and has no NUL; returns false if out of memory. */
bool gsai_words_add(gsai_words *words, const char *text, size_t size);
/* Fills in the number of a label, which is added if it is new. GSA_LIMIT beyond GSAI_MAX_WORDS or a quarter of the
 * memory limit. */
gsa_status gsai_words_enter(gsai_words *words, const char *text, size_t size, int32_t *number, gsa_error *error);

#endif
