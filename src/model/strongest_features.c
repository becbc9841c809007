/* The features that move predictions most: |weight| x the standard deviation of the feature.
 *
 *   1 A model has the deviations of its strongest features only: those of all would double the file.
 *   2 Ids ascend. Nothing that is predicted depends on them. */
#include "model/model.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

gsa_status gsai_deviations_init(gsai_deviations *deviations, size_t n, const gsai_env *env, gsa_error *error)
{
    deviations->id = gsai_alloc(env, n, sizeof *deviations->id);
    deviations->value = gsai_alloc(env, n, sizeof *deviations->value);
    GSAI_TRY_MEMORY(deviations->id && deviations->value, env, error, "no memory for the deviations of %zu features", n);
    deviations->n = n;
    return GSA_OK;
}

/* The largest absolute of the weights of a feature, and its output. */
static double largest_weight(const gsa_model *model, const float *weight, size_t *output)
{
    *output = 0;
    for (size_t k = 1; k < model->n_outputs; k++)
        if (fabsf(weight[k]) > fabsf(weight[*output]))
            *output = k;
    return fabs((double)weight[*output]);
}

gsa_status gsai_deviations_add(gsai_strongest *strongest, const gsa_model *model, uint32_t feature, const float *weight,
                               double deviation, gsa_error *error)
{
    size_t output;
    double strength = largest_weight(model, weight, &output) * deviation;
    if (strength > strongest->least &&
        !gsai_strongest_add(strongest, (gsai_feature_strength){feature, (float)fmin(deviation, 1e38), strength, NULL}))
        return gsai_fail_memory(&model->env, error, "no memory for the deviations of %zu features", strongest->n);
    return GSA_OK;
}

gsa_status gsai_deviations_take(gsa_model *model, gsai_strongest *strongest, gsa_error *error)
{
    gsai_strongest_finish(strongest);
    if (strongest->n > 0)
        GSA_TRY(gsai_deviations_init(&model->deviations, strongest->n, &model->env, error));
    for (size_t i = 0; i < strongest->n; i++) {
        model->deviations.id[i] = strongest->at[i].id;
        model->deviations.value[i] = strongest->at[i].deviation;
    }
    return GSA_OK;
}

static double strength_of(const gsa_strong_feature *feature)
{
    return isnan(feature->importance) ? fabs(feature->weight) : feature->importance;
}

/* Inserts a feature at its place, if it is among the strongest; of equals the lower id comes first. */
static size_t insert(gsa_strong_feature *out, size_t n, size_t max, gsa_strong_feature feature)
{
    size_t at = n < max ? n++ : max;
    for (; at > 0 && strength_of(&out[at - 1]) < strength_of(&feature); at--)
        if (at < max)
            out[at] = out[at - 1];
    if (at < max)
        out[at] = feature;
    return n;
}

/* Returns the standard deviation of what a curve adds to a margin. */
static double curve_strength(const gsa_model *model, const gsa_curve *curve, size_t output)
{
    double total = 0, mean = 0, squares = 0;
    for (uint32_t i = 0; i < curve->n_knots; i++) {
        const float *weight = gsai_model_find(model, curve->first + i);
        double share = (double)curve->share[i], off = (weight ? (double)weight[output] : 0) - mean;
        total += share;
        mean += total > 0 ? off * share / total : 0;
        squares += total > 0 ? share * off * off * (1 - share / total) : 0;
    }
    return total > 0 ? sqrt(squares / total) : 0;
}

size_t gsa_model_strongest(const gsa_model *model, size_t output, gsa_strong_feature *out, size_t max)
{
    const gsai_deviations *known = &model->deviations;
    uint64_t n_features = known->n > 0 ? known->n : model->n_lines;
    size_t n = 0;
    for (uint64_t i = 0; i < n_features && max > 0; i++) {
        uint64_t id = known->n > 0 ? known->id[i] : model->id ? model->id[i] : i;
        const float *weight = gsai_model_find(model, id);
        gsa_strong_feature feature = {.feature = id, .output = output, .importance = NAN};
        if (!weight || (id >= model->basis.at && id < model->basis.at + model->basis.n_ids))
            continue;
        if (output >= model->n_outputs)
            largest_weight(model, weight, &feature.output);
        feature.weight = (double)weight[feature.output];
        if (known->n > 0)
            feature.importance = fabs(feature.weight) * (double)known->value[i];
        if (feature.weight != 0)
            n = insert(out, n, max, feature);
    }
    gsa_curve curve = {.size = sizeof curve};
    for (size_t i = 0; max > 0 && gsa_model_curve(model, i, &curve) == GSA_OK; i++) {
        gsa_strong_feature feature = {curve.feature, output < model->n_outputs ? output : 0, NAN, 0};
        feature.importance = curve_strength(model, &curve, feature.output);
        for (size_t k = 0; k < model->n_outputs && output >= model->n_outputs; k++)
            if (curve_strength(model, &curve, k) > feature.importance) {
                feature.output = k;
                feature.importance = curve_strength(model, &curve, k);
            }
        if (feature.importance > 0)
            n = insert(out, n, max, feature);
    }
    return n;
}
