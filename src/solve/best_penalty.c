/* From paths of strengths to one model: scalings are compared on a sample of the rows, the strength on all of them, and
 * strengths that are about as good are mixed. */
#include "solve/best_penalty.h"

#include "solve/own.h"
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
 * texts want that; of categories, most of which are rare, it may be the other way: lower powers are tried. Many words
 * beside curves, too: the penalty that words need would press curves flat. */
#define INVERSE_FREQUENCY 0.1875
#define LOWER_POWERS 2
#define MANY_WORDS ((size_t)256)

/* Strengths that stages try, on average of data sets of many kinds: the first path, another scaling of the same rows,
 * all rows from the strength that the sample chose, shares of a prior. */
#define PATH_STRENGTHS 5u
#define SCALING_STRENGTHS 3u
#define ALL_STRENGTHS 2u
#define SHARE_STRENGTHS 3u

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
    for (size_t j = 1; j < gsai_design_common(problem->design); j++)
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
    gsai_quality quality = {
        .n_classes = problem->n_classes, .quantile = (double)problem->quantile, .ranking.env = problem->env};
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
            status = gsai_quality_add_number(&quality, problem->has_log_link ? gsai_exp(margins[0]) : margins[0], y, c,
                                             error);
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
    order->loss = (order->loss + gsai_problem_clipped(problem)) * design->loss_unit;
    order->error *= design->loss_unit;
    return GSA_OK;
}

/* Measures the loss that the mix of one form would have, without a fit. */
static gsa_status measure_form(gsai_path *path, gsai_arena *arena, double *loss, gsa_error *error)
{
    double share[GSAI_RECORDS];
    gsai_forms forms = {0};
    size_t best = gsai_forms_share_out(path, share), n_held = path->held_from[path->n_folds];
    float *held = gsai_arena_take(arena, n_held, path->problem->design->stride * sizeof *held);
    gsai_scale_shift last, final;
    GSA_TRY(gsai_arena_check(arena, "held-out predictions", error));
    gsai_forms_add(&forms, path, best);
    GSA_TRY(gsai_forms_predict(&forms, share, best, held, &last, &final, error));
    *loss = final.loss;
    return GSA_OK;
}

static gsa_status mix(const gsai_forms *forms, gsai_optimum *out, gsa_error *error)
{
    gsai_path *path = forms->path[forms->chosen];
    const gsai_design *design = path->problem->design;
    size_t n_held = path->held_from[path->n_folds], n = design->n_columns * design->n_outputs;
    double share[GSAI_RECORDS];
    size_t best = gsai_forms_share_out(path, share), top = best, n_averaged = 0;
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
    GSA_TRY(gsai_forms_predict(forms, share, best, held, &last, &final, error));
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

/* Tries another scaling on the same rows, from about the strength that was best. *chosen becomes its
 * record if that is at most `factor` times the loss; *is_better says whether it did. */
static gsa_status try_scaling(gsai_path *path, gsai_column_scaling scaling, double factor, size_t *chosen,
                              bool *is_better, gsa_error *error)
{
    size_t first = path->record[*chosen].strength, other;
    gsai_path_unscale(path);
    gsai_path_scale(path, scaling);
    GSA_TRY(gsai_path_climb(path, first > 0 ? first - 1 : 0, path->n_rows <= ROWS_FEW ? 2 : 1, &other, error));
    *is_better = path->record[other].calibration.loss <= factor * path->record[*chosen].calibration.loss;
    if (*is_better)
        *chosen = other;
    return GSA_OK;
}

/* Tries lower powers of the frequency, under which rare columns are penalised more, as long as that gains. */
static gsa_status try_powers(gsai_path *path, size_t *chosen, gsa_error *error)
{
    gsai_column_scaling scaling = path->record[*chosen].scaling;
    bool is_better = true;
    for (int i = 0; i < LOWER_POWERS && is_better; i++) {
        gsai_expect_strengths(path->problem, SCALING_STRENGTHS);
        scaling.inverse_frequency -= INVERSE_FREQUENCY;
        GSA_TRY(try_scaling(path, scaling, 1 - GSAI_CALIBRATION_MIN_GAIN, chosen, &is_better, error));
    }
    return GSA_OK;
}

/* Compares scalings on the same rows; *chosen is the best one's record. As given comes before standardised. */
static gsa_status compare_scalings(gsai_path *path, size_t *chosen, gsa_error *error)
{
    const gsai_design *design = path->problem->design;
    uint64_t asked = path->problem->asked;
    gsai_column_scaling scaling = gsai_first_scaling(path->problem, asked != GSAI_SCALE_NONE, INVERSE_FREQUENCY);
    double min = INFINITY, max = 0;
    for (size_t j = 1; j < path->n_common; j++)
        if (design->variance[j] > 0) {
            min = design->unit[j] < min ? design->unit[j] : min;
            max = design->unit[j] > max ? design->unit[j] : max;
        }
    bool is_better = true, compares_units = asked == GSAI_SCALE_AUTO && max > 1.0001 * min;
    bool are_rare = design->width == 0 && 4 * path->n_common > path->n_rows; /* many are */
    uint64_t n_rare = are_rare ? SCALING_STRENGTHS : 0;
    gsai_expect_strengths(path->problem, PATH_STRENGTHS + (compares_units ? SCALING_STRENGTHS : 0) + n_rare);
    gsai_scale_columns(path->problem, scaling);
    GSA_TRY(gsai_path_climb(path, 0, path->n_rows <= ROWS_FEW ? 2 : 1, chosen, error));
    if (compares_units) {
        scaling = gsai_first_scaling(path->problem, false, INVERSE_FREQUENCY);
        gsai_expect_strengths(path->problem, SCALING_STRENGTHS + n_rare);
        GSA_TRY(try_scaling(path, scaling, 1 / (1 - GSAI_CALIBRATION_MIN_GAIN), chosen, &is_better, error));
    }
    return are_rare ? try_powers(path, chosen, error) : GSA_OK;
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

/* On a sample curves are given up that are worse than lines by this many standard errors. Strengths of their priors
 * mean the same on all data: the first that is tried. */
#define MIN_ERRORS_OF_CURVES 2.0
#define FIRST_STRENGTH_OF_CURVES 2u
#define MIN_FACTOR 0.02F

/* Tries factors of the blocks, which are the line and the curve of each column that bends: the root of the variance of
 * the margins that a block has under the weights of a record, of that of all blocks on average. What counted for little
 * is penalised more. Each fold has its own, from its own weights: those of others know the rows that it leaves out. */
static gsa_status try_factors(gsai_path *path, size_t *chosen, gsa_error *error)
{
    gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    const gsai_record *record = &path->record[*chosen];
    const gsai_bends *bends = design->bends;
    size_t n_columns = design->n_columns, n_weights = bends->n_parts * design->stride;
    double *size = gsai_arena_take(path->arena, 2 * bends->n, sizeof *size);
    float *factor = gsai_arena_take(path->arena, 1 + path->n_folds, n_columns * sizeof *factor);
    bool is_better;
    GSA_TRY(gsai_arena_check(path->arena, "factors of blocks", error));
    gsai_scale_columns(problem, record->scaling);
    for (size_t of = 0; of <= path->n_folds; of++) {
        const float *v = of == 0 ? record->v + design->stride : record->parts + (of - 1) * n_weights;
        double mean = 0;
        memset(size, 0, 2 * bends->n * sizeof *size);
        for (size_t j = 0; j < n_columns; j++)
            factor[of * n_columns + j] = 1;
        for (size_t b = 0; b < bends->n; b++)
            for (size_t p = 0; p < bends->at[b].n_parts; p++)
                for (size_t k = 0; k < design->stride; k++) {
                    size_t at = bends->at[b].first_part + p;
                    double weight = (double)problem->scale[1 + at] * (double)v[at * design->stride + k];
                    size[2 * b + (p > 0)] += weight * weight * design->variance[1 + at];
                }
        for (size_t i = 0; i < 2 * bends->n; i++)
            mean += size[i] / (double)(2 * bends->n);
        for (size_t b = 0; b < bends->n && mean > 0; b++)
            for (size_t p = 0; p < bends->at[b].n_parts; p++)
                factor[of * n_columns + 1 + bends->at[b].first_part + p] =
                    fmaxf((float)sqrt(size[2 * b + (p > 0)] / mean), MIN_FACTOR);
    }
    gsai_column_scaling scaling = record->scaling;
    scaling.factor = factor;
    return try_scaling(path, scaling, 1 - GSAI_CALIBRATION_MIN_GAIN, chosen, &is_better, error);
}

/* Tries columns that bend on the rows of the path of lines. The sample decides alone where it is against them by more
 * than chance. */
static gsa_status try_bent(gsai_forms *forms, size_t n_sample, const gsai_record *of_sample, gsai_arena *arena,
                           gsa_error *error)
{
    const gsai_record *lines = &forms->path[0]->record[forms->best[0]];
    gsai_problem *problem = forms->path[0]->problem, *bent = problem->bent;
    gsai_path *own = gsai_arena_take(arena, 2, sizeof *own);
    size_t at, n_rows = problem->design->n_rows;
    bent->scale = gsai_arena_take(arena, bent->design->n_columns, sizeof *bent->scale);
    bent->width = problem->width;
    GSA_TRY(gsai_arena_check(arena, "curves", error));
    GSA_TRY(gsai_path_make(own, bent, n_sample, gsai_held_out_wanted(problem, false), TOLERANCE_SAMPLE, arena, error));
    bent->n_tried = problem->n_tried;
    bent->n_after = problem->n_after - PATH_STRENGTHS;
    bent->best_loss = problem->best_loss;
    gsai_expect_strengths(bent, PATH_STRENGTHS);
    gsai_column_scaling scaling = {true, lines->scaling.inverse_frequency, NULL, NULL};
    if (problem->has_texts && !lines->scaling.standardised)
        scaling.inverse_frequency -= GSAI_INVERSE_FREQUENCY_OF_WORDS;
    gsai_scale_columns(bent, scaling);
    GSA_TRY(gsai_path_climb(own, FIRST_STRENGTH_OF_CURVES, n_sample <= ROWS_FEW ? 2 : 1, &at, error));
    if (n_sample < n_rows) {
        double error_of_mean, excess = gsai_path_excess(own, &own->record[at], of_sample, &error_of_mean);
        if (excess > MIN_ERRORS_OF_CURVES * error_of_mean)
            return GSA_OK;
        bent->n_after -= ALL_STRENGTHS;
        GSA_TRY(path_of_all(own + 1, own, gsai_held_out_wanted(problem, true), &at, arena, error));
        own++;
    }
    gsai_forms_add(forms, own, at);
    if (forms->chosen > 0) {
        bent->n_after -= SCALING_STRENGTHS;
        gsai_expect_strengths(bent, SCALING_STRENGTHS);
        GSA_TRY(try_factors(own, &forms->best[forms->chosen], error));
        if (own->n_common > bent->design->bends->n_parts + MANY_WORDS)
            GSA_TRY(try_powers(own, &forms->best[forms->chosen], error));
    }
    return bent->rows ? gsai_pairs_try(forms, problem->design, n_sample < n_rows, arena, error) : GSA_OK;
}

/* Rounds of factors of customers, each from the weights under those before. */
#define ROUNDS_OF_OWN 4

/* Tries intercepts and slopes of customers, beside what all have; their records stay if they are better by more than
 * chance. */
static gsa_status try_own(gsai_forms *forms, gsai_results *out, gsa_error *error)
{
    gsai_path *path = forms->path[forms->chosen];
    const gsai_design *design = path->problem->design;
    size_t n_before = path->n_records, *chosen = &forms->best[forms->chosen], best = *chosen;
    double error_of_mean, loss;
    bool is_better = true;
    GSA_TRY(measure_form(path, path->arena, &loss, error));
    for (int round = 0; round < ROUNDS_OF_OWN && is_better; round++) {
        gsai_column_scaling scaling = path->record[best].scaling;
        float *own = gsai_arena_take(path->arena, (size_t)design->own_each, sizeof *own);
        GSA_TRY(gsai_arena_check(path->arena, "features of customers", error));
        gsai_own_factors(path, &path->record[best], own);
        scaling.own = own;
        gsai_expect_strengths(path->problem, SCALING_STRENGTHS);
        GSA_TRY(try_scaling(path, scaling, round == 0 ? INFINITY : 1 - GSAI_CALIBRATION_MIN_GAIN, &best, &is_better,
                            error));
    }
    double excess = gsai_path_excess(path, &path->record[best], &path->record[*chosen], &error_of_mean);
    bool is_taken = excess < -error_of_mean;
    if (is_taken) {
        out->at[GSAI_RESULT_customer_deviation] = gsai_own_deviation(path, &path->record[best]);
        *chosen = best;
        for (size_t f = 0; f < GSAI_FOLDS; f++) /* other forms have no customers */
            forms->chosen_without[f] = forms->chosen;
    } else {
        path->n_records = n_before;
    }
    out->at[GSAI_RESULT_customers] = is_taken ? (double)gsai_own_customers(design) : 0;
    out->at[GSAI_RESULT_common_loss] = loss;
    return GSA_OK;
}

gsa_status gsai_optimum_find(gsai_problem *problem, gsai_arena *arena, gsai_optimum *out, gsa_error *error)
{
    const gsai_design *design = problem->design;
    size_t n_rows = design->n_rows, n_sample = n_rows < SAMPLE_ROWS ? n_rows : SAMPLE_ROWS, chosen;
    gsai_path *path = gsai_arena_take(arena, 2, sizeof *path);
    gsai_forms forms = {0};
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
    gsai_forms_add(&forms, path, chosen);
    double lines_loss = 0;
    if (problem->bent) {
        GSA_TRY(try_bent(&forms, n_sample, of_sample, arena, error));
        problem->n_tried = problem->bent->n_tried;
        gsai_forms_choose_without(&forms);
        path->n_folds = forms.path[forms.chosen]->n_folds; /* fewer are held out where they are dear */
        GSA_TRY(measure_form(path, arena, &lines_loss, error));
        path = forms.path[forms.chosen];
    }
    if (path->n_common < path->n_columns)
        GSA_TRY(try_own(&forms, &out->results, error));
    if (problem->prior) {
        problem->n_after -= SHARE_STRENGTHS;
        gsai_expect_strengths(problem, SHARE_STRENGTHS);
        gsai_scale_columns(problem, path->record[forms.best[forms.chosen]].scaling);
        GSA_TRY(gsai_path_choose_share(path, forms.best[forms.chosen], error));
    }
    out->design = path->problem->design;
    GSA_TRY(mix(&forms, out, error));
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
