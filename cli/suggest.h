/* Suggestions for misspelt names: the nearest of some names by edit distance. */
#ifndef GREEDYSTEP_CLI_SUGGEST_H
#define GREEDYSTEP_CLI_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
    const char *typed;
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
} suggestion;

suggestion suggest_begin(const char *typed);
/* Considers one more name; the first of the nearest wins. */
void suggest_consider(suggestion *what, const char *name);

#endif
