/* Lines of the text of a schema (docs/formats/csv.md). src/data writes it and knows all of its meaning; states, models
 * and the command ask for a few of its lines. */
#ifndef GSA_BASE_SCHEMA_TEXT_H
#define GSA_BASE_SCHEMA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line "number age\toffset=20\tmean=1": texts are as they are written, with escapes, and end where their sizes say.
 */
typedef struct gsai_schema_line {
    const char *word;  /* the kind of a column, or columns, bits, cross */
    const char *name;  /* up to the first tab */
    const char *items; /* behind the name, each with the tab before it */
    size_t word_size, name_size, items_size;
} gsai_schema_line;

/* Takes the next line; false after the last. */
bool gsai_schema_next_line(const char **text, gsai_schema_line *out);
/* Finds the first line that begins with a word. */
bool gsai_schema_find_line(const char *text, const char *word, gsai_schema_line *out);
bool gsai_schema_line_is(const gsai_schema_line *line, const char *word);
/* Returns the value of an item; NULL if the line has none of that name. */
const char *gsai_schema_item(const gsai_schema_line *line, const char *name);
/* Writes a name with escapes, which take at most twice its bytes and a NUL, and returns its end. */
char *gsai_schema_put_name(const char *name, char *out);
/* Copies a name without its escapes, and ends it with a NUL; returns its size, SIZE_MAX if there is another escape. */
size_t gsai_schema_take_name(const char *name, size_t size, char *out);
/* Returns whether two schemas have the same features; if not, *a and *b are the lines that differ. Compared of a column
 * are its name and its offset. The rest says how cells are read and what a missing one counts as, which differs between
 * files. */
bool gsai_schemas_agree(const char **a, const char **b);

#endif
