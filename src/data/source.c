/* Bytes of files, pipes and standard input, of files that the caller opens, and of memory.
 *
 * A system call that a signal interrupts is repeated unless should_stop says otherwise. */
#include "data/source.h"

#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

gsa_status gsai_source_ask(const char *name, const gsai_env *env, gsa_error *error)
{
    return gsai_should_stop(env) ? gsai_fail(error, GSA_STOPPED, "%s: reading was stopped on request", name) : GSA_OK;
}

gsa_status gsai_source_read(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    *got = 0;
    GSA_TRY(gsai_source_ask(source->name, source->env, error));
    if (source->max > 0 && size > source->max)
        size = source->max;
    gsa_status status = source->read(source, bytes, size, got, error);
    source->n_read += *got;
    return status;
}

void gsai_source_close(gsai_source *source)
{
    if (source->close)
        source->close(source);
    memset(source, 0, sizeof *source);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

#define POLL_MILLISECONDS 200

static gsa_status open_path(const char *path, const gsai_env *env, int *fd, gsa_error *error)
{
    gsa_status status = GSA_OK;
    while (status == GSA_OK && (*fd = gsai_os_open(path)) < 0)
        status = errno == EINTR ? gsai_source_ask(path, env, error) : gsai_fail_errno(error, "open", path, errno);
    return status;
}

gsa_status gsai_source_probe(const char *path, const gsai_env *env, gsai_source_info *out, gsa_error *error)
{
    gsai_file_info info;
    *out = (gsai_source_info){.is_stream = true};
    if (strcmp(path, GSAI_STDIN_PATH) == 0) {
        /* The rest of a file that is redirected is known, but not ours to rewind. */
        bool is_file = gsai_os_info(GSAI_STDIN, &info) == 0 && info.kind == GSAI_FILE_REGULAR;
        int64_t at = is_file ? gsai_os_seek(GSAI_STDIN, 0, SEEK_CUR) : -1;
        out->size = at >= 0 && info.size > (uint64_t)at ? info.size - (uint64_t)at : 0;
        return GSA_OK;
    }
    if (gsai_os_path_info(path, &info) != 0)
        return gsai_fail_errno(error, "open", path, errno);
    if (info.kind == GSAI_FILE_DIRECTORY)
        return gsai_fail(error, GSA_IO, "%s is a directory; give the files in it by name", path);
    *out = (gsai_source_info){info.kind != GSAI_FILE_REGULAR, info.size};
    if (out->is_stream)
        return gsai_os_may_read(path) ? GSA_OK : gsai_fail_errno(error, "open", path, errno);
    int fd;
    GSA_TRY(open_path(path, env, &fd, error));
    gsai_os_close(fd);
    return GSA_OK;
}

bool gsai_source_is_idle(const gsai_source *source)
{
    return source->fd >= 0 && gsai_os_wait(source->fd, false, 0) == 0;
}

/* A pipe may have nothing to say for a long time, and a signal need not come to the thread that waits for it. */
static gsa_status read_fd(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    ptrdiff_t n = 0;
    while (gsai_os_wait(source->fd, false, POLL_MILLISECONDS) <= 0)
        GSA_TRY(gsai_source_ask(source->name, source->env, error));
    while ((n = gsai_os_read(source->fd, bytes, size)) < 0)
        GSA_TRY(errno == EINTR ? gsai_source_ask(source->name, source->env, error)
                               : gsai_fail_errno(error, "read", source->name, errno));
    *got = (size_t)n;
    return GSA_OK;
}

static gsa_status seek_fd(gsai_source *source, uint64_t at, gsa_error *error)
{
    bool has_sought = gsai_os_seek(source->fd, (int64_t)at, SEEK_SET) >= 0;
    return has_sought ? GSA_OK : gsai_fail_errno(error, "seek in", source->name, errno);
}

static void close_fd(gsai_source *source)
{
    gsai_os_close(source->fd);
}

gsa_status gsai_source_open_file(const char *path, const gsai_env *env, gsai_source *out, gsa_error *error)
{
    bool is_stdin = strcmp(path, GSAI_STDIN_PATH) == 0;
    int fd = GSAI_STDIN;
    if (!is_stdin)
        GSA_TRY(open_path(path, env, &fd, error));
    *out = (gsai_source){.read = read_fd,
                         .seek = seek_fd,
                         .close = is_stdin ? NULL : close_fd,
                         .name = is_stdin ? GSAI_STDIN_NAME : path,
                         .env = env,
                         .fd = fd};
    return GSA_OK;
}

/* ---- files of the caller ---------------------------------------------------------------------------------------- */

/* An end before the size that was told is a connection that broke. */
static gsa_status read_given(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    GSA_TRY(source->given->read(source->given_file, bytes, size, got, error));
    source->at += *got;
    if (*got == 0 && source->at < source->size)
        return gsai_fail(error, GSA_IO, "cannot read %s: it ended after %" PRIu64 " of %" PRIu64 " bytes", source->name,
                         source->at, source->size);
    return GSA_OK;
}

static gsa_status seek_counted(gsai_source *source, uint64_t at, gsa_error *error)
{
    source->at = at < source->size ? at : source->size; /* behind the end there is nothing */
    return source->given ? source->given->seek(source->given_file, source->at, error) : GSA_OK;
}

static void close_given(gsai_source *source)
{
    source->given->close(source->given_file);
}

gsa_status gsai_source_open_given(const gsa_file_source *files, const char *path, const gsai_env *env, gsai_source *out,
                                  gsa_error *error)
{
    *out = (gsai_source){.read = read_given,
                         .seek = seek_counted,
                         .close = close_given,
                         .name = path,
                         .env = env,
                         .fd = -1,
                         .given = files};
    return files->open(files->ctx, path, &out->given_file, &out->size, error);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static gsa_status read_memory(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    (void)error;
    const uint64_t left = source->size - source->at;
    *got = size < left ? size : (size_t)left;
    if (*got > 0)
        memcpy(bytes, source->memory + source->at, *got);
    source->at += *got;
    return GSA_OK;
}

void gsai_source_open_memory(const void *bytes, size_t size, const char *name, const gsai_env *env, gsai_source *out)
{
    *out = (gsai_source){
        .read = read_memory, .seek = seek_counted, .name = name, .env = env, .fd = -1, .memory = bytes, .size = size};
}
