/* Folds along the path of strengths. The idea of a path with the choice of one standard error is glmnet's (Friedman,
 * Hastie, Tibshirani 2010). */
#include "solve/path.h"

#include "base/error.h"
#include "base/workers.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TAU2_FIRST 0.0625
#define TAU2_FACTOR 4.0
/* Held-out margins that are better this much smaller: the penalty is too weak. */
#define MAX_SCALE_TOO_WEAK 0.97
/* Rows per column from which on the inverse is factored: fewer with pairs, where a pass over rows is dear. */
static const size_t FACTOR_ROWS[2] = {12, 4};
/* Rows that the factored inverse is made from, per column and at least. */
#define GRAM_ROWS_PER_COLUMN 8u
#define MIN_GRAM_ROWS 4096u

/* With several outputs, or many entries per row, one matrix of all rows alike serves all strengths and scalings. */
#define UNIFORM_ENTRIES 64.0

static size_t gram_step(const gsai_path *path)
{
    size_t wanted = GRAM_ROWS_PER_COLUMN * path->n_common;
    wanted = wanted > MIN_GRAM_ROWS ? wanted : MIN_GRAM_ROWS;
    return path->n_rows / wanted > 0 ? path->n_rows / wanted : 1;
}

/* Weights of columns with a smaller scale begin with 0. */
#define MIN_RESCALED 1e-6F

/* Held-out rows: of the sample and of all, for one output and for several. */
static const size_t HELD_OUT_ROWS[2][2] = {{2048, 1024}, {4096, 2048}};
/* More rows are held out where they are cheap: as many as have this many cells, entries times outputs. */
#define MIN_HELD_OUT_CELLS 524288.0
/* And fewer of the sample where they are dear. */
#define MAX_HELD_OUT_CELLS 8388608.0
/* Rows with one output that others are learned after only say where to begin: fewer, with as many cells. */
#define HELD_OUT_AT_START 512.0
#define HELD_OUT_CELLS_AT_START 16384.0

/* Folds that share memory are fitted one after the other: as many at a time as there are threads, unless their vectors
 * are long. Which it is does not change what they find. */
#define MIN_GROUPS 128u /* that are held out, if there are as many */
#define CELLS_AT_ONCE ((size_t)1 << 26)
#define VECTORS_PER_FIT 24u

static void deal_rows(gsai_path *path)
{
    const gsai_design *design = path->problem->design;
    size_t n_held = 0;
    for (size_t f = 0; f < path->n_folds; f++) {
        size_t n_fit = 0;
        path->held_from[f] = n_held;
        for (size_t i = 0; i < path->n_rows; i++) {
            if (gsai_design_fold(design, i) == f)
                path->held[n_held++] = (uint32_t)i;
            else
                path->fit[f].row[n_fit++] = (uint32_t)i;
        }
        gsai_fit_rows(&path->fit[f], n_fit);
    }
    path->held_from[path->n_folds] = n_held;
    for (size_t i = 0; i < path->n_rows; i++) {
        path->all[i] = (uint32_t)i;
        path->weight += (double)design->weight[i];
        if (gsai_design_fold(design, i) >= path->n_folds)
            path->rest[path->n_rest++] = (uint32_t)i;
    }
    for (size_t q = 0; q < n_held; q++) {
        path->held_target[q] = design->target[path->held[q]];
        path->held_weight[q] = design->weight[path->held[q]];
        if (path->held_offset)
            path->held_offset[q] = design->offset[path->held[q]];
    }
}

size_t gsai_held_out_wanted(const gsai_problem *problem, bool all)
{
    const gsai_design *design = problem->design;
    double n_entries = (double)gsai_padded(design->n_columns - 1);
    if (design->width == 0)
        n_entries = (double)(design->start[design->n_rows] + 1) / (double)design->n_rows;
    double cells = n_entries * (double)design->stride, n = (double)HELD_OUT_ROWS[all][design->stride > 1];
    if (problem->is_start && design->stride == 1)
        return (size_t)fmax(HELD_OUT_AT_START, HELD_OUT_CELLS_AT_START / cells);
    if (all && n < MIN_HELD_OUT_CELLS / cells)
        n = MIN_HELD_OUT_CELLS / cells;
    if (!all && n > MAX_HELD_OUT_CELLS / cells)
        n = MAX_HELD_OUT_CELLS / cells;
    return (size_t)n;
}

gsa_status gsai_path_make(gsai_path *path, gsai_problem *problem, size_t n_rows, size_t n_held_out, double tolerance,
                          gsai_arena *arena, gsa_error *error)
{
    const gsai_design *design = problem->design;
    size_t n_folds = (n_held_out * GSAI_FOLDS + n_rows - 1) / n_rows, stride = design->stride;
    *path = (gsai_path){.problem = problem, .n_rows = n_rows, .arena = arena, .tolerance = tolerance};
    problem->best_loss = DBL_MAX;
    /* Rows of a group tell less than as many others. */
    if (design->group && n_folds * design->n_groups < GSAI_FOLDS * MIN_GROUPS)
        n_folds = (GSAI_FOLDS * MIN_GROUPS + design->n_groups - 1) / design->n_groups;
    path->n_folds = n_folds < 1 ? 1 : n_folds > design->n_folds ? design->n_folds : n_folds;
    path->n_columns = gsai_design_columns(design, n_rows);
    path->n_common = gsai_design_common(design);
    path->n_common = path->n_common < path->n_columns ? path->n_common : path->n_columns;
    size_t n = gsai_padded(path->n_common);
    size_t n_groups = CELLS_AT_ONCE / (VECTORS_PER_FIT * gsai_fit_size(design, path->n_columns));
    size_t n_threads = gsai_workers_count(problem->env);
    n_groups = n_groups < n_threads ? n_groups : n_threads;
    path->n_groups = n_groups < 1 ? 1 : n_groups < path->n_folds ? n_groups : path->n_folds;
    bool has_pairs = design->bends && design->bends->pair;
    /* A factor costs more than it saves where rows are few. */
    path->is_factored =
        design->sign || (path->n_common <= GSAI_FACTOR_COLUMNS && n_rows / FACTOR_ROWS[has_pairs] >= path->n_common);
    double n_entries =
        design->width > 0 ? (double)gsai_padded(design->n_columns - 1) : (double)design->start[n_rows] / (double)n_rows;
    path->is_kept = stride > 1 || n_entries > UNIFORM_ENTRIES;
    path->is_uniform = path->is_kept && (stride > 1 || !has_pairs);
    for (size_t f = 0; f < path->n_folds; f++) {
        const gsai_fit *like = f < path->n_groups ? NULL : &path->fit[f - path->n_groups];
        gsai_fit_make(&path->fit[f], problem, n_rows, path->n_columns, like, arena);
        if (design->bends) {
            path->of_fold[f] = *problem;
            path->of_fold[f].scale = gsai_arena_take(arena, design->n_columns, sizeof(float));
            path->fit[f].problem = &path->of_fold[f];
        }
        if (!like && path->is_factored)
            path->fit[f].inverse.factor = gsai_arena_take(arena, n, n * sizeof(float));
        if (!like && (!path->is_factored || path->n_common < path->n_columns))
            path->fit[f].inverse.diagonal = gsai_arena_take(arena, path->n_columns, sizeof(float));
    }
    path->held = gsai_arena_take(arena, n_rows, sizeof *path->held);
    path->rest = gsai_arena_take(arena, n_rows, sizeof *path->rest);
    path->all = gsai_arena_take(arena, n_rows, sizeof *path->all);
    path->held_target = gsai_arena_take(arena, n_rows, sizeof(float));
    path->held_weight = gsai_arena_take(arena, n_rows, sizeof(float));
    path->held_offset = design->offset ? gsai_arena_take(arena, n_rows, sizeof(float)) : NULL;
    path->held_loss[0] = gsai_arena_take(arena, n_rows, sizeof(float));
    path->held_loss[1] = gsai_arena_take(arena, n_rows, sizeof(float));
    path->curvature = gsai_arena_take(arena, n_rows, sizeof(float));
    path->group_sum = design->group ? gsai_arena_take(arena, design->n_groups, sizeof *path->group_sum) : NULL;
    path->held_margin = gsai_arena_take(arena, n_rows, stride * sizeof(float));
    for (size_t f = 0; f <= path->n_folds; f++) {
        size_t own = f == 0 ? n_rows * (stride > 3 ? stride : 3) : 0;
        own += path->is_factored ? gsai_gram_scratch(n) + gsai_factor_scratch(n) : 0;
        path->scratch[f] = gsai_arena_take(arena, own, sizeof(float));
        if (path->is_factored)
            path->gram[f] = gsai_arena_take(arena, n, n * sizeof(float));
    }
    GSA_TRY(gsai_arena_check(arena, "the folds", error));
    deal_rows(path);
    return GSA_OK;
}

/* ---- held-out rows ----------------------------------------------------------------------------------------------- */

gsai_scale_shift gsai_held_calibrate(const gsai_problem *problem, const float *target, const float *offset,
                                     const float *weight, const float *margin, size_t n, double behind, float *scratch)
{
    bool one_output = problem->design->stride == 1;
    double total = 0, count[2] = {0, 0}, smoothing[2];
    for (size_t i = 0; i < n; i++) {
        total += (double)weight[i];
        count[target[i] > 0.5F] += (double)weight[i];
    }
    for (int k = 0; k < 2; k++) /* as if each class had one row more, on the other side */
        smoothing[k] = 1 / (count[k] + 2);
    gsai_scaled_rows rows = {.loss = problem->loss,
                             .at = gsai_problem_rows(problem, target, offset, weight, margin, n),
                             .smoothing = one_output && problem->has_probabilities ? smoothing : NULL,
                             .has_shift = one_output && problem->has_intercept,
                             .is_fixed = !gsai_design_varies(problem->design), /* the intercept knows the classes */
                             .prior = {1, 1},
                             .unit = 1,
                             .behind = behind,
                             .scratch = scratch};
    gsai_scale_shift at = {1, 0, 0};
    (void)gsai_scale_shift_fit(&rows, &at);
    at.loss /= total > 0 ? total : 1;
    return at;
}

void gsai_held_losses(const gsai_problem *problem, const gsai_scale_shift *by, const float *target, const float *offset,
                      const float *weight, const float *margin, size_t n, float *scratch, float *loss)
{
    size_t n_cells = n * problem->design->stride;
    for (size_t i = 0; i < n_cells; i++)
        scratch[i] = (float)(by->scale * (double)margin[i] + by->shift);
    gsai_rows_at rows = gsai_problem_rows(problem, target, offset, weight, scratch, n);
    rows.loss = loss;
    problem->loss(&rows);
}

/* Returns the standard error of a mean excess where rows of a group are not independent: from the sums of groups. */
static double error_of_groups(const gsai_path *path, double mean)
{
    size_t n_groups = path->problem->design->n_groups, n = 0;
    double *sum = path->group_sum, squares = 0, total = 0;
    for (size_t g = 0; g < n_groups; g++)
        sum[g] = 0;
    for (size_t q = 0; q < path->held_from[path->n_folds]; q++) {
        double weight = (double)path->held_weight[q];
        sum[path->problem->design->group[path->held[q]]] +=
            (double)path->held_loss[0][q] - (double)path->held_loss[1][q] - mean * weight;
        total += weight;
    }
    for (size_t g = 0; g < n_groups; g++) {
        squares += sum[g] * sum[g];
        n += sum[g] != 0;
    }
    return n > 1 ? sqrt(squares * (double)n / (double)(n - 1)) / total : 0;
}

double gsai_mean_excess(const float *loss, const float *over, const float *weight, size_t n, double *error_of_mean)
{
    double sum = 0, squares = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        double excess = (double)loss[i] - (double)over[i];
        sum += excess;
        squares += weight[i] > 0 ? excess * excess / (double)weight[i] : 0; /* a row of weight c is c rows */
        total += (double)weight[i];
    }
    double mean = sum / total, variance = squares / total - mean * mean;
    *error_of_mean = sqrt((variance > 0 ? variance : 0) / total);
    return mean;
}

/* ---- one strength ------------------------------------------------------------------------------------------------ */

#define MIN_MEAN_CURVATURE 0.25

/* Curvatures of all rows at the weights of a fit; returns their sum. */
static double measure_curvature(gsai_path *path, gsai_fit *first)
{
    const gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    double sum = 0;
    gsai_margins_of(first->problem, path->n_columns, path->all, path->n_rows, first->v, first->scaled, first->margin);
    gsai_rows_at at =
        gsai_problem_rows(problem, design->target, design->offset, design->weight, first->margin, path->n_rows);
    at.curvature = path->curvature;
    problem->loss(&at);
    for (size_t i = 0; i < path->n_rows; i++)
        sum += (double)path->curvature[i];
    /* A hinge is straight but for its corner, Huber's loss beyond its width: a step would have no bound. */
    bool is_straight = !problem->has_probabilities && !problem->has_log_link && sum < MIN_MEAN_CURVATURE * path->weight;
    for (size_t i = 0; i < path->n_rows && is_straight; i++)
        path->curvature[i] = fmaxf(path->curvature[i], (float)MIN_MEAN_CURVATURE * design->weight[i]);
    return is_straight ? MIN_MEAN_CURVATURE * path->weight : sum;
}

/* Task: the Gram matrix of the rows that a fold leaves out, or of those that none does. */
static gsa_status run_gram(void *ctx, size_t number, gsa_error *error)
{
    gsai_path *path = ctx;
    bool is_rest = number == path->n_folds;
    const uint32_t *row = is_rest ? path->rest : path->held + path->held_from[number];
    size_t n = is_rest ? path->n_rest : path->held_from[number + 1] - path->held_from[number];
    (void)error;
    gsai_gram_of(path->problem, path->n_common, row, n, gram_step(path),
                 path->is_uniform ? path->problem->design->weight : path->curvature, path->scratch[number],
                 path->gram[number]);
    return GSA_OK;
}

/* Task: the folds that share memory, one after the other at one strength, and the margins of their held-out rows. */
static gsa_status run_group(void *ctx, size_t number, gsa_error *error)
{
    gsai_path *path = ctx;
    for (size_t f = number; f < path->n_folds; f += path->n_groups) {
        gsai_fit *fit = &path->fit[f];
        size_t from = path->held_from[f], n = path->held_from[f + 1] - from;
        if (path->is_factored)
            gsai_inverse_factor(&fit->inverse, fit->problem, path->n_common, path->gram[path->n_folds], path->gram[f],
                                path->sum_curvature / path->gram_curvature, &path->penalty, path->scratch[f]);
        if (fit->inverse.diagonal)
            gsai_inverse_diagonal(&fit->inverse, fit->problem, path->n_columns,
                                  path->sum_curvature * (double)fit->n_rows / (double)path->n_rows, &path->penalty);
        GSA_TRY(gsai_fit_minimise(fit, &path->penalty, path->tolerance, GSAI_MAX_ITERATIONS, error));
        gsai_margins_of(fit->problem, path->n_columns, path->held + from, n, fit->v, fit->scaled,
                        path->held_margin + from * path->problem->design->stride);
    }
    return GSA_OK;
}

void gsai_path_prepare(gsai_path *path, gsai_fit *fit, const gsai_penalty *penalty)
{
    double curvature = measure_curvature(path, fit);
    if (path->is_factored) {
        float *gram = path->gram[path->n_folds];
        if (!path->is_kept)
            gsai_gram_of(path->problem, path->n_common, path->all, path->n_rows, gram_step(path), path->curvature,
                         path->scratch[0], gram);
        gsai_inverse_factor(&fit->inverse, path->problem, path->n_common, gram, NULL,
                            path->is_kept ? curvature / path->gram_curvature : 1, penalty, path->scratch[0]);
    }
    if (fit->inverse.diagonal)
        gsai_inverse_diagonal(&fit->inverse, path->problem, path->n_columns, curvature, penalty);
}

/* Gives each fold the scales of the columns: with its own factors, and 0 for those of pairs that it has not found. */
static void scale_folds(gsai_path *path)
{
    const gsai_problem *problem = path->problem;
    const gsai_bends *bends = problem->design->bends;
    const float *factor = problem->scaling.factor;
    size_t n_columns = problem->design->n_columns;
    for (size_t f = 0; f < path->n_folds && bends; f++) {
        float *scale = path->of_fold[f].scale;
        path->of_fold[f] = *problem;
        path->of_fold[f].scale = scale;
        for (size_t j = 0; j < n_columns; j++)
            scale[j] = problem->scale[j] * (factor ? factor[(1 + f) * n_columns + j] / factor[j] : 1);
        for (size_t b = bends->n_curves; b < bends->n; b++)
            for (size_t j = 1 + bends->at[b].first_part; j <= bends->at[b].first_part + bends->at[b].n_parts; j++)
                scale[j] = bends->pair[b - bends->n_curves].found >> f & 1 && problem->design->variance[j] > 0;
    }
}

/* Multiplies the weights of folds by the scales of their columns. */
void gsai_path_unscale(gsai_path *path)
{
    size_t stride = path->problem->design->stride;
    for (size_t f = 0; f < path->n_folds; f++)
        for (size_t i = stride; i < path->n_columns * stride; i++)
            path->fit[f].v[i] *= path->fit[f].problem->scale[i / stride];
}

void gsai_path_scale(gsai_path *path, gsai_column_scaling scaling)
{
    size_t stride = path->problem->design->stride;
    gsai_scale_columns(path->problem, scaling);
    scale_folds(path);
    for (size_t f = 0; f < path->n_folds; f++)
        for (size_t i = stride; i < path->n_columns * stride; i++) {
            float scale = path->fit[f].problem->scale[i / stride], *v = &path->fit[f].v[i];
            *v = scale > MIN_RESCALED ? *v / scale : 0;
        }
}

/* Keeps the weights of the folds: their mean, and those of parts of each. */
static gsa_status keep_weights(const gsai_path *path, gsai_record *record, gsa_error *error)
{
    const gsai_problem *problem = path->problem;
    const gsai_bends *bends = problem->design->bends;
    size_t size = path->fit[0].size, stride = problem->design->stride, n_parts = bends ? bends->n_parts * stride : 0;
    record->v = gsai_arena_take(path->arena, size, sizeof(float));
    record->parts = bends ? gsai_arena_take(path->arena, path->n_folds, n_parts * sizeof(float)) : NULL;
    GSA_TRY(gsai_arena_check(path->arena, "a strength of the path", error));
    for (size_t f = 0; f < path->n_folds; f++) {
        const gsai_fit *fit = &path->fit[f];
        problem->kernels->add(record->v, 1 / (float)path->n_folds, fit->v, size);
        for (size_t i = 0; i < n_parts; i++)
            record->parts[f * n_parts + i] = fit->v[stride + i];
    }
    return GSA_OK;
}

/* Fits the folds at a strength and share of the prior, and keeps what came of it. */
static gsa_status try_penalty(gsai_path *path, size_t strength, const gsai_penalty *penalty, gsa_error *error)
{
    const gsai_problem *problem = path->problem;
    gsai_record *record = &path->record[path->n_records];
    size_t n_held = path->held_from[path->n_folds], stride = problem->design->stride;
    *record = (gsai_record){.scaling = problem->scaling, .strength = strength, .penalty = *penalty};
    if (penalty->share > 0)
        gsai_prior_set(problem, penalty);
    path->penalty = *penalty;
    scale_folds(path);
    path->sum_curvature = measure_curvature(path, &path->fit[0]);
    if (path->is_factored && (!path->is_kept || path->gram_curvature == 0)) {
        size_t n = gsai_padded(path->n_common), n_cells = n * n;
        GSA_TRY(
            gsai_workers_run(gsai_workers_count(problem->env), path->n_folds + 1, run_gram, path, problem->env, error));
        for (size_t f = 0; f < path->n_folds; f++) /* the last becomes that of all rows */
            problem->kernels->add(path->gram[path->n_folds], 1, path->gram[f], n_cells);
        path->gram_curvature = path->is_uniform ? path->weight : path->sum_curvature;
    }
    GSA_TRY(gsai_workers_run(path->n_groups, path->n_groups, run_group, path, problem->env, error));
    path->n_records++;
    record->calibration =
        gsai_held_calibrate(problem, path->held_target, path->held_offset, path->held_weight, path->held_margin, n_held,
                            penalty->share > 0 ? problem->prior->n_rows / path->weight : 0, path->scratch[0]);
    gsai_report_strength(path->problem, record->calibration.loss);
    record->held = gsai_arena_take(path->arena, n_held, stride * sizeof(float));
    GSA_TRY(gsai_arena_check(path->arena, "a strength of the path", error));
    memcpy(record->held, path->held_margin, n_held * stride * sizeof(float));
    return keep_weights(path, record, error);
}

/* ---- the path ---------------------------------------------------------------------------------------------------- */

double gsai_path_excess(gsai_path *path, const gsai_record *of, const gsai_record *over, double *error_of_mean)
{
    size_t n = path->held_from[path->n_folds];
    const gsai_record *both[2] = {of, over};
    for (int i = 0; i < 2; i++)
        gsai_held_losses(path->problem, &both[i]->calibration, path->held_target, path->held_offset, path->held_weight,
                         both[i]->held, n, path->scratch[0], path->held_loss[i]);
    double mean = gsai_mean_excess(path->held_loss[0], path->held_loss[1], path->held_weight, n, error_of_mean);
    if (path->group_sum)
        *error_of_mean = error_of_groups(path, mean);
    return mean;
}

/* Tries a strength; *best becomes it if it is better. */
static gsa_status try_strength(gsai_path *path, size_t strength, size_t *best, gsa_error *error)
{
    double tau2 = TAU2_FIRST;
    size_t last = path->n_records;
    for (size_t i = 0; i < strength; i++)
        tau2 *= TAU2_FACTOR;
    GSA_TRY(try_penalty(path, strength, &(gsai_penalty){path->problem->squared_norm / tau2, 0}, error));
    if (path->record[last].calibration.loss < (1 - GSAI_STRENGTH_GAIN) * path->record[*best].calibration.loss)
        *best = last;
    return GSA_OK;
}

/* Sets all folds to v, where they began with zeros. */
static void start_folds(gsai_path *path, const float *v)
{
    for (size_t f = 0; f < path->n_folds; f++)
        memcpy(path->fit[f].v, v, path->fit[f].size * sizeof *v);
}

gsa_status gsai_path_climb(gsai_path *path, size_t first, size_t patience, size_t *best, gsa_error *error)
{
    size_t from = *best = path->n_records, n_worse = 0;
    GSA_TRY(try_strength(path, first, best, error));
    for (size_t j = first + 1; j < path->problem->n_strengths && n_worse < patience; j++) {
        GSA_TRY(try_strength(path, j, best, error));
        n_worse = *best + 1 == path->n_records ? 0 : n_worse + 1;
    }
    if (*best == from && path->record[from].calibration.scale < MAX_SCALE_TOO_WEAK)
        /* Each fold goes on from its own weights: the mean of all knows the rows that it leaves out, and a fit of many
         * columns to few rows keeps some of where it begins. */
        for (size_t j = first; j > 0 && path->record[*best].strength == j; j--)
            GSA_TRY(try_strength(path, j - 1, best, error));
    for (size_t i = from, top = *best; i < path->n_records; i++) {
        double error_of_mean;
        if (path->record[i].strength < path->record[*best].strength &&
            gsai_path_excess(path, &path->record[i], &path->record[top], &error_of_mean) <= error_of_mean)
            *best = i;
    }
    return GSA_OK;
}

/* ---- the prior --------------------------------------------------------------------------------------------------- */

gsa_status gsai_path_choose_share(gsai_path *path, size_t at, gsa_error *error)
{
    size_t from = path->n_records, best = from, chosen = from, n_shares = gsai_prior_shares(path->problem->design);
    const gsai_record *plain = &path->record[at], *record = path->record;
    /* Held-out margins that want to be scaled by s: weights of s times the size have s^2 times the variance. */
    double s = plain->calibration.scale;
    gsai_penalty penalty = {plain->penalty.lambda / (s > 0.1 ? s * s : 0.01), 1};
    gsai_prior_set(path->problem, &penalty);
    start_folds(path, path->problem->prior->mean);
    /* All, and more than all while that is better: what was best is the first share, from which others go down. */
    GSA_TRY(try_penalty(path, plain->strength, &penalty, error));
    for (bool better = n_shares > 1; better && penalty.share < GSAI_MAX_CERTAINTY; path->n_records = from + 1) {
        penalty.share *= GSAI_CERTAINTY_FACTOR;
        GSA_TRY(try_penalty(path, plain->strength, &penalty, error));
        better = record[from + 1].calibration.loss < record[from].calibration.loss;
        if (better)
            path->record[from] = record[from + 1];
    }
    for (size_t i = 1; i < n_shares && best + GSAI_SHARE_PATIENCE >= path->n_records; i++) {
        penalty.share = gsai_shares[i];
        GSA_TRY(try_penalty(path, plain->strength, &penalty, error));
        best = record[from + i].calibration.loss < record[best].calibration.loss ? from + i : best;
    }
    best = record[best].calibration.loss < plain->calibration.loss ? best : at;
    double unit = path->problem->has_probabilities ? 1 : 2 * record[best].calibration.loss;
    for (; chosen < path->n_records && n_shares > 1; chosen++) {
        double error_of_mean, excess = gsai_path_excess(path, &record[chosen], &record[best], &error_of_mean);
        if (gsai_prior_holds(excess, error_of_mean, unit, path->held_from[path->n_folds]))
            break;
    }
    if (chosen == path->n_records) { /* nothing of the prior is left: the plain path is as it would be without it */
        path->n_records = from;
        return GSA_OK;
    }
    path->record[0] = path->record[chosen];
    path->n_records = 1;
    return GSA_OK;
}
