/* Bytes of files, pipes and standard input, of files that the caller opens, and of memory.
 *
 * A system call that a signal interrupts is repeated unless should_stop says otherwise. */
#include "data/source.h"

#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <inttypes.h>
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

static gsa_status fail_system(gsa_error *error, const char *name, const char *what, int code)
{
    char reason[GSAI_REASON_SIZE];
    return gsai_fail(error, GSA_IO, "cannot %s %s: %s", what, name, gsai_reason(code, reason));
}

static gsa_status open_path(const char *path, const gsai_env *env, int *fd, gsa_error *error)
{
    gsa_status status = GSA_OK;
    while (status == GSA_OK && (*fd = gsai_os_open(path)) < 0)
        status = errno == EINTR ? gsai_source_ask(path, env, error) : fail_system(error, path, "open", errno);
    return status;
}

/* Standard input that is redirected from a file has a known rest, but is not ours to rewind. */
static void probe_stdin(gsai_source_info *out)
{
    gsai_file_info info;
    out->is_stream = true;
    out->size = 0;
    if (gsai_os_info(GSAI_STDIN, &info) != 0 || info.kind != GSAI_FILE_REGULAR)
        return;
    int64_t at = gsai_os_position(GSAI_STDIN);
    if (at >= 0 && info.size > (uint64_t)at)
        out->size = info.size - (uint64_t)at;
}

gsa_status gsai_source_probe(const char *path, const gsai_env *env, gsai_source_info *out, gsa_error *error)
{
    if (strcmp(path, GSAI_STDIN_PATH) == 0) {
        probe_stdin(out);
        return GSA_OK;
    }
    gsai_file_info info;
    if (gsai_os_path_info(path, &info) != 0)
        return fail_system(error, path, "open", errno);
    if (info.kind == GSAI_FILE_DIRECTORY)
        return gsai_fail(error, GSA_IO, "%s is a directory; give the files in it by name", path);
    out->is_stream = info.kind != GSAI_FILE_REGULAR;
    out->size = info.size;
    if (out->is_stream)
        return gsai_os_may_read(path) ? GSA_OK : fail_system(error, path, "open", errno);
    int fd;
    gsa_status status = open_path(path, env, &fd, error);
    if (status == GSA_OK)
        gsai_os_close(fd);
    return status;
}

/* A pipe may have nothing to say for a long time, and a signal need not come to the thread that waits for it. */
static gsa_status wait_for_bytes(const gsai_source *source, gsa_error *error)
{
    gsa_status status = GSA_OK;
    while (status == GSA_OK && gsai_os_wait(source->fd, false, POLL_MILLISECONDS) <= 0)
        status = gsai_source_ask(source->name, source->env, error);
    return status;
}

bool gsai_source_is_idle(const gsai_source *source)
{
    return source->fd >= 0 && gsai_os_wait(source->fd, false, 0) == 0;
}

static gsa_status read_fd(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    gsa_status status = wait_for_bytes(source, error);
    ptrdiff_t n = 0;
    while (status == GSA_OK && (n = gsai_os_read(source->fd, bytes, size)) < 0)
        status = errno == EINTR ? gsai_source_ask(source->name, source->env, error)
                                : fail_system(error, source->name, "read", errno);
    *got = status == GSA_OK ? (size_t)n : 0;
    return status;
}

static gsa_status seek_fd(gsai_source *source, int64_t at, gsa_error *error)
{
    return gsai_os_seek(source->fd, at) == 0 ? GSA_OK : fail_system(error, source->name, "seek in", errno);
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
    source->given_at += *got;
    if (*got == 0 && source->given_at < source->given_size)
        return gsai_fail(error, GSA_IO, "cannot read %s: it ended after %" PRIu64 " of %" PRIu64 " bytes", source->name,
                         source->given_at, source->given_size);
    return GSA_OK;
}

static gsa_status seek_given(gsai_source *source, int64_t at, gsa_error *error)
{
    uint64_t size = source->given_size, distance = at < 0 ? 0 - (uint64_t)at : (uint64_t)at;
    distance = distance < size ? distance : size;
    source->given_at = at < 0 ? size - distance : distance;
    return source->given->seek(source->given_file, source->given_at, error);
}

static void close_given(gsai_source *source)
{
    source->given->close(source->given_file);
}

gsa_status gsai_source_open_given(const gsa_file_source *files, const char *path, const gsai_env *env, gsai_source *out,
                                  gsa_error *error)
{
    *out = (gsai_source){.read = read_given,
                         .seek = seek_given,
                         .close = close_given,
                         .name = path,
                         .env = env,
                         .fd = -1,
                         .given = files};
    return files->open(files->ctx, path, &out->given_file, &out->given_size, error);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static gsa_status read_memory(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    (void)error;
    size_t left = source->memory_size - source->memory_at;
    *got = size < left ? size : left;
    if (*got > 0)
        memcpy(bytes, source->memory + source->memory_at, *got);
    source->memory_at += *got;
    return GSA_OK;
}

/* Behind the end there is nothing, as in a file. */
static gsa_status seek_memory(gsai_source *source, int64_t at, gsa_error *error)
{
    (void)error;
    uint64_t size = source->memory_size, distance = at < 0 ? 0 - (uint64_t)at : (uint64_t)at;
    distance = distance < size ? distance : size;
    source->memory_at = (size_t)(at < 0 ? size - distance : distance);
    return GSA_OK;
}

void gsai_source_open_memory(const void *bytes, size_t size, const char *name, const gsai_env *env, gsai_source *out)
{
    *out = (gsai_source){.read = read_memory,
                         .seek = seek_memory,
                         .name = name,
                         .env = env,
                         .fd = -1,
                         .memory = bytes,
                         .memory_size = size};
}
