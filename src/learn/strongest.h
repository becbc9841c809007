/* The strongest features, by |weight| x deviation; of equals the lower id. They are offered with ascending ids. */
#ifndef GSA_LEARN_STRONGEST_H
#define GSA_LEARN_STRONGEST_H

#include "base/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gsai_feature_strength {
    uint32_t id;
    float deviation;
    double strength;
    const char *text; /* its name; NULL: none was asked for */
} gsai_feature_strength;

typedef struct gsai_strongest {
    const gsai_env *env;
    size_t max; /* how many are wanted */
    gsai_feature_strength *at;
    size_t n, capacity;
    double least; /* a feature that is not stronger is not among the strongest; -1 at first */
} gsai_strongest;

/* Adds a feature that is stronger than `least`. Returns false if out of memory. */
bool gsai_strongest_add(gsai_strongest *strongest, gsai_feature_strength feature);
/* Leaves the strongest, with ascending ids. */
void gsai_strongest_finish(gsai_strongest *strongest);

#endif
