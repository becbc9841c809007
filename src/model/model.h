/* The inside of a model: weights, intercepts and labels, read-only once made. */
#ifndef GSA_MODEL_MODEL_H
#define GSA_MODEL_MODEL_H

#include "learn/config.h"
#include "learn/finished.h"
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
    gsai_basis basis;
    gsai_deviations deviations;
    /* The weights, in lines: [n_lines x n_outputs], row-major (weights.c). */
    uint64_t n_lines, n_used; /* n_used: lines that are not zero */
    const uint32_t *id;       /* of each line, ascending; NULL: there is a line per feature */
    const float *weights;
    uint32_t *start; /* by the upper bits of an id: its first line */
    unsigned shift;
    double *intercept;  /* [n_outputs], zeros without one */
    uint32_t *owned_id; /* what `id` and `weights` point to, unless it is the memory of an owner */
    float *owned_weights;
    void (*close_owner)(void *owner);
    void *owner;
};

/* Makes an empty model; the caller fills it in. */
gsa_status gsai_model_create(const gsai_env *env, gsa_model **out, gsa_error *error);

/* ---- weights.c -------------------------------------------------------------------------------------------------- */

/* Returns the weights of a feature, NULL if it has none. */
static inline const float *gsai_model_find(const gsa_model *model, uint64_t feature)
{
    if (feature >= model->n_features)
        return NULL;
    if (!model->id)
        return model->weights + feature * model->n_outputs;
    const uint32_t *start = model->start + (feature >> model->shift);
    size_t low = start[0], high = start[1];
    while (high - low > 8) {
        size_t middle = low + (high - low) / 2;
        if (model->id[middle] <= feature)
            low = middle;
        else
            high = middle;
    }
    while (low < high && model->id[low] < feature)
        low++;
    return low < high && model->id[low] == feature ? model->weights + low * model->n_outputs : NULL;
}
/* Returns the number of lines that are not zero. */
uint64_t gsai_model_count_used(const gsa_model *model);
/* Returns whether weights of all features take no more memory than `n_lines` lines. */
bool gsai_model_prefers_all(const gsa_model *model, uint64_t n_lines);
/* Makes what finds the lines by their ids. */
gsa_status gsai_model_index(gsa_model *model, gsa_error *error);
/* Makes the weights of all features from lines. */
gsa_status gsai_model_spread(gsa_model *model, const uint32_t *id, const float *weights, gsa_error *error);
/* Takes over the lines of a model, none of which is zero, also on failure. */
gsa_status gsai_model_take_lines(gsa_model *model, uint32_t *id, float *weights, uint64_t n, gsa_error *error);

/* ---- predictions ------------------------------------------------------------------------------------------------ */

/* Computes the margins of n rows of a checked batch, n_outputs each. Values need not be finite; ids that are too large
 * are absent. The rows of a batch come in their order. */
void gsai_model_margins(const gsa_model *model, const gsa_batch *batch, size_t from, size_t n, double *out);
/* Adds a multiple of the entries of a row to n_outputs margins, one after the other; without pairs of columns. */
void gsai_model_add_row(const gsa_model *model, const gsai_row *row, double times, double *margins);
/* Adds what pairs of columns make of a row, each to margins `step` behind those of the one before. */
void gsai_model_add_pairs(const gsa_model *model, const gsai_row *row, size_t step, double *margins);
/* Converts margins to predictions: max(1, n_classes) numbers, in place if there is one margin per class. Hinge losses
 * have no probabilities: the margin of every class instead. */
void gsai_model_row_predict(const gsa_model *model, const double *margins, double *out);

/* Makes room for n deviations; what was made on failure goes with the model. strongest_features.c. */
gsa_status gsai_deviations_init(gsai_deviations *deviations, size_t n, const gsai_env *env, gsa_error *error);
/* Adds a feature with its weights, if it is among the strongest; fills in those of a model. */
gsa_status gsai_deviations_add(gsai_strongest *strongest, const gsa_model *model, uint32_t feature, const float *weight,
                               double deviation, gsa_error *error);
gsa_status gsai_deviations_take(gsa_model *model, gsai_strongest *strongest, gsa_error *error);

#endif
