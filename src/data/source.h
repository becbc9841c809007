/* Sources of bytes: a file, standard input, a file of the caller or memory, pulled piece by piece.
 *
 *   1 A read delivers at least one byte unless the source has ended (*got == 0) or fails.
 *   2 A read that is stopped (GSA_STOPPED) has consumed nothing: calling it again goes on.
 *   3 n_read counts what was delivered, as it is in the source (compressed where it is). */
#ifndef GSA_DATA_SOURCE_H
#define GSA_DATA_SOURCE_H

#include "base/memory.h"

#include <greedystep/data.h>

#include <stdbool.h>

typedef struct gsai_source gsai_source;

/* A plain struct, so that it needs no memory of its own. name and env are borrowed until close. */
struct gsai_source {
    gsa_status (*read)(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error);
    /* Goes on at this byte. Not for streams. */
    gsa_status (*seek)(gsai_source *source, uint64_t at, gsa_error *error);
    void (*close)(gsai_source *source); /* NULL: there is nothing to close */
    const char *name;
    const gsai_env *env;
    uint64_t n_read;
    size_t max; /* bytes of one read, at most; for tests of pieces that fall anywhere */
    int fd;
    const unsigned char *memory;
    const gsa_file_source *given;
    void *given_file;
    uint64_t size, at; /* of memory, or of the file of the caller */
};

/* Facts about a path that are known before its turn comes. */
typedef struct gsai_source_info {
    bool is_stream; /* cannot be read again: standard input, a pipe, a device */
    uint64_t size;  /* bytes; 0 if unknown */
} gsai_source_info;

#define GSAI_STDIN_PATH "-"
#define GSAI_STDIN_NAME "standard input"

/* Fails if the path cannot be opened or is a directory. A pipe is not opened, since its writer would notice. */
gsa_status gsai_source_probe(const char *path, const gsai_env *env, gsai_source_info *out, gsa_error *error);
gsa_status gsai_source_open_file(const char *path, const gsai_env *env, gsai_source *out, gsa_error *error);
gsa_status gsai_source_open_given(const gsa_file_source *files, const char *path, const gsai_env *env, gsai_source *out,
                                  gsa_error *error);
void gsai_source_open_memory(const void *bytes, size_t size, const char *name, const gsai_env *env, gsai_source *out);

/* Returns GSA_STOPPED if should_stop says so. */
gsa_status gsai_source_ask(const char *name, const gsai_env *env, gsa_error *error);
/* Asks, then reads. */
gsa_status gsai_source_read(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error);
/* Returns whether there is nothing to read at the moment: a read would wait. */
bool gsai_source_is_idle(const gsai_source *source);
/* Takes a source that was never opened, if it is zeroed. */
void gsai_source_close(gsai_source *source);

#endif
