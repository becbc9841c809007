/* Features in the order of their strength. */
#include "learn/ranked.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const gsai_ranked *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int descending(const void *a, const void *b)
{
    const gsai_ranked *x = a, *y = b;
    if (x->strength != y->strength)
        return x->strength < y->strength ? 1 : -1;
    return ascending(a, b);
}

size_t gsai_ranked_keep(gsai_ranked *at, size_t n, size_t max)
{
    if (n <= max)
        return n;
    qsort(at, n, sizeof *at, descending);
    return max;
}

void gsai_ranked_by_id(gsai_ranked *at, size_t n)
{
    if (n > 1)
        qsort(at, n, sizeof *at, ascending);
}
