/* Names as people type them: a dash and an underscore are the same letter. */
#include "suggest.h"

#include "base/text.h"

#include <string.h>

static char plain_letter(char c)
{
    return (char)(c == '_' ? '-' : c);
}

bool names_equal_up_to(const char *a, size_t a_len, const char *b)
{
    if (strlen(b) != a_len)
        return false;
    for (size_t i = 0; i < a_len; i++) {
        if (plain_letter(a[i]) != plain_letter(b[i]))
            return false;
    }
    return true;
}

const char *option_display_name(const char *name, char buffer[OPTION_NAME_SIZE])
{
    size_t i = 0;
    for (; name[i] != '\0' && i + 1 < OPTION_NAME_SIZE; i++)
        buffer[i] = plain_letter(name[i]);
    buffer[i] = '\0';
    return buffer;
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
    size_t tolerated = length < 6 ? 1 : 1 + length / 4; /* a short name has others near it */
    return (suggestion){typed, NULL, tolerated + 1};
}

void suggest_consider(suggestion *what, const char *name)
{
    char typed[OPTION_NAME_SIZE], known[OPTION_NAME_SIZE];
    size_t distance = gsai_edit_distance(option_display_name(what->typed, typed), option_display_name(name, known));
    if (is_beginning(what->typed, name) && distance > 1)
        distance = 1;
    if (distance < what->distance && strlen(what->typed) < OPTION_NAME_SIZE) {
        what->distance = distance;
        what->best = name;
    }
}
