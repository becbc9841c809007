/* Edit distance with insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
#include "suggest.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A dash and an underscore are the same letter. */
static int same_letter(char a, char b)
{
    return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

/* LONGEST for texts that are too long to be compared. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t table[LONGEST + 1][LONGEST + 1];
    size_t a_len = strlen(a), b_len = strlen(b);
    if (a_len > LONGEST || b_len > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= b_len; j++)
        table[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        table[i][0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t replaced = table[i - 1][j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            table[i][j] = least_of(replaced, 1 + least_of(table[i - 1][j], table[i][j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                table[i][j] = least_of(table[i][j], table[i - 2][j - 2] + 1);
        }
    }
    return table[a_len][b_len];
}

/* The beginning of a name, of three letters at least, is as good as one slip. */
static int is_beginning(const char *typed, const char *name)
{
    size_t length = strlen(typed);
    return length >= 3 && strncmp(typed, name, length) == 0;
}

suggestion suggest_begin(const char *typed)
{
    size_t length = strlen(typed);
    size_t tolerated = length < 3 ? 1 : 1 + length / 4;
    return (suggestion){typed, NULL, tolerated + 1};
}

void suggest_consider(suggestion *what, const char *name)
{
    size_t distance = edit_distance(what->typed, name);
    if (is_beginning(what->typed, name))
        distance = least_of(distance, 1);
    if (distance < what->distance) {
        what->distance = distance;
        what->best = name;
    }
}
