/* The inverse_frequency of a feature as groups of rows have it (learn/kernel/groups.h), from its definition. */
#ifndef TESTS_UNIT_CORE_RARITY_H
#define TESTS_UNIT_CORE_RARITY_H

#include <math.h>

/* (n + 2)^(-3/8) with a logarithm that is straight between powers of two, and a power that is straight too: what is
 * left of both, times a constant that steps do not notice. */
static inline double straight_inverse_frequency(double n)
{
    int e;
    double f = 2 * frexp(n + 2, &e) - 1, power = 0x57697834p-23 - 127 - 0.375 * (127 + (e - 1) + f);
    return exp2(floor(power)) * (1 + power - floor(power));
}

#endif
