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

/* The same state in other memory. */
static inline gsa_status state_in(const gsa_memory *memory, const gsa_state *state, gsa_state **out, gsa_error *error)
{
    bytes b = state_bytes(state);
    gsa_status status = gsa_state_read(b.data, b.size, memory, out, error);
    free(b.data);
    return status;
}

/* A state that has been saved and loaded. */
static inline gsa_state *reread(const gsa_state *state)
{
    gsa_error error = {0};
    gsa_state *out = NULL;
    must_be_ok(state_in(NULL, state, &out, &error), &error);
    return out;
}

/* The same model in other memory. */
static inline gsa_status model_in(const gsa_memory *memory, const gsa_model *model, gsa_model **out, gsa_error *error)
{
    bytes b = {0};
    must_be_ok(gsa_model_write(model, append, &b, NULL), NULL);
    gsa_status status = gsa_model_read(b.data, b.size, memory, out, error);
    free(b.data);
    return status;
}

#endif
