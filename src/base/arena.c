/* Blocks of memory that are freed together. */
#include "base/arena.h"

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
