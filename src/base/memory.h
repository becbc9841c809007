/* Memory through the environment, counted against its budget, and sizes that cannot overflow unnoticed.
 *
 *   M1  Sizes that come from input are only ever computed with these functions.
 *   M2  budget->used is the sum of the blocks that are in use, their headers included, and of what was charged.
 *   M3  A block is resized and freed with the budget that it was taken with, since its header is there only then.
 *   M4  The limit decides whether a call succeeds, never what it computes. */
#ifndef GSA_BASE_MEMORY_H
#define GSA_BASE_MEMORY_H

#include "base/error.h"

#include <stdbool.h>

/* The environment of internal functions: the memory of an object, and the stop request and threads of a call. */
typedef struct gsai_env {
    gsa_memory memory;
    gsa_call call;
} gsai_env;

static inline bool gsai_should_stop(const gsai_env *env)
{
    return env->call.should_stop && env->call.should_stop(env->call.ctx) != 0;
}

/* Returns a copy of env that has its sizes, and one thread where its allocator is the caller's and it does not say how
 * many. env may be NULL. */
gsai_env gsai_env_resolve(const gsai_env *env);
/* Makes an environment from the caller's memory and call, of any version, or from those of an object; each may be NULL.
 * Public functions that take one of them begin with this. GSA_ARGUMENT if a size, or that of the budget, was not set.
 */
gsa_status gsai_env_take(gsai_env *own, const gsa_memory *memory, const gsa_call *call, gsa_error *error);
/* Returns the part of env that an object keeps: its memory. env may be NULL. */
gsai_env gsai_env_kept(const gsai_env *env);

static inline bool gsai_add(size_t a, size_t b, size_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

static inline bool gsai_multiply(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

/* Allocates n elements of the given size; returns NULL if out of memory, the budget does not allow it, or the product
 * overflows. n may be 0. Zeroed memory counts in full, although pages cost nothing until they are touched. */
void *gsai_alloc(const gsai_env *env, size_t n, size_t element_size);
void *gsai_alloc_zeroed(const gsai_env *env, size_t n, size_t element_size);
/* Resizes memory as realloc does; the memory is not NULL and the size above 0. */
void *gsai_resize(const gsai_env *env, void *memory, size_t size);
void gsai_free(const gsai_env *env, void *memory);

/* Counts memory that comes from elsewhere (mappings, stacks) before it is taken; false if the budget does not allow it.
 * gsai_discharge gives the same size back. */
bool gsai_charge(const gsai_env *env, uint64_t size);
void gsai_discharge(const gsai_env *env, uint64_t size);
/* Return the limit, and what is left of it at the moment; UINT64_MAX without a limit. */
uint64_t gsai_memory_limit(const gsai_env *env);
uint64_t gsai_memory_left(const gsai_env *env);

/* Fails for memory that one of the functions above refused, with "no memory for ..." as the text: GSA_MEMORY, or
 * GSA_LIMIT and the sizes if the budget refused it. */
gsa_status gsai_fail_memory(const gsai_env *env, gsa_error *error, const char *format, ...) GSAI_PRINTF(3, 4);
/* Returns that failure from the function that asked for memory, unless it was given: a pointer, or true. */
#define GSAI_TRY_MEMORY(given, env, error, ...)                   \
    do {                                                          \
        if (!(given))                                             \
            return gsai_fail_memory((env), (error), __VA_ARGS__); \
    } while (0)

/* Makes room for at least `need` elements in a growing array: the pointer that `array` is the address of, of whatever
 * type, and *capacity change together, by at least half as much again unless the budget is nearly used up. Returns
 * false (and nothing changes) if out of memory or the size overflows. */
bool gsai_reserve(const gsai_env *env, void *array, size_t *capacity, size_t need, size_t element_size);

/* Asks the system for large pages for memory that is read here and there; it may do so or not. */
void gsai_prefer_huge_pages(void *memory, size_t size);

/* Return a copy of n elements, or of a text; NULL if out of memory. */
void *gsai_copy(const gsai_env *env, const void *from, size_t n, size_t element_size);
char *gsai_copy_text(const gsai_env *env, const char *text);

/* "12.3 GiB" and the like into a buffer, for messages. */
#define GSAI_SIZE_TEXT 32
const char *gsai_size_text(uint64_t bytes, char buffer[GSAI_SIZE_TEXT]);

/* Blocks of memory that are freed together. */
typedef struct gsai_arena {
    const gsai_env *env;
    void **block;
    size_t n, capacity;
    bool failed; /* a block was refused: gsai_arena_check tells */
} gsai_arena;

/* Returns n zeroed elements, or NULL and the arena has failed. */
void *gsai_arena_take(gsai_arena *arena, size_t n, size_t element_size);
/* Fails with "no memory for ..." if a block was refused. */
gsa_status gsai_arena_check(const gsai_arena *arena, const char *what, gsa_error *error);
void gsai_arena_release(gsai_arena *arena);

#endif
