/* How text looks on a terminal: colours, and lines that are drawn again.
 *
 * A stream has style if it is a terminal that can: TERM is there and not "dumb", and plain text is not asked for by a
 * NO_COLOR that is not empty (no-color.org), or by an MPI launcher. No option changes it. */
#ifndef GREEDYSTEP_CLI_STYLE_H
#define GREEDYSTEP_CLI_STYLE_H

#include <stdbool.h>
#include <stdio.h>

typedef enum style_role { STYLE_NAME, STYLE_HEADING, STYLE_ERROR, STYLE_NOTE, STYLE_NONE } style_role;

/* Turns all style off. */
void style_make_plain(void);
bool style_is_on(FILE *stream);
/* Return the codes before and after text of a role; "" if text is plain. */
const char *style_begin(FILE *stream, style_role role);
const char *style_end(FILE *stream, style_role role);

/* Returns the columns of a terminal. */
int style_columns(FILE *stream);

#endif
