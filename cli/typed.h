/* Names and numbers as people type them. Names, where a dash and an underscore are the same letter, with suggestions
 * for misspelt ones: the nearest of some names by edit distance. Sizes: 512M, 2G, 1.5GiB. Times: 60s, 5m, 1.5h. Real
 * numbers: 0.5, 1e-3. Counts are gsai_count_parse's. */
#ifndef GREEDYSTEP_CLI_TYPED_H
#define GREEDYSTEP_CLI_TYPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Parses a real number; returns false if the text is not a number, or a negative one. */
bool number_parse_real(const char *text, double *out);
/* Parses whole bytes, at least one; K, M, G, T are powers of 1024, with or without B or iB, in either case. */
bool number_parse_size(const char *text, uint64_t *out);
/* Parses a time in seconds: with s or without, or in minutes (m), hours (h) or days (d); a year at most. */
bool number_parse_time(const char *text, double *out);

#endif
