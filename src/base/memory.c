/* Memory through the environment. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *default_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

/* calloc, not malloc and memset: pages of a large table that nobody touches then cost nothing. */
static void *default_alloc_zeroed(void *ctx, size_t size)
{
    (void)ctx;
    return calloc(1, size);
}

static void *default_resize(void *ctx, void *memory, size_t size)
{
    (void)ctx;
    return realloc(memory, size);
}

static void default_release(void *ctx, void *memory)
{
    (void)ctx;
    free(memory);
}

static int never_stop(void *ctx)
{
    (void)ctx;
    return 0;
}

gsa_env gsa__env_resolve(const gsa_env *env)
{
    gsa_env resolved = {0};
    if (env)
        resolved = *env;
    if (!resolved.alloc) {
        resolved.alloc = default_alloc;
        resolved.alloc_zeroed = default_alloc_zeroed;
        resolved.resize = default_resize;
        resolved.release = default_release;
        resolved.alloc_ctx = NULL;
    } else if (resolved.n_threads == 0) {
        resolved.n_threads = 1; /* an allocator of the caller's may know nothing of threads */
    }
    if (!resolved.should_stop) {
        resolved.should_stop = never_stop;
        resolved.stop_ctx = NULL;
    }
    if (resolved.memory_limit == 0)
        resolved.memory_limit = UINT64_MAX;
    return resolved;
}

void *gsa__alloc(const gsa_env *env, size_t n, size_t element_size)
{
    size_t size;
    if (!gsa__multiply(n, element_size, &size))
        return NULL;
    return env->alloc(env->alloc_ctx, size ? size : 1);
}

void *gsa__alloc_zeroed(const gsa_env *env, size_t n, size_t element_size)
{
    size_t size;
    if (!gsa__multiply(n, element_size, &size))
        return NULL;
    return env->alloc_zeroed(env->alloc_ctx, size ? size : 1);
}

void gsa__free(const gsa_env *env, void *memory)
{
    if (memory)
        env->release(env->alloc_ctx, memory);
}

bool gsa__reserve(const gsa_env *env, void *array, size_t *capacity, size_t need, size_t element_size)
{
    if (need <= *capacity)
        return true;
    size_t wanted;
    if (!gsa__add(*capacity, *capacity / 2 + 8, &wanted) || wanted < need)
        wanted = need;
    size_t size;
    if (!gsa__multiply(wanted, element_size, &size))
        return false;
    void *memory;
    memcpy(&memory, array, sizeof memory); /* a pointer of another type may not be looked at as void * */
    memory = memory ? env->resize(env->alloc_ctx, memory, size) : env->alloc(env->alloc_ctx, size);
    if (!memory)
        return false;
    memcpy(array, &memory, sizeof memory);
    *capacity = wanted;
    return true;
}

void *gsa__copy(const gsa_env *env, const void *from, size_t n, size_t element_size)
{
    void *copy = gsa__alloc(env, n, element_size);
    if (copy && n > 0)
        memcpy(copy, from, n * element_size);
    return copy;
}

char *gsa__copy_text(const gsa_env *env, const char *text)
{
    return gsa__copy(env, text, strlen(text) + 1, 1);
}

const char *gsa__size_text(uint64_t bytes, char buffer[GSA__SIZE_TEXT])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        amount /= 1024;
        unit++;
    }
    snprintf(buffer, GSA__SIZE_TEXT, unit ? "%.1f %s" : "%.0f %s", amount, units[unit]);
    return buffer;
}
