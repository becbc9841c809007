/* Dual sweeps along a path of strengths. */
#include "solve/sweeps.h"

#include "learn/config.h"

#include "base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TAU2_FIRST 0.5
#define STRENGTHS 16u
/* Sweeps for a strength, and one more for the first. */
#define SWEEPS 2u
/* The scale of a column is the share of rows that have it, to the power of the one or the other. */
static const double INVERSE_FREQUENCY[2] = {0.25, 0.1875};
#define HELD_OUT_CELLS 4096u
#define NEWTON_STEPS 12
#define NEWTON_CLOSE 1e-3F
/* Sweeps that a prior begins with. */
#define SWEEPS_PRIOR 4u
/* Strengths before the chosen one that the last fit begins with. */
#define STEPS_BACK 2u

/* A trial: a strength, and how rows were visited. */
struct trial {
    gsai_column_scaling scaling;
    bool own;
    size_t strength;
    double lambda, share; /* of the penalty; of the prior */
    double accuracy;
    gsai_scale_shift calibration;
};

/* The fit at hand, and what the trials share. */
struct search {
    gsai_problem *problem;
    const uint32_t *row; /* of the fit, */
    size_t n_rows;
    float *w;         /* [columns x stride], */
    float *a;         /* [rows x stride], */
    float *offset;    /* [all rows x stride], margins under the prior; NULL: none */
    float *row_cells; /* scratch of a visit */
    double lambda;
    uint32_t *held;
    size_t n_held;
    float *held_target, *held_weight, *margin, *scratch;
    float *loss[STRENGTHS + 1];            /* of held-out rows; the last those of the best */
    double *length;                        /* z . z of each row */
    uint32_t *all;                         /* rows */
    float *prior_margin, *base, *narrowed; /* margins under the prior; the scale without its precision, and with it */
};

bool gsai_sweeps_suit(const gsai_design *design)
{
    return design->stride > 1 && design->width == 0 && design->n_columns > GSAI_FACTOR_COLUMNS &&
           gsai_design_common(design) == design->n_columns;
}

static double lambda_of(const gsai_problem *problem, size_t strength)
{
    return problem->squared_norm / (TAU2_FIRST * (double)((uint64_t)1 << strength));
}

/* ---- a sweep ----------------------------------------------------------------------------------------------------- */

static void softmax(const gsai_problem *problem, const float *m, float *p)
{
    size_t n = problem->design->n_outputs, stride = problem->design->stride;
    float highest, sum;
    memcpy(p, m, stride * sizeof *p);
    problem->kernels->math.exponentiate_rows(p, 1, n, stride, &highest, &sum);
    float by = 1 / sum;
    problem->kernels->math.scale_rows(p, &by, p, 1, stride);
}

/* Solves p = softmax(m + q (y - p)), from the p there is: Newton's steps with the diagonal of the derivative. */
static void count_own(const gsai_problem *problem, const float *m, size_t y, float q, float *p, float *scratch)
{
    size_t n = problem->design->n_outputs, stride = problem->design->stride;
    float *margin = scratch, *next = scratch + stride;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        float off = 0, sum = 0;
        for (size_t k = 0; k < stride; k++)
            margin[k] = m[k] - q * p[k];
        margin[y] += q;
        softmax(problem, margin, next);
        for (size_t k = 0; k < n; k++) {
            float by = (p[k] - next[k]) / (1 + q * next[k]);
            off += fabsf(by);
            p[k] = p[k] - by > 0 ? p[k] - by : 0;
            sum += p[k];
        }
        for (size_t k = 0; k < n; k++)
            p[k] *= 1 / sum;
        if (off < NEWTON_CLOSE)
            break;
    }
}

static void visit(struct search *search, size_t q, bool own)
{
    const gsai_problem *problem = search->problem;
    const gsai_design *design = problem->design;
    size_t stride = design->stride, row = search->row[q], y = (size_t)design->target[row];
    float *m = search->row_cells, *p = m + stride, *a = search->a + q * stride, c = design->weight[row];
    float per_lambda = (float)(1 / search->lambda), share = (float)(search->length[row] / search->lambda);
    for (size_t k = 0; k < stride; k++)
        m[k] = problem->scale[0] * search->w[k];
    if (search->offset)
        problem->kernels->add(m, 1, search->offset + row * stride, stride);
    for (size_t t = design->start[row]; t < design->start[row + 1]; t++)
        problem->kernels->add(m, problem->scale[design->column[t]] * design->value[t],
                              search->w + design->column[t] * stride, stride);
    problem->kernels->add(m, -share, a, stride);
    softmax(problem, m, p);
    if (own)
        count_own(problem, m, y, share * c, p, p + stride);
    for (size_t k = 0; k < stride; k++) {
        float next = c * ((k == y ? 1.0F : 0.0F) - p[k]);
        p[k] = (next - a[k]) * per_lambda;
        a[k] = next;
    }
    problem->kernels->add(search->w, problem->scale[0], p, stride);
    for (size_t t = design->start[row]; t < design->start[row + 1]; t++)
        problem->kernels->add(search->w + design->column[t] * stride,
                              problem->scale[design->column[t]] * design->value[t], p, stride);
}

/* Visits all rows at a strength; the same a stand for other weights there than at the one before. */
static gsa_status sweep(struct search *search, double lambda, bool own, size_t n_sweeps, gsa_error *error)
{
    const gsai_design *design = search->problem->design;
    float by = search->lambda > 0 ? (float)(search->lambda / lambda) : 1;
    for (size_t i = 0; i < design->n_columns * design->stride; i++)
        search->w[i] *= by;
    search->lambda = lambda;
    for (size_t s = 0; s < n_sweeps; s++)
        for (size_t q = 0; q < search->n_rows; q++) {
            if (q % 256 == 0 && gsai_should_stop(search->problem->env))
                return gsai_fail(error, GSA_STOPPED, "stopped on request");
            visit(search, q, own);
        }
    return GSA_OK;
}

static void restart(struct search *search)
{
    const gsai_design *design = search->problem->design;
    memset(search->w, 0, design->n_columns * design->stride * sizeof *search->w);
    memset(search->a, 0, search->n_rows * design->stride * sizeof *search->a);
    search->lambda = 0;
}

/* ---- the path ---------------------------------------------------------------------------------------------------- */

/* z . z of all rows; returns the mean. */
static double measure_rows(struct search *search)
{
    const gsai_problem *problem = search->problem;
    const gsai_design *design = problem->design;
    double sum = 0;
    for (size_t i = 0; i < design->n_rows; i++) {
        search->length[i] = (double)problem->scale[0] * (double)problem->scale[0];
        for (size_t t = design->start[i]; t < design->start[i + 1]; t++) {
            double z = (double)problem->scale[design->column[t]] * (double)design->value[t];
            search->length[i] += z * z;
        }
        sum += search->length[i];
    }
    return sum / (double)design->n_rows;
}

/* Begins anew in another scale of the columns. */
static void set_scale(struct search *search, gsai_column_scaling scaling)
{
    search->offset = NULL;
    gsai_scale_columns(search->problem, scaling);
    search->problem->squared_norm = measure_rows(search);
    restart(search);
}

/* Evaluates the fit on the held-out rows, whose losses become those of a number. The accuracy is the same before and
 * after calibration, which scales the margins. */
static void evaluate(struct search *search, size_t number, struct trial *trial)
{
    const gsai_problem *problem = search->problem;
    const gsai_design *design = problem->design;
    size_t stride = design->stride;
    gsai_row_list list = {search->held, search->n_held, NULL, 0, design->start, design->column, design->value};
    for (size_t j = 0; j < design->n_columns; j++)
        for (size_t k = 0; k < stride; k++)
            search->scratch[j * stride + k] = problem->scale[j] * search->w[j * stride + k];
    for (size_t q = 0; q < search->n_held; q++) {
        memcpy(search->margin + q * stride, search->scratch, stride * sizeof(float));
        if (search->offset)
            problem->kernels->add(search->margin + q * stride, 1, search->offset + search->held[q] * stride, stride);
    }
    problem->kernels->margins(&list, search->scratch, stride, search->margin);
    double behind = trial->share > 0 ? problem->prior->n_rows / design->total_weight : 0, correct = 0, total = 0;
    trial->calibration = gsai_held_calibrate(problem, search->held_target, NULL, search->held_weight, search->margin,
                                             search->n_held, behind, search->scratch);
    gsai_held_losses(problem, &trial->calibration, search->held_target, NULL, search->held_weight, search->margin,
                     search->n_held, search->scratch, search->loss[number]);
    for (size_t q = 0; q < search->n_held; q++) {
        const float *m = search->margin + q * stride;
        size_t best = 0;
        for (size_t k = 1; k < design->n_outputs; k++)
            best = m[k] > m[best] ? k : best;
        correct += best == (size_t)search->held_target[q] ? (double)search->held_weight[q] : 0;
        total += (double)search->held_weight[q];
    }
    trial->accuracy = correct / total;
}

/* Climbs another way from a strength on; *best becomes the best of it, unless the one before is about as good. */
static gsa_status try_way(struct search *search, struct trial way, size_t first, struct trial *best, gsa_error *error)
{
    struct trial at[STRENGTHS] = {0};
    size_t top = first;
    set_scale(search, way.scaling);
    for (size_t j = first; j < STRENGTHS; j++) {
        at[j] = way;
        at[j].strength = j;
        at[j].lambda = lambda_of(search->problem, j);
        GSA_TRY(sweep(search, at[j].lambda, way.own, SWEEPS + (j == first), error));
        evaluate(search, j, &at[j]);
        gsai_report_strength(search->problem, at[j].calibration.loss);
        if (j > first && at[j].calibration.loss >= (1 - GSAI_STRENGTH_GAIN) * at[top].calibration.loss)
            break;
        top = j;
    }
    for (size_t j = first; j < top; j++) { /* within one standard error of the best */
        double error_of_mean, excess = gsai_mean_excess(search->loss[j], search->loss[top], search->held_weight,
                                                        search->n_held, &error_of_mean);
        top = excess <= error_of_mean ? j : top;
    }
    if (best->lambda == 0 || at[top].calibration.loss < (1 - GSAI_CALIBRATION_MIN_GAIN) * best->calibration.loss) {
        *best = at[top];
        memcpy(search->loss[STRENGTHS], search->loss[top], search->n_held * sizeof(float));
    }
    return GSA_OK;
}

/* Which columns, visits and strength are best. */
static gsa_status choose(struct search *search, struct trial *best, gsa_error *error)
{
    uint64_t asked = search->problem->asked;
    const gsai_problem *problem = search->problem;
    struct trial way = {.scaling = gsai_first_scaling(problem, asked == GSAI_SCALE_STANDARD, INVERSE_FREQUENCY[0])};
    GSA_TRY(try_way(search, way, 0, best, error));
    if (asked == GSAI_SCALE_AUTO) {
        way.scaling = gsai_first_scaling(problem, true, INVERSE_FREQUENCY[0]);
        GSA_TRY(try_way(search, way, best->strength > 0 ? best->strength - 1 : 0, best, error));
    }
    way = *best;
    way.scaling.inverse_frequency =
        problem->has_texts ? way.scaling.inverse_frequency - INVERSE_FREQUENCY[1] : INVERSE_FREQUENCY[1];
    GSA_TRY(try_way(search, way, best->strength > 0 ? best->strength - 1 : 0, best, error));
    way = *best;
    way.own = true;
    return try_way(search, way, best->strength, best, error);
}

/* ---- the prior --------------------------------------------------------------------------------------------------- */

/* Fits a share of the prior: rows begin at its margins, and the precision of a column is in its scale. The intercept
 * has the penalty of a column at least. The same a stand for other weights then. */
static gsa_status fit_share(struct search *search, const struct trial *trial, size_t n_sweeps, gsa_error *error)
{
    gsai_problem *problem = search->problem;
    const gsai_design *design = problem->design;
    gsai_penalty penalty = {trial->lambda, trial->share};
    double squared_norm = problem->squared_norm;
    gsai_scale_columns(problem, trial->scaling);
    problem->squared_norm = squared_norm;
    gsai_prior_set(problem, &penalty);
    gsai_margins_of(problem, design->n_columns, search->all, design->n_rows, problem->prior->mean, search->scratch,
                    search->prior_margin);
    search->offset = search->prior_margin;
    for (size_t j = 0; j < design->n_columns; j++) {
        double precision = problem->prior->column[j] > trial->lambda ? problem->prior->column[j] : trial->lambda;
        float *w = search->w + j * design->stride, before = search->narrowed[j];
        search->base[j] = problem->scale[j];
        problem->scale[j] *= (float)sqrt(trial->lambda / precision);
        for (size_t k = 0; k < design->stride && before > 0; k++)
            w[k] *= problem->scale[j] / before;
        search->narrowed[j] = problem->scale[j];
    }
    measure_rows(search);
    return sweep(search, trial->lambda, trial->own, n_sweeps, error);
}

/* The largest share of the prior that is as good as the best one, or as none. */
static gsa_status choose_share(struct search *search, struct trial *best, gsa_error *error)
{
    struct trial at[GSAI_SHARES];
    size_t n = 0, lowest = 0, n_shares = gsai_prior_shares(search->problem->design);
    double error_of_mean;
    restart(search);
    for (; n < n_shares && lowest + GSAI_SHARE_PATIENCE >= n; n++) {
        at[n] = *best;
        at[n].share = gsai_shares[n];
        GSA_TRY(fit_share(search, &at[n], n == 0 ? SWEEPS_PRIOR : SWEEPS, error));
        evaluate(search, n, &at[n]);
        lowest = at[n].calibration.loss < at[lowest].calibration.loss ? n : lowest;
    }
    const float *loss =
        best->calibration.loss < at[lowest].calibration.loss ? search->loss[STRENGTHS] : search->loss[lowest];
    for (size_t i = 0; i < n; i++) {
        double excess = gsai_mean_excess(search->loss[i], loss, search->held_weight, search->n_held, &error_of_mean);
        if (n_shares == 1 || gsai_prior_holds(excess, error_of_mean, 1, search->n_held)) {
            *best = at[i];
            return GSA_OK;
        }
    }
    return GSA_OK;
}

/* ---- all rows ---------------------------------------------------------------------------------------------------- */

/* All rows, from two strengths before, or with the prior. */
static gsa_status fit_all(struct search *search, const struct trial *best, gsa_error *error)
{
    size_t first = best->strength > STEPS_BACK ? best->strength - STEPS_BACK : 0;
    search->row = search->all;
    search->n_rows = search->problem->design->n_rows;
    if (best->share > 0) {
        restart(search);
        return fit_share(search, best, SWEEPS_PRIOR + SWEEPS, error);
    }
    set_scale(search, best->scaling);
    for (size_t j = first; j <= best->strength; j++)
        GSA_TRY(sweep(search, lambda_of(search->problem, j), best->own, SWEEPS + (j == first), error));
    return GSA_OK;
}

static size_t deal(struct search *search, uint32_t *fitted, gsai_results *results)
{
    const gsai_design *design = search->problem->design;
    size_t n_held_out = HELD_OUT_CELLS / design->n_outputs, n_folds, n = 0;
    n_folds = (n_held_out * GSAI_FOLDS + design->n_rows - 1) / design->n_rows;
    n_folds = n_folds < 1 ? 1 : n_folds > GSAI_FOLDS / 2 ? GSAI_FOLDS / 2 : n_folds;
    n_folds = n_folds > (design->n_folds + 1) / 2 ? (design->n_folds + 1) / 2 : n_folds;
    gsai_design_describe(design, n_folds, results);
    for (size_t i = 0; i < design->n_rows; i++) {
        if (gsai_design_fold(design, i) >= n_folds) {
            fitted[n++] = (uint32_t)i;
            continue;
        }
        search->held_target[search->n_held] = design->target[i];
        search->held_weight[search->n_held] = design->weight[i];
        search->held[search->n_held++] = (uint32_t)i;
    }
    return n;
}

gsa_status gsai_sweeps_find(gsai_problem *problem, gsai_arena *arena, gsai_optimum *out, gsa_error *error)
{
    const gsai_design *design = problem->design;
    size_t n = design->n_rows, stride = design->stride, n_columns = design->n_columns;
    struct search search = {.problem = problem};
    struct trial best = {0};
    uint32_t *fitted = gsai_arena_take(arena, n, sizeof *fitted);
    search.all = gsai_arena_take(arena, n, sizeof *search.all);
    search.held = gsai_arena_take(arena, n, sizeof *search.held);
    search.held_target = gsai_arena_take(arena, n, sizeof(float));
    search.held_weight = gsai_arena_take(arena, n, sizeof(float));
    search.margin = gsai_arena_take(arena, n, stride * sizeof(float));
    search.scratch = gsai_arena_take(arena, n_columns + n, stride * sizeof(float));
    search.length = gsai_arena_take(arena, n, sizeof *search.length);
    search.w = gsai_arena_take(arena, n_columns, stride * sizeof(float));
    search.a = gsai_arena_take(arena, n, stride * sizeof(float));
    search.row_cells = gsai_arena_take(arena, 4 * stride, sizeof(float));
    problem->scale = gsai_arena_take(arena, n_columns, sizeof *problem->scale);
    out->weight = gsai_arena_take(arena, n_columns * design->n_outputs, sizeof *out->weight);
    for (size_t j = 0; j <= STRENGTHS; j++)
        search.loss[j] = gsai_arena_take(arena, n, sizeof(float));
    if (problem->prior) {
        search.prior_margin = gsai_arena_take(arena, n, stride * sizeof(float));
        search.base = gsai_arena_take(arena, n_columns, sizeof *search.base);
        search.narrowed = gsai_arena_take(arena, n_columns, sizeof *search.narrowed);
    }
    GSA_TRY(gsai_arena_check(arena, "the sweeps", error));
    for (size_t i = 0; i < n; i++)
        search.all[i] = (uint32_t)i;
    search.row = fitted;
    search.n_rows = deal(&search, fitted, &out->results);
    problem->best_loss = DBL_MAX;
    gsai_expect_strengths(problem, GSAI_EXPECTED_STRENGTHS);
    GSA_TRY(choose(&search, &best, error));
    if (problem->prior)
        GSA_TRY(choose_share(&search, &best, error));
    GSA_TRY(fit_all(&search, &best, error));
    for (size_t j = 0; j < n_columns; j++)
        for (size_t k = 0; k < design->n_outputs; k++) {
            double s = best.calibration.scale, before = 0;
            if (best.share > 0)
                before = s * (double)search.base[j] * (double)problem->prior->mean[j * stride + k];
            out->weight[j * design->n_outputs + k] =
                s * (double)problem->scale[j] * (double)search.w[j * stride + k] + before;
            /* the intercept makes up for the means that the prior's centred columns have */
            out->weight[k] -= j > 0 ? (double)design->mean[j] * before : 0;
        }
    out->held_out_loss = best.calibration.loss;
    out->standardised = best.scaling.standardised;
    out->share = best.share;
    gsai_optimum_describe(problem, &(gsai_penalty){best.lambda, best.share}, &out->results);
    out->results.at[GSAI_RESULT_folds] = 1;
    out->results.at[GSAI_RESULT_calibration_scale] = best.calibration.scale;
    out->results.at[GSAI_RESULT_accuracy] = best.accuracy;
    return GSA_OK;
}
