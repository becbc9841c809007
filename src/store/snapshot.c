/* States and models as bundles: all that a run needs to go on, or that predictions need. The format is specified in
 * docs/formats/model.md. */
#include "store/snapshot.h"

#include "learn/config.h"
#include "learn/loss/loss.h"
#include "learn/parts.h"
#include "learn/schema.h"
#include "learn/state.h"
#include "model/model.h"
#include "solve/solve.h"

#include "base/error.h"
#include "base/memory.h"

#include <stddef.h>
#include <string.h>

#define STATE_FORMAT "greedystep.state"
#define MODEL_FORMAT "greedystep.model"
#define FORMAT_VERSION "3"

/* ---- notes: the format, the loss, parameters -------------------------------------------------------------------- */

static gsa_status need_note(const gsai_bundle *bundle, const char *key, const char **out, gsa_error *error)
{
    *out = gsai_bundle_note(bundle, key);
    if (!*out)
        return gsai_fail(error, GSA_FORMAT, "the file does not say '%s'", key);
    return GSA_OK;
}

static gsa_status read_loss(const gsai_bundle *bundle, const char *key, bool may_be_auto, const gsai_loss **out,
                            gsa_error *error)
{
    const char *text;
    GSA_TRY(need_note(bundle, key, &text, error));
    *out = gsai_loss_find(text);
    bool known = *out || (may_be_auto && strcmp(text, gsai_loss_name(NULL)) == 0);
    return known ? GSA_OK : gsai_fail(error, GSA_FORMAT, "unknown loss '%.40s'", text);
}

/* "model" or "state", of a bundle whose format was checked. */
static const char *kind_of(const gsai_bundle *bundle)
{
    return strchr(gsai_bundle_note(bundle, "format"), '.') + 1;
}

static gsa_status read_param(const gsai_bundle *bundle, gsai_param_id id, gsai_params *params, gsa_error *error)
{
    const char *text, *name = gsa_param_at((size_t)id)->name;
    GSA_TRY(need_note(bundle, name, &text, error));
    return gsai_params_set(params, name, text, NULL) == GSA_OK
               ? GSA_OK
               : gsai_fail(error, GSA_FORMAT, "the %s of a %s cannot be '%.40s'", name, kind_of(bundle), text);
}

static gsa_status check_format(const gsai_bundle *bundle, const char *format, gsa_error *error)
{
    const char *found = gsai_bundle_note(bundle, "format"), *version = gsai_bundle_note(bundle, "version");
    if (!found)
        return gsai_fail(error, GSA_FORMAT, "a safetensors file, but no model or state of greedystep");
    if (strcmp(found, format) != 0)
        return gsai_fail(error, GSA_FORMAT, "this is a %.40s, expected a %s; give the other", found, format);
    if (!version)
        return gsai_fail(error, GSA_FORMAT, "a %s without a format version; train it again", kind_of(bundle));
    if (strcmp(version, "1") == 0 || strcmp(version, "2") == 0)
        return gsai_fail(error, GSA_FORMAT, "a %s of format version %s, which was never published; train it again",
                         kind_of(bundle), version);
    if (strcmp(version, FORMAT_VERSION) != 0)
        return gsai_fail(error, GSA_FORMAT,
                         "a %s of format version %.20s, this release reads %s; use a newer greedystep", kind_of(bundle),
                         version, FORMAT_VERSION);
    return GSA_OK;
}

/* ---- states ----------------------------------------------------------------------------------------------------- */

gsa_status gsai_state_snapshot(const gsa_state *state, const gsa_state *base, gsai_snapshot *snapshot, gsa_error *error)
{
    gsai_snapshot_init(snapshot, gsai_state_env(state));
    if (base && gsai_state_n_waiting(state) > 0)
        return gsai_fail(error, GSA_ARGUMENT, "rows still wait: close the group first");
    gsai_snapshot_note(snapshot, "format", STATE_FORMAT);
    gsai_snapshot_note(snapshot, "version", FORMAT_VERSION);
    gsai_snapshot_note(snapshot, "decided_loss", gsai_loss_name(gsai_state_loss(state)));
    if (gsa_state_position(state)[0])
        gsai_snapshot_note(snapshot, "input_position", gsa_state_position(state));
    for (gsai_param_id id = 0; id < GSAI_PARAMS; id++) {
        const gsa_param *param = gsa_param_at((size_t)id);
        const char *text = gsai_state_params(state)->text[id];
        if (gsai_param_decides_result(id) && (!gsai_param_is_late(id) || strcmp(text, param->initial) != 0))
            gsai_snapshot_note(snapshot, param->name, text);
    }
    gsa_status status =
        base ? gsai_parts_save_since(snapshot, state, base, error) : gsai_parts_save(snapshot, state, error);
    if (status != GSA_OK)
        gsai_error_prefix(error, "cannot save the state: ");
    return status;
}

gsa_status gsai_state_restore(const gsai_bundle *bundle, const gsai_env *env, gsa_state **out, gsa_error *error)
{
    gsai_params params;
    const gsai_loss *loss;
    gsa_state *state;
    GSA_TRY(check_format(bundle, STATE_FORMAT, error));
    gsai_params_init(&params);
    for (gsai_param_id id = 0; id < GSAI_PARAMS; id++)
        if (gsai_param_decides_result(id) &&
            (!gsai_param_is_late(id) || gsai_bundle_note(bundle, gsa_param_at((size_t)id)->name)))
            GSA_TRY(read_param(bundle, id, &params, error));
    GSA_TRY(read_loss(bundle, "decided_loss", true, &loss, error));
    GSA_TRY(gsai_state_create(&params, env, &state, error));
    gsa_status status = gsai_parts_load(state, loss, bundle, error);
    gsai_state_set_solver(state, gsai_solve_waiting);
    if (status == GSA_OK && gsa_state_set_position(state, gsai_bundle_note(bundle, "input_position"), NULL) != GSA_OK)
        status = gsai_fail(error, GSA_FORMAT, "the position of the input is no text, or too long");
    if (status == GSA_OK)
        *out = state;
    else
        gsa_state_free(state);
    return status;
}

/* ---- models ----------------------------------------------------------------------------------------------------- */

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

gsa_status gsai_model_snapshot(const gsa_model *model, gsai_snapshot *snapshot, gsa_error *error)
{
    gsai_snapshot_init(snapshot, &model->env);
    gsai_snapshot_note(snapshot, "format", MODEL_FORMAT);
    gsai_snapshot_note(snapshot, "version", FORMAT_VERSION);
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
    gsai_basis_save(snapshot, &model->basis);
    if (model->deviations.n > 0) {
        gsai_snapshot_add(snapshot, &deviation_feature, model->deviations.id, model->deviations.n);
        gsai_snapshot_add(snapshot, &deviation_value, model->deviations.value, model->deviations.n);
    }
    if (model->id) {
        gsai_snapshot_add(snapshot, &feature_key, model->id, model->n_lines);
        gsai_tensor *lines = gsai_snapshot_add(snapshot, &weight_key, model->weights, model->n_lines);
        lines->n_dims = 2;
        lines->shape[1] = model->n_outputs;
    } else {
        const size_t n = (size_t)model->n_features, n_outputs = model->n_outputs, size = n_outputs * sizeof(float);
        gsai_line_tensor weights = {weight_key, 2, n_outputs, (char *)model->weights, size, n, NULL};
        gsai_snapshot_lines(snapshot, &weights, 1, &feature_key, n, n, next_feature, model);
    }
    return gsai_arena_check(&snapshot->owned, "the description of a model", error);
}

static gsa_status restore_numbers(gsa_model *model, const gsai_bundle *bundle, gsa_error *error)
{
    static const gsai_param_id ids[] = {GSAI_PARAM_method, GSAI_PARAM_average, GSAI_PARAM_intercept};
    const gsai_tensor *intercept;
    gsai_params params;
    gsai_params_init(&params);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        GSA_TRY(read_param(bundle, ids[i], &params, error));
    GSA_TRY(read_loss(bundle, "loss", false, &model->loss, error));
    GSA_TRY(gsai_bundle_fields(bundle, fields, FIELDS, model, error));
    GSA_TRY(gsai_results_load(&model->results, bundle, error));
    GSA_TRY(gsai_labels_load(&model->labels, bundle, error));
    GSA_TRY(gsai_schema_load(&model->schema, bundle, &model->env, error));
    GSA_TRY(gsai_names_load(&model->names, bundle, &model->env, error));
    GSA_TRY(gsai_basis_load(&model->basis, bundle, &model->env, error));
    if (model->basis.n > 0 && model->basis.at + model->basis.n_ids > model->n_features)
        return gsai_fail(error, GSA_FORMAT, "the model has no features for the knots of curves");
    memcpy(model->method, params.text[GSAI_PARAM_method], sizeof model->method);
    memcpy(model->average, params.text[GSAI_PARAM_average], sizeof model->average);
    model->has_intercept = params.value[GSAI_PARAM_intercept];
    model->n_outputs = gsai_loss_outputs(model->loss, model->labels.n) > 1 ? model->labels.n : 1;
    if (model->labels.n > model->loss->max_labels || (gsai_loss_has_classes(model->loss) && model->labels.n == 0))
        return gsai_fail(error, GSA_FORMAT, "a model cannot have %zu labels and %s loss", model->labels.n,
                         gsai_loss_name(model->loss));
    GSA_TRY(gsai_bundle_need(bundle, &intercept_key, model->n_outputs, &intercept, error));
    model->intercept = gsai_copy(&model->env, intercept->data, model->n_outputs, sizeof *model->intercept);
    GSAI_TRY_MEMORY(model->intercept, &model->env, error, "no memory for %zu outputs", model->n_outputs);
    return GSA_OK;
}

/* Used where they are in the bundle if it may be kept, else copied. */
static gsa_status restore_weights(gsa_model *model, const gsai_bundle *bundle, bool may_keep, int *kept,
                                  gsa_error *error)
{
    gsai_lines lines;
    const gsai_tensor *found;
    GSA_TRY(gsai_lines_find(bundle, &feature_key, (size_t)model->n_features, &lines, error));
    GSA_TRY(gsai_bundle_need(bundle, &weight_key, (uint64_t)lines.n * model->n_outputs, &found, error));
    model->n_lines = lines.n;
    model->weights = found->data;
    if (lines.id && gsai_model_prefers_all(model, lines.n)) {
        GSA_TRY(gsai_model_spread(model, lines.id, found->data, error));
    } else if (may_keep) {
        *kept = 1;
    } else {
        model->weights = model->owned_weights =
            gsai_copy(&model->env, found->data, lines.n, model->n_outputs * sizeof(float));
        model->owned_id = lines.id ? gsai_copy(&model->env, lines.id, lines.n, sizeof *lines.id) : NULL;
        GSAI_TRY_MEMORY(model->owned_weights && (!lines.id || model->owned_id), &model->env, error,
                        "no memory for a model of %zu features and %zu output%s", lines.n, model->n_outputs,
                        model->n_outputs == 1 ? "" : "s");
        lines.id = model->owned_id;
    }
    model->n_used = gsai_model_count_used(model);
    if (!lines.id || model->n_lines == model->n_features)
        return GSA_OK;
    model->id = lines.id;
    return gsai_model_index(model, error);
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

gsa_status gsai_model_restore(const gsai_bundle *bundle, const gsai_env *env, void (*close)(void *owner), void *owner,
                              int *kept, gsa_model **out, gsa_error *error)
{
    gsa_model *model;
    *kept = 0;
    GSA_TRY(check_format(bundle, MODEL_FORMAT, error));
    GSA_TRY(gsai_model_create(env, &model, error));
    gsa_status status = restore_numbers(model, bundle, error);
    if (status == GSA_OK)
        status = restore_deviations(model, bundle, error);
    if (status == GSA_OK)
        status = restore_weights(model, bundle, close != NULL, kept, error);
    if (status != GSA_OK) {
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
