/* The features of the largest absolute values (counts), kept in order while all features are walked once. */
#ifndef GREEDYSTEP_CLI_TOP_H
#define GREEDYSTEP_CLI_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct top_feature {
    uint64_t id;
    double value;
} top_feature;

typedef struct top_features {
    top_feature *at; /* the largest first; of equals the one that came first */
    size_t n, max;
} top_features;

/* Prepares a list of `max` features; returns false if out of memory. */
bool top_init(top_features *top, size_t max);
void top_free(top_features *top);
/* Enters a feature at its place, if it belongs among them. */
void top_consider(top_features *top, top_feature feature);

#endif
