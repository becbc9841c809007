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
    char *path;          /* as the caller wrote it, for messages */
    gsai_output_path at; /* after symbolic links */
    char *temporary;     /* a name in its directory; NULL if written directly, and once it has been renamed */
    size_t used;
    unsigned char buffer[BUFFER_SIZE];
};

static gsa_status fail_errno(gsa_error *error, const char *path, int number)
{
    char reason[GSAI_REASON_SIZE];
    return gsai_fail(error, GSA_IO, "cannot write %s: %s", path, gsai_reason(number, reason));
}

static gsa_status fail_memory(const gsai_env *env, gsa_error *error, const char *path)
{
    return gsai_fail_memory(env, error, "cannot write %s: no memory for its buffer", path);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* ".NAME.XXXXXX.tmp" beside the target. The six characters need not be secret or unique: O_EXCL and another try see to
 * that. */
static void name_temporary(const gsai_atomic_file *file, unsigned attempt, char *out, size_t size)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t random = gsai_mix(gsai_mix(gsai_os_process_id() ^ (uint64_t)(uintptr_t)file) ^ attempt);
    char suffix[7] = {0};
    for (int i = 0; i < 6; i++, random /= 36)
        suffix[i] = letters[random % 36];
    size_t directory = gsai_directory_len(file->at.name); /* a bare name has none, but on Windows */
    snprintf(out, size, "%.*s.%.*s.%s.tmp", (int)directory, file->at.name, MAX_NAME_BYTES, file->at.name + directory,
             suffix);
}

static gsa_status create_temporary(gsai_atomic_file *file, gsa_error *error)
{
    size_t size = strlen(file->at.name) + sizeof "..123456.tmp";
    file->temporary = gsai_alloc(&file->env, size, 1);
    if (!file->temporary)
        return fail_memory(&file->env, error, file->path);
    for (unsigned attempt = 0; attempt < MAX_TEMPORARY_NAMES; attempt++) {
        name_temporary(file, attempt, file->temporary, size);
        file->fd = gsai_output_path_create(&file->at, file->temporary);
        if (file->fd >= 0)
            return GSA_OK;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    int number = errno;
    gsai_free(&file->env, file->temporary);
    file->temporary = NULL;
    if (number == ENOENT)
        return gsai_fail(error, GSA_IO, "cannot write %s: its directory does not exist; make it first", file->path);
    return fail_errno(error, file->path, number);
}

/* A file that is replaced keeps its access rights, and one that its owner made read-only is not replaced. */
static gsa_status open_beside(gsai_atomic_file *file, const gsai_file_info *existing, gsa_error *error)
{
    if (existing && !gsai_output_path_may_write(&file->at))
        return fail_errno(error, file->path, errno);
    gsa_status status = create_temporary(file, error);
    /* A file system without access rights refuses, and then there is nothing to keep. */
    if (status == GSA_OK && existing)
        (void)gsai_os_set_mode(file->fd, existing->mode);
    return status;
}

/* Opens the existing file and fails if it is not the one that was checked: a file that took its place would be
 * overwritten in part. */
static gsa_status open_directly(gsai_atomic_file *file, const gsai_file_info *existing, gsa_error *error)
{
    gsai_file_info opened;
    do {
        file->fd = gsai_output_path_open_existing(&file->at);
    } while (file->fd < 0 && errno == EINTR && !gsai_should_stop(&file->env));
    if (file->fd < 0 && errno == EINTR)
        return gsai_fail(error, GSA_STOPPED, "stopped while opening %s", file->path);
    if (file->fd < 0 || gsai_os_info(file->fd, &opened) != 0)
        return fail_errno(error, file->path, errno);
    if (opened.device != existing->device || opened.number != existing->number)
        return gsai_fail(error, GSA_IO, "cannot write %s: it was replaced while it was opened", file->path);
    return GSA_OK;
}

static gsa_status open_by_kind(gsai_atomic_file *file, gsa_error *error)
{
    gsai_file_info existing;
    if (file->is_stdout) {
        file->fd = GSAI_STDOUT;
        return GSA_OK;
    }
    GSA_TRY(gsai_output_path_open(file->path, &file->env, &file->at, error));
    if (gsai_output_path_info(&file->at, &existing) != 0)
        return open_beside(file, NULL, error);
    if (existing.kind == GSAI_FILE_DIRECTORY)
        return gsai_fail(error, GSA_IO, "cannot write %s: it is a directory; give the name of a file", file->path);
    return existing.kind == GSAI_FILE_REGULAR && existing.n_links > 0 ? open_beside(file, &existing, error)
                                                                      : open_directly(file, &existing, error);
}

gsa_status gsai_atomic_file_open(const char *path, const gsai_env *env, gsai_atomic_file **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    *out = NULL;
    gsai_atomic_file *file = gsai_alloc(&resolved, 1, sizeof *file);
    if (!file)
        return fail_memory(&resolved, error, path);
    file->env = resolved;
    file->fd = -1;
    file->is_stdout = strcmp(path, "-") == 0;
    file->failed = false;
    file->at = (gsai_output_path){.directory = -1};
    file->temporary = NULL;
    file->used = 0;
    file->path = gsai_copy_text(&resolved, file->is_stdout ? "standard output" : path);
    gsa_status status = file->path ? open_by_kind(file, error) : fail_memory(&resolved, error, path);
    if (status != GSA_OK) {
        gsai_atomic_file_discard(file);
        return status;
    }
    *out = file;
    return GSA_OK;
}

int gsai_atomic_file_descriptor(const gsai_atomic_file *file)
{
    return file->fd;
}

bool gsai_atomic_file_is_direct(const gsai_atomic_file *file)
{
    return !file->temporary;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* A write that took less than it was given. GSA_OK: go on with the rest. */
static gsa_status after_short_write(gsai_atomic_file *file, int number, gsa_error *error)
{
    if (number == EAGAIN) /* the pipe was made non-blocking: wait until it takes more */
        number = gsai_os_wait(file->fd, true, -1) >= 0 ? 0 : errno;
    if (number == EINTR && gsai_should_stop(&file->env))
        return gsai_fail(error, GSA_STOPPED, "stopped while writing %s", file->path);
    return number == 0 || number == EINTR ? GSA_OK : fail_errno(error, file->path, number);
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
    return gsai_os_close(fd) == 0 || errno == EINTR ? GSA_OK : fail_errno(error, file->path, errno);
}

static gsa_status put_in_place(gsai_atomic_file *file, gsa_error *error)
{
    if (gsai_os_sync(file->fd) != 0)
        return fail_errno(error, file->path, errno);
    GSA_TRY(close_descriptor(file, error));
    if (gsai_output_path_replace(&file->at, file->temporary) != 0)
        return fail_errno(error, file->path, errno);
    gsai_free(&file->env, file->temporary);
    file->temporary = NULL;
    return gsai_output_path_sync(&file->at) == 0 ? GSA_OK : fail_errno(error, file->path, errno);
}

gsa_status gsai_atomic_file_commit(gsai_atomic_file *file, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (file->failed)
        status = gsai_fail(error, GSA_IO, "cannot finish %s: an earlier write failed", file->path);
    if (status == GSA_OK)
        status = flush(file, error);
    if (status == GSA_OK)
        status = file->temporary ? put_in_place(file, error) : close_descriptor(file, error);
    gsai_atomic_file_discard(file);
    return status;
}

void gsai_atomic_file_discard(gsai_atomic_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        (void)close_descriptor(file, NULL);
    if (file->temporary)
        gsai_output_path_remove(&file->at, file->temporary);
    gsai_env env = file->env;
    gsai_free(&env, file->temporary);
    gsai_output_path_close(&file->at, &env);
    gsai_free(&env, file->path);
    gsai_free(&env, file);
}
