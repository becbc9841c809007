/* Models as bundles. The format is specified in docs/formats/model.md. */
#include "model/model.h"
#include "store/fields.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define FORMAT "greedystep.model"

static const gsai_field fields[] = {
    {"n_features", offsetof(gsa_model, n_features), 1, GSAI_U64, (uint64_t)GSA_MAX_ID + 1},
    {"n_rows", offsetof(gsa_model, n_rows), 1, GSAI_U64, UINT64_MAX},
    {"n_passes", offsetof(gsa_model, n_passes), 1, GSAI_U64, UINT64_MAX},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool feature_is_zero(const gsa_model *model, uint64_t feature)
{
    for (size_t k = 0; k < model->n_outputs; k++)
        if (model->weights[feature * model->n_outputs + k] != 0)
            return false;
    return true;
}

/* Only the features that have a weight, where ids and weights together are smaller than the whole table. */
static gsa_status add_weights(gsai_snapshot *snapshot, const gsa_model *model, gsa_error *error)
{
    uint64_t n_used = 0;
    for (uint64_t i = 0; i < model->n_features; i++)
        n_used += !feature_is_zero(model, i);
    bool sparse = n_used * (model->n_outputs + 1) < model->n_features * model->n_outputs;
    const float *weights = model->weights;
    if (sparse) {
        uint32_t *ids = gsai_snapshot_alloc(snapshot, (size_t)n_used, sizeof *ids);
        float *used = gsai_snapshot_alloc(snapshot, (size_t)n_used, model->n_outputs * sizeof *used);
        if (!ids || !used)
            return gsai_fail_memory(&model->env, error, "no memory for %llu features", (unsigned long long)n_used);
        gsai_snapshot_vector(snapshot, "feature", GSAI_U32, ids, n_used);
        weights = used;
        for (uint64_t i = 0; i < model->n_features; i++) {
            if (feature_is_zero(model, i))
                continue;
            *ids++ = (uint32_t)i;
            memcpy(used, model->weights + i * model->n_outputs, model->n_outputs * sizeof *used);
            used += model->n_outputs;
        }
    }
    gsai_snapshot_matrix(snapshot, "weight", GSAI_F32, weights, sparse ? n_used : model->n_features, model->n_outputs);
    return GSA_OK;
}

static gsa_status describe(gsai_snapshot *snapshot, const gsa_model *model, gsa_error *error)
{
    gsai_snapshot_note(snapshot, "format", FORMAT);
    gsai_snapshot_note(snapshot, "version", GSAI_FORMAT_VERSION);
    gsai_snapshot_note(snapshot, "loss", gsai_loss_name(model->loss));
    gsai_snapshot_note(snapshot, "method", model->method);
    gsai_snapshot_note(snapshot, "average", model->average);
    gsai_snapshot_note(snapshot, "intercept", model->has_intercept ? "on" : "off");
    gsai_snapshot_fields(snapshot, fields, FIELDS, model);
    gsai_snapshot_vector(snapshot, "intercept", GSAI_F64, model->intercept, model->n_outputs);
    gsai_snapshot_schema(snapshot, model->schema);
    gsai_snapshot_names(snapshot, &model->names);
    GSA_TRY(gsai_snapshot_labels(snapshot, &model->labels, error));
    return add_weights(snapshot, model, error);
}

gsa_status gsai_model_snapshot(const gsa_model *model, gsai_snapshot **out, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_snapshot_new(&model->env, &snapshot, error));
    gsa_status status = describe(snapshot, model, error);
    if (status == GSA_OK)
        *out = snapshot;
    else
        gsai_snapshot_free(snapshot);
    return status;
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

/* The value of a parameter, which must be one that it can have. */
static gsa_status restore_value(const gsai_bundle *bundle, gsai_param_id id, char out[GSAI_PARAM_TEXT],
                                gsa_error *error)
{
    const char *text, *key = gsa_param_at((size_t)id)->name;
    gsai_params params;
    GSA_TRY(gsai_bundle_need_note(bundle, key, &text, error));
    gsai_params_init(&params);
    if (gsai_params_set(&params, key, text, NULL) != GSA_OK)
        return gsai_fail(error, GSA_FORMAT, "the %s of a model cannot be '%.40s'", key, text);
    memcpy(out, params.text[id], GSAI_PARAM_TEXT);
    return GSA_OK;
}

static gsa_status restore_numbers(gsa_model *model, const gsai_bundle *bundle, gsa_error *error)
{
    char intercept[GSAI_PARAM_TEXT] = "";
    GSA_TRY(gsai_bundle_loss(bundle, "loss", false, &model->loss, error));
    GSA_TRY(restore_value(bundle, GSAI_PARAM_method, model->method, error));
    GSA_TRY(restore_value(bundle, GSAI_PARAM_average, model->average, error));
    GSA_TRY(restore_value(bundle, GSAI_PARAM_intercept, intercept, error));
    GSA_TRY(gsai_fields_restore(fields, FIELDS, bundle, model, &gsai_load_model, error));
    GSA_TRY(gsai_labels_restore(&model->labels, bundle, error));
    model->has_intercept = strcmp(intercept, "on") == 0;
    model->n_outputs = gsai_loss_outputs(model->loss, model->labels.n) > 1 ? model->labels.n : 1;
    if (model->labels.n > model->loss->max_labels || (gsai_loss_has_classes(model->loss) && model->labels.n == 0))
        return gsai_fail(error, GSA_FORMAT, "a model of %zu labels and %s loss cannot be", model->labels.n,
                         gsai_loss_name(model->loss));
    return GSA_OK;
}

static gsa_status all_finite(const gsai_tensor *tensor, gsa_error *error)
{
    uint64_t n = gsai_tensor_len(tensor);
    const float *single = tensor->dtype == GSAI_F32 ? tensor->data : NULL;
    const double *exact = tensor->data;
    for (uint64_t i = 0; i < n; i++)
        if (single ? !isfinite(single[i]) : !isfinite(exact[i]))
            return gsai_fail(error, GSA_FORMAT, "element %llu of tensor '%s' is not a finite number",
                             (unsigned long long)i, tensor->name);
    return GSA_OK;
}

/* The full table from the features that are stored. */
static gsa_status expand(gsa_model *model, const uint32_t *ids, const float *weights, uint64_t n_ids, gsa_error *error)
{
    size_t row_size = model->n_outputs * sizeof(float);
    model->owned_weights = gsai_alloc_zeroed(&model->env, (size_t)model->n_features, row_size);
    if (!model->owned_weights)
        return gsai_fail_memory(&model->env, error, "no memory for a model of %llu features and %zu output%s",
                                (unsigned long long)model->n_features, model->n_outputs,
                                model->n_outputs == 1 ? "" : "s");
    gsai_prefer_huge_pages(model->owned_weights, (size_t)model->n_features * row_size);
    for (uint64_t i = 0; i < n_ids; i++) {
        uint64_t id = ids ? ids[i] : i;
        if (id >= model->n_features || (ids && i > 0 && ids[i] <= ids[i - 1]))
            return gsai_fail(error, GSA_FORMAT, "feature %llu is out of order or range", (unsigned long long)id);
        memcpy(model->owned_weights + id * model->n_outputs, weights + i * model->n_outputs, row_size);
    }
    model->weights = model->owned_weights;
    return GSA_OK;
}

static gsa_status restore_weights(gsa_model *model, const gsai_bundle *bundle, bool may_keep, int *kept,
                                  gsa_error *error)
{
    const gsai_tensor *weights, *ids;
    GSA_TRY(gsai_bundle_may_have(bundle, "feature", GSAI_U32, GSAI_ANY_LEN, &ids, error));
    uint64_t n_ids = ids ? gsai_tensor_len(ids) : model->n_features;
    GSA_TRY(gsai_bundle_need(bundle, "weight", GSAI_F32, n_ids * model->n_outputs, &weights, error));
    GSA_TRY(all_finite(weights, error));
    if (!ids && may_keep) {
        model->weights = weights->data;
        *kept = 1;
        return GSA_OK;
    }
    return expand(model, ids ? ids->data : NULL, weights->data, n_ids, error);
}

static gsa_status restore_intercept(gsa_model *model, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *intercept;
    GSA_TRY(gsai_bundle_need(bundle, "intercept", GSAI_F64, model->n_outputs, &intercept, error));
    GSA_TRY(all_finite(intercept, error));
    model->intercept = gsai_copy(&model->env, intercept->data, model->n_outputs, sizeof *model->intercept);
    return model->intercept ? GSA_OK
                            : gsai_fail_memory(&model->env, error, "no memory for %zu outputs", model->n_outputs);
}

static gsa_status restore_all(gsa_model *model, const gsai_bundle *bundle, bool may_keep, int *kept, gsa_error *error)
{
    GSA_TRY(restore_numbers(model, bundle, error));
    GSA_TRY(gsai_schema_restore(&model->schema, bundle, &model->env, error));
    GSA_TRY(gsai_names_restore(&model->names, bundle, &model->env, error));
    GSA_TRY(restore_intercept(model, bundle, error));
    return restore_weights(model, bundle, may_keep, kept, error);
}

gsa_status gsai_model_restore(const gsai_bundle *bundle, const gsa_env *env, void (*close)(void *owner), void *owner,
                              int *kept, gsa_model **out, gsa_error *error)
{
    gsa_model *model;
    *kept = 0;
    GSA_TRY(gsai_bundle_check(bundle, FORMAT, error));
    GSA_TRY(gsai_model_create(env, &model, error));
    gsa_status status = restore_all(model, bundle, close != NULL, kept, error);
    if (status != GSA_OK) {
        *kept = 0;
        gsa_model_free(model);
        return status;
    }
    if (*kept) {
        model->close_owner = close;
        model->owner = owner;
    }
    *out = model;
    return GSA_OK;
}
