/* Help, manual and version, made from the tables that the command parses by: text for `greedystep help`, source of
 * scdoc for man, markdown for the documentation. */
#ifndef GREEDYSTEP_CLI_HELP_H
#define GREEDYSTEP_CLI_HELP_H

#include "options.h"

#include <stdio.h>

typedef enum help_format { HELP_TEXT, HELP_MAN, HELP_MARKDOWN } help_format;

void help_write_verb(help_format format, const cli_verb *verb);
/* Writes what DATA is, and the options of readers, which the pages of verbs only name. */
void help_write_data(help_format format);
/* Writes the page of the command as a whole, as man or markdown: verbs, data, files, environment and exit codes. */
void help_write_command(help_format format, const cli_verb *const *verbs);
/* Writes the usage, the options that are used most and an example, in 25 lines at most. */
void help_write_short(const cli_verb *verb);
/* Writes the list of verbs and a quick start, as text; unless it is to be short, also options, files, environment and
 * exit codes. */
void help_write_overview(FILE *stream, const cli_verb *const *verbs, bool is_short);
/* Writes the version, then the codecs and libraries of this build. */
void help_write_version(const char *program);

#endif
