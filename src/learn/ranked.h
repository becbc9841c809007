/* Features in the order of their strength, |weight| x deviation; of equals the lower id comes first. */
#ifndef GSA_LEARN_RANKED_H
#define GSA_LEARN_RANKED_H

#include <stddef.h>
#include <stdint.h>

typedef struct gsai_ranked {
    uint32_t id;
    float deviation;
    double strength;
    const char *text; /* its name; NULL: none was asked for */
} gsai_ranked;

/* Moves the strongest to the front, if there are more than `max`. Returns how many are kept. */
size_t gsai_ranked_keep(gsai_ranked *at, size_t n, size_t max);
/* Sorts by id, ascending. */
void gsai_ranked_by_id(gsai_ranked *at, size_t n);

#endif
