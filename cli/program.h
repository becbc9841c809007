/* Starts a program of this command and runs its verb. */
#ifndef GREEDYSTEP_CLI_PROGRAM_H
#define GREEDYSTEP_CLI_PROGRAM_H

#include "options.h"

/* Prepares signals, standard streams and JSON. The first call of a program. */
void program_begin(void);
/* Parses argv[first] onwards and runs the verb, or prints its help. Returns an exit code. */
int program_run(const cli_verb *verb, int argc, char **argv, int first);

#endif
