/* Models as bundles. The format is specified in docs/formats/model.md. */
#include "learn/schema.h"
#include "model/model.h"
#include "store/notes.h"
#include "store/snapshot.h"

#include "base/error.h"
#include "base/memory.h"

#include <stddef.h>
#include <string.h>

#define FORMAT "greedystep.model"

static const gsai_stored_field fields[] = {
    {{"n_features", GSAI_U64, (uint64_t)GSA_MAX_ID + 1}, offsetof(gsa_model, n_features), 1},
    {{"n_rows", GSAI_U64, UINT64_MAX}, offsetof(gsa_model, n_rows), 1},
    {{"n_passes", GSAI_U64, UINT64_MAX}, offsetof(gsa_model, n_passes), 1},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const gsai_tensor_key feature_key = {"feature", GSAI_U32, GSA_MAX_ID},
                             weight_key = {"weight", GSAI_F32, GSAI_FINITE},
                             intercept_key = {"intercept", GSAI_F64, GSAI_FINITE},
                             deviation_feature = {"deviation.feature", GSAI_U32, GSA_MAX_ID},
                             deviation_value = {"deviation.value", GSAI_F32, GSAI_NOT_NEGATIVE};

/* The next feature with a weight. */
static size_t next_feature(const void *ctx, size_t feature, size_t n_features)
{
    const gsa_model *model = ctx;
    size_t i = feature * model->n_outputs, end = n_features * model->n_outputs;
    while (i < end && model->weights[i] == 0)
        i++;
    return i / model->n_outputs;
}

/* The weights of all features, at `at`. */
static gsai_line_tensor weights_of(const gsa_model *model, const float *at)
{
    size_t n_outputs = model->n_outputs;
    return (gsai_line_tensor){weight_key, 2, n_outputs, (char *)at, n_outputs * sizeof *at, (size_t)model->n_features};
}

static void describe(gsai_snapshot *snapshot, const gsa_model *model)
{
    gsai_snapshot_note(snapshot, "format", FORMAT);
    gsai_snapshot_note(snapshot, "version", GSAI_FORMAT_VERSION);
    gsai_snapshot_note(snapshot, "loss", gsai_loss_name(model->loss));
    gsai_snapshot_note(snapshot, "method", model->method);
    gsai_snapshot_note(snapshot, "average", model->average);
    gsai_snapshot_note(snapshot, "intercept", model->has_intercept ? "on" : "off");
    gsai_snapshot_fields(snapshot, fields, FIELDS, model);
    gsai_results_save(snapshot, &model->results);
    gsai_snapshot_add(snapshot, &intercept_key, model->intercept, model->n_outputs);
    gsai_labels_save(snapshot, &model->labels);
    gsai_schema_save(snapshot, model->schema);
    gsai_names_save(snapshot, &model->names);
    if (model->deviations.n > 0) {
        gsai_snapshot_add(snapshot, &deviation_feature, model->deviations.id, model->deviations.n);
        gsai_snapshot_add(snapshot, &deviation_value, model->deviations.value, model->deviations.n);
    }
    gsai_line_tensor weights = weights_of(model, model->weights);
    gsai_snapshot_lines(snapshot, &weights, 1, &feature_key, (size_t)model->n_features, next_feature, model);
}

gsa_status gsai_model_snapshot(const gsa_model *model, gsai_snapshot **out, gsa_error *error)
{
    gsai_snapshot *snapshot;
    GSA_TRY(gsai_snapshot_new(&model->env, &snapshot, error));
    describe(snapshot, model);
    return gsai_snapshot_finish(snapshot, gsai_arena_check(&snapshot->owned, "the description of a model", error), out);
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

static gsa_status restore_numbers(gsa_model *model, const gsai_bundle *bundle, gsa_error *error)
{
    static const gsai_param_id ids[] = {GSAI_PARAM_method, GSAI_PARAM_average, GSAI_PARAM_intercept};
    gsai_params params;
    gsai_params_init(&params);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        GSA_TRY(gsai_bundle_param(bundle, ids[i], &params, error));
    GSA_TRY(gsai_bundle_loss(bundle, "loss", false, &model->loss, error));
    GSA_TRY(gsai_bundle_fields(bundle, fields, FIELDS, model, error));
    GSA_TRY(gsai_results_load(&model->results, bundle, error));
    GSA_TRY(gsai_labels_load(&model->labels, bundle, error));
    GSA_TRY(gsai_schema_load(&model->schema, bundle, &model->env, error));
    GSA_TRY(gsai_names_load(&model->names, bundle, &model->env, error));
    memcpy(model->method, params.text[GSAI_PARAM_method], sizeof model->method);
    memcpy(model->average, params.text[GSAI_PARAM_average], sizeof model->average);
    model->has_intercept = params.value[GSAI_PARAM_intercept];
    model->n_outputs = gsai_loss_outputs(model->loss, model->labels.n) > 1 ? model->labels.n : 1;
    if (model->labels.n > model->loss->max_labels || (gsai_loss_has_classes(model->loss) && model->labels.n == 0))
        return gsai_fail(error, GSA_FORMAT, "a model cannot have %zu labels and %s loss", model->labels.n,
                         gsai_loss_name(model->loss));
    return GSA_OK;
}

/* Used where they are in the bundle if all of them are there and it may be kept, else copied. */
static gsa_status restore_weights(gsa_model *model, const gsai_bundle *bundle, bool may_keep, int *kept,
                                  gsa_error *error)
{
    gsai_lines lines;
    size_t n = (size_t)model->n_features, row_size = model->n_outputs * sizeof(float);
    const gsai_tensor *found;
    GSA_TRY(gsai_lines_find(bundle, &feature_key, n, &lines, error));
    GSA_TRY(gsai_bundle_need(bundle, &weight_key, (uint64_t)lines.n * model->n_outputs, &found, error));
    if (!lines.id && may_keep) {
        model->weights = found->data;
        *kept = 1;
        return GSA_OK;
    }
    model->owned_weights = gsai_alloc_zeroed(&model->env, n, row_size);
    GSAI_TRY_MEMORY(model->owned_weights, &model->env, error, "no memory for a model of %zu features and %zu output%s",
                    n, model->n_outputs, model->n_outputs == 1 ? "" : "s");
    gsai_prefer_huge_pages(model->owned_weights, n * row_size);
    model->weights = model->owned_weights;
    gsai_line_tensor weights = weights_of(model, model->owned_weights);
    return gsai_lines_restore(&weights, &lines, bundle, error);
}

static gsa_status restore_intercept(gsa_model *model, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *intercept;
    GSA_TRY(gsai_bundle_need(bundle, &intercept_key, model->n_outputs, &intercept, error));
    model->intercept = gsai_copy(&model->env, intercept->data, model->n_outputs, sizeof *model->intercept);
    return model->intercept ? GSA_OK
                            : gsai_fail_memory(&model->env, error, "no memory for %zu outputs", model->n_outputs);
}

static gsa_status restore_deviations(gsa_model *model, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *ids, *values;
    GSA_TRY(gsai_bundle_may_have(bundle, &deviation_feature, GSAI_ANY_LEN, &ids, error));
    if (!ids)
        return GSA_OK;
    size_t n = (size_t)gsai_tensor_len(ids);
    GSA_TRY(gsai_bundle_need(bundle, &deviation_value, n, &values, error));
    const uint32_t *id = ids->data;
    for (size_t i = 0; i < n; i++)
        if (id[i] >= model->n_features || (i > 0 && id[i] <= id[i - 1]))
            return gsai_fail(error, GSA_FORMAT, "the deviations of features are damaged");
    GSA_TRY(gsai_deviations_init(&model->deviations, n, &model->env, error));
    memcpy(model->deviations.id, id, n * sizeof *id);
    memcpy(model->deviations.value, values->data, n * sizeof *model->deviations.value);
    return GSA_OK;
}

static gsa_status restore_all(gsa_model *model, const gsai_bundle *bundle, bool may_keep, int *kept, gsa_error *error)
{
    GSA_TRY(restore_numbers(model, bundle, error));
    GSA_TRY(restore_intercept(model, bundle, error));
    GSA_TRY(restore_deviations(model, bundle, error));
    return restore_weights(model, bundle, may_keep, kept, error);
}

gsa_status gsai_model_restore(const gsai_bundle *bundle, const gsai_env *env, void (*close)(void *owner), void *owner,
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
