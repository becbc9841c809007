/* Bytes that grow. */
#include "train/bytes.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

int gsai_bytes_add(void *ctx, const void *more, size_t size)
{
    gsai_bytes *to = ctx;
    size_t before = to->capacity;
    if (size > SIZE_MAX - to->size || !gsai_reserve(to->env, &to->at, &to->capacity, to->size + size, 1))
        return -1;
    if (to->capacity > before) /* what copies have learned is as large as a table */
        gsai_prefer_huge_pages(to->at, to->capacity);
    if (size > 0)
        memcpy(to->at + to->size, more, size);
    to->size += size;
    return 0;
}

void gsai_bytes_free(gsai_bytes *bytes)
{
    gsai_free(bytes->env, bytes->at);
    *bytes = (gsai_bytes){.env = bytes->env};
}

/* ---- things that follow one another, each behind its size -------------------------------------------------------- */

gsa_status gsai_frame_end(gsai_bytes *to, size_t start, gsa_error *error)
{
    if (to->size < start + sizeof(uint64_t))
        return gsai_fail_memory(to->env, error, "no memory for what other processes are to have");
    uint64_t size = to->size - start - sizeof size;
    memcpy(to->at + start, &size, sizeof size);
    return GSA_OK;
}

size_t gsai_frame_begin(gsai_bytes *to)
{
    static const uint64_t nothing = 0;
    size_t start = to->size;
    (void)gsai_bytes_add(to, &nothing, sizeof nothing);
    return start;
}

bool gsai_frame_next(const unsigned char **from, size_t *left, const unsigned char **thing, size_t *size)
{
    uint64_t n;
    if (*left < sizeof n)
        return false;
    memcpy(&n, *from, sizeof n);
    if (n > *left - sizeof n)
        return false;
    *thing = *from + sizeof n;
    *size = (size_t)n;
    *from += sizeof n + n;
    *left -= sizeof n + (size_t)n;
    return true;
}
