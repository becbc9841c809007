/* Names and numbers as people type them. The command stays in the C locale, in which strtod takes a point. */
#include "typed.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
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
    size_t length = strlen(what->typed);
    /* The beginning of a name, of three letters at least, is as good as one slip. */
    if (length >= 3 && strncmp(what->typed, name, length) == 0 && distance > 1)
        distance = 1;
    if (distance < what->distance && length < OPTION_NAME_SIZE) {
        what->distance = distance;
        what->best = name;
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------------
 */

/* Reads the number at the front of a text: digits, perhaps with a point or an exponent. Returns the text after it, NULL
 * if not found. */
static const char *read_real(const char *text, double *out)
{
    char *end;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 && *text != '.')
        return NULL;
    *out = strtod(text, &end);
    bool is_hexadecimal = digits == 1 && (text[1] == 'x' || text[1] == 'X');
    return end > text && !is_hexadecimal && isfinite(*out) ? end : NULL;
}

bool number_parse_real(const char *text, double *out)
{
    const char *rest = read_real(text, out);
    return rest != NULL && *rest == '\0';
}

/* Returns the unit named by a suffix, 0 if the name is unknown. */
static double unit_of(const char *suffix)
{
    static const char letters[] = "KMGTkmgt";
    if (*suffix == '\0' || strcmp(suffix, "B") == 0)
        return 1;
    const char *found = strchr(letters, *suffix), *rest = suffix + 1;
    if (found == NULL || (*rest != '\0' && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0))
        return 0;
    return ldexp(1, 10 * (int)((found - letters) % 4 + 1));
}

bool number_parse_size(const char *text, uint64_t *out)
{
    double number;
    if (gsai_count_parse(text, out))
        return *out > 0;
    const char *rest = read_real(text, &number);
    double bytes = rest != NULL ? number * unit_of(rest) : 0;
    if (bytes < 1 || bytes != floor(bytes) || bytes >= 0x1p64)
        return false;
    *out = (uint64_t)bytes;
    return true;
}

bool number_parse_time(const char *text, double *out)
{
    static const char units[] = "smhd";
    static const double seconds[] = {1, 60, 3600, 86400};
    const char *rest = read_real(text, out), *unit = rest != NULL && *rest != '\0' ? strchr(units, *rest) : units;
    if (rest == NULL || unit == NULL || (*rest != '\0' && rest[1] != '\0'))
        return false;
    *out *= seconds[unit - units];
    return *out <= 366 * 86400.0;
}
