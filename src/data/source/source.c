/* What all sources share, the question whether to stop and the count of bytes; and bytes that are in memory already. */
#include "data/source/source.h"

#include "base/error.h"

#include <string.h>

gsa_status gsai_source_ask(const char *name, const gsa_env *env, gsa_error *error)
{
    return env->should_stop(env->stop_ctx) ? gsai_fail(error, GSA_STOPPED, "%s: reading was stopped on request", name)
                                           : GSA_OK;
}

gsa_status gsai_source_read(gsai_source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    *got = 0;
    gsa_status status = gsai_source_ask(source->name, source->env, error);
    if (status != GSA_OK)
        return status;
    if (source->most > 0 && size > source->most)
        size = source->most;
    status = source->read(source, bytes, size, got, error);
    source->n_read += *got;
    return status;
}

void gsai_source_close(gsai_source *source)
{
    if (source->close)
        source->close(source);
    memset(source, 0, sizeof *source);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

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

void gsai_source_open_memory(const void *bytes, size_t size, const char *name, const gsa_env *env, gsai_source *out)
{
    *out = (gsai_source){.read = read_memory,
                         .seek = seek_memory,
                         .name = name,
                         .env = env,
                         .fd = -1,
                         .memory = bytes,
                         .memory_size = size};
}
