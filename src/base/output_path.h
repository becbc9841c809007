/* The place of an output: an open directory and a name in it, after symbolic links.
 *
 * A user who can write to a folder can leave a link there that leads to another user's file. A link is followed if the
 * user or root owns it, or if only they can write to its folder. A link in the directory part of a path is followed as
 * well if only its owner can write to its folder: naming that folder means trusting its owner. */
#ifndef GSA_BASE_OUTPUT_PATH_H
#define GSA_BASE_OUTPUT_PATH_H

#include "base/os.h"

#include <greedystep/greedystep.h>

#define GSAI_PATH_SIZE 4096 /* of the longest, with its NUL */

typedef struct gsai_output_path {
    int directory;             /* for openat and its like; -1: not open */
    char name[GSAI_PATH_SIZE]; /* in that directory */
    bool is_descriptor;        /* an open file by its number (/dev/fd/3) that has no name: only opening it reaches it */
} gsai_output_path;

/* Resolves a path by hand, a directory at a time, so that what was checked is what is used. The name need not exist. It
 * is not a link, but another may replace it: use O_NOFOLLOW. */
gsa_status gsai_output_path_open(const char *path, gsai_output_path *out, gsa_error *error);
/* Tells what is there. Returns -1 with errno if nothing is. */
int gsai_output_path_info(const gsai_output_path *at, gsai_file_info *out);
bool gsai_output_path_may_write(const gsai_output_path *at);
/* Opens what is there for writing, without replacing it; further flags as of open, such as O_CREAT | O_APPEND. Returns
 * -1 with errno. */
int gsai_output_path_descriptor(const gsai_output_path *at, int flags);
/* Makes a file of this name in the same directory, which must not exist, and marks it as in use, so that cleaning up
 * leaves it alone. Returns -1 with errno. */
int gsai_output_path_create(const gsai_output_path *at, const char *name);
void gsai_output_path_remove(const gsai_output_path *at, const char *name);
/* Gives a file of the same directory the name of the output, over what is there, and makes that durable: without it a
 * power cut could bring the old name back. Returns -1 with errno. */
int gsai_output_path_replace(const gsai_output_path *at, const char *from);
void gsai_output_path_close(gsai_output_path *at);

#endif
