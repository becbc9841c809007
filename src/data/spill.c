/* The file of kept rows: as large as half of what is free where it lies, at the most. */
#include "data/spill.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NAME "/greedystep-XXXXXX" /* not shorter than "/dev/fd/" and a number */

/* Half of what is free, and of what may be written without a signal. */
static uint64_t most_bytes(int fd)
{
    struct statvfs room;
    struct rlimit limit;
    uint64_t most = fstatvfs(fd, &room) == 0 ? (uint64_t)room.f_bavail * room.f_frsize / 2 : 0;
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited && limit.rlim_cur / 2 < most ? limit.rlim_cur / 2 : most;
}

gsa_status gsai_spill_open(gsai_spill *keep, const char *folder, const gsa_env *env, gsa_error *error)
{
    size_t size = strlen(folder) + sizeof NAME;
    keep->path = gsai_alloc(env, size, 1);
    if (!keep->path)
        return gsai_fail_memory(env, error, "no memory for the name of a temporary file");
    snprintf(keep->path, size, "%s" NAME, folder);
    keep->fd = mkstemp(keep->path);
    if (keep->fd < 0)
        return gsai_fail(error, GSA_IO, "cannot make a temporary file in %s", folder);
    keep->is_open = true;
    unlink(keep->path);
    (void)fcntl(keep->fd, F_SETFD, FD_CLOEXEC);
    snprintf(keep->path, size, "/dev/fd/%d", keep->fd);
    keep->most = most_bytes(keep->fd);
    gsai_spill_begin(keep, env);
    return GSA_OK;
}

void gsai_spill_drop(gsai_spill *keep, const gsa_env *env)
{
    gsa_writer_discard(keep->writer);
    gsai_free(env, keep->path);
    if (keep->is_open)
        close(keep->fd);
    keep->is_open = false;
    keep->writer = NULL;
    keep->path = NULL;
    atomic_store_explicit(&keep->failed, true, memory_order_relaxed);
}

void gsai_spill_pause(gsai_spill *keep)
{
    gsa_writer_discard(keep->writer);
    keep->writer = NULL;
}

void gsai_spill_begin(gsai_spill *keep, const gsa_env *env)
{
    gsai_spill_pause(keep);
    keep->begun = false;
    if (keep->is_open && keep->size == 0 &&
        (ftruncate(keep->fd, 0) != 0 || gsa_writer_open(keep->path, "gsac", env, &keep->writer, NULL) != GSA_OK))
        gsai_spill_drop(keep, env);
    if (keep->writer)
        keep->writer->most_bytes = keep->most > 0 ? keep->most : 1;
}

void gsai_spill_add(gsai_spill *keep, const gsa_batch *rows, const char *schema, const gsa_env *env)
{
    bool told = !keep->writer || keep->begun || gsa_writer_set_schema(keep->writer, schema, NULL) == GSA_OK;
    keep->begun = true;
    if (keep->writer && (!told || gsa_writer_write(keep->writer, rows, NULL) != GSA_OK))
        gsai_spill_drop(keep, env);
}

void gsai_spill_end(gsai_spill *keep, const gsa_env *env)
{
    struct stat facts;
    if (!keep->writer)
        return;
    gsa_status status = gsa_writer_close(keep->writer, NULL);
    keep->writer = NULL;
    if (status == GSA_OK && fstat(keep->fd, &facts) == 0)
        keep->size = (uint64_t)facts.st_size;
    else
        gsai_spill_drop(keep, env);
}
