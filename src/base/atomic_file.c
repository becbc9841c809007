/* A file that appears whole or not at all.
 *
 * Invariants:
 *   A1  until commit, nothing is written under the target's name; what stood there is untouched;
 *   A2  commit renames only after every byte was written and synced;
 *   A3  after a failed commit, or discard, the temporary file is gone.
 * Standard output, devices, pipes and files that were unlinked have no name to rename over: they are written as the
 * bytes come. */
#include "base/atomic_file.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/output_path.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BUFFER_SIZE ((size_t)64 * 1024)
#define MAX_TEMPORARY_NAMES 100
/* Bytes kept of the target's name: with dot, random part and suffix it stays below the 255 bytes that file systems
 * allow. */
#define MAX_NAME_BYTES 200

struct gsai_atomic_file {
    gsai_env env;
    int fd;
    bool is_stdout; /* not ours to close */
    bool failed;
    char path[GSAI_PATH_SIZE]; /* as the caller wrote it, for messages */
    gsai_output_path at;       /* after symbolic links */
    /* A name in its directory; empty if written directly, and once it has been renamed. */
    char temporary[GSAI_PATH_SIZE + sizeof "..123456.tmp"];
    size_t used;
    unsigned char buffer[BUFFER_SIZE];
};

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* ".NAME.XXXXXX.tmp" beside the target. The six characters need not be secret or unique: O_EXCL and another try see to
 * that. */
static gsa_status create_temporary(gsai_atomic_file *file, gsa_error *error)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    const char *name = file->at.name;
    int directory = (int)gsai_directory_len(name); /* a bare name has none, but on Windows */
    errno = EEXIST;
    for (unsigned attempt = 0; attempt < MAX_TEMPORARY_NAMES && (errno == EEXIST || errno == EINTR); attempt++) {
        uint64_t random = gsai_mix(gsai_mix(gsai_os_process_id() ^ (uint64_t)(uintptr_t)file) ^ attempt);
        char suffix[7] = {0};
        for (int i = 0; i < 6; i++, random /= 36)
            suffix[i] = letters[random % 36];
        snprintf(file->temporary, sizeof file->temporary, "%.*s.%.*s.%s.tmp", directory, name, MAX_NAME_BYTES,
                 name + directory, suffix);
        file->fd = gsai_output_path_create(&file->at, file->temporary);
        if (file->fd >= 0)
            return GSA_OK;
    }
    file->temporary[0] = '\0';
    return gsai_fail_errno(error, "write", file->path, errno);
}

/* Opens the existing file and fails if it is not the one that was checked: a file that took its place would be
 * overwritten in part. */
static gsa_status open_directly(gsai_atomic_file *file, const gsai_file_info *existing, gsa_error *error)
{
    gsai_file_info opened;
    do {
        file->fd = gsai_output_path_descriptor(&file->at, 0);
    } while (file->fd < 0 && errno == EINTR && !gsai_should_stop(&file->env));
    if (file->fd < 0 && errno == EINTR)
        return gsai_fail(error, GSA_STOPPED, "stopped while opening %s", file->path);
    if (file->fd < 0 || gsai_os_info(file->fd, &opened) != 0)
        return gsai_fail_errno(error, "write", file->path, errno);
    if (opened.device != existing->device || opened.number != existing->number)
        return gsai_fail(error, GSA_IO, "cannot write %s: it was replaced while it was opened", file->path);
    return GSA_OK;
}

static gsa_status open_by_kind(gsai_atomic_file *file, const char *path, gsa_error *error)
{
    gsai_file_info existing;
    if (file->is_stdout) {
        file->fd = GSAI_STDOUT;
        return GSA_OK;
    }
    GSA_TRY(gsai_output_path_open(path, &file->at, error));
    if (gsai_output_path_info(&file->at, &existing) != 0)
        return create_temporary(file, error);
    if (existing.kind == GSAI_FILE_DIRECTORY)
        return gsai_fail(error, GSA_IO, "cannot write %s: it is a directory; give the name of a file", path);
    if (existing.kind != GSAI_FILE_REGULAR || existing.n_links == 0)
        return open_directly(file, &existing, error);
    /* A file that is replaced keeps its access rights, and one that its owner made read-only is not replaced. */
    if (!gsai_output_path_may_write(&file->at))
        return gsai_fail_errno(error, "write", path, errno);
    GSA_TRY(create_temporary(file, error));
    (void)gsai_os_set_mode(file->fd, existing.mode); /* where a file system has no access rights, none are lost */
    return GSA_OK;
}

gsa_status gsai_atomic_file_open(const char *path, const gsai_env *env, gsai_atomic_file **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    *out = NULL;
    gsai_atomic_file *file = gsai_alloc(&resolved, 1, sizeof *file);
    GSAI_TRY_MEMORY(file, &resolved, error, "cannot write %s: no memory for its buffer", path);
    file->env = resolved;
    file->fd = -1;
    file->is_stdout = strcmp(path, "-") == 0;
    file->failed = false;
    file->at.directory = -1;
    file->temporary[0] = '\0';
    file->used = 0;
    snprintf(file->path, sizeof file->path, "%s", file->is_stdout ? "standard output" : path);
    gsa_status status = open_by_kind(file, path, error);
    if (status == GSA_OK)
        *out = file;
    else
        gsai_atomic_file_discard(file);
    return status;
}

int gsai_atomic_file_descriptor(const gsai_atomic_file *file)
{
    return file->fd;
}

bool gsai_atomic_file_is_direct(const gsai_atomic_file *file)
{
    return file->temporary[0] == '\0';
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* A write that took less than it was given. GSA_OK: go on with the rest. */
static gsa_status after_short_write(gsai_atomic_file *file, int number, gsa_error *error)
{
    if (number == EAGAIN) /* the pipe was made non-blocking: wait until it takes more */
        number = gsai_os_wait(file->fd, true, -1) >= 0 ? 0 : errno;
    if (number == EINTR && gsai_should_stop(&file->env))
        return gsai_fail(error, GSA_STOPPED, "stopped while writing %s", file->path);
    return number == 0 || number == EINTR ? GSA_OK : gsai_fail_errno(error, "write", file->path, number);
}

static gsa_status write_through(gsai_atomic_file *file, const unsigned char *bytes, size_t size, gsa_error *error)
{
    while (size > 0) {
        ptrdiff_t written = gsai_os_write(file->fd, bytes, size);
        int number = written < 0 ? errno : written == 0 ? EIO : EINTR; /* a signal may also cut a write short */
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
        gsa_status status = size > 0 ? after_short_write(file, number, error) : GSA_OK;
        if (status != GSA_OK) {
            file->failed = true;
            return status;
        }
    }
    return GSA_OK;
}

static gsa_status flush(gsai_atomic_file *file, gsa_error *error)
{
    size_t size = file->used;
    file->used = 0;
    return write_through(file, file->buffer, size, error);
}

gsa_status gsai_atomic_file_write(gsai_atomic_file *file, const void *bytes, size_t size, gsa_error *error)
{
    if (size > BUFFER_SIZE - file->used)
        GSA_TRY(flush(file, error));
    if (size >= BUFFER_SIZE)
        return write_through(file, bytes, size, error);
    if (size > 0)
        memcpy(file->buffer + file->used, bytes, size);
    file->used += size;
    return GSA_OK;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static gsa_status close_descriptor(gsai_atomic_file *file, gsa_error *error)
{
    int fd = file->fd;
    file->fd = -1;
    if (file->is_stdout)
        return GSA_OK;
    /* After EINTR the descriptor is gone all the same (Linux), so that trying again could close another. */
    return gsai_os_close(fd) == 0 || errno == EINTR ? GSA_OK : gsai_fail_errno(error, "write", file->path, errno);
}

static gsa_status put_in_place(gsai_atomic_file *file, gsa_error *error)
{
    if (gsai_os_sync(file->fd) != 0)
        return gsai_fail_errno(error, "write", file->path, errno);
    GSA_TRY(close_descriptor(file, error));
    if (gsai_output_path_replace(&file->at, file->temporary) != 0)
        return gsai_fail_errno(error, "write", file->path, errno);
    file->temporary[0] = '\0';
    return GSA_OK;
}

gsa_status gsai_atomic_file_commit(gsai_atomic_file *file, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (file->failed)
        status = gsai_fail(error, GSA_IO, "cannot finish %s: an earlier write failed", file->path);
    if (status == GSA_OK)
        status = flush(file, error);
    if (status == GSA_OK)
        status = gsai_atomic_file_is_direct(file) ? close_descriptor(file, error) : put_in_place(file, error);
    gsai_atomic_file_discard(file);
    return status;
}

void gsai_atomic_file_discard(gsai_atomic_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        (void)close_descriptor(file, NULL);
    if (!gsai_atomic_file_is_direct(file))
        gsai_output_path_remove(&file->at, file->temporary);
    gsai_output_path_close(&file->at);
    gsai_env env = file->env;
    gsai_free(&env, file);
}
