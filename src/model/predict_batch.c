/* Prediction: the margins of rows under the weights of a model, and what follows from them. Sums are in the order that
 * learn/kernel/kernel.h says; ids that the model has no weights for are absent. */
#include "model/model.h"

#include "learn/kernel/kernel.h"
#include "learn/schema.h"

#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Checks that all values are finite and count, and all features have weights: nearly all rows are so, and need no test
 * an entry. */
static bool is_plain(const gsa_model *model, const gsai_row *row)
{
    uint32_t max = 0;
    int n_bad = !row->index && row->n > model->n_features;
    for (size_t i = 0; row->index && i < row->n; i++)
        max = row->index[i] > max ? row->index[i] : max;
    for (size_t i = 0; row->value && i < row->n; i++)
        n_bad |= !(fabsf(row->value[i]) <= FLT_MAX) | (row->value[i] == 0);
    return !n_bad && (!row->index || row->n == 0 || max < model->n_features);
}

/* Inlined where index or value is NULL: a dense row, or ones. */
static inline double term(const float *weights, const uint32_t *index, const float *value, size_t i)
{
    double w = (double)weights[index ? index[i] : i];
    return value ? w * (double)value[i] : w;
}

static inline double dot_plain(const float *weights, const uint32_t *index, const float *value, size_t n)
{
    double lane[GSAI_LANES] = {0};
    size_t i = 0;
    for (; i + GSAI_LANES <= n; i += GSAI_LANES)
        for (size_t j = 0; j < GSAI_LANES; j++)
            lane[j] += term(weights, index, value, i + j);
    for (size_t j = 0; i + j < n; j++)
        lane[j] += term(weights, index, value, i + j);
    return gsai_add_lanes(lane);
}

static double dot_any(const gsa_model *model, const gsai_row *row)
{
    double lane[GSAI_LANES] = {0};
    size_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        float x = gsai_row_value(row, i);
        size_t id = gsai_row_id(row, i);
        const float *weight = gsai_model_find(model, id);
        if (x != 0 && weight)
            lane[position % GSAI_LANES] += (double)*weight * (double)x;
        position += x != 0 && id < model->n_features;
    }
    return gsai_add_lanes(lane);
}

/* Adds the weights of a feature, times a value. */
static inline void add_line(const gsa_model *model, uint64_t id, double x, double *margins)
{
    const float *weight = gsai_model_find(model, id);
    for (size_t k = 0; k < model->n_outputs && weight; k++)
        margins[k] += (double)weight[k] * x;
}

void gsai_model_add_row(const gsa_model *model, const gsai_row *row, double times, double *margins)
{
    const gsai_basis *basis = &model->basis;
    for (size_t i = 0; i < row->n; i++) {
        float x = gsai_row_value(row, i);
        uint32_t feature = gsai_row_id(row, i);
        const gsai_curve *curve = gsai_basis_curve(basis, feature);
        if (x == 0)
            continue;
        if (!curve) {
            add_line(model, gsai_basis_id(basis, feature), (double)x * times, margins);
            continue;
        }
        gsai_place at = gsai_place_of(basis->knot + curve->first, curve->n_knots, x);
        uint64_t low = basis->at + curve->first + at.low;
        add_line(model, low, (double)(1 - at.share) * times, margins);
        add_line(model, low + 1, (double)at.share * times, margins);
    }
}

void gsai_model_add_pairs(const gsa_model *model, const gsai_row *row, size_t step, double *margins)
{
    const gsai_basis *basis = &model->basis;
    gsai_sides_at sides;
    uint32_t node[4];
    float share[4];
    gsai_sides_clear(basis, &sides);
    for (size_t i = 0; i < row->n && basis->n_surfaces > 0; i++)
        gsai_sides_set(basis, &sides, gsai_row_id(row, i), gsai_row_value(row, i));
    for (size_t s = 0; s < basis->n_surfaces; s++, margins += step)
        for (size_t i = 0, n = gsai_basis_nodes(basis, s, &sides, node, share); i < n; i++)
            add_line(model, node[i], (double)share[i], margins);
}

static void row_margins(const gsa_model *model, const gsai_row *row, bool plain, double *margins)
{
    const float *weights = model->weights;
    size_t n_outputs = model->n_outputs;
    bool bends = model->basis.n > 0;
    if (n_outputs > 1 || bends) {
        memset(margins, 0, n_outputs * sizeof *margins);
        for (size_t i = 0; i < row->n && !bends; i++)
            if (gsai_row_value(row, i) != 0)
                add_line(model, gsai_row_id(row, i), (double)gsai_row_value(row, i), margins);
        if (bends)
            gsai_model_add_row(model, row, 1, margins);
        gsai_model_add_pairs(model, row, 0, margins);
    } else if (!plain || model->id)
        margins[0] = dot_any(model, row);
    else if (row->index && row->value)
        margins[0] = dot_plain(weights, row->index, row->value, row->n);
    else
        margins[0] =
            row->index ? dot_plain(weights, row->index, NULL, row->n) : dot_plain(weights, NULL, row->value, row->n);
    for (size_t k = 0; k < n_outputs; k++)
        margins[k] += model->intercept[k];
}

/* One label is all that was ever seen: certain. */
static void predict_row(const gsai_loss *loss, size_t n_labels, const double *margins, size_t n_outputs, double *out)
{
    if (n_labels == 1)
        out[0] = 1;
    else if (loss->predict)
        loss->predict(margins, n_outputs, out);
    else
        out[0] = margins[0];
}

void gsai_model_row_predict(const gsa_model *model, const double *margins, double *out)
{
    predict_row(model->loss, model->labels.n, margins, model->n_outputs, out);
}

/* The weights of rows ahead are asked for while others are summed up, unless all are near anyway. */
#define ROWS_AHEAD 8
#define NEAR_WEIGHTS ((size_t)1 << 15)

/* To be called for the rows of a batch in their order. */
static gsai_row come_to(const gsa_model *model, const gsa_batch *batch, size_t number)
{
    bool is_far = batch->index && model->n_lines * model->n_outputs >= NEAR_WEIGHTS;
    for (size_t r = number == 0 ? 0 : number + ROWS_AHEAD; r <= number + ROWS_AHEAD && r < batch->n_rows && is_far;
         r++) {
        gsai_row row = gsai_row_at(batch, r);
        for (size_t i = 0; i < row.n; i++)
            if (row.index[i] < model->n_features)
                __builtin_prefetch(model->id ? (const void *)(model->start + ((uint64_t)row.index[i] >> model->shift))
                                             : model->weights + row.index[i] * model->n_outputs);
    }
    /* The offsets of a row ahead tell which entries to ask for. */
    size_t next = number + ROWS_AHEAD / 2;
    gsai_row soon = next < batch->n_rows && is_far && model->id ? gsai_row_at(batch, next) : (gsai_row){0};
    for (size_t i = 0; i < soon.n; i++)
        if (soon.index[i] < model->n_features) {
            size_t line = model->start[(uint64_t)soon.index[i] >> model->shift];
            __builtin_prefetch(model->id + line);
            __builtin_prefetch(model->weights + line * model->n_outputs);
        }
    return gsai_row_at(batch, number);
}

void gsai_model_margins(const gsa_model *model, const gsa_batch *batch, size_t from, size_t n, double *out)
{
    for (size_t r = from; r < from + n; r++, out += model->n_outputs) {
        gsai_row row = come_to(model, batch, r);
        row_margins(model, &row, is_plain(model, &row), out);
    }
}

static gsa_status check_row(const gsa_batch *batch, const gsai_row *row, size_t number, gsa_error *error)
{
    bool finite = true;
    GSA_TRY(gsai_batch_check_ids(batch, number, error));
    for (size_t i = 0; row->value && i < row->n; i++)
        finite = finite && isfinite(row->value[i]);
    return finite ? GSA_OK : gsai_fail_row(error, GSA_INPUT, number, "a value is not a finite number");
}

/* Margins, and predictions in their place: never more margins than predictions. */
static gsa_status fill_rows(const gsa_model *model, const gsa_batch *batch, size_t width, bool predicts, double *out,
                            gsa_error *error)
{
    bool is_exposed = predicts && model->loss->has_log_link && batch->weight && gsai_schema_has_exposure(model->schema);
    GSA_TRY(gsai_batch_check(batch, NULL, batch->n_rows, 0, error));
    for (size_t r = 0; r < batch->n_rows; r++, out += width) {
        gsai_row row = come_to(model, batch, r);
        bool plain = is_plain(model, &row);
        if (!plain)
            GSA_TRY(check_row(batch, &row, r, error));
        row_margins(model, &row, plain, out);
        if (predicts)
            gsai_model_row_predict(model, out, out);
        if (is_exposed)
            *out = fmin(*out * (double)batch->weight[r], DBL_MAX);
    }
    return GSA_OK;
}

gsa_status gsa_model_margins(const gsa_model *model, const gsa_batch *batch, double *out, gsa_error *error)
{
    return fill_rows(model, batch, model->n_outputs, false, out, error);
}

gsa_status gsa_model_predict(const gsa_model *model, const gsa_batch *batch, double *out, gsa_error *error)
{
    if (gsai_loss_has_classes(model->loss) && !gsai_loss_has_probabilities(model->loss))
        return gsai_fail_param(error, "loss", GSA_ARGUMENT,
                               "a model of %s loss has margins, no probabilities; train with logistic or "
                               "softmax loss to have them",
                               gsai_loss_name(model->loss));
    return fill_rows(model, batch, model->labels.n > 1 ? model->labels.n : 1, true, out, error);
}

gsa_status gsa_model_intervals(const gsa_model *model, double coverage, const double *prediction, size_t n, double *out,
                               gsa_error *error)
{
    const gsai_intervals *intervals = &model->results.intervals;
    if (!(coverage > 0 && coverage <= GSAI_MAX_COVERAGE))
        return gsai_fail(error, GSA_ARGUMENT, "a coverage of %g is not above 0 and at most %g", coverage,
                         GSAI_MAX_COVERAGE);
    if (intervals->n == 0)
        return gsai_fail(error, GSA_ARGUMENT,
                         "the model has no intervals: they are of numbers, without offset and exposure, and need 20 "
                         "held-out rows");
    for (size_t i = 0; i < n; i++) {
        double off[2], at = prediction[i];
        gsai_intervals_at(intervals, coverage, at, off);
        for (size_t k = 0; k < 2; k++)
            out[2 * i + k] = model->loss->has_log_link ? fmax(at + off[k], 0) : at + off[k];
    }
    return GSA_OK;
}

/* ---- a state ---------------------------------------------------------------------------------------------------- */

static void state_margins(const gsa_state *state, const gsai_row *row, double *margins)
{
    const gsai_table *table = gsai_state_table(state);
    double total = gsai_state_average_total(state);
    for (size_t k = 0; k < table->n_outputs; k++)
        margins[k] = gsai_state_label_offset(state);
    if (gsai_state_param(state, GSAI_PARAM_intercept))
        gsai_table_add_average(table, total, 0, 1, margins);
    const gsai_basis *basis = gsai_state_basis(state);
    gsai_sides_at sides;
    gsai_sides_clear(basis, &sides);
    const gsai_offset offset = gsai_state_offset(state);
    for (size_t i = 0; i < row->n; i++) {
        float x = gsai_row_value(row, i);
        if (offset.loss && gsai_row_id(row, i) == offset.feature)
            margins[0] += (double)(gsai_labels_are_swapped(gsai_state_labels(state)) ? -x : x);
        const gsai_curve *curve = gsai_basis_curve(basis, gsai_row_id(row, i));
        gsai_sides_set(basis, &sides, gsai_row_id(row, i), x);
        gsai_place at = {0};
        if (curve)
            at = gsai_place_of(basis->knot + curve->first, curve->n_knots, x);
        size_t slot = curve ? (size_t)basis->at + curve->first + at.low + 1
                            : (size_t)gsai_basis_id(basis, gsai_row_id(row, i)) + 1;
        if (x != 0 && slot < table->n_slots)
            gsai_table_add_average(table, total, slot, curve ? (double)(1 - at.share) : (double)x, margins);
        if (x != 0 && curve && slot + 1 < table->n_slots)
            gsai_table_add_average(table, total, slot + 1, (double)at.share, margins);
    }
    uint32_t node[4];
    float share[4];
    for (size_t s = 0; s < basis->n_surfaces; s++)
        for (size_t i = 0, n = gsai_basis_nodes(basis, s, &sides, node, share); i < n; i++)
            if ((size_t)node[i] + 1 < table->n_slots)
                gsai_table_add_average(table, total, (size_t)node[i] + 1, (double)share[i], margins);
}

/* A state with one label may have two outputs, and needs no margins. */
gsa_status gsa_state_predict(gsa_state *state, const gsa_batch *batch, double *out, gsa_error *error)
{
    size_t n_labels = gsai_state_labels(state)->n, width = n_labels > 1 ? n_labels : 1;
    const gsai_loss *loss = gsai_state_loss(state);
    if (!loss || (gsai_loss_has_classes(loss) && n_labels == 0))
        return gsai_fail(error, GSA_ARGUMENT, "nothing was learned yet: give rows or labels first");
    const gsa_state *by;
    GSA_TRY(gsai_batch_check(batch, NULL, batch->n_rows, 0, error));
    GSA_TRY(gsai_state_so_far(state, &by, error));
    for (size_t r = 0; r < batch->n_rows; r++, out += width) {
        gsai_row row = gsai_row_at(batch, r);
        GSA_TRY(check_row(batch, &row, r, error));
        if (n_labels != 1)
            state_margins(by, &row, out);
        predict_row(loss, n_labels, out, gsai_state_n_outputs(by), out);
    }
    return GSA_OK;
}
