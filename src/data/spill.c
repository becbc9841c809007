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
static uint64_t max_bytes(int fd)
{
    struct statvfs room;
    struct rlimit limit;
    uint64_t most = fstatvfs(fd, &room) == 0 ? (uint64_t)room.f_bavail * room.f_frsize / 2 : 0;
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited && limit.rlim_cur / 2 < most ? limit.rlim_cur / 2 : most;
}

gsa_status gsai_spill_open(gsai_spill *spill, const char *folder, const gsa_env *env, gsa_error *error)
{
    size_t size = strlen(folder) + sizeof NAME;
    spill->path = gsai_alloc(env, size, 1);
    if (!spill->path)
        return gsai_fail_memory(env, error, "no memory for the name of a temporary file");
    snprintf(spill->path, size, "%s" NAME, folder);
    spill->fd = mkstemp(spill->path);
    if (spill->fd < 0)
        return gsai_fail(error, GSA_IO, "cannot make a temporary file in %s", folder);
    spill->is_open = true;
    unlink(spill->path);
    (void)fcntl(spill->fd, F_SETFD, FD_CLOEXEC);
    snprintf(spill->path, size, "/dev/fd/%d", spill->fd);
    spill->max_bytes = max_bytes(spill->fd);
    gsai_spill_begin(spill, env);
    return GSA_OK;
}

void gsai_spill_drop(gsai_spill *spill, const gsa_env *env)
{
    gsa_writer_discard(spill->writer);
    gsai_free(env, spill->path);
    if (spill->is_open)
        close(spill->fd);
    spill->is_open = false;
    spill->writer = NULL;
    spill->path = NULL;
    atomic_store_explicit(&spill->failed, true, memory_order_relaxed);
}

void gsai_spill_pause(gsai_spill *spill)
{
    gsa_writer_discard(spill->writer);
    spill->writer = NULL;
}

void gsai_spill_begin(gsai_spill *spill, const gsa_env *env)
{
    gsai_spill_pause(spill);
    spill->begun = false;
    if (spill->is_open && spill->size == 0 &&
        (ftruncate(spill->fd, 0) != 0 || gsa_writer_open(spill->path, "gsac", env, &spill->writer, NULL) != GSA_OK))
        gsai_spill_drop(spill, env);
    if (spill->writer)
        spill->writer->output.max_bytes = spill->max_bytes > 0 ? spill->max_bytes : 1;
}

void gsai_spill_add(gsai_spill *spill, const gsa_batch *rows, const char *schema, const gsa_env *env)
{
    bool told = !spill->writer || spill->begun || gsa_writer_set_schema(spill->writer, schema, NULL) == GSA_OK;
    spill->begun = true;
    if (spill->writer && (!told || gsa_writer_write(spill->writer, rows, NULL) != GSA_OK))
        gsai_spill_drop(spill, env);
}

void gsai_spill_end(gsai_spill *spill, const gsa_env *env)
{
    struct stat facts;
    if (!spill->writer)
        return;
    gsa_status status = gsa_writer_close(spill->writer, NULL);
    spill->writer = NULL;
    if (status == GSA_OK && fstat(spill->fd, &facts) == 0)
        spill->size = (uint64_t)facts.st_size;
    else
        gsai_spill_drop(spill, env);
}
