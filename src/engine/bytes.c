/* Bytes that grow. */
#include "engine/bytes.h"

#include "base/memory.h"

#include <string.h>

int gsa__bytes_add(void *ctx, const void *more, size_t size)
{
    gsa__bytes *to = ctx;
    if (size > SIZE_MAX - to->size || !gsa__reserve(to->env, (void **)&to->at, &to->capacity, to->size + size, 1))
        return -1;
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
