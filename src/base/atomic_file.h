/* A file that appears whole or not at all: written under a temporary name beside its place, fsynced, renamed. */
#ifndef GSA_BASE_ATOMIC_FILE_H
#define GSA_BASE_ATOMIC_FILE_H

#include "base/memory.h"

#include <stdbool.h>

typedef struct gsai_atomic_file gsai_atomic_file;

/* path "-" is standard output: written as it comes. A symbolic link is followed, so that the file it names is replaced,
 * unless another user may have left it (base/output_path.h); something that exists and is not a regular file (a device,
 * a pipe), or has no name any more (an unlinked file, reached by /dev/fd), is written directly. */
gsa_status gsai_atomic_file_open(const char *path, const gsai_env *env, gsai_atomic_file **out, gsa_error *error);
/* Writes bytes, through a buffer. */
gsa_status gsai_atomic_file_write(gsai_atomic_file *file, const void *bytes, size_t size, gsa_error *error);
/* Returns the descriptor for a caller that writes through a stream over a copy of it, which is closed before the
 * commit. */
int gsai_atomic_file_descriptor(const gsai_atomic_file *file);
/* Returns whether bytes are visible at once, not after the commit. */
bool gsai_atomic_file_is_direct(const gsai_atomic_file *file);
/* Flushes, fsyncs, renames, fsyncs the directory and frees; on failure nothing is left behind. */
gsa_status gsai_atomic_file_commit(gsai_atomic_file *file, gsa_error *error);
/* Removes the temporary file and frees. Takes NULL. */
void gsai_atomic_file_discard(gsai_atomic_file *file);

#endif
