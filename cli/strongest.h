/* The features of a model that move predictions most. */
#ifndef GREEDYSTEP_CLI_STRONGEST_H
#define GREEDYSTEP_CLI_STRONGEST_H

#include <greedystep/greedystep.h>

#include <jansson.h>
#include <stdbool.h>

typedef struct strongest {
    const gsa_model *model;
    size_t n_outputs;
    gsa_strong_feature *at; /* the strongest first, each at the output where its weight is largest */
    size_t n;
    bool has_importance; /* else they are ranked by their weights alone */
    uint64_t n_nonzero;  /* weights */
    uint64_t n_used;     /* features whose weight is not 0, from `first_used` on */
} strongest;

/* Looks at every weight of the model, which must outlive the result. Returns false if out of memory. */
bool strongest_find(const gsa_model *model, size_t max, uint64_t first_used, strongest *out);
void strongest_free(strongest *what);

/* Returns the class that a weight belongs to; NULL if there is one output. */
const char *strongest_label(const strongest *what, const gsa_strong_feature *feature);
/* Returns index (from 1), importance, weight and, if there are any, label and name of each feature. */
json_t *strongest_json(const strongest *what);
/* Returns the intercept of every output; null if the model has none. */
json_t *strongest_intercepts(const strongest *what);

#endif
