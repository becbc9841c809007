/* The folder of this program, and the programs in it. */
#include "siblings.h"

#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *sibling_folder(char out[SIBLING_PATH_SIZE])
{
    ssize_t size = readlink("/proc/self/exe", out, SIBLING_PATH_SIZE - 1);
    out[size > 0 ? size : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash != NULL)
        slash[1] = '\0';
    return out;
}

int sibling_run(const char *self, const char *name, char *const *arguments)
{
    char folder[SIBLING_PATH_SIZE], path[SIBLING_PATH_SIZE + 64];
    if (*sibling_folder(folder) == '\0' && strrchr(self, '/') != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(self, '/') + 1 - self), self);
    snprintf(path, sizeof path, "%sgreedystep-%s", folder, name);
    char *program = path + strlen(folder);
    size_t n = 0;
    while (arguments[n] != NULL)
        n++;
    char **words = calloc(n + 2, sizeof *words);
    if (words == NULL)
        return complain_failed("out of memory");
    words[0] = program;
    memcpy(words + 1, arguments, n * sizeof *words);
    if (folder[0] != '\0')
        execv(path, words);
    execvp(program, words);
    free(words);
    if (errno == ENOENT)
        return complain_failed("cannot find %s, the program of `greedystep %s`; install it beside greedystep, or in a "
                               "folder of PATH",
                               program, name);
    return complain_failed("cannot run %s: %s; install it again", program, strerror(errno));
}
