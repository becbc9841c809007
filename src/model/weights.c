/* The weights of a model: of all features, or, of hashed ones, of those that have any.
 *
 *   W1  ids ascend, and each has a line of weights. Without ids line i is that of feature i;
 *   W2  start[b] is the first line of the ids whose upper bits are b: there are about as many such numbers as lines, so
 *       that the ids of one are few, and of ids that are chosen to be many a search takes the logarithm;
 *   W3  memory and time to make all this are in proportion to the lines. */
#include "model/model.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Up to here the weights of all features are near. */
#define NEAR_WEIGHTS ((uint64_t)1 << 14)

uint64_t gsai_model_count_used(const gsa_model *model)
{
    uint64_t n = 0;
    const float *weight = model->weights;
    for (uint64_t line = 0; line < model->n_lines; line++, weight += model->n_outputs) {
        bool any = false;
        for (size_t k = 0; k < model->n_outputs; k++)
            any |= weight[k] != 0;
        n += any;
    }
    return n;
}

bool gsai_model_prefers_all(const gsa_model *model, uint64_t n_lines)
{
    size_t line = model->n_outputs * sizeof(float);
    return model->n_features * model->n_outputs <= NEAR_WEIGHTS ||
           (double)model->n_features * (double)line <= (double)n_lines * (double)(line + 3 * sizeof(uint32_t));
}

gsa_status gsai_model_index(gsa_model *model, gsa_error *error)
{
    uint64_t n = model->n_lines, n_starts;
    model->shift = 0;
    while ((model->n_features >> model->shift) + 1 > 2 * n + 1)
        model->shift++;
    n_starts = (model->n_features >> model->shift) + 2;
    model->start = gsai_alloc(&model->env, (size_t)n_starts, sizeof *model->start);
    GSAI_TRY_MEMORY(model->start, &model->env, error, "no memory for a model of %llu features", (unsigned long long)n);
    uint64_t line = 0;
    for (uint64_t b = 0; b < n_starts; b++) {
        while (line < n && model->id[line] >> model->shift < b)
            line++;
        model->start[b] = (uint32_t)line;
    }
    return GSA_OK;
}

gsa_status gsai_model_spread(gsa_model *model, const uint32_t *id, const float *weights, gsa_error *error)
{
    size_t n = (size_t)model->n_features, n_outputs = model->n_outputs, size = n_outputs * sizeof(float);
    float *all = gsai_alloc_zeroed(&model->env, n, size);
    GSAI_TRY_MEMORY(all, &model->env, error, "no memory for a model of %zu features and %zu output%s", n, n_outputs,
                    n_outputs == 1 ? "" : "s");
    gsai_prefer_huge_pages(all, n * size);
    for (uint64_t line = 0; line < model->n_lines; line++)
        memcpy(all + id[line] * n_outputs, weights + line * n_outputs, size);
    model->owned_weights = all;
    model->weights = all;
    model->n_lines = model->n_features;
    return GSA_OK;
}

gsa_status gsai_model_take_lines(gsa_model *model, uint32_t *id, float *weights, uint64_t n, gsa_error *error)
{
    gsa_status status;
    model->n_lines = model->n_used = n;
    if (gsai_model_prefers_all(model, n)) {
        status = gsai_model_spread(model, id, weights, error);
        gsai_free(&model->env, id);
        gsai_free(&model->env, weights);
        return status;
    }
    model->id = model->owned_id = id;
    model->weights = model->owned_weights = weights;
    return gsai_model_index(model, error);
}

const uint32_t *gsa_model_features(const gsa_model *model, uint64_t *n)
{
    *n = model->n_lines;
    return model->id;
}

gsa_status gsa_model_curve(const gsa_model *model, size_t number, gsa_curve *out)
{
    const gsai_basis *basis = &model->basis;
    if (number >= basis->n)
        return GSA_END;
    const gsai_curve *curve = &basis->curve[number];
    gsa_curve found = {.feature = curve->feature,
                       .first = basis->at + curve->first,
                       .n_knots = curve->n_knots,
                       .knot = basis->knot + curve->first,
                       .share = basis->share + curve->first};
    return gsai_give_sized(out, &found, sizeof found);
}

gsa_status gsa_model_pair(const gsa_model *model, size_t number, gsa_pair *out)
{
    const gsai_basis *basis = &model->basis;
    if (number >= basis->n_surfaces)
        return GSA_END;
    const gsai_surface *surface = &basis->surface[number];
    gsa_pair found = {.first = basis->at + surface->first, .share = basis->share + surface->first};
    for (int i = 0; i < 2; i++) {
        const gsai_curve *side = &basis->side[surface->side[i]];
        found.feature[i] = side->feature;
        found.n_knots[i] = side->n_knots;
        found.knot[i] = basis->side_knot + side->first;
    }
    return gsai_give_sized(out, &found, sizeof found);
}
