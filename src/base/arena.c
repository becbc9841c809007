/* Blocks of memory that are freed together. */
#include "base/arena.h"

void *gsa__arena_take(gsa__arena *arena, size_t n, size_t element_size)
{
    void *block = NULL;
    if (!arena->failed && gsa__reserve(arena->env, &arena->block, &arena->capacity, arena->n + 1, sizeof block))
        block = gsa__alloc_zeroed(arena->env, n > 0 ? n : 1, element_size);
    if (block)
        arena->block[arena->n++] = block;
    else
        arena->failed = true;
    return block;
}

gsa_status gsa__arena_check(const gsa__arena *arena, const char *what, gsa_error *error)
{
    return arena->failed ? gsa__fail_memory(arena->env, error, "no memory for %s", what) : GSA_OK;
}

void gsa__arena_release(gsa__arena *arena)
{
    while (arena->n > 0)
        gsa__free(arena->env, arena->block[--arena->n]);
    gsa__free(arena->env, arena->block);
    *arena = (gsa__arena){.env = arena->env};
}
