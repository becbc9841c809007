/* Calibration by held-out rows.
 *
 * Weights that fit the rows they learned are too sure of themselves on others, or, early on, not sure enough. One
 * number cures both: the margins m become s m + b with the s and b that fit held-out rows best (b for one output only:
 * with one per class, the classes would need one each; scale_shift.h). Targets are smoothed as Platt (1999) does, (n_k
 * + 1) / (n_k + 2) for the row's own class of n_k rows, so that separable rows do not ask for infinite margins; a
 * normal prior around 1 and 0 of unit width holds where rows are few. With a log link it counts as the smallest label
 * that is not 0, which is one event in whatever unit labels have.
 *
 * Squared loss is calibrated too, without smoothing or prior: a line through the predictions. Hinge losses get a scale:
 * steps of constant length leave their margins too long.
 *
 * Long runs over words meet ever more of them that were in a few rows only, whose weights are mostly noise. The weight
 * of a feature that was in n rows counts n / (n + shrinkage), as the mean of a normal posterior around 0 would, with
 * the shrinkage that the held-out rows ask for, if they do (docs/decisions/0015-shrinkage.md). */
#include "learn/calibration.h"

#include "learn/inside.h"
#include "learn/scale_shift.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

/* ---- the held-out rows ------------------------------------------------------------------------------------------- */

/* Beyond, a margin is as good as infinite. */
#define MAX_MARGIN 1e30

/* The held-out rows of a state, and their margins under a table. */
struct evidence {
    const gsa_state *state;
    const gsai_table *table;
    const gsai_loss *loss;
    size_t n_folds, fold;             /* rows of this fold are left out; n_folds 0: none are */
    size_t n, n_outputs, stride;      /* stride: 1, or the outputs rounded up to a multiple of 8 */
    double *c;                        /* [n]: what a row counts for */
    double *row_loss, *sure_loss;     /* [n]: of each row, and without a shrinkage */
    double *row;                      /* [n_outputs]: scratch */
    double *class_weight, *smoothing; /* [n_classes]: of the rows of each class; 1 - target */
    float *margins;                   /* [n x stride] */
    float *offset;                    /* [n]: added to the margins; NULL: rows have none */
    float *target, *weight;           /* [n]: in the units of the loss; weights are 0 if a row is left out */
    float *scratch;                   /* [3 x n], or [stride] */
    gsai_target *targets;             /* [n] */
    double *taken; /* of all entries the rows that had the feature, and its weight; NULL: many outputs, or no memory */
    double copies; /* rows behind one that is not a copy: a row counts for its share of them */
    double total;  /* of what all rows count for */
    double prior;  /* of scale and offset, in units of the loss */
    double behind; /* rows of earlier runs, whose model was calibrated, for each of these */
    bool has_offset;      /* whether there is one to find */
    const gsai_env *stop; /* NULL: never */
    bool stopped;         /* it has asked for it: what follows is of a part of the rows, and for nothing */
};

static bool is_stopped(struct evidence *e)
{
    return e->stopped = e->stopped || gsai_rows_should_stop(e->stop, e->n_outputs);
}

/* Returns the fold of a row; n_folds if it is of a common kind, which rows to come will repeat. */
static size_t fold_of(const struct evidence *e, size_t row)
{
    const gsai_sample *sample = &e->state->sample;
    if (sample->by == GSAI_BY_TIME) /* rows in order of time: neighbours tell too much of each other */
        return e->n_folds * row / e->n;
    return sample->at[row]->weight > 0 ? sample->hash[row] % e->n_folds : e->n_folds;
}

static bool is_left_out(const struct evidence *e, size_t row)
{
    return e->fold < e->n_folds && fold_of(e, row) == e->fold;
}

/* Looks up what further margins need: records lie far apart, and those of the next row are asked for early. */
static void take_entries(struct evidence *e)
{
    const gsai_sample *sample = &e->state->sample;
    double total = gsai_state_average_total(e->state);
    size_t n_entries = 0, at = 0;
    for (size_t i = 0; i < e->n && e->n_outputs == 1; i++)
        n_entries += sample->at[i]->n;
    e->taken = n_entries > 0 ? gsai_alloc_zeroed(&e->state->env, n_entries, 2 * sizeof *e->taken) : NULL;
    for (size_t i = 0; i < e->n && e->taken; i++) {
        const gsai_held_row *soon = sample->at[i + 1 < e->n ? i + 1 : i];
        for (size_t j = 0; j < soon->n; j++)
            if ((size_t)soon->entries[j] + 1 < e->table->n_slots)
                __builtin_prefetch(gsai_table_slot(e->table, (size_t)soon->entries[j] + 1));
        for (size_t j = 0; j < sample->at[i]->n; j++, at += 2) {
            size_t slot = (size_t)sample->at[i]->entries[j] + 1;
            e->taken[at] = (double)gsai_state_n_seen(e->state, slot);
            if (slot < e->table->n_slots)
                gsai_table_add_average(e->table, total, slot, 1, &e->taken[at + 1]);
        }
    }
}

/* Computes the margins under the averaged weights of the table. The weight of a feature counts for what
 * gsai_state_shrinkage says; shrinkage 0: in full, as the intercept always does. Held-out rows may have features that
 * no learned row has: those have no slot. */
static void take_margins(struct evidence *e, double shrinkage)
{
    if (!e->taken)
        take_entries(e);
    const gsa_state *state = e->state;
    const gsai_table *table = e->table;
    const double *known = e->taken;
    double total = gsai_state_average_total(state);
    for (size_t i = 0; i < e->n && !is_stopped(e); i++) {
        gsai_row row = gsai_held_row_view(state->sample.at[i]);
        memset(e->row, 0, e->n_outputs * sizeof *e->row);
        if (state->params.value[GSAI_PARAM_intercept])
            gsai_table_add_average(table, total, 0, 1, e->row);
        for (size_t j = 0; j < row.n && known; j++, known += 2)
            e->row[0] += (double)row.value[j] * (shrinkage > 0 ? known[0] / (known[0] + shrinkage) : 1) * known[1];
        for (size_t j = 0; j < row.n && !known; j++) {
            size_t slot = (size_t)row.index[j] + 1;
            if (slot < table->n_slots)
                gsai_table_add_average(table, total, slot,
                                       (double)row.value[j] * gsai_state_shrinkage(state, slot, shrinkage), e->row);
        }
        for (size_t k = 0; k < e->n_outputs; k++) {
            double m = e->row[k];
            e->margins[i * e->stride + k] = (float)(m > MAX_MARGIN ? MAX_MARGIN : m < -MAX_MARGIN ? -MAX_MARGIN : m);
        }
    }
}

/* Weighs the rows that are not left out, and their classes; smooths the targets by them. */
static void leave_out_fold(struct evidence *e)
{
    const gsa_state *state = e->state;
    double all = 0, counted = 0;
    memset(e->class_weight, 0, state->labels.n * sizeof *e->class_weight);
    for (size_t i = 0; i < e->n; i++) {
        const gsai_held_row *held = state->sample.at[i];
        bool left_out = is_left_out(e, i);
        all += held->seen;
        counted += left_out ? 0 : held->seen;
        e->weight[i] = left_out ? 0 : (float)e->c[i];
        if (state->labels.n > 0 && !left_out)
            e->class_weight[held->class_number] += held->seen / e->copies;
    }
    double share = counted > 0 ? all / counted : 1; /* as large as the classes of all rows */
    for (size_t k = 0; k < state->labels.n; k++)
        e->smoothing[k] = 1 / (share * (1 + e->behind) * e->class_weight[k] + 2);
}

/* Takes the memory, without margins; none if there is nothing to calibrate by. Rows count as given; with balanced
 * classes, every class that is there counts the same. */
static gsa_status evidence_make(struct evidence *e, gsa_error *error)
{
    const gsa_state *state = e->state;
    const gsai_env *env = &state->env;
    size_t n = gsai_sample_count(&state->sample), n_classes = state->labels.n, n_outputs = state->table.n_outputs;
    if (!state->loss || gsai_state_lacks_loss(state) || n == 0)
        return GSA_OK;
    size_t stride = n_outputs > 1 ? (n_outputs + 7) / 8 * 8 : 1, n_floats;
    e->loss = state->loss;
    e->n_outputs = n_outputs;
    e->stride = stride;
    if (!gsai_multiply(n, stride + 6, &n_floats) || !gsai_add(n_floats, stride, &n_floats) ||
        !(e->c = gsai_alloc_zeroed(env, 9 * n + n_outputs + 2 * n_classes, sizeof *e->c)) ||
        !(e->margins = gsai_alloc_zeroed(env, n_floats, sizeof *e->margins))) {
        gsai_free(env, e->c);
        return gsai_fail_memory(env, error, "no memory for the margins of %zu held-out rows", n);
    }
    e->row_loss = e->c + n;
    e->sure_loss = e->row_loss + n;
    e->row = e->sure_loss + n;
    e->class_weight = e->row + n_outputs;
    e->smoothing = e->class_weight + n_classes;
    e->targets = (gsai_target *)(void *)(e->smoothing + n_classes); /* of six words each, at the most */
    e->target = e->margins + n * stride;
    e->weight = e->target + n;
    e->scratch = e->weight + n;
    bool has_offset = gsai_loss_has_classes(e->loss) && gsai_state_offset(state).loss;
    e->offset = has_offset ? e->margins + n * (stride + 5) + stride : NULL;
    e->n = n;
    e->copies = gsai_sample_copies(&state->sample);
    e->has_offset = state->params.value[GSAI_PARAM_intercept] && n_outputs == 1;
    bool balance = gsai_params_balance(&state->params) && state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER;
    double sum = 0, unit = e->loss->has_log_link ? gsai_exp(state->label_offset.at) : 1, least = INFINITY;
    leave_out_fold(e);
    size_t n_present = 0;
    for (size_t k = 0; k < n_classes; k++)
        n_present += e->class_weight[k] > 0;
    for (size_t i = 0; i < n; i++)
        sum += e->c[i] = state->sample.at[i]->seen / e->copies;
    for (size_t i = 0; i < n; i++) {
        gsai_target target = e->targets[i] = gsai_held_target(state, state->sample.at[i]);
        if (balance)
            e->c[i] *= sum / ((double)n_present * e->class_weight[target.class_number]);
        e->total += e->c[i];
        if (e->offset)
            e->offset[i] = (float)target.origin;
        e->target[i] = n_classes > 0 ? (float)target.class_number : (float)(target.y / unit);
        least = target.y > 0 && e->c[i] * target.y < least ? e->c[i] * target.y : least;
    }
    e->prior = gsai_loss_has_probabilities(e->loss) ? 1 : e->loss->has_log_link && isfinite(least) ? least / unit : 0;
    e->behind = e->total > 0 ? (double)(state->rows_behind - state->n_rows) / e->total : 0;
    leave_out_fold(e);
    return GSA_OK;
}

/* Gives the memory back. GSA_STOPPED if it was asked for. */
static gsa_status evidence_finish(struct evidence *e, gsa_error *error)
{
    gsai_free(&e->state->env, e->c);
    gsai_free(&e->state->env, e->margins);
    gsai_free(&e->state->env, e->taken);
    return e->stopped ? gsai_fail(error, GSA_STOPPED, "stopped on request") : GSA_OK;
}

/* ---- scale, offset, shrinkage ------------------------------------------------------------------------------------ */

/* Rows above which a feature is not shrunk. */
#define MAX_SHRINKAGE 1e6
/* Standard errors of the improvement, for a shrinkage to be more than chance. */
#define SHRINKAGE_ERRORS 3
/* Two numbers are not found from less rows than this where no prior holds them. */
#define MIN_FREE_ROWS 16u
/* The scale of a hinge loss, which is convex in it and has no curvature to follow, is found by golden section, which
 * narrows it to 2e-8. */
#define MAX_SCALE 4.0
#define SECTIONS 40

/* Computes the losses of the rows, and returns their mean. */
static double loss_with(struct evidence *e, const gsai_calibration *by, double *loss)
{
    double sum = 0;
    for (size_t i = 0; i < e->n && !is_stopped(e); i++) {
        if (is_left_out(e, i))
            continue;
        for (size_t k = 0; k < e->n_outputs; k++)
            e->row[k] = by->scale * (double)e->margins[i * e->stride + k] + by->offset;
        loss[i] = e->loss->value(e->row, e->n_outputs, &e->targets[i]);
        sum += e->c[i] * loss[i];
    }
    return sum / e->total;
}

static void fit_newton(struct evidence *e, gsai_calibration *out)
{
    double squares = 0, total = 0;
    for (size_t i = 0; i < e->n; i++) {
        squares += (double)e->weight[i] * (double)e->target[i] * (double)e->target[i];
        total += (double)e->weight[i];
    }
    gsai_scaled_rows rows = {.loss = e->loss->rows,
                             .at = {.math = &gsai_array_math_generic,
                                    .n = e->n,
                                    .n_outputs = e->n_outputs,
                                    .stride = e->stride,
                                    .target = e->target,
                                    .weight = e->weight,
                                    .margin = e->margins,
                                    .offset = e->offset,
                                    .width = (float)gsai_state_width(e->state),
                                    .quantile = (float)gsai_params_quantile(&e->state->params),
                                    .scratch = e->scratch},
                             .smoothing = gsai_loss_has_probabilities(e->loss) ? e->smoothing : NULL,
                             .has_shift = e->has_offset,
                             .prior = {e->prior, e->prior},
                             .behind = e->behind,
                             .unit = e->loss->depends_on_residual && squares > 0 ? sqrt(squares / total) : 1,
                             .may_vanish = true, /* a scale below 0 would turn the model round */
                             .has_full_steps = e->loss->depends_on_residual,
                             .scratch = e->scratch,
                             .stop = e->n_outputs >= GSAI_MANY_OUTPUTS ? e->stop : NULL};
    gsai_scale_shift at = {out->scale, out->offset, 0};
    e->stopped = !gsai_scale_shift_fit(&rows, &at) || e->stopped;
    out->scale = at.scale;
    out->offset = at.shift;
}

/* Finds the scale and offset that fit the rows that are not left out, from those of `out` on, which stay if these rows
 * say nothing about them. Returns whether there is an offset, too, so that features can be shrunk. */
static bool fit(struct evidence *e, gsai_calibration *out)
{
    const gsa_state *state = e->state;
    const double ratio = 0.6180339887498949;
    double low = 0, high = MAX_SCALE;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += !is_left_out(e, i);
    bool enough = e->loss->has_probabilities ? state->labels.n > 1 : n >= MIN_FREE_ROWS;
    if (state->params.value[GSAI_PARAM_method] == GSAI_METHOD_PAPER || !enough || !e->loss->rows ||
        (e->loss->has_log_link && !(e->prior > 0)))
        return false;
    if (!e->loss->has_searchable_scale) {
        fit_newton(e, out);
        return true;
    }
    for (int i = 0; i < SECTIONS; i++) { /* golden section */
        gsai_calibration a = {.scale = high - ratio * (high - low)}, b = {.scale = low + ratio * (high - low)};
        if (loss_with(e, &a, e->row_loss) < loss_with(e, &b, e->row_loss))
            high = b.scale;
        else
            low = a.scale;
    }
    out->scale = (low + high) / 2;
    return false;
}

/* Fits all with this shrinkage. Sets *errors to the improvement over none, in standard errors. */
static gsai_calibration try_shrinkage(struct evidence *e, double shrinkage, const gsai_calibration *from,
                                      double *errors)
{
    gsai_calibration tried = *from;
    double mean = 0, square = 0;
    tried.shrinkage = shrinkage;
    take_margins(e, shrinkage);
    (void)fit(e, &tried);
    tried.loss = loss_with(e, &tried, e->row_loss);
    for (size_t i = 0; i < e->n; i++)
        mean += e->c[i] * (e->sure_loss[i] - e->row_loss[i]) / e->total;
    for (size_t i = 0; i < e->n; i++) {
        double apart = e->c[i] * (e->sure_loss[i] - e->row_loss[i] - mean) / e->total;
        square += apart * apart;
    }
    *errors = square > 0 ? mean / sqrt(square) : 0;
    return tried;
}

/* A shrinkage is a power of two and grows while that pays: fourfold steps first, then half of one to either side. */
static void find_shrinkage(struct evidence *e, gsai_calibration *best)
{
    double errors;
    for (double shrinkage = 4; shrinkage <= MAX_SHRINKAGE; shrinkage *= 4) {
        gsai_calibration tried = try_shrinkage(e, shrinkage, best, &errors);
        if (!(tried.loss < (1 - GSA_MIN_GAIN) * best->loss && errors > SHRINKAGE_ERRORS))
            break;
        *best = tried;
    }
    double middle = best->shrinkage;
    for (int side = 0; side < 2 && middle > 0; side++) {
        gsai_calibration tried = try_shrinkage(e, side == 0 ? middle / 2 : middle * 2, best, &errors);
        if (tried.loss < best->loss)
            *best = tried;
    }
}

gsa_status gsai_calibrate(const gsa_state *state, const gsai_table *table, const gsai_env *stop, gsai_calibration *out,
                          gsa_error *error)
{
    struct evidence e = {.state = state, .table = table, .stop = stop};
    *out = (gsai_calibration){1, 0, 0, NAN};
    GSA_TRY(evidence_make(&e, error));
    if (e.n == 0)
        return GSA_OK;
    take_margins(&e, 0);
    bool shrinks = fit(&e, out);
    out->loss = loss_with(&e, out, e.sure_loss);
    if (shrinks)
        find_shrinkage(&e, out);
    return evidence_finish(&e, error);
}

/* ---- predictions of held-out rows -------------------------------------------------------------------------------- */

/* With more rows, what two numbers learn from half of them is nearly what they learn from all. */
#define FOLDS 8u
#define MANY_ROWS 4096u

/* Computes the margins of the best checkpoint as they were before its calibration. */
static void take_checkpoint_margins(struct evidence *e)
{
    const gsai_best_checkpoint *best = &e->state->best_checkpoint;
    double unit = best->scale > 0 ? 1 / best->scale : 0;
    for (size_t i = 0; i < e->n; i++) {
        gsai_row row = gsai_held_row_view(e->state->sample.at[i]);
        for (size_t k = 0; k < best->n_outputs; k++) {
            double margin = unit * ((double)best->weight[k] - best->offset);
            for (size_t j = 0; j < row.n; j++)
                if ((size_t)row.index[j] + 1 < best->n_slots)
                    margin += unit * (double)row.value[j] *
                              (double)best->weight[((size_t)row.index[j] + 1) * best->n_outputs + k];
            e->margins[i * e->stride + k] = (float)margin;
        }
    }
}

gsa_status gsai_held_out_predict(const gsa_state *state, const gsai_calibration *by, const gsai_env *stop,
                                 gsai_held_out *out, gsa_error *error)
{
    struct evidence e = {.state = state, .table = gsai_state_table(state), .stop = stop};
    double sum = 0;
    *out = (gsai_held_out){.loss = NAN};
    GSA_TRY(evidence_make(&e, error));
    if (e.n == 0)
        return GSA_OK;
    if (!(out->margins = gsai_alloc(&state->env, e.n * (e.n_outputs + 1), sizeof *out->margins))) {
        (void)evidence_finish(&e, error);
        return gsai_fail_memory(&state->env, error, "no memory for the margins of %zu held-out rows", e.n);
    }
    out->weight = out->margins + e.n * e.n_outputs;
    if (gsai_state_uses_checkpoint(state))
        take_checkpoint_margins(&e);
    else
        take_margins(&e, by->shrinkage);
    e.n_folds = e.n < MANY_ROWS && state->sample.by != GSAI_BY_TIME ? FOLDS : 2;
    for (e.fold = 0; e.fold <= e.n_folds; e.fold++) { /* each by the others; common kinds, the last, by all */
        gsai_calibration others = {.scale = 1};
        leave_out_fold(&e);
        (void)fit(&e, &others);
        for (size_t i = 0; i < e.n; i++)
            for (size_t k = 0; k < e.n_outputs && fold_of(&e, i) == e.fold; k++)
                out->margins[i * e.n_outputs + k] = others.scale * (double)e.margins[i * e.stride + k] + others.offset;
    }
    for (size_t i = 0; i < e.n; i++) {
        memcpy(e.row, out->margins + i * e.n_outputs, e.n_outputs * sizeof *e.row);
        out->weight[i] = e.c[i];
        sum += e.c[i] * e.loss->value(e.row, e.n_outputs, &e.targets[i]);
    }
    out->loss = sum / e.total;
    return evidence_finish(&e, error);
}

bool gsai_state_uses_checkpoint(const gsa_state *state)
{
    bool same_shape = state->best_checkpoint.weight && state->best_checkpoint.n_outputs == state->table.n_outputs;
    return gsai_sample_count(&state->sample) > 0 && state->params.value[GSAI_PARAM_method] != GSAI_METHOD_PAPER &&
           same_shape && state->best_checkpoint.pass < state->position.pass;
}

double gsai_calibrated(const gsai_calibration *calibration, const gsa_state *state, size_t slot, double weight)
{
    if (slot == 0)
        return calibration->scale * weight + calibration->offset;
    return weight == 0 ? 0 : calibration->scale * gsai_state_shrinkage(state, slot, calibration->shrinkage) * weight;
}
