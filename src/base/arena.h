/* Blocks of memory that are freed together. */
#ifndef GSA_BASE_ARENA_H
#define GSA_BASE_ARENA_H

#include "base/memory.h"

typedef struct gsa__arena {
    const gsa_env *env;
    void **block;
    size_t n, capacity;
    bool failed; /* a block was refused: gsa__arena_check tells */
} gsa__arena;

/* Returns n zeroed elements, or NULL and the arena has failed. */
void *gsa__arena_take(gsa__arena *arena, size_t n, size_t element_size);
/* Fails with "no memory for ..." if a block was refused. */
gsa_status gsa__arena_check(const gsa__arena *arena, const char *what, gsa_error *error);
void gsa__arena_release(gsa__arena *arena);

#endif
