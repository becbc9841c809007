/* The features of a model with the largest absolute weights, kept in order while all weights are walked once. */
#include "strongest.h"

#include "report.h"

#include <math.h>
#include <stdlib.h>

static void consider(strongest *what, strong_feature feature)
{
    size_t at = what->n_top;
    if (at == what->most_top && (at == 0 || fabsf(what->top[at - 1].weight) >= fabsf(feature.weight)))
        return;
    if (at < what->most_top)
        what->n_top++;
    else
        at--;
    for (; at > 0 && fabsf(what->top[at - 1].weight) < fabsf(feature.weight); at--)
        what->top[at] = what->top[at - 1];
    what->top[at] = feature;
}

bool strongest_find(const gsa_model *model, size_t most, uint64_t first_used, strongest *out)
{
    gsa_model_info info;
    gsa_model_get_info(model, &info);
    *out = (strongest){.model = model, .n_outputs = (size_t)info.n_outputs, .most_top = most};
    out->top = calloc(most + 1, sizeof *out->top);
    if (out->top == NULL)
        return false;
    for (uint64_t id = 0; id < info.n_features; id++) {
        strong_feature feature = {.id = id};
        for (size_t output = 0; output < out->n_outputs; output++) {
            float weight = gsa_model_weight(model, id, output);
            out->n_nonzero += weight != 0;
            if (fabsf(weight) > fabsf(feature.weight)) {
                feature.weight = weight;
                feature.output = output;
            }
        }
        if (feature.weight != 0)
            consider(out, feature);
        out->n_used += feature.weight != 0 && id >= first_used;
    }
    return true;
}

void strongest_free(strongest *what)
{
    free(what->top);
    what->top = NULL;
}

const char *strongest_label(const strongest *what, const strong_feature *feature)
{
    return what->n_outputs > 1 ? gsa_model_label(what->model, feature->output) : NULL;
}

json_t *strongest_json(const strongest *what)
{
    json_t *list = json_array();
    for (size_t i = 0; i < what->n_top; i++) {
        json_t *entry = json_object();
        const char *label = strongest_label(what, &what->top[i]), *name = gsa_model_name(what->model, what->top[i].id);
        json_object_set_new(entry, "index", report_count(what->top[i].id + 1));
        json_object_set_new(entry, "weight", report_real((double)what->top[i].weight));
        if (label != NULL)
            json_object_set_new(entry, "label", report_text(label));
        if (name != NULL)
            json_object_set_new(entry, "name", report_text(name));
        json_array_append_new(list, entry);
    }
    return list;
}

json_t *strongest_intercepts(const strongest *what)
{
    gsa_model_info info;
    gsa_model_get_info(what->model, &info);
    if (!info.has_intercept)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < what->n_outputs; i++)
        json_array_append_new(list, report_real((double)gsa_model_intercept(what->model, i)));
    return list;
}
