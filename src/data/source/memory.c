/* Bytes that are in memory already. */
#include "data/source/source.h"

#include <string.h>

static gsa_status read_memory(gsa__source *source, void *bytes, size_t size, size_t *got, gsa_error *error)
{
    (void)error;
    size_t left = source->memory_size - (size_t)source->n_read;
    *got = size < left ? size : left;
    if (*got > 0)
        memcpy(bytes, source->memory + source->n_read, *got);
    return GSA_OK;
}

static void close_memory(gsa__source *source)
{
    (void)source;
}

void gsa__source_open_memory(const void *bytes, size_t size, const char *name, const gsa_env *env, gsa__source *out)
{
    *out = (gsa__source){.read = read_memory,
                         .close = close_memory,
                         .name = name,
                         .env = env,
                         .fd = -1,
                         .memory = bytes,
                         .memory_size = size};
}
