/* The inside of a model: weights, intercepts and labels, read-only once made. */
#ifndef GSA_MODEL_MODEL_H
#define GSA_MODEL_MODEL_H

#include "learn/config.h"
#include "learn/labels.h"
#include "learn/state.h"

#define GSAI_MAX_DEVIATIONS ((size_t)16384)

/* Standard deviations of the strongest features. */
typedef struct gsai_deviations {
    uint32_t *id;
    float *value;
    size_t n; /* 0: none is known */
} gsai_deviations;

struct gsa_model {
    gsai_env env;
    const gsai_loss *loss;
    char method[GSAI_PARAM_TEXT], average[GSAI_PARAM_TEXT];
    bool has_intercept;
    uint64_t n_rows, n_passes;
    gsai_results results;
    uint64_t n_features;
    size_t n_outputs;
    gsai_labels labels; /* in canonical order */
    char *schema;       /* NULL: none */
    gsai_names names;
    gsai_deviations deviations;
    const float *weights; /* [n_features x n_outputs], row-major */
    double *intercept;    /* [n_outputs], zeros without one */
    float *owned_weights; /* what `weights` points to, unless it is the memory of an owner */
    void (*close_owner)(void *owner);
    void *owner;
};

/* Makes an empty model; the caller fills it in. */
gsa_status gsai_model_create(const gsai_env *env, gsa_model **out, gsa_error *error);

/* Computes the margins of n rows of a checked batch, n_outputs each. Values need not be finite; ids that are too large
 * are absent. The rows of a batch come in their order. */
void gsai_model_margins(const gsa_model *model, const gsa_batch *batch, size_t from, size_t n, double *out);
/* Converts margins to predictions: max(1, n_classes) numbers, in place if there is one margin per class. Hinge losses
 * have no probabilities: the margin of every class instead. */
void gsai_model_row_predict(const gsa_model *model, const double *margins, double *out);

/* Makes room for n deviations; what was made on failure goes with the model. strongest_features.c. */
gsa_status gsai_deviations_init(gsai_deviations *deviations, size_t n, const gsai_env *env, gsa_error *error);
/* Fills in those of a model that has its weights, which came from this state. */
gsa_status gsai_deviations_of(gsa_model *model, const gsa_state *state, gsa_error *error);

#endif
