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

/* Is the state still what it was? */
static inline void same_bytes(const bytes *before, const gsa_state *state)
{
    bytes now = state_bytes(state);
    assert_int_equal(now.size, before->size);
    assert_memory_equal(now.data, before->data, now.size);
    free(now.data);
}

static inline void same_states(const gsa_state *a, const gsa_state *b)
{
    bytes of_a = state_bytes(a);
    same_bytes(&of_a, b);
    free(of_a.data);
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
