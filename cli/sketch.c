/* The estimate of a sketch. */
#include "sketch.h"

#include <math.h>

enum { MOST_RANK = 64 };

/* x + sum over k >= 1 of x^(2^k) 2^(k-1): what registers without a value stand for; infinite if all are without. */
static double sigma(double x)
{
    double sum = x, before = -1, factor = 1;
    if (x >= 1)
        return (double)INFINITY;
    while (sum > before) {
        before = sum;
        x *= x;
        sum += x * factor;
        factor *= 2;
    }
    return sum;
}

/* Ertl's equation for ranks that never reach their limit, which 2^40 values would not. */
double sketch_count(const sketch *of)
{
    size_t n_with_rank[MOST_RANK + 1] = {0};
    for (size_t i = 0; i < SKETCH_SIZE; i++)
        n_with_rank[of->rank[i]]++;
    double sum = 0, size = SKETCH_SIZE;
    for (int rank = MOST_RANK; rank > 0; rank--)
        sum = 0.5 * (sum + (double)n_with_rank[rank]);
    sum += size * sigma((double)n_with_rank[0] / size);
    return size * size / (2 * log(2)) / sum;
}
