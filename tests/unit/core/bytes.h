/* A state as bytes in memory. */
#ifndef TESTS_UNIT_CORE_BYTES_H
#define TESTS_UNIT_CORE_BYTES_H

#include "rows.h"

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static inline int append(void *ctx, const void *data, size_t size)
{
    bytes *b = ctx;
    b->data = realloc(b->data, b->size + size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return 0;
}

static inline bytes state_bytes(const gsa_state *state)
{
    bytes out = {0};
    gsa_error error = {0};
    must_be_ok(gsa_state_write(state, append, &out, &error), &error);
    return out;
}

/* A state that has been saved and loaded. */
static inline gsa_state *reread(const gsa_state *state)
{
    bytes b = state_bytes(state);
    gsa_error error = {0};
    gsa_state *out = NULL;
    must_be_ok(gsa_state_read(b.data, b.size, NULL, &out, &error), &error);
    free(b.data);
    return out;
}

#endif
