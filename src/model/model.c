/* A state made read-only. */
#include "model/model.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "learn/calibration.h"
#include "learn/centre.h"
#include "learn/label_offset.h"
#include "learn/schema.h"

#include <math.h>
#include <string.h>

gsa_status gsai_model_create(const gsai_env *env, gsa_model **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_kept(env);
    gsa_model *model = gsai_alloc_zeroed(&resolved, 1, sizeof *model);
    GSAI_TRY_MEMORY(model, &resolved, error, "no memory for a model");
    model->env = resolved;
    model->results = gsai_results_none();
    gsai_labels_init(&model->labels, &resolved);
    *out = model;
    return GSA_OK;
}

void gsa_model_free(gsa_model *model)
{
    if (!model)
        return;
    gsai_env env = model->env;
    gsai_labels_release(&model->labels);
    gsai_free(&env, model->schema);
    gsai_names_release(&model->names, &env);
    gsai_basis_release(&model->basis, &env);
    gsai_free(&env, model->deviations.id);
    gsai_free(&env, model->deviations.value);
    gsai_free(&env, model->owned_weights);
    gsai_free(&env, model->owned_id);
    gsai_free(&env, model->start);
    gsai_free(&env, model->intercept);
    if (model->close_owner)
        model->close_owner(model->owner);
    gsai_free(&env, model);
}

const char *gsa_model_schema(const gsa_model *model)
{
    return model->schema;
}

const char *gsa_model_name(const gsa_model *model, uint64_t feature)
{
    return gsai_names_find(&model->names, feature);
}

/* The source of a model: the best weights that a state has kept, or its average and a calibration. */
struct made_of {
    gsai_finished finished;
    const gsai_best_checkpoint *checkpoint; /* NULL: the average */
    gsai_calibration calibration;           /* its shrinkage is NaN where the weights have it */
    const gsa_state *compact;               /* NULL: all; else features that this one does not have stay out */
    gsai_results results;
};

/* More held-out margins than this are not computed again for each model. */
#define MAX_HELD_OUT_MARGINS ((size_t)1 << 23)

/* Sets what training chose and measured, of the state before it has learned the rows that it held out. Loss and metrics
 * are of held-out rows that did not choose their calibration. */
static gsa_status find_results(const gsa_state *state, const gsai_env *env, struct made_of *from, gsa_error *error)
{
    gsai_results *out = &from->results;
    const gsai_position *position = gsai_state_position(state);
    const gsai_sample *sample = gsai_state_sample(state);
    const gsai_loss *loss = gsai_state_loss(state);
    size_t n_outputs = gsai_state_n_outputs(state), n = gsai_sample_count(sample);
    bool is_solved = gsai_state_n_solved(state) > 0;
    double quantile = loss && loss->has_quantile ? gsai_params_quantile(gsai_state_params(state)) : 0;
    *out = is_solved ? *gsai_state_results(state) : gsai_results_none();
    out->at[GSAI_RESULT_baseline_loss] = gsa_state_constant_loss(state);
    out->at[GSAI_RESULT_held_out_loss] = position->held_out_loss;
    if (quantile > 0)
        out->at[GSAI_RESULT_quantile] = quantile;
    if (gsai_state_basis(state)->n > 0)
        out->at[GSAI_RESULT_curves] = (double)gsai_state_basis(state)->n;
    if (is_solved || gsai_state_param(state, GSAI_PARAM_method) == GSAI_METHOD_PAPER)
        return GSA_OK;
    out->at[GSAI_RESULT_standardised] = gsai_state_is_standardised(state) ? 1 : 0;
    if (sample->by != GSAI_BY_FEATURES && gsai_params_holdout(gsai_state_params(state)) > 0) {
        double *held = &out->at[sample->by == GSAI_BY_TIME ? GSAI_RESULT_latest : GSAI_RESULT_groups];
        *held = 0;
        for (size_t i = 0; i < n; i++)
            *held += sample->by == GSAI_BY_TIME || i == 0 || sample->hash[i] != sample->hash[i - 1];
    }
    if (n == 0 || gsai_loss_is_custom(loss)) /* files do not contain a custom loss */
        return GSA_OK;
    out->at[GSAI_RESULT_best_pass] = from->checkpoint ? (double)from->checkpoint->pass : (double)position->pass;
    out->at[GSAI_RESULT_calibration_scale] = from->calibration.scale;
    if (n_outputs == 1)
        out->at[GSAI_RESULT_calibration_shift] = from->calibration.offset;
    out->at[GSAI_RESULT_shrinkage] = from->calibration.shrinkage;
    if (sample->n > MAX_HELD_OUT_MARGINS / n_outputs)
        return GSA_OK;
    gsai_held_out held_out;
    gsai_quality quality = {.n_classes = gsai_state_labels(state)->n, .quantile = quantile, .ranking.env = env};
    gsa_status status = gsai_held_out_predict(state, &from->calibration, env, &held_out, error);
    for (size_t i = 0; i < n && status == GSA_OK && held_out.margins; i++) {
        const double *margins = held_out.margins + i * n_outputs;
        gsai_target target = gsai_held_target(state, sample->at[i]);
        double c = held_out.weight[i];
        held_out.margins[i * n_outputs] += target.origin;
        if (gsai_loss_has_classes(loss))
            status = gsai_quality_add_class(&quality, margins, n_outputs, target.class_number, c, error);
        else
            status = gsai_quality_add_number(&quality, loss->has_log_link ? gsai_exp(margins[0]) : margins[0], target.y,
                                             c, error);
    }
    if (status == GSA_OK)
        out->at[GSAI_RESULT_held_out_loss] = held_out.loss;
    gsai_quality_finish(&quality, quality.weight > 0 ? out : NULL);
    gsai_intervals_move(&out->intervals, 1, loss->has_log_link ? 0 : gsai_state_label_offset(state));
    if (gsai_params_balance(gsai_state_params(state))) /* rows do not count alike */
        out->at[GSAI_RESULT_accuracy] = NAN;
    gsai_free(gsai_state_env(state), held_out.margins);
    return status;
}

/* order: the output of the state for each of the model; sign: of one output for two classes, -1 if these change places.
 */
static gsa_status copy_weights(struct made_of *from, const size_t *order, double sign, gsa_model *model,
                               gsa_error *error)
{
    const gsa_state *state = from->finished.state, *at;
    const gsai_best_checkpoint *best = from->checkpoint;
    bool is_paper = gsai_state_param(state, GSAI_PARAM_method) == GSAI_METHOD_PAPER;
    const gsai_table *kept = from->compact ? gsai_state_table(from->compact) : gsai_state_table(state);
    gsai_strongest strongest = {.env = &model->env, .max = GSAI_MAX_DEVIATIONS, .least = -1};
    size_t n = 0, n_max = gsai_finished_count(&from->finished) + 1, its_slot;
    uint32_t *id = gsai_alloc(&model->env, n_max, sizeof *id);
    float *weights = gsai_alloc(&model->env, n_max, model->n_outputs * sizeof *weights);
    gsa_status status = GSA_OK;
    const gsai_offset offset = gsai_state_offset(state);
    const uint64_t offset_slot = gsai_basis_id(gsai_state_basis(state), offset.feature) + 1;
    size_t line_size = model->n_outputs * sizeof *weights;
    model->intercept = gsai_alloc_zeroed(&model->env, model->n_outputs, sizeof *model->intercept);
    if (!id || !weights || !model->intercept)
        status = gsai_fail_memory(&model->env, error, "no memory for a model of %zu features and %zu outputs", n_max,
                                  model->n_outputs);
    for (size_t slot = 0; slot < SIZE_MAX && status == GSA_OK; slot = gsai_finished_next(&from->finished, slot + 1)) {
        at = gsai_finished_find(&from->finished, slot, &its_slot);
        bool was_seen = best || slot == 0 || !gsai_table_is_zero(gsai_state_table(at), its_slot), any = false;
        if (from->compact && slot > 0)
            was_seen = slot < kept->n_slots && !gsai_table_is_zero(kept, slot);
        float *line = weights + n * model->n_outputs;
        for (size_t output = 0; output < model->n_outputs && was_seen; output++) {
            size_t k = model->n_outputs > 1 ? order[output] : output;
            double exact = 0;
            if (!best)
                exact = gsai_calibrated(&from->calibration, at, its_slot, gsai_state_average(at, its_slot, k));
            else if (slot < best->n_slots)
                exact = (double)best->weight[slot * best->n_outputs + k];
            exact *= sign;
            float weight = (float)exact;
            if (!isfinite(weight))
                status =
                    gsai_fail(error, GSA_DIVERGED, "a weight is no longer finite: %s", gsai_diverged_remedy(state, 0));
            if (slot == 0) { /* that of features far from 0 is large, and its rounding would be seen */
                model->intercept[output] = gsai_state_label_offset(state) + (is_paper ? (double)weight : exact);
            } else {
                line[output] = weight + 0.0F; /* no -0 */
                any = any || weight != 0;
            }
        }
        const gsai_basis *basis = gsai_state_basis(state);
        bool is_knot = slot > basis->at && slot <= basis->at + basis->n_ids;
        any = any && (!offset.loss || slot != offset_slot);
        if (any && status == GSA_OK && !is_knot)
            status = gsai_deviations_add(&strongest, model, (uint32_t)(slot - 1), line,
                                         gsai_state_deviation(at, its_slot), error);
        if (any)
            id[n++] = (uint32_t)(slot - 1);
    }
    if (offset.loss && status == GSA_OK) { /* its weight is 1 */
        size_t place = n++;
        for (; place > 0 && id[place - 1] >= offset_slot; place--) {
            id[place] = id[place - 1];
            memcpy(weights + place * model->n_outputs, weights + (place - 1) * model->n_outputs, line_size);
        }
        id[place] = (uint32_t)offset_slot - 1;
        for (size_t k = 0; k < model->n_outputs; k++)
            weights[place * model->n_outputs + k] = 1;
        model->n_features = model->n_features > offset_slot ? model->n_features : offset_slot;
    }
    if (status == GSA_OK)
        status = gsai_deviations_take(model, &strongest, error);
    gsai_free(&model->env, strongest.at);
    if (status == GSA_OK)
        return gsai_model_take_lines(model, id, weights, n, error);
    gsai_free(&model->env, id);
    gsai_free(&model->env, weights);
    return status;
}

static gsa_status make_model(struct made_of *from, const gsai_env *env, gsa_model **out, gsa_error *error)
{
    const gsa_state *state = from->finished.state;
    const gsai_loss *loss = gsai_state_loss(state);
    const gsai_params *params = gsai_state_params(state);
    const gsai_labels *labels = gsai_state_labels(state);
    size_t n_labels = labels->n, n_outputs = gsai_state_n_outputs(state);
    if (!loss || (gsai_loss_has_classes(loss) && n_labels == 0))
        return gsai_fail(error, GSA_ARGUMENT, "nothing was learned yet: there is no model to make; give it rows first");
    gsa_model *model = NULL;
    GSA_TRY(gsai_model_create(env, &model, error));
    model->loss = loss;
    memcpy(model->method, gsai_state_method(state), strlen(gsai_state_method(state)) + 1);
    const char *average = params->text[GSAI_PARAM_average];
    if (params->value[GSAI_PARAM_average] == GSAI_AVERAGE_AUTO)
        average = gsai_params_average(params) == GSAI_AVERAGE_LAST ? "last" : "recent";
    memcpy(model->average, average, strlen(average) + 1);
    model->has_intercept = params->value[GSAI_PARAM_intercept];
    model->n_rows = gsai_state_n_solved(state) > 0 ? gsai_state_n_solved(state) : gsai_state_n_rows(state);
    model->n_passes = gsai_state_position(state)->pass;
    model->results = from->results;
    model->n_features = gsai_finished_slots(&from->finished) - 1;
    /* Outputs of labels that never came (the second of a one-label softmax) stay behind. */
    model->n_outputs = n_outputs > 1 ? n_labels : 1;
    size_t *order = gsai_alloc(&model->env, n_labels, sizeof *order); /* labels are in canonical order in a model */
    gsa_status status = order ? gsai_labels_add_sorted(&model->labels, labels, error)
                              : gsai_fail_memory(&model->env, error, "no memory for %zu labels", n_labels);
    for (size_t k = 0; k < n_labels && status == GSA_OK; k++)
        order[k] = gsai_labels_find_text(labels, model->labels.at[k].text);
    bool is_swapped = status == GSA_OK && gsai_state_is_binary(state) && n_labels == 2 && order[0] == 1;
    if (status == GSA_OK)
        status = gsai_schema_copy(&model->schema, gsa_state_schema(state), &model->env, error);
    if (status == GSA_OK)
        status = gsai_names_copy(&model->names, gsai_state_names(state), &model->env, error);
    if (status == GSA_OK)
        status = gsai_basis_make(&model->basis, gsai_state_basis(state), &model->env, error);
    if (status == GSA_OK)
        status = copy_weights(from, order, is_swapped ? -1 : 1, model, error);
    gsai_free(&model->env, order);
    if (status == GSA_OK)
        *out = model;
    else
        gsa_model_free(model);
    return status;
}

/* All methods but the paper's measure loss on held-out rows until the end, and then learn them too: their calibration
 * is that of the weights before, the weights are those after them. */
gsa_status gsa_state_finish(const gsa_state *state, const gsa_call *call, gsa_model **out, gsa_error *error)
{
    gsai_env env;
    GSA_TRY(gsai_env_take(&env, &gsai_state_env(state)->memory, call, error));
    gsa_status status = GSA_OK;
    const gsai_best_checkpoint *best = gsai_state_uses_checkpoint(state) ? gsai_state_best_checkpoint(state) : NULL;
    const gsa_state *compact = gsai_state_param(state, GSAI_PARAM_compact) ? state : NULL;
    bool is_open = gsai_state_n_waiting(state) > 0; /* but for rows that wait to be solved it is a group */
    if (is_open && (best || compact || gsai_waiting_rows(gsai_state_waiting(state)) > 0)) {
        gsa_state *copy = NULL;
        status = gsai_state_closed(state, false, &copy, error);
        if (status == GSA_OK)
            status = gsa_state_finish(copy, call, out, error);
        gsa_state_free(copy);
        return status;
    }
    struct made_of from = {
        .finished.state = state, .checkpoint = best, .calibration = {1, 0, 0, NAN}, .compact = compact};
    bool has_sample = !best && gsai_sample_count(gsai_state_sample(state)) > 0 && !gsai_state_lacks_loss(state) &&
                      gsai_state_param(state, GSAI_PARAM_method) != GSAI_METHOD_PAPER;
    if (has_sample || is_open)
        GSA_TRY(gsai_finished_open(&from.finished, state, error));
    const gsa_state *held_out = gsai_finished_held_out(&from.finished);
    if (best)
        from.calibration = (gsai_calibration){best->scale, best->offset, NAN, best->loss};
    else if (has_sample)
        status = gsai_calibrate(held_out, gsai_state_table(held_out), &env, &from.calibration, error);
    if (status == GSA_OK)
        status = find_results(held_out, &env, &from, error);
    /* Labels are predicted without their offset or exposure there. */
    if (gsai_state_offset(state).loss || gsai_schema_has_exposure(gsa_state_schema(state)))
        from.results.intervals.n = 0;
    if (status == GSA_OK && has_sample)
        status = gsai_finished_learn(&from.finished, &env, error);
    if (status == GSA_STOPPED && !best) { /* the average as it is: better than no model */
        gsai_finished_release(&from.finished);
        from = (struct made_of){{.state = state}, NULL, {1, 0, 0, NAN}, compact, gsai_results_none()};
        if (is_open)
            GSA_TRY(gsai_finished_open(&from.finished, state, error));
    }
    if (status == GSA_OK || status == GSA_STOPPED)
        status = make_model(&from, &env, out, error);
    gsai_finished_release(&from.finished);
    return status;
}

gsa_status gsa_model_with_weights(const gsa_model *like, uint64_t n_features, const float *weights,
                                  const double *intercept, gsa_model **out, gsa_error *error)
{
    gsa_model *model = NULL;
    if (n_features > (uint64_t)GSA_MAX_ID + 1)
        return gsai_fail(error, GSA_ARGUMENT, "a model of %llu features is too large", (unsigned long long)n_features);
    GSA_TRY(gsai_model_create(&like->env, &model, error));
    model->loss = like->loss;
    memcpy(model->method, like->method, sizeof model->method);
    memcpy(model->average, like->average, sizeof model->average);
    model->has_intercept = intercept != NULL;
    model->n_features = n_features;
    model->n_outputs = like->n_outputs;
    gsa_status status = gsai_labels_add_all(&model->labels, &like->labels, error);
    if (status == GSA_OK)
        status = gsai_schema_copy(&model->schema, like->schema, &model->env, error);
    if (status == GSA_OK)
        status = gsai_basis_make(&model->basis, &like->basis, &model->env, error);
    size_t n_weights = 0;
    bool fits = gsai_multiply((size_t)n_features, model->n_outputs, &n_weights);
    if (status == GSA_OK &&
        (!fits || !(model->owned_weights = gsai_copy(&model->env, weights, n_weights, sizeof *weights)) ||
         !(model->intercept = gsai_alloc_zeroed(&model->env, model->n_outputs, sizeof *model->intercept))))
        status = gsai_fail_memory(&model->env, error, "no memory for a model of %llu features and %zu outputs",
                                  (unsigned long long)n_features, model->n_outputs);
    for (size_t i = 0; i < n_weights && status == GSA_OK; i++)
        if (!isfinite(weights[i]))
            status = gsai_fail(error, GSA_ARGUMENT, "weight %zu is not a finite number", i);
    for (size_t k = 0; k < model->n_outputs && intercept && status == GSA_OK; k++)
        if (!isfinite(model->intercept[k] = intercept[k]))
            status = gsai_fail(error, GSA_ARGUMENT, "intercept %zu is not a finite number", k);
    if (status == GSA_OK) {
        model->weights = model->owned_weights;
        model->n_lines = n_features;
        model->n_used = gsai_model_count_used(model);
        *out = model;
    } else {
        gsa_model_free(model);
    }
    return status;
}

gsa_status gsa_model_class(const gsa_model *model, const gsa_batch *batch, size_t row, size_t *out, gsa_error *error)
{
    if (!gsai_loss_has_classes(model->loss))
        return gsai_fail(error, GSA_LABEL, "the model predicts numbers, not classes");
    size_t found = gsai_labels_find_row(&model->labels, batch, row);
    if (found == GSAI_NO_LABEL)
        return gsai_fail_row(error, GSA_LABEL, row, "the model does not know the label");
    *out = found;
    return GSA_OK;
}

/* Returns the number of features that count: a column that bends is one. */
static uint64_t count_features(const gsa_model *model)
{
    uint64_t n = model->n_used + model->basis.n;
    for (uint64_t i = 0; i < model->basis.n_ids; i++) {
        bool counts = false;
        for (size_t k = 0; k < model->n_outputs; k++)
            counts |= gsa_model_weight(model, model->basis.at + i, k) != 0;
        n -= counts;
    }
    return n;
}

gsa_status gsa_model_get_info(const gsa_model *model, gsa_model_info *out)
{
    gsa_model_info info = {.loss = gsai_loss_name(model->loss),
                           .method = model->method,
                           .average = model->average,
                           .n_rows = model->n_rows,
                           .n_passes = model->n_passes,
                           .n_features = model->n_features,
                           .n_used = count_features(model),
                           .n_outputs = model->n_outputs,
                           .n_classes = model->labels.n,
                           .has_intercept = model->has_intercept,
                           .has_probabilities = gsai_loss_has_probabilities(model->loss),
                           .has_log_link = model->loss->has_log_link};
    return gsai_give_sized(out, &info, sizeof info);
}

gsa_status gsa_model_result_at(const gsa_model *model, size_t number, gsa_metric *out)
{
    for (size_t i = 0; i < GSAI_N_RESULTS; i++)
        if (isfinite(model->results.at[i]) && number-- == 0) {
            *out = (gsa_metric){gsai_result_name(i), model->results.at[i]};
            return GSA_OK;
        }
    return GSA_END;
}

const char *gsa_model_label(const gsa_model *model, size_t class_number)
{
    return class_number < model->labels.n ? model->labels.at[class_number].text : NULL;
}

float gsa_model_weight(const gsa_model *model, uint64_t feature, size_t output)
{
    const float *weight = output < model->n_outputs ? gsai_model_find(model, feature) : NULL;
    return weight ? weight[output] : 0;
}

const float *gsa_model_weights(const gsa_model *model)
{
    return model->weights;
}

double gsa_model_intercept(const gsa_model *model, size_t output)
{
    return output < model->n_outputs ? model->intercept[output] : 0;
}
