/* Unpacking numbers: where the next one begins depends on the control bytes only, never on the data. */
#include "data/format/packed.h"

size_t gsa__packed_size(const unsigned char *control, size_t n)
{
    size_t sum = n;
    for (size_t i = 0; i < gsa__packed_controls(n); i++) {
        unsigned pairs = (control[i] & 0x33u) + ((unsigned)control[i] >> 2 & 0x33u);
        sum += (pairs & 0xFu) + (pairs >> 4);
    }
    return sum;
}

/* Compilers make one load of the four bytes. */
static inline uint32_t unpack_one(const unsigned char **data, unsigned code)
{
    const unsigned char *p = *data;
    uint32_t bytes = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    *data = p + code + 1;
    return bytes & UINT32_MAX >> (24 - 8 * code);
}

static inline unsigned code_at(const unsigned char *control, size_t at)
{
    return (unsigned)control[at / 4] >> 2 * (at % 4) & 3u;
}

void gsa__unpack(gsa__packed *from, uint32_t *out, size_t n)
{
    size_t at = from->at, end = at + n;
    const unsigned char *control = from->control, *data = from->data;
    for (; at < end && at % 4 != 0; at++)
        *out++ = unpack_one(&data, code_at(control, at));
    for (; end - at >= 4; at += 4, out += 4) {
        unsigned codes = control[at / 4];
        out[0] = unpack_one(&data, codes & 3u);
        out[1] = unpack_one(&data, codes >> 2 & 3u);
        out[2] = unpack_one(&data, codes >> 4 & 3u);
        out[3] = unpack_one(&data, codes >> 6);
    }
    for (; at < end; at++)
        *out++ = unpack_one(&data, code_at(control, at));
    from->at = at;
    from->data = data;
}
