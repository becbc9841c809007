/* The memory of a row's entries. */
#include "learn/entries.h"

#include "base/memory.h"

/* What one entry takes of the memory that the arrays share. */
struct share {
    double x, product;
    float weight, mean, late;
    uint32_t slot, count;
};

bool gsai_entries_reserve(gsai_entries *entries, size_t n, const gsa_env *env)
{
    size_t room;
    if (n + GSAI_ENTRIES_BLOCK < entries->capacity)
        return true;
    if (!gsai_add(n, 2 * GSAI_ENTRIES_BLOCK, &room) ||
        !gsai_reserve(env, &entries->memory, &entries->capacity, room, sizeof(struct share)))
        return false;
    room = entries->capacity;
    entries->x = entries->memory;
    entries->product = entries->x + room;
    entries->weight = (float *)(entries->product + room);
    entries->mean = entries->weight + room;
    entries->late = entries->mean + room;
    entries->slot = (uint32_t *)(entries->late + room);
    entries->count = entries->slot + room;
    return true;
}
