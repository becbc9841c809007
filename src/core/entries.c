/* The memory of a row's entries. */
#include "core/entries.h"

#include "base/memory.h"

/* What one entry takes of the memory that the arrays share. */
struct share {
    double x, product;
    float weight, mean, late;
    uint32_t slot, count;
};

bool gsa__entries_reserve(gsa__entries *entries, size_t n, const gsa_env *env)
{
    size_t room;
    if (n + GSA__ENTRIES_BLOCK < entries->capacity)
        return true;
    if (!gsa__add(n, 2 * GSA__ENTRIES_BLOCK, &room) ||
        !gsa__reserve(env, &entries->memory, &entries->capacity, room, sizeof(struct share)))
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
