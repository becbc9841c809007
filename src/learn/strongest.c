/* The strongest features: twice as many as wanted are gathered, then the weaker half goes. */
#include "learn/strongest.h"

#include "base/memory.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const gsai_feature_strength *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int descending(const void *a, const void *b)
{
    const gsai_feature_strength *x = a, *y = b;
    if (x->strength != y->strength)
        return x->strength < y->strength ? 1 : -1;
    return ascending(a, b);
}

static void drop_weaker(gsai_strongest *strongest)
{
    if (strongest->n <= strongest->max)
        return;
    qsort(strongest->at, strongest->n, sizeof *strongest->at, descending);
    strongest->n = strongest->max;
    strongest->least = strongest->at[strongest->n - 1].strength;
}

bool gsai_strongest_add(gsai_strongest *strongest, gsai_feature_strength feature)
{
    if (strongest->n == 2 * strongest->max)
        drop_weaker(strongest);
    if (!gsai_reserve(strongest->env, &strongest->at, &strongest->capacity, strongest->n + 1, sizeof *strongest->at))
        return false;
    strongest->at[strongest->n++] = feature;
    return true;
}

void gsai_strongest_finish(gsai_strongest *strongest)
{
    drop_weaker(strongest);
    if (strongest->n > 1)
        qsort(strongest->at, strongest->n, sizeof *strongest->at, ascending);
}
