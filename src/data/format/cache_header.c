/* What reader and writer of a cache share: headers and their hash; and the index, from a file's last bytes. */
#include "data/format/cache.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

#define N_FIELDS (sizeof(gsai_cache_header) / sizeof(uint64_t))

_Static_assert(N_FIELDS * 8 + 8 == GSAI_CACHE_HEADER_SIZE, "a header is its fields and their hash");

void gsai_cache_header_write(const gsai_cache_header *header, unsigned char out[GSAI_CACHE_HEADER_SIZE])
{
    uint64_t field[N_FIELDS];
    memcpy(field, header, sizeof field);
    for (size_t i = 0; i < N_FIELDS; i++)
        gsai_store_u64(field[i], out + 8 * i);
    gsai_store_u64(gsai_hash(out, 8 * N_FIELDS, 0), out + 8 * N_FIELDS);
}

bool gsai_cache_header_read(const unsigned char bytes[GSAI_CACHE_HEADER_SIZE], gsai_cache_header *out)
{
    uint64_t field[N_FIELDS];
    for (size_t i = 0; i < N_FIELDS; i++)
        field[i] = gsai_load_u64(bytes + 8 * i);
    memcpy(out, field, sizeof field);
    return gsai_load_u64(bytes + 8 * N_FIELDS) == gsai_hash(bytes, 8 * N_FIELDS, 0);
}

bool gsai_cache_matches(const unsigned char *start, size_t size)
{
    return size > 0 && memcmp(start, GSAI_CACHE_MAGIC, size < 8 ? size : 8) == 0;
}

/* What the file does not have of these bytes is zero, which fits no magic and no hash. */
static gsa_status read_at(gsai_decode *stream, int64_t at, unsigned char *bytes, size_t size, gsa_error *error)
{
    gsa_status status = gsai_decode_seek(stream, at, error);
    memset(bytes, 0, size);
    for (size_t got = 1, n = 0; status == GSA_OK && got > 0 && n < size; n += got)
        status = gsai_decode_read(stream, bytes + n, size - n, &got, error);
    return status;
}

static gsa_status fail_index(const gsai_decode *stream, gsa_error *error)
{
    return gsai_fail(error, GSA_FORMAT, "%s: damaged cache (make it anew): no index at its end; was it cut off?",
                     stream->source.name);
}

/* Header and payload, where the last bytes say that they are. */
static gsa_status read_index(gsai_decode *stream, const gsa_env *env, gsai_cache_index *out, gsa_error *error)
{
    unsigned char bytes[GSAI_CACHE_HEADER_SIZE];
    gsai_cache_header *totals = &out->totals;
    gsa_status status = read_at(stream, (int64_t)out->offset, bytes, sizeof bytes, error);
    if (status != GSA_OK)
        return status;
    if (!gsai_cache_header_read(bytes, totals) || totals->marker != GSAI_CACHE_INDEX ||
        totals->payload_size > gsai_memory_limit(env) / 4 || totals->payload_size % GSAI_CACHE_ENTRY_SIZE != 0 ||
        totals->n_rows != totals->payload_size / GSAI_CACHE_ENTRY_SIZE)
        return fail_index(stream, error);
    size_t size = (size_t)totals->payload_size;
    out->entries = gsai_alloc(env, size + 1, 1);
    if (!out->entries)
        return gsai_fail_memory(env, error, "no memory for the index of a cache, of %zu bytes", size);
    status = read_at(stream, (int64_t)out->offset + GSAI_CACHE_HEADER_SIZE, out->entries, size, error);
    if (status == GSA_OK && gsai_hash(out->entries, size, 0) != totals->payload_hash)
        status = fail_index(stream, error);
    return status;
}

gsa_status gsai_cache_index_read(gsai_decode *stream, const gsa_env *env, gsai_cache_index *out, gsa_error *error)
{
    unsigned char foot[GSAI_CACHE_FOOT_SIZE];
    *out = (gsai_cache_index){0};
    gsa_status status = read_at(stream, -GSAI_CACHE_FOOT_SIZE, foot, sizeof foot, error);
    if (status != GSA_OK)
        return status;
    out->offset = gsai_load_u64(foot);
    if (memcmp(foot + 8, GSAI_CACHE_END, 8) != 0 || out->offset > INT64_MAX - GSAI_CACHE_HEADER_SIZE)
        return fail_index(stream, error);
    status = read_index(stream, env, out, error);
    if (status != GSA_OK) {
        gsai_free(env, out->entries);
        out->entries = NULL;
    }
    return status;
}
