/* Help and version, made from the tables of options and parameters. */
#ifndef GREEDYSTEP_CLI_HELP_H
#define GREEDYSTEP_CLI_HELP_H

#include "options.h"

#include <stdio.h>

/* Lines of shell for the first minute. */
extern const char help_quick_start[];

void help_print_overview(FILE *stream);
void help_print_verb(const cli_verb *verb);
/* The version, then the codecs and libraries of this build. */
void help_print_version(void);

#endif
