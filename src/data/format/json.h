/* JSON lines as records of a table: one flat object per line, whose keys are the names of columns.
 *
 *   1 Cells stand in the order of the keys that the reader knows; of a key that an object lacks the cell is empty.
 *   2 Strings and numbers are cells as in text, true and false are 1 and 0, null is an empty cell. */
#ifndef GSA_DATA_FORMAT_JSON_H
#define GSA_DATA_FORMAT_JSON_H

#include "data/format/records.h"

/* Returns whether a file that begins with these bytes is JSON lines: a brace is first, but for blanks and a byte order
 * mark. */
bool gsai_json_matches(const unsigned char *start, size_t size);
/* Finds the cells of the object at [start, end), one line; returns what is wrong with it, or NULL; *at is where. There
 * must be room for one cell per key, and for as many bytes as the line has. New keys are added to `keys` if it
 * `collects`. */
const char *gsai_json_cells(const char *start, const char *end, gsai_words *keys, bool collects, gsai_text_cell *cell,
                            char *copy, const char **at);

#endif
