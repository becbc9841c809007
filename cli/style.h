/* How text looks on a terminal: colours, lines that are drawn again, and what it has characters for.
 *
 * A stream has style if it is a terminal that can: TERM is there and not "dumb", and plain text is not asked for by a
 * NO_COLOR that is not empty (no-color.org), --quiet or an MPI launcher. There is no option for it. */
#ifndef GREEDYSTEP_CLI_STYLE_H
#define GREEDYSTEP_CLI_STYLE_H

#include <stdbool.h>
#include <stdio.h>

typedef enum style_role { STYLE_NAME, STYLE_HEADING, STYLE_ERROR, STYLE_NOTE, STYLE_CHART, STYLE_NONE } style_role;

/* Turns all style off. */
void style_make_plain(void);
bool style_is_on(FILE *stream);
/* Return the codes before and after text of a role; "" where text is plain. */
const char *style_begin(FILE *stream, style_role role);
const char *style_end(FILE *stream, style_role role);

/* Returns the columns of a terminal. */
int style_columns(FILE *stream);
/* Says whether characters beyond ASCII can be shown: LC_ALL, LC_CTYPE or LANG names UTF-8. */
bool style_has_unicode(void);

#endif
