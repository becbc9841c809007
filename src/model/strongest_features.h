/* Standard deviations of the strongest features of a model. */
#ifndef GSA_MODEL_STRONGEST_FEATURES_H
#define GSA_MODEL_STRONGEST_FEATURES_H

#include "base/env.h"

#define GSAI_MAX_DEVIATIONS ((size_t)16384)

typedef struct gsai_deviations {
    uint32_t *id;
    float *value;
    size_t n; /* 0: none is known */
} gsai_deviations;

/* Makes room for n of them. */
gsa_status gsai_deviations_init(gsai_deviations *deviations, size_t n, const gsai_env *env, gsa_error *error);
void gsai_deviations_release(gsai_deviations *deviations, const gsai_env *env);
/* Fills in those of a model that has its weights, which came from this state. */
gsa_status gsai_deviations_of(gsa_model *model, const gsa_state *state, gsa_error *error);

#endif
