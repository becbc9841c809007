/* Bytes that grow. */
#include "engine/bytes.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

int gsa__bytes_add(void *ctx, const void *more, size_t size)
{
    gsa__bytes *to = ctx;
    size_t before = to->capacity;
    if (size > SIZE_MAX - to->size || !gsa__reserve(to->env, &to->at, &to->capacity, to->size + size, 1))
        return -1;
    if (to->capacity > before) /* what copies have learned is as large as a table */
        gsa__prefer_huge_pages(to->at, to->capacity);
    if (size > 0)
        memcpy(to->at + to->size, more, size);
    to->size += size;
    return 0;
}

void gsa__bytes_free(gsa__bytes *bytes)
{
    gsa__free(bytes->env, bytes->at);
    *bytes = (gsa__bytes){.env = bytes->env};
}

/* ---- things that follow one another, each behind its size -------------------------------------------------------- */

gsa_status gsa__thing_end(gsa__bytes *to, size_t start, gsa_error *error)
{
    if (to->size < start + sizeof(uint64_t))
        return gsa__fail_memory(to->env, error, "no memory for what other processes are to have");
    uint64_t size = to->size - start - sizeof size;
    memcpy(to->at + start, &size, sizeof size);
    return GSA_OK;
}

size_t gsa__thing_begin(gsa__bytes *to)
{
    static const uint64_t nothing = 0;
    size_t start = to->size;
    (void)gsa__bytes_add(to, &nothing, sizeof nothing);
    return start;
}

bool gsa__thing_next(const unsigned char **from, size_t *left, const unsigned char **thing, size_t *size)
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
