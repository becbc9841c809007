/* The verbs of the command, each in a file of its name. One without a function to run it is a program of its own. */
#ifndef GREEDYSTEP_CLI_VERBS_H
#define GREEDYSTEP_CLI_VERBS_H

#include "options.h"

extern const cli_verb train_verb, predict_verb, evaluate_verb, inspect_verb, merge_verb, convert_verb, export_verb,
    generate_verb;

/* The program greedystep-compare (compare/compare.c), for itself and for the manual. */
extern const cli_verb compare_program;

/* In the order of the help; ends with NULL. */
extern const cli_verb *const verbs[];
/* Returns a verb by its name, NULL if not found. */
const cli_verb *verb_find(const char *name);

#endif
