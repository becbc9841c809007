/* Names as people type them, where a dash and an underscore are the same letter, and suggestions for misspelt ones: the
 * nearest of some names by edit distance. */
#ifndef GREEDYSTEP_CLI_SUGGEST_H
#define GREEDYSTEP_CLI_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the first a_len bytes of `a` are the name `b`. */
bool names_equal_up_to(const char *a, size_t a_len, const char *b);
/* Returns a name with dashes, for messages. */
enum { OPTION_NAME_SIZE = 48 };
const char *option_display_name(const char *name, char buffer[OPTION_NAME_SIZE]);

typedef struct suggestion {
    const char *typed;
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
} suggestion;

suggestion suggest_begin(const char *typed);
/* Considers one more name; the first of the nearest wins. */
void suggest_consider(suggestion *what, const char *name);

#endif
