/* Lines of the text of a schema. */
#include "base/schema_text.h"

#include <string.h>

bool gsai_schema_next_line(const char **text, gsai_schema_line *out)
{
    const char *end = strchr(*text, '\n');
    if (!end)
        return false;
    out->word = *text;
    out->word_size = strcspn(out->word, " \n");
    out->name = out->word + out->word_size + (out->word[out->word_size] == ' ');
    out->name_size = strcspn(out->name, "\t\n");
    out->items = out->name + out->name_size;
    out->items_size = (size_t)(end - out->items);
    *text = end + 1;
    return true;
}

bool gsai_schema_line_is(const gsai_schema_line *line, const char *word)
{
    return strlen(word) == line->word_size && memcmp(line->word, word, line->word_size) == 0;
}

bool gsai_schema_find_line(const char *text, const char *word, gsai_schema_line *out)
{
    while (gsai_schema_next_line(&text, out))
        if (gsai_schema_line_is(out, word))
            return true;
    return false;
}

const char *gsai_schema_item(const gsai_schema_line *line, const char *name)
{
    size_t size = strlen(name);
    for (const char *item = line->items; *item == '\t'; item += 1 + strcspn(item + 1, "\t\n"))
        if (strncmp(item + 1, name, size) == 0 && item[1 + size] == '=')
            return item + size + 2;
    return NULL;
}

/* In names, which end with the line or a tab, these are written behind a backslash. */
static const char escaped[] = "\n\r\t\\", escape[] = "nrt\\";

char *gsai_schema_put_name(const char *name, char *out)
{
    for (; *name; name++) {
        const char *found = strchr(escaped, *name);
        if (found)
            *out++ = '\\';
        *out++ = found ? escape[found - escaped] : *name;
    }
    *out = '\0';
    return out;
}

size_t gsai_schema_take_name(const char *name, size_t size, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        bool is_escape = name[i] == '\\';
        i += is_escape;
        const char *letter = is_escape && i < size ? strchr(escape, name[i]) : NULL;
        if (is_escape && !letter)
            return SIZE_MAX;
        out[n++] = letter ? escaped[letter - escape] : name[i];
    }
    out[n] = '\0';
    return n;
}

/* Returns the bytes of a line that say which features there are; the tab of a cross parts its names. */
static size_t length_that_counts(const gsai_schema_line *line)
{
    const char *offset = gsai_schema_item(line, "offset");
    const char *end = gsai_schema_line_is(line, "cross") ? line->items + line->items_size
                      : offset                           ? offset + strcspn(offset, "\t\n")
                                                         : line->items;
    return (size_t)(end - line->word);
}

bool gsai_schemas_agree(const char **a, const char **b)
{
    gsai_schema_line line_a, line_b;
    const char *next_a = *a, *next_b = *b;
    while (gsai_schema_next_line(&next_a, &line_a) && gsai_schema_next_line(&next_b, &line_b)) {
        size_t size = length_that_counts(&line_a);
        if (size != length_that_counts(&line_b) || memcmp(line_a.word, line_b.word, size) != 0)
            return false;
        *a = next_a;
        *b = next_b;
    }
    return **a == '\0' && **b == '\0';
}
