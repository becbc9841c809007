/* Words, numbered in the order in which they came: those of labels, and the names of columns. Nothing is ever removed,
 * so that a number keeps its meaning for the life of the reader, over all passes. */
#ifndef GSA_DATA_WORDS_H
#define GSA_DATA_WORDS_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

#define GSA__MOST_WORDS ((size_t)1 << 20)

typedef struct gsa__words {
    const gsa_env *env; /* borrowed, resolved */
    char **word;        /* NUL-terminated */
    size_t n_words;
    size_t capacity;
    int32_t *slot; /* open addressing: number of the word or -1 */
    size_t n_slots;
    uint64_t n_bytes; /* taken for all of it */
} gsa__words;

void gsa__words_init(gsa__words *words, const gsa_env *env);
void gsa__words_free(gsa__words *words);
/* The number of a word, -1 if it did not come. */
int32_t gsa__words_find(const gsa__words *words, const char *text, size_t size);
/* A word that did not come, without a NUL in it. False if there is no memory. */
bool gsa__words_add(gsa__words *words, const char *text, size_t size);
/* The number of a label, which is added if it is new. GSA_LIMIT beyond GSA__MOST_WORDS or a quarter of
 * the memory limit. */
gsa_status gsa__words_enter(gsa__words *words, const char *text, size_t size, int32_t *number, gsa_error *error);

#endif
