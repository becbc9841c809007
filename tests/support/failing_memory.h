/* An allocator that fails after a number of requests and counts what is alive. */
#ifndef TESTS_SUPPORT_FAILING_MEMORY_H
#define TESTS_SUPPORT_FAILING_MEMORY_H

#include "env.h"

#include <stdlib.h>
#include <string.h>

typedef struct failing {
    size_t left, live;
} failing;

static inline void *failing_alloc(void *ctx, size_t size)
{
    failing *f = ctx;
    if (f->left == 0)
        return NULL;
    f->left--;
    f->live++;
    return malloc(size);
}

static inline void *failing_alloc_zeroed(void *ctx, size_t size)
{
    void *memory = failing_alloc(ctx, size);
    return memory ? memset(memory, 0, size) : NULL;
}

static inline void *failing_resize(void *ctx, void *memory, size_t size)
{
    failing *f = ctx;
    if (f->left == 0)
        return NULL;
    f->left--;
    return realloc(memory, size);
}

static inline void failing_release(void *ctx, void *memory)
{
    ((failing *)ctx)->live--;
    free(memory);
}

static inline gsai_env failing_env(failing *f)
{
    gsai_env env = {ENV_SIZES};
    env.memory.alloc = failing_alloc;
    env.memory.alloc_zeroed = failing_alloc_zeroed;
    env.memory.resize = failing_resize;
    env.memory.release = failing_release;
    env.memory.ctx = f;
    return env;
}

#endif
