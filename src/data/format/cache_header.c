/* What reader and writer of a cache share: headers and their hash; and the index, from a file's last bytes. */
#include "data/format/cache.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"

#include <inttypes.h>
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

/* Where the index's header is, by the last bytes; 0 if they are not those of a cache. */
static uint64_t find_index(const unsigned char *bytes, size_t size)
{
    const size_t around = GSA__CACHE_HEAD_SIZE + GSA__CACHE_HEADER_SIZE + GSA__CACHE_FOOT_SIZE;
    if (size < around || !gsa__cache_matches(bytes, size) || gsa__load_u64(bytes + 8) != GSA__CACHE_VERSION ||
        memcmp(bytes + size - 8, GSA__CACHE_END, 8) != 0)
        return 0;
    uint64_t at = gsa__load_u64(bytes + size - GSA__CACHE_FOOT_SIZE);
    bool is_inside = at >= GSA__CACHE_HEAD_SIZE && at <= size - GSA__CACHE_FOOT_SIZE - GSA__CACHE_HEADER_SIZE;
    return is_inside ? at : 0;
}

gsa_status gsa__cache_index_read(const void *memory, size_t size, const char *name, gsa__cache_index *out,
                                 gsa_error *error)
{
    const unsigned char *bytes = memory;
    gsa__cache_header *totals = &out->totals;
    uint64_t at = find_index(bytes, size);
    out->entries = bytes + at + GSA__CACHE_HEADER_SIZE;
    if (at > 0 && gsa__cache_header_read(bytes + at, totals) && totals->marker == GSA__CACHE_INDEX &&
        totals->payload_size == size - GSA__CACHE_FOOT_SIZE - GSA__CACHE_HEADER_SIZE - at &&
        totals->payload_size % GSA__CACHE_ENTRY_SIZE == 0 &&
        totals->n_rows == totals->payload_size / GSA__CACHE_ENTRY_SIZE &&
        gsa__hash(out->entries, (size_t)totals->payload_size, 0) == totals->payload_hash)
        return GSA_OK;
    return gsa__fail(error, GSA_FORMAT, "%s: damaged cache: no index at its end (byte %" PRIu64 ")", name, at);
}
