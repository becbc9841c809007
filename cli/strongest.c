/* The features of a model with the largest absolute weights. */
#include "strongest.h"

#include "report.h"
#include "views.h"

#include <math.h>

bool strongest_find(const gsa_model *model, size_t max, uint64_t first_used, strongest *out)
{
    gsa_model_info info = info_of(model);
    *out = (strongest){.model = model, .n_outputs = (size_t)info.n_outputs};
    if (!top_init(&out->top, max))
        return false;
    for (uint64_t id = 0; id < info.n_features; id++) {
        top_feature feature = {.id = id};
        for (size_t output = 0; output < out->n_outputs; output++) {
            double weight = (double)gsa_model_weight(model, id, output);
            out->n_nonzero += weight != 0;
            if (fabs(weight) > fabs(feature.value)) {
                feature.value = weight;
                feature.output = output;
            }
        }
        if (feature.value != 0)
            top_consider(&out->top, feature);
        out->n_used += feature.value != 0 && id >= first_used;
    }
    return true;
}

void strongest_free(strongest *what)
{
    top_free(&what->top);
}

const char *strongest_label(const strongest *what, const top_feature *feature)
{
    return what->n_outputs > 1 ? gsa_model_label(what->model, feature->output) : NULL;
}

json_t *strongest_json(const strongest *what)
{
    json_t *list = json_array();
    for (size_t i = 0; i < what->top.n; i++) {
        json_t *entry = json_object();
        const top_feature *feature = &what->top.at[i];
        const char *label = strongest_label(what, feature), *name = gsa_model_name(what->model, feature->id);
        json_object_set_new(entry, "index", report_count(feature->id + 1));
        json_object_set_new(entry, "weight", report_real(feature->value));
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
    if (!info_of(what->model).has_intercept)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < what->n_outputs; i++)
        json_array_append_new(list, report_real(gsa_model_intercept(what->model, i)));
    return list;
}
