/* The features of a model that move predictions most. */
#include "strongest.h"

#include "report.h"
#include "views.h"

#include <math.h>
#include <stdlib.h>

static void count_weights(strongest *out, uint64_t n_features, uint64_t first_used)
{
    for (uint64_t id = 0; id < n_features; id++) {
        uint64_t before = out->n_nonzero;
        for (size_t output = 0; output < out->n_outputs; output++)
            out->n_nonzero += gsa_model_weight(out->model, id, output) != 0;
        out->n_used += out->n_nonzero > before && id >= first_used;
    }
}

bool strongest_find(const gsa_model *model, size_t max, uint64_t first_used, strongest *out)
{
    gsa_model_info info = info_of(model);
    *out = (strongest){.model = model, .n_outputs = (size_t)info.n_outputs};
    out->at = calloc(max + 1, sizeof *out->at);
    if (out->at == NULL)
        return false;
    out->n = gsa_model_strongest(model, SIZE_MAX, out->at, max);
    out->has_importance = out->n > 0 && !isnan(out->at[0].importance);
    count_weights(out, info.n_features, first_used);
    return true;
}

void strongest_free(strongest *what)
{
    free(what->at);
    what->at = NULL;
}

const char *strongest_label(const strongest *what, const gsa_strong_feature *feature)
{
    return what->n_outputs > 1 ? gsa_model_label(what->model, feature->output) : NULL;
}

json_t *strongest_json(const strongest *what)
{
    json_t *list = json_array();
    for (size_t i = 0; i < what->n; i++) {
        json_t *entry = json_object();
        const gsa_strong_feature *feature = &what->at[i];
        const char *label = strongest_label(what, feature), *name = gsa_model_name(what->model, feature->feature);
        json_object_set_new(entry, "index", report_count(feature->feature + 1));
        json_object_set_new(entry, "importance", report_real(feature->importance));
        json_object_set_new(entry, "weight", report_real(feature->weight));
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
