/* Finds the folder of this program, and runs programs installed beside it. */
#ifndef GREEDYSTEP_CLI_SIBLINGS_H
#define GREEDYSTEP_CLI_SIBLINGS_H

enum { SIBLING_PATH_SIZE = 4096 };

/* Fills in the folder of this program, with a slash at its end; "" if the system does not tell. */
const char *sibling_folder(char out[SIBLING_PATH_SIZE]);

/* Runs greedystep-NAME with these arguments, which end with NULL, in place of this program: the one beside it or, if
 * not found, the first in PATH. `self` is argv[0]. Returns only if that fails: an exit code, after a message. */
int sibling_run(const char *self, const char *name, char *const *arguments);

#endif
