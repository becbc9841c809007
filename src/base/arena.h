/* Blocks of memory that are freed together. */
#ifndef GSA_BASE_ARENA_H
#define GSA_BASE_ARENA_H

#include "base/memory.h"

typedef struct gsai_arena {
    const gsa_env *env;
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
