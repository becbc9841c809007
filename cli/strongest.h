/* The features of a model with the largest absolute weights. */
#ifndef GREEDYSTEP_CLI_STRONGEST_H
#define GREEDYSTEP_CLI_STRONGEST_H

#include "top.h"

#include <greedystep/greedystep.h>

#include <jansson.h>
#include <stdbool.h>

typedef struct strongest {
    const gsa_model *model;
    size_t n_outputs;
    top_features top;   /* weights, each at the output where its absolute value is largest; the lower id of equals */
    uint64_t n_nonzero; /* weights */
    uint64_t n_used;    /* features with a weight, from `first_used` on */
} strongest;

/* Looks at every weight of the model, which must outlive the result. False if there is no memory. */
bool strongest_find(const gsa_model *model, size_t max, uint64_t first_used, strongest *out);
void strongest_free(strongest *what);

/* The class that a weight belongs to; NULL where all belong to one output. */
const char *strongest_label(const strongest *what, const top_feature *feature);
/* index (from 1), weight and, where there are any, label and name of each. */
json_t *strongest_json(const strongest *what);
/* The intercept of every output; null if the model has none. */
json_t *strongest_intercepts(const strongest *what);

#endif
