/* What reader and writer of a cache share: headers and their hash; and the index, from a file's last bytes. */
#include "data/format/cache.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

#define N_FIELDS (sizeof(gsa__cache_header) / sizeof(uint64_t))

_Static_assert(N_FIELDS * 8 + 8 == GSA__CACHE_HEADER_SIZE, "a header is its fields and their hash");

void gsa__cache_header_write(const gsa__cache_header *header, unsigned char out[GSA__CACHE_HEADER_SIZE])
{
    uint64_t field[N_FIELDS];
    memcpy(field, header, sizeof field);
    for (size_t i = 0; i < N_FIELDS; i++)
        gsa__store_u64(field[i], out + 8 * i);
    gsa__store_u64(gsa__hash(out, 8 * N_FIELDS, 0), out + 8 * N_FIELDS);
}

bool gsa__cache_header_read(const unsigned char bytes[GSA__CACHE_HEADER_SIZE], gsa__cache_header *out)
{
    uint64_t field[N_FIELDS];
    for (size_t i = 0; i < N_FIELDS; i++)
        field[i] = gsa__load_u64(bytes + 8 * i);
    memcpy(out, field, sizeof field);
    return gsa__load_u64(bytes + 8 * N_FIELDS) == gsa__hash(bytes, 8 * N_FIELDS, 0);
}

bool gsa__cache_matches(const unsigned char *start, size_t size)
{
    return size > 0 && memcmp(start, GSA__CACHE_MAGIC, size < 8 ? size : 8) == 0;
}

/* What the file does not have of these bytes is zero, which fits no magic and no hash. */
static gsa_status read_at(gsa__decode *stream, int64_t at, unsigned char *bytes, size_t size, gsa_error *error)
{
    gsa_status status = gsa__decode_seek(stream, at, error);
    memset(bytes, 0, size);
    for (size_t got = 1, n = 0; status == GSA_OK && got > 0 && n < size; n += got)
        status = gsa__decode_read(stream, bytes + n, size - n, &got, error);
    return status;
}

static gsa_status fail_index(const gsa__decode *stream, gsa_error *error)
{
    return gsa__fail(error, GSA_FORMAT, "%s: damaged cache (make it anew): no index at its end; was it cut off?",
                     stream->source.name);
}

/* Header and payload, where the last bytes say that they are. */
static gsa_status read_index(gsa__decode *stream, const gsa_env *env, gsa__cache_index *out, gsa_error *error)
{
    unsigned char bytes[GSA__CACHE_HEADER_SIZE];
    gsa__cache_header *totals = &out->totals;
    gsa_status status = read_at(stream, (int64_t)out->offset, bytes, sizeof bytes, error);
    if (status != GSA_OK)
        return status;
    if (!gsa__cache_header_read(bytes, totals) || totals->marker != GSA__CACHE_INDEX ||
        totals->payload_size > gsa__memory_limit(env) / 4 || totals->payload_size % GSA__CACHE_ENTRY_SIZE != 0 ||
        totals->n_rows != totals->payload_size / GSA__CACHE_ENTRY_SIZE)
        return fail_index(stream, error);
    size_t size = (size_t)totals->payload_size;
    out->entries = gsa__alloc(env, size + 1, 1);
    if (!out->entries)
        return gsa__fail_memory(env, error, "no memory for the index of a cache, of %zu bytes", size);
    status = read_at(stream, (int64_t)out->offset + GSA__CACHE_HEADER_SIZE, out->entries, size, error);
    if (status == GSA_OK && gsa__hash(out->entries, size, 0) != totals->payload_hash)
        status = fail_index(stream, error);
    return status;
}

gsa_status gsa__cache_index_read(gsa__decode *stream, const gsa_env *env, gsa__cache_index *out, gsa_error *error)
{
    unsigned char foot[GSA__CACHE_FOOT_SIZE];
    *out = (gsa__cache_index){0};
    gsa_status status = read_at(stream, -GSA__CACHE_FOOT_SIZE, foot, sizeof foot, error);
    if (status != GSA_OK)
        return status;
    out->offset = gsa__load_u64(foot);
    if (memcmp(foot + 8, GSA__CACHE_END, 8) != 0 || out->offset > INT64_MAX - GSA__CACHE_HEADER_SIZE)
        return fail_index(stream, error);
    status = read_index(stream, env, out, error);
    if (status != GSA_OK) {
        gsa__free(env, out->entries);
        out->entries = NULL;
    }
    return status;
}
