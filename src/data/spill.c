/* The file of spilled rows: at most half of the space that is free where it lies. */
#include "data/spill.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/os.h"
#include "data/writer.h"

#include <string.h>

gsa_status gsai_spill_open(gsai_spill *spill, const char *folder, const gsai_env *env, gsa_error *error)
{
    size_t size = strlen(folder) + GSAI_OS_PATH_ROOM;
    spill->path = gsai_alloc(env, size, 1);
    GSAI_TRY_MEMORY(spill->path, env, error, "no memory for the name of a temporary file");
    spill->fd = gsai_os_unnamed_file(folder, spill->path, size);
    if (spill->fd < 0)
        return gsai_fail(error, GSA_IO, "cannot make a temporary file in %s", folder);
    spill->is_open = true;
    spill->max_bytes = gsai_os_space(spill->fd) / 2;
    gsai_spill_begin(spill, env);
    return GSA_OK;
}

void gsai_spill_drop(gsai_spill *spill, const gsai_env *env)
{
    gsa_writer_discard(spill->writer);
    gsai_free(env, spill->path);
    if (spill->is_open)
        gsai_os_close(spill->fd);
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

void gsai_spill_begin(gsai_spill *spill, const gsai_env *env)
{
    gsai_spill_pause(spill);
    spill->begun = false;
    if (spill->is_open && spill->size == 0 &&
        (gsai_os_empty(spill->fd) != 0 ||
         gsa_writer_open(spill->path, "gsac", &env->memory, &env->call, &spill->writer, NULL) != GSA_OK))
        gsai_spill_drop(spill, env);
    if (spill->writer)
        spill->writer->output.max_bytes = spill->max_bytes > 0 ? spill->max_bytes : 1;
}

void gsai_spill_add(gsai_spill *spill, const gsa_batch *rows, const char *schema, const gsai_env *env)
{
    bool told = !spill->writer || spill->begun || gsa_writer_set_schema(spill->writer, schema, NULL) == GSA_OK;
    spill->begun = true;
    if (spill->writer && (!told || gsa_writer_write(spill->writer, rows, NULL) != GSA_OK))
        gsai_spill_drop(spill, env);
}

void gsai_spill_end(gsai_spill *spill, const gsai_env *env)
{
    gsai_file_info info;
    if (!spill->writer)
        return;
    gsa_status status = gsa_writer_close(spill->writer, NULL);
    spill->writer = NULL;
    if (status == GSA_OK && gsai_os_info(spill->fd, &info) == 0)
        spill->size = info.size;
    else
        gsai_spill_drop(spill, env);
}
