/* Memory through the environment, counted.
 *
 * With a budget a block begins with a header that has its size, which is what freeing it gives back. */
#include "base/memory.h"

#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gsai_env gsai_env_resolve(const gsai_env *env)
{
    gsai_env resolved = {0};
    if (env)
        resolved = *env;
    resolved.memory.size = sizeof resolved.memory;
    resolved.call.size = sizeof resolved.call;
    if (resolved.memory.alloc && resolved.call.n_threads == 0)
        resolved.call.n_threads = 1; /* an allocator of the caller's may know nothing of threads */
    return resolved;
}

gsa_status gsai_env_take(gsai_env *own, const gsa_memory *memory, const gsa_call *call, gsa_error *error)
{
    gsai_env taken;
    GSA_TRY(gsai_take(&taken.memory, memory, error));
    GSA_TRY(gsai_take(&taken.call, call, error));
    if (taken.memory.budget && taken.memory.budget->size < sizeof *taken.memory.budget)
        return gsai_fail(error, GSA_ARGUMENT, "the size of memory.budget is %zu: set it to that of its struct",
                         taken.memory.budget->size);
    *own = gsai_env_resolve(&taken);
    return GSA_OK;
}

gsai_env gsai_env_kept(const gsai_env *env)
{
    return gsai_env_resolve(env ? &(gsai_env){.memory = env->memory} : NULL);
}

/* ---- the budget ------------------------------------------------------------------------------------------------- */

/* In front of a counted block; the alignment stays that of the allocator. */
#define HEADER ((size_t)16)

uint64_t gsai_memory_limit(const gsai_env *env)
{
    return env->memory.budget && env->memory.budget->limit > 0 ? env->memory.budget->limit : UINT64_MAX;
}

uint64_t gsai_memory_left(const gsai_env *env)
{
    uint64_t limit = gsai_memory_limit(env);
    uint64_t used = env->memory.budget ? __atomic_load_n(&env->memory.budget->used, __ATOMIC_RELAXED) : 0;
    return used < limit ? limit - used : 0;
}

/* Notes why a request failed, for gsai_fail_memory; size 0: for another reason than the limit. Of threads that fail at
 * the same time one has the last word, which is as true as the other's. Returns NULL. */
static void *refuse(const gsai_env *env, size_t size)
{
    if (env->memory.budget)
        __atomic_store_n(&env->memory.budget->refused, size, __ATOMIC_RELAXED);
    return NULL;
}

bool gsai_charge(const gsai_env *env, uint64_t size)
{
    if (!env->memory.budget)
        return true;
    uint64_t limit = gsai_memory_limit(env);
    size_t used = __atomic_load_n(&env->memory.budget->used, __ATOMIC_RELAXED);
    do {
        if (size > SIZE_MAX - used || used + size > limit) {
            refuse(env, size < SIZE_MAX ? (size_t)size : SIZE_MAX);
            return false;
        }
    } while (!__atomic_compare_exchange_n(&env->memory.budget->used, &used, used + (size_t)size, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return true;
}

void gsai_discharge(const gsai_env *env, uint64_t size)
{
    if (env->memory.budget)
        __atomic_fetch_sub(&env->memory.budget->used, (size_t)size, __ATOMIC_RELAXED);
}

gsa_status gsai_fail_memory(const gsai_env *env, gsa_error *error, const char *format, ...)
{
    char what[sizeof error->message / 2], asked[GSAI_SIZE_TEXT], used[GSAI_SIZE_TEXT], limit[GSAI_SIZE_TEXT];
    size_t refused = env->memory.budget ? __atomic_load_n(&env->memory.budget->refused, __ATOMIC_RELAXED) : 0;
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (refused == 0)
        return gsai_fail(error, GSA_MEMORY, "%s", what);
    return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                           "%s: it takes %s, %s are in use, and the memory limit is %s", what,
                           gsai_size_text(refused, asked),
                           gsai_size_text(__atomic_load_n(&env->memory.budget->used, __ATOMIC_RELAXED), used),
                           gsai_size_text(gsai_memory_limit(env), limit));
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Enters the size of a block that was taken; returns what the caller has of it. */
static void *begin_block(const gsai_env *env, void *block, size_t size)
{
    if (!env->memory.budget)
        return block;
    memcpy(block, &size, sizeof size);
    return (char *)block + HEADER;
}

/* Returns the allocator's block that holds the caller's memory, and sets its size; 0 without a budget. */
static void *block_of(const gsai_env *env, void *memory, size_t *size)
{
    *size = 0;
    if (!env->memory.budget)
        return memory;
    void *block = (char *)memory - HEADER;
    memcpy(size, block, sizeof *size);
    return block;
}

/* calloc, not malloc and memset: pages of a large table that are never touched then cost nothing. */
static void *allocate(const gsai_env *env, size_t n, size_t element_size, bool is_zeroed)
{
    size_t size;
    const gsa_memory *memory = &env->memory;
    void *(*alloc)(void *ctx, size_t size) = is_zeroed ? memory->alloc_zeroed : memory->alloc;
    if (!gsai_multiply(n, element_size, &size) || !gsai_add(size, memory->budget ? HEADER : size == 0, &size))
        return refuse(env, SIZE_MAX);
    if (!gsai_charge(env, size))
        return NULL;
    void *block = alloc ? alloc(memory->ctx, size) : is_zeroed ? calloc(1, size) : malloc(size);
    if (block)
        return begin_block(env, block, size);
    gsai_discharge(env, size);
    return refuse(env, 0);
}

void *gsai_alloc(const gsai_env *env, size_t n, size_t element_size)
{
    return allocate(env, n, element_size, false);
}

void *gsai_alloc_zeroed(const gsai_env *env, size_t n, size_t element_size)
{
    return allocate(env, n, element_size, true);
}

void *gsai_resize(const gsai_env *env, void *memory, size_t size)
{
    size_t before, after;
    void *block = block_of(env, memory, &before);
    if (!gsai_add(size, env->memory.budget ? HEADER : 0, &after))
        return refuse(env, SIZE_MAX);
    size_t more = after > before ? after - before : 0, less = after < before ? before - after : 0;
    if (!gsai_charge(env, more))
        return NULL;
    block = env->memory.resize ? env->memory.resize(env->memory.ctx, block, after) : realloc(block, after);
    gsai_discharge(env, block ? less : more);
    return block ? begin_block(env, block, after) : refuse(env, 0);
}

void gsai_free(const gsai_env *env, void *memory)
{
    size_t size;
    if (!memory)
        return;
    void *block = block_of(env, memory, &size);
    if (env->memory.release)
        env->memory.release(env->memory.ctx, block);
    else
        free(block);
    gsai_discharge(env, size);
}

bool gsai_reserve(const gsai_env *env, void *array, size_t *capacity, size_t need, size_t element_size)
{
    if (need <= *capacity)
        return true;
    size_t wanted, size, spare = *capacity / 2 + 8;
    uint64_t affordable = gsai_memory_left(env) / 2 / element_size; /* near the limit there is less to spare */
    if (spare > affordable)
        spare = (size_t)affordable;
    if (!gsai_add(*capacity, spare, &wanted) || wanted < need)
        wanted = need;
    if (!gsai_multiply(wanted, element_size, &size)) {
        refuse(env, SIZE_MAX);
        return false;
    }
    void *memory;
    memcpy(&memory, array, sizeof memory); /* a pointer of another type may not be looked at as void * */
    memory = memory ? gsai_resize(env, memory, size) : gsai_alloc(env, size, 1);
    if (!memory)
        return false;
    memcpy(array, &memory, sizeof memory);
    *capacity = wanted;
    return true;
}

/* A table of weights that is read here and there misses the processor's table of pages at every other feature if pages
 * are small. */
void gsai_prefer_huge_pages(void *memory, size_t size)
{
    uintptr_t first = ((uintptr_t)memory + GSAI_OS_HUGE_PAGE - 1) / GSAI_OS_HUGE_PAGE * GSAI_OS_HUGE_PAGE;
    uintptr_t end = ((uintptr_t)memory + size) / GSAI_OS_HUGE_PAGE * GSAI_OS_HUGE_PAGE;
    if (first < end)
        gsai_os_prefer_huge_pages((void *)first, end - first);
}

void *gsai_copy(const gsai_env *env, const void *from, size_t n, size_t element_size)
{
    void *copy = gsai_alloc(env, n, element_size);
    if (copy && n > 0)
        memcpy(copy, from, n * element_size);
    return copy;
}

char *gsai_copy_text(const gsai_env *env, const char *text)
{
    return gsai_copy(env, text, strlen(text) + 1, 1);
}

const char *gsai_size_text(uint64_t bytes, char buffer[GSAI_SIZE_TEXT])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        amount /= 1024;
        unit++;
    }
    snprintf(buffer, GSAI_SIZE_TEXT, unit ? "%.1f %s" : "%.0f %s", amount, units[unit]);
    return buffer;
}

/* ---- blocks that are freed together ----------------------------------------------------------------------------- */

void *gsai_arena_take(gsai_arena *arena, size_t n, size_t element_size)
{
    void *block = NULL;
    if (!arena->failed && gsai_reserve(arena->env, &arena->block, &arena->capacity, arena->n + 1, sizeof block))
        block = gsai_alloc_zeroed(arena->env, n > 0 ? n : 1, element_size);
    if (block)
        arena->block[arena->n++] = block;
    else
        arena->failed = true;
    return block;
}

gsa_status gsai_arena_check(const gsai_arena *arena, const char *what, gsa_error *error)
{
    return arena->failed ? gsai_fail_memory(arena->env, error, "no memory for %s", what) : GSA_OK;
}

void gsai_arena_release(gsai_arena *arena)
{
    while (arena->n > 0)
        gsai_free(arena->env, arena->block[--arena->n]);
    gsai_free(arena->env, arena->block);
    *arena = (gsai_arena){.env = arena->env};
}

size_t gsa_machine_processors(void)
{
    return gsai_os_processors();
}

uint64_t gsa_machine_memory(void)
{
    return gsai_os_memory();
}
