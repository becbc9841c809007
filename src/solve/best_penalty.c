/* From paths of strengths to one model: scalings are compared on a sample of the rows, the strength on all of them, and
 * strengths that are about as good are mixed. */
#include "solve/best_penalty.h"

#include "solve/pairs.h"

#include "learn/config.h"

#include "base/error.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

/* Rows of the sample. */
#define SAMPLE_ROWS 4096u
#define TOLERANCE_SAMPLE 3e-3
#define TOLERANCE_ALL 3e-4
static const double TOLERANCE_LAST[2] = {1e-4, 1e-3}; /* for one output and for several */
#define TOLERANCE_INTERCEPT 1e-7                      /* where it is all there is */
/* Few rows: two strengths without a gain before the path ends. */
#define ROWS_FEW 1024u
/* A rare feature may have the larger weight: its scale is the share of rows that have it, to minus this power. Words of
 * texts want that; of categories, most of which are rare, it may be the other way: lower powers are tried. */
#define INVERSE_FREQUENCY 0.1875
#define LOWER_POWERS 2
/* A strength whose loss on n rows is worse by e counts exp(-0.3 n e), or nothing below a tenth. */
#define MIX_RATE 0.3
#define MIN_MIX_SHARE 0.1

/* Strengths that stages try, on average of data sets of many kinds: the first path, another scaling of the same rows,
 * all rows from the strength that the sample chose, shares of a prior. */
#define PATH_STRENGTHS 5u
#define SCALING_STRENGTHS 3u
#define ALL_STRENGTHS 2u
#define SHARE_STRENGTHS 3u

/* ---- the mix ----------------------------------------------------------------------------------------------------- */

/* Sets the share of each record of a path in the optimum; returns the number of the best. */
static size_t share_out(gsai_path *path, double *share)
{
    size_t best = 0;
    double total = 0, unit, n = 0;
    for (size_t q = 0; q < path->held_from[path->n_folds]; q++)
        n += (double)path->held_weight[q];
    for (size_t r = 1; r < path->n_records; r++)
        best = path->record[r].calibration.loss < path->record[best].calibration.loss ? r : best;
    unit = path->problem->has_probabilities ? 1 : 2 * path->record[best].calibration.loss;
    for (size_t r = 0; r < path->n_records; r++) {
        double excess = path->record[r].calibration.loss - path->record[best].calibration.loss, error_of_mean = 0;
        if (path->record[r].strength < path->record[best].strength)
            gsai_path_excess(path, &path->record[r], &path->record[best], &error_of_mean);
        excess = excess > error_of_mean ? excess - error_of_mean : 0;
        share[r] = gsai_exp(-MIX_RATE * n * excess / (unit > 0 ? unit : 1));
        share[r] = share[r] < MIN_MIX_SHARE ? 0 : share[r];
        total += share[r];
    }
    for (size_t r = 0; r < path->n_records; r++)
        share[r] /= total;
    return best;
}

/* ---- honest predictions of held-out rows ------------------------------------------------------------------------ */

/* Mixes the held-out margins of the records, calibrated. */
static void mix_held(gsai_path *path, const double *share, float *held)
{
    size_t n_held = path->held_from[path->n_folds], n_cells = n_held * path->problem->design->stride;
    memset(held, 0, n_cells * sizeof *held);
    for (size_t r = 0; r < path->n_records; r++) {
        const gsai_scale_shift *by = &path->record[r].calibration;
        for (size_t i = 0; i < n_cells && share[r] > 0; i++)
            held[i] += (float)(share[r] * (by->scale * (double)path->record[r].held[i] + by->shift));
    }
}

/* Predicts held-out rows of groups or times as new ones: each fold of groups, or half of the latest rows, by the
 * strengths, shares and calibration that the others choose. A level that drifts, or the luck of few groups, would
 * otherwise be known to the calibration that is measured on them. */
static gsa_status predict_by_others(gsai_path *path, float *out, gsa_error *error)
{
    gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    size_t n_held = path->held_from[path->n_folds], stride = design->stride;
    double share[GSAI_RECORDS];
    float *weight = path->held_weight, *held = gsai_arena_take(path->arena, n_held, stride * sizeof *held);
    float *others = gsai_arena_take(path->arena, n_held, sizeof *others);
    gsai_scale_shift *before = gsai_arena_take(path->arena, path->n_records, sizeof *before);
    GSA_TRY(gsai_arena_check(path->arena, "held-out predictions", error));
    for (size_t r = 0; r < path->n_records; r++)
        before[r] = path->record[r].calibration;
    path->held_weight = others;
    for (uint8_t piece = 0; piece < GSAI_FOLDS; piece++) {
        size_t n_piece = 0;
        for (size_t q = 0; q < n_held; q++) {
            bool is_own = design->fold[path->held[q]] == piece;
            others[q] = is_own ? 0 : weight[q];
            n_piece += is_own;
        }
        if (n_piece == 0 || n_piece == n_held)
            continue;
        for (size_t r = 0; r < path->n_records; r++) {
            gsai_record *record = &path->record[r];
            double behind = record->penalty.share > 0 ? problem->prior->n_rows / path->weight : 0;
            record->calibration = gsai_held_calibrate(problem, path->held_target, path->held_offset, others,
                                                      record->held, n_held, behind, path->scratch[0]);
        }
        gsai_scale_shift last = {1, 0, 0};
        size_t best = share_out(path, share);
        mix_held(path, share, held);
        if (path->record[best].penalty.share == 0)
            last = gsai_held_calibrate(problem, path->held_target, path->held_offset, others, held, n_held, 0,
                                       path->scratch[0]);
        for (size_t q = 0; q < n_held; q++)
            for (size_t k = 0; k < stride && design->fold[path->held[q]] == piece; k++)
                out[q * stride + k] = (float)(last.scale * (double)held[q * stride + k] + last.shift);
    }
    path->held_weight = weight;
    for (size_t r = 0; r < path->n_records; r++)
        path->record[r].calibration = before[r];
    return GSA_OK;
}

/* Predicts held-out rows as the mix of the records does, calibrated by *last. The loss of *final, which is what remains
 * to be done, is that of new rows: those of groups or times are predicted by what others choose. */
static gsa_status predict_held(gsai_path *path, const double *share, size_t best, float *held, gsai_scale_shift *last,
                               gsai_scale_shift *final, gsa_error *error)
{
    const gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    size_t n_held = path->held_from[path->n_folds];
    mix_held(path, share, held);
    *last = (gsai_scale_shift){1, 0, path->record[best].calibration.loss};
    if (path->record[best].penalty.share == 0)
        *last = gsai_held_calibrate(problem, path->held_target, path->held_offset, path->held_weight, held, n_held, 0,
                                    path->scratch[0]);
    *final = *last;
    if (design->n_groups <= 1 && design->n_latest == 0)
        return GSA_OK;
    for (size_t i = 0; i < n_held * design->stride; i++)
        held[i] = (float)(last->scale * (double)held[i] + last->shift);
    GSA_TRY(predict_by_others(path, held, error));
    *final = (gsai_scale_shift){1, 0, 0};
    gsai_held_losses(problem, final, path->held_target, path->held_offset, path->held_weight, held, n_held,
                     path->scratch[0], path->held_loss[0]);
    double loss = 0, total = 0;
    for (size_t q = 0; q < n_held; q++) {
        loss += (double)path->held_loss[0][q];
        total += (double)path->held_weight[q];
    }
    final->loss = loss / total;
    return GSA_OK;
}

/* ---- the last fit ----------------------------------------------------------------------------------------------- */

/* Fits the rows of a fit at one strength, from the mean of its folds. */
static gsa_status fit_last(gsai_path *path, gsai_fit *fit, const gsai_record *record, gsa_error *error)
{
    gsai_problem *problem = path->problem;
    double tolerance =
        gsai_design_varies(problem->design) ? TOLERANCE_LAST[problem->design->stride > 1] : TOLERANCE_INTERCEPT;
    gsai_scale_columns(problem, record->scaling);
    if (record->penalty.share > 0)
        gsai_prior_set(problem, &record->penalty);
    memcpy(fit->v, record->v, fit->size * sizeof *fit->v);
    for (size_t i = 0; i < problem->design->n_columns * problem->design->stride; i++)
        fit->v[i] = gsai_design_has(problem->design, i / problem->design->stride) ? fit->v[i] : 0;
    gsai_path_prepare(path, fit, &record->penalty);
    return gsai_fit_minimise(fit, &record->penalty, tolerance, GSAI_MAX_ITERATIONS, error);
}

/* Fits all rows at one strength, and adds a share of its weights. */
static gsa_status fit_all(gsai_path *path, gsai_fit *fit, const gsai_record *record, double share, double *weight,
                          gsa_error *error)
{
    gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    const gsai_scale_shift *by = &record->calibration;
    size_t stride = design->stride, n_outputs = design->n_outputs;
    GSA_TRY(fit_last(path, fit, record, error));
    for (size_t k = 0; k < n_outputs; k++) {
        double intercept = (double)fit->v[k];
        for (size_t j = 1; j < design->n_columns; j++) {
            double own = (double)problem->scale[j] * (double)fit->v[j * stride + k];
            weight[j * n_outputs + k] += share * by->scale * own;
            intercept -= (double)design->mean[j] * own;
        }
        weight[k] += share * (by->scale * intercept + by->shift);
    }
    return GSA_OK;
}

void gsai_optimum_describe(const gsai_problem *problem, const gsai_penalty *penalty, gsai_results *out)
{
    out->at[GSAI_RESULT_lambda] = penalty->lambda * problem->common_unit * problem->common_unit;
    out->at[GSAI_RESULT_penalties_tried] = (double)problem->n_tried;
    out->at[GSAI_RESULT_penalties_averaged] = 1;
    out->at[GSAI_RESULT_standardised] = problem->scaling.standardised ? 1 : 0;
    for (size_t j = 1; j < problem->design->n_columns; j++)
        if (problem->design->count[j] < problem->design->n_rows) /* else it has no effect */
            out->at[GSAI_RESULT_inverse_frequency] = problem->scaling.inverse_frequency;
    if (penalty->share > 0)
        out->at[GSAI_RESULT_prior_share] = fmin(penalty->share, 1);
}

/* Adds up the predictions of held-out rows, in units of the design. */
static gsa_status measure(const gsai_path *path, const float *held, const gsai_scale_shift *last, gsai_results *out,
                          gsa_error *error)
{
    const gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    size_t stride = design->stride, n_outputs = design->n_outputs;
    double *margins = gsai_arena_take(path->arena, n_outputs, sizeof *margins);
    gsai_quality quality = {.n_classes = problem->n_classes, .ranking.env = problem->env};
    GSA_TRY(gsai_arena_check(path->arena, "held-out margins", error));
    gsa_status status = GSA_OK;
    for (size_t q = 0; q < path->held_from[path->n_folds] && status == GSA_OK; q++) {
        double y = (double)path->held_target[q], c = (double)path->held_weight[q];
        for (size_t k = 0; k < n_outputs; k++)
            margins[k] = last->scale * (double)held[q * stride + k] + last->shift;
        if (path->held_offset)
            margins[0] += (double)path->held_offset[q];
        if (problem->n_classes > 0)
            status = gsai_quality_add_class(&quality, margins, n_outputs, (size_t)y, c, error);
        else
            gsai_quality_add_number(&quality, problem->has_log_link ? gsai_exp(margins[0]) : margins[0], y, c);
    }
    gsai_quality_finish(&quality, out);
    return status;
}

/* Predicts the latest rows of an order from earlier ones, at the strength of a record; rows without a date are where
 * the mean one is. It is the last that is asked of the path and of the fit. */
static gsa_status measure_latest(gsai_path *path, gsai_fit *fit, const gsai_record *record, gsai_order *order,
                                 gsa_error *error)
{
    const gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    float *target = path->held_target, *weight = path->held_weight, *margin = path->held_margin;
    float *offset = path->held_offset;
    double behind = record->penalty.share > 0 ? problem->prior->n_rows / path->weight : 0;
    size_t n_earlier = 0, n = 0, date = 1;
    while (design->id[date] != order->feature)
        date++;
    for (uint32_t i = 0; i < path->n_rows; i++) {
        if (gsai_design_value(design, i, date) <= order->after) {
            fit->row[n_earlier++] = i;
            continue;
        }
        target[n] = design->target[i];
        weight[n] = design->weight[i];
        if (offset)
            offset[n] = design->offset[i];
        path->held[n++] = i;
    }
    gsai_fit_rows(fit, n_earlier);
    GSA_TRY(fit_last(path, fit, record, error));
    gsai_margins_of(problem, path->n_columns, path->held, n, fit->v, fit->scaled, margin);
    gsai_scale_shift by = gsai_held_calibrate(problem, target, offset, weight, margin, n, behind, path->scratch[0]);
    gsai_held_losses(problem, &by, target, offset, weight, margin, n, path->scratch[0], path->held_loss[0]);
    memset(path->held_loss[1], 0, n * sizeof *path->held_loss[1]);
    order->loss = gsai_mean_excess(path->held_loss[0], path->held_loss[1], weight, n, &order->error);
    order->loss = (order->loss + (double)problem->width * design->clipped) * design->loss_unit;
    order->error *= design->loss_unit;
    return GSA_OK;
}

/* Measures the loss that the mix of a path would have, without a fit. */
static gsa_status measure_mix(gsai_path *path, gsai_arena *arena, double *loss, gsa_error *error)
{
    double share[GSAI_RECORDS];
    size_t best = share_out(path, share), n_held = path->held_from[path->n_folds];
    float *held = gsai_arena_take(arena, n_held, path->problem->design->stride * sizeof *held);
    gsai_scale_shift last, final;
    GSA_TRY(gsai_arena_check(arena, "held-out predictions", error));
    GSA_TRY(predict_held(path, share, best, held, &last, &final, error));
    *loss = final.loss;
    return GSA_OK;
}

static gsa_status mix(gsai_path *path, gsai_optimum *out, gsa_error *error)
{
    const gsai_design *design = path->problem->design;
    size_t n_held = path->held_from[path->n_folds], n = design->n_columns * design->n_outputs;
    double share[GSAI_RECORDS];
    size_t best = share_out(path, share), top = best, n_averaged = 0;
    double scale = 0, shift = 0;
    gsai_fit fit;
    gsai_fit_make(&fit, path->problem, path->n_rows, path->n_columns, &path->fit[0], path->arena);
    float *held = gsai_arena_take(path->arena, n_held, design->stride * sizeof *held);
    out->weight = gsai_arena_take(path->arena, n, sizeof *out->weight);
    GSA_TRY(gsai_arena_check(path->arena, "the last fit", error));
    memcpy(fit.row, path->all, path->n_rows * sizeof *fit.row);
    gsai_fit_rows(&fit, path->n_rows);
    for (size_t r = 0; r < path->n_records; r++) {
        const gsai_record *record = &path->record[r];
        if (share[r] == 0)
            continue;
        GSA_TRY(fit_all(path, &fit, record, share[r], out->weight, error));
        out->share += share[r] * record->penalty.share;
        scale += share[r] * record->calibration.scale;
        shift += share[r] * record->calibration.shift;
        top = share[r] > share[top] ? r : top;
        n_averaged++;
    }
    gsai_scale_shift last, final;
    GSA_TRY(predict_held(path, share, best, held, &last, &final, error));
    for (size_t i = 0; i < n; i++)
        out->weight[i] *= last.scale;
    for (size_t k = 0; k < design->n_outputs; k++)
        out->weight[k] += last.shift;
    out->held_out_loss = final.loss;
    out->standardised = path->record[best].scaling.standardised;
    gsai_scale_columns(path->problem, path->record[top].scaling);
    gsai_optimum_describe(path->problem, &path->record[top].penalty, &out->results);
    out->results.at[GSAI_RESULT_penalties_averaged] = (double)n_averaged;
    out->results.at[GSAI_RESULT_folds] = (double)path->n_folds;
    gsai_design_describe(design, path->n_folds, &out->results);
    out->results.at[GSAI_RESULT_calibration_scale] = last.scale * scale;
    if (design->n_outputs == 1)
        out->results.at[GSAI_RESULT_calibration_shift] = last.scale * shift + last.shift;
    GSA_TRY(measure(path, held, &final, &out->results, error));
    gsai_order *order = path->problem->order;
    return order ? measure_latest(path, &fit, &path->record[top], order, error) : GSA_OK;
}

/* ---- the stages -------------------------------------------------------------------------------------------------- */

/* Weights of columns with a smaller scale begin with 0. */
#define MIN_RESCALED 1e-6F

/* Tries another scaling on the same rows, from about the strength that was best. The folds begin with the same
 * predictions, or with nothing where weights would be large. *chosen becomes its record if that is at most `factor`
 * times the loss; *is_better says whether it did. */
static gsa_status try_scaling(gsai_path *path, gsai_column_scaling scaling, double factor, size_t *chosen,
                              bool *is_better, gsa_error *error)
{
    gsai_problem *problem = path->problem;
    size_t first = path->record[*chosen].strength, stride = problem->design->stride, n = path->n_columns * stride;
    size_t other;
    for (size_t f = 0; f < path->n_folds; f++)
        for (size_t i = stride; i < n; i++)
            path->fit[f].v[i] *= problem->scale[i / stride];
    gsai_scale_columns(problem, scaling);
    for (size_t f = 0; f < path->n_folds; f++)
        for (size_t i = stride; i < n; i++) {
            float scale = problem->scale[i / stride], *v = &path->fit[f].v[i];
            *v = scale > MIN_RESCALED ? *v / scale : 0;
        }
    GSA_TRY(gsai_path_climb(path, first > 0 ? first - 1 : 0, path->n_rows <= ROWS_FEW ? 2 : 1, &other, error));
    *is_better = path->record[other].calibration.loss <= factor * path->record[*chosen].calibration.loss;
    if (*is_better)
        *chosen = other;
    return GSA_OK;
}

/* Compares scalings on the same rows; *chosen is the best one's record. As given comes before standardised. */
static gsa_status compare_scalings(gsai_path *path, size_t *chosen, gsa_error *error)
{
    const gsai_design *design = path->problem->design;
    uint64_t asked = path->problem->asked;
    gsai_column_scaling scaling = gsai_first_scaling(path->problem, asked != GSAI_SCALE_NONE, INVERSE_FREQUENCY);
    double min = INFINITY, max = 0;
    for (size_t j = 1; j < design->n_columns; j++)
        if (design->variance[j] > 0) {
            min = design->unit[j] < min ? design->unit[j] : min;
            max = design->unit[j] > max ? design->unit[j] : max;
        }
    bool is_better = true, compares_units = asked == GSAI_SCALE_AUTO && max > 1.0001 * min;
    bool are_rare = design->width == 0 && 4 * path->n_columns > path->n_rows; /* many are */
    uint64_t n_rare = are_rare ? SCALING_STRENGTHS : 0;
    gsai_expect_strengths(path->problem, PATH_STRENGTHS + (compares_units ? SCALING_STRENGTHS : 0) + n_rare);
    gsai_scale_columns(path->problem, scaling);
    GSA_TRY(gsai_path_climb(path, 0, path->n_rows <= ROWS_FEW ? 2 : 1, chosen, error));
    if (compares_units) {
        scaling = gsai_first_scaling(path->problem, false, INVERSE_FREQUENCY);
        gsai_expect_strengths(path->problem, SCALING_STRENGTHS + n_rare);
        GSA_TRY(try_scaling(path, scaling, 1 / (1 - GSAI_CALIBRATION_MIN_GAIN), chosen, &is_better, error));
    }
    scaling = path->record[*chosen].scaling;
    is_better = are_rare;
    for (int i = 0; i < LOWER_POWERS && is_better; i++) {
        gsai_expect_strengths(path->problem, SCALING_STRENGTHS);
        scaling.inverse_frequency -= INVERSE_FREQUENCY;
        GSA_TRY(try_scaling(path, scaling, 1 - GSAI_CALIBRATION_MIN_GAIN, chosen, &is_better, error));
    }
    return GSA_OK;
}

/* Folds of all rows from the strength that the sample chose. */
static gsa_status path_of_all(gsai_path *all, const gsai_path *sample, size_t n_held_out, size_t *chosen,
                              gsai_arena *arena, gsa_error *error)
{
    gsai_problem *problem = sample->problem;
    const gsai_record *record = &sample->record[*chosen];
    gsai_expect_strengths(problem, ALL_STRENGTHS);
    gsai_scale_columns(problem, record->scaling);
    GSA_TRY(gsai_path_make(all, problem, problem->design->n_rows, n_held_out, TOLERANCE_ALL, arena, error));
    for (size_t f = 0; f < all->n_folds; f++)
        memcpy(all->fit[f].v, record->v, sample->n_columns * problem->design->stride * sizeof(float));
    return gsai_path_climb(all, record->strength, 1, chosen, error);
}

/* Curves are to be better than lines by this many standard errors, and by this loss: labels on a line exactly have the
 * variance 1, too. Strengths of their priors mean the same on all data: the first that is tried. */
#define MIN_ERRORS_OF_CURVES 2.0
#define MIN_GAIN_OF_CURVES 1e-6
#define FIRST_STRENGTH_OF_CURVES 2u
#define MIN_FACTOR 0.02F

/* Tries factors of the blocks, which are the line and the curve of each column that bends: the root of the variance of
 * the margins that a block has under the weights of a record, of that of all blocks on average. What counted for little
 * is penalised more. */
static gsa_status try_factors(gsai_path *path, size_t *chosen, gsa_error *error)
{
    gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    const gsai_record *record = &path->record[*chosen];
    size_t n_blocks = 2 * design->bends->n, n_parts = design->bends->n_parts;
    double *size = gsai_arena_take(path->arena, n_blocks, sizeof *size), mean = 0;
    float *factor = gsai_arena_take(path->arena, design->n_columns, sizeof *factor);
    uint32_t *block = gsai_arena_take(path->arena, n_parts, sizeof *block);
    bool is_better;
    GSA_TRY(gsai_arena_check(path->arena, "factors of blocks", error));
    for (size_t b = 0; b < design->bends->n; b++)
        for (size_t p = 0; p < design->bends->at[b].n_parts; p++)
            block[design->bends->at[b].first_part + p] = (uint32_t)(2 * b + (p > 0));
    gsai_scale_columns(problem, record->scaling);
    for (size_t i = 0; i < n_parts * design->stride; i++) {
        size_t j = 1 + i / design->stride;
        double weight = (double)problem->scale[j] * (double)record->v[design->stride + i];
        size[block[j - 1]] += weight * weight * design->variance[j];
        mean += weight * weight * design->variance[j] / (double)n_blocks;
    }
    for (size_t j = 0; j < design->n_columns; j++) {
        bool is_part = j > 0 && j <= n_parts && mean > 0;
        factor[j] = is_part ? fmaxf((float)sqrt(size[block[j - 1]] / mean), MIN_FACTOR) : 1;
    }
    gsai_column_scaling scaling = record->scaling;
    scaling.factor = factor;
    return try_scaling(path, scaling, 1 - GSAI_CALIBRATION_MIN_GAIN, chosen, &is_better, error);
}

/* Tries columns that bend on the rows of the path of lines; *path becomes theirs if that is better by more than chance.
 * The sample decides alone where it is against them by as much. */
static gsa_status try_bent(gsai_path **path, size_t n_sample, const gsai_record *of_sample, gsai_arena *arena,
                           size_t *chosen, gsa_error *error)
{
    const gsai_record *lines = &(*path)->record[*chosen], *best;
    gsai_problem *problem = (*path)->problem, *bent = problem->bent;
    gsai_path *own = gsai_arena_take(arena, 2, sizeof *own);
    size_t at, n_rows = problem->design->n_rows;
    double error_of_mean;
    bent->scale = gsai_arena_take(arena, bent->design->n_columns, sizeof *bent->scale);
    bent->width = problem->width;
    GSA_TRY(gsai_arena_check(arena, "curves", error));
    GSA_TRY(gsai_path_make(own, bent, n_sample, gsai_held_out_wanted(problem, false), TOLERANCE_SAMPLE, arena, error));
    bent->n_tried = problem->n_tried;
    bent->n_after = problem->n_after - PATH_STRENGTHS;
    bent->best_loss = problem->best_loss;
    gsai_expect_strengths(bent, PATH_STRENGTHS);
    gsai_column_scaling scaling = {true, lines->scaling.inverse_frequency, NULL};
    if (problem->has_texts && !lines->scaling.standardised)
        scaling.inverse_frequency -= GSAI_INVERSE_FREQUENCY_OF_WORDS;
    gsai_scale_columns(bent, scaling);
    GSA_TRY(gsai_path_climb(own, FIRST_STRENGTH_OF_CURVES, n_sample <= ROWS_FEW ? 2 : 1, &at, error));
    best = &own->record[at];
    if (n_sample < n_rows) {
        double excess = gsai_path_excess(own, best, of_sample, &error_of_mean);
        if (excess > MIN_ERRORS_OF_CURVES * error_of_mean)
            return GSA_OK;
        bent->n_after -= ALL_STRENGTHS;
        GSA_TRY(path_of_all(own + 1, own, gsai_held_out_wanted(problem, true), &at, arena, error));
        best = &(++own)->record[at];
    }
    double excess = gsai_path_excess(own, best, lines, &error_of_mean);
    if (excess < -MIN_ERRORS_OF_CURVES * error_of_mean && excess < -MIN_GAIN_OF_CURVES) {
        *path = own;
        bent->n_after -= SCALING_STRENGTHS;
        gsai_expect_strengths(bent, SCALING_STRENGTHS);
        GSA_TRY(try_factors(own, &at, error));
        *chosen = at;
    }
    return bent->rows ? gsai_pairs_try(own, at, problem->design, lines, n_sample < n_rows, arena, path, chosen, error)
                      : GSA_OK;
}

gsa_status gsai_optimum_find(gsai_problem *problem, gsai_arena *arena, gsai_optimum *out, gsa_error *error)
{
    const gsai_design *design = problem->design;
    size_t n_rows = design->n_rows, n_sample = n_rows < SAMPLE_ROWS ? n_rows : SAMPLE_ROWS, chosen;
    gsai_path *path = gsai_arena_take(arena, 2, sizeof *path);
    problem->scale = gsai_arena_take(arena, design->n_columns, sizeof *problem->scale);
    GSA_TRY(gsai_arena_check(arena, "the solution", error));
    GSA_TRY(
        gsai_path_make(path, problem, n_sample, gsai_held_out_wanted(problem, false), TOLERANCE_SAMPLE, arena, error));
    problem->n_after += (problem->prior ? SHARE_STRENGTHS : 0) + (n_sample < n_rows ? ALL_STRENGTHS : 0);
    if (problem->bent)
        problem->n_after += PATH_STRENGTHS + SCALING_STRENGTHS + (n_sample < n_rows ? ALL_STRENGTHS : 0);
    GSA_TRY(compare_scalings(path, &chosen, error));
    const gsai_record *of_sample = &path->record[chosen];
    if (n_sample < n_rows) {
        problem->n_after -= ALL_STRENGTHS;
        GSA_TRY(path_of_all(path + 1, path, gsai_held_out_wanted(problem, true), &chosen, arena, error));
        path++;
    }
    double lines_loss = 0;
    if (problem->bent) {
        gsai_path *lines = path;
        GSA_TRY(try_bent(&path, n_sample, of_sample, arena, &chosen, error));
        problem->n_tried = problem->bent->n_tried;
        lines->n_folds = path->n_folds; /* fewer are held out where they are dear */
        GSA_TRY(measure_mix(lines, arena, &lines_loss, error));
    }
    if (problem->prior) {
        problem->n_after -= SHARE_STRENGTHS;
        gsai_expect_strengths(problem, SHARE_STRENGTHS);
        gsai_scale_columns(problem, path->record[chosen].scaling);
        GSA_TRY(gsai_path_choose_share(path, chosen, error));
    }
    out->design = path->problem->design;
    GSA_TRY(mix(path, out, error));
    if (problem->bent) {
        const gsai_bends *bends = out->design->bends;
        out->results.at[GSAI_RESULT_curves] = bends ? (double)bends->n_curves : 0;
        if (problem->bent->rows)
            out->results.at[GSAI_RESULT_pairs] = 0;
        for (size_t p = 0; bends && p < bends->n - bends->n_curves; p++)
            out->results.at[GSAI_RESULT_pairs] += (bends->pair[p].found & GSAI_FOUND_BY_ALL) > 0;
        out->results.at[GSAI_RESULT_lines_loss] = lines_loss;
    }
    return GSA_OK;
}
