/* The scale and shift of margins that were held out. */
#include "solve/path.h"

#include <math.h>

#define NEWTON_STEPS 30
#define PRIOR 1.0

/* Sums of what Newton's step needs. */
struct sums {
    double g0, g1, h00, h01, h11;
};

/* Platt's targets (1999) for two classes: as if each class had one row more, on the other side. */
static void smoothing(const gsai_problem *problem, const float *target, const float *weight, size_t n,
                      double of_class[2])
{
    double count[2] = {0, 0};
    for (size_t i = 0; i < n; i++)
        count[target[i] > 0.5F] += (double)weight[i];
    for (int k = 0; k < 2; k++)
        of_class[k] = problem->has_probabilities ? 1 / (count[k] + 2) : 0;
}

static double one_output(const gsai_problem *problem, const float *target, const float *weight, const float *margin,
                         size_t n, float *scratch, const gsai_fold_calibration *at, const double prior[2],
                         struct sums *sums)
{
    float *m = scratch, *g = scratch + n, *h = scratch + 2 * n;
    double smooth[2];
    smoothing(problem, target, weight, n, smooth);
    for (size_t i = 0; i < n; i++)
        m[i] = (float)(at->scale * (double)margin[i] + at->shift);
    gsai_rows_at rows = gsai_problem_rows(problem, target, weight, m, n);
    rows.residual = g;
    rows.curvature = h;
    problem->loss(&rows);
    *sums = (struct sums){prior[0] * (at->scale - 1), prior[1] * at->shift, prior[0], 0, prior[1]};
    for (size_t i = 0; i < n; i++) {
        int y = target[i] > 0.5F;
        double z = (double)margin[i], slope = (double)g[i] + (double)weight[i] * (y ? smooth[1] : -smooth[0]);
        sums->g0 += slope * z;
        sums->g1 += slope;
        sums->h00 += (double)h[i] * z * z;
        sums->h01 += (double)h[i] * z;
        sums->h11 += (double)h[i];
    }
    return rows.value;
}

static double many_outputs(const gsai_problem *problem, const float *target, const float *weight, const float *margin,
                           size_t n, const gsai_fold_calibration *at, double prior, struct sums *sums)
{
    gsai_rows_at rows = gsai_problem_rows(problem, target, weight, margin, n);
    rows.direction = margin;
    rows.step = (float)(at->scale - 1);
    problem->loss(&rows);
    *sums = (struct sums){rows.slope + prior * (at->scale - 1), 0, rows.bending + prior, 0, 1};
    return rows.value;
}

gsai_fold_calibration gsai_fold_calibration_fit(const gsai_problem *problem, const float *target, const float *weight,
                                                const float *margin, size_t n, double behind, float *scratch)
{
    gsai_fold_calibration at = {1, 0, 0};
    double total = 0, prior[2] = {PRIOR, PRIOR};
    for (size_t i = 0; i < n; i++)
        total += (double)weight[i];
    for (int i = 0; i < NEWTON_STEPS; i++) {
        struct sums sums;
        if (problem->design->stride == 1)
            at.loss = one_output(problem, target, weight, margin, n, scratch, &at, prior, &sums);
        else
            at.loss = many_outputs(problem, target, weight, margin, n, &at, prior[0], &sums);
        if (!gsai_design_varies(problem->design)) /* the intercept says how large each class is */
            break;
        if (i == 0 && behind > 0) {
            prior[0] += behind * (sums.h00 - PRIOR);
            prior[1] += behind * (sums.h11 - PRIOR);
            continue;
        }
        double determinant = sums.h00 * sums.h11 - sums.h01 * sums.h01;
        double scale = (sums.g0 * sums.h11 - sums.g1 * sums.h01) / determinant;
        double shift = problem->has_intercept ? (sums.h00 * sums.g1 - sums.h01 * sums.g0) / determinant : 0, part = 1;
        if (at.scale - scale < at.scale / 2)
            part = at.scale / 2 / scale;
        if (at.scale - scale > at.scale * 2)
            part = -at.scale / scale;
        if (fabs(shift) * part > 1)
            part = 1 / fabs(shift);
        at.scale -= part * scale;
        at.shift -= part * shift;
        if (fabs(scale) < 1e-5 * at.scale && fabs(shift) < 1e-5)
            break;
    }
    at.loss /= total > 0 ? total : 1;
    return at;
}

void gsai_fold_calibration_losses(const gsai_problem *problem, const gsai_fold_calibration *scaling,
                                  const float *target, const float *weight, const float *margin, size_t n,
                                  float *scratch, float *loss)
{
    size_t n_cells = n * problem->design->stride;
    for (size_t i = 0; i < n_cells; i++)
        scratch[i] = (float)(scaling->scale * (double)margin[i] + scaling->shift);
    gsai_rows_at rows = gsai_problem_rows(problem, target, weight, scratch, n);
    rows.loss = loss;
    problem->loss(&rows);
}

double gsai_mean_excess(const float *loss, const float *over, const float *weight, size_t n, double *error_of_mean)
{
    double sum = 0, squares = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        double excess = (double)loss[i] - (double)over[i];
        sum += excess;
        squares += excess * excess / (double)weight[i]; /* a row of weight c is c rows */
        total += (double)weight[i];
    }
    double mean = sum / total, variance = squares / total - mean * mean;
    *error_of_mean = sqrt((variance > 0 ? variance : 0) / total);
    return mean;
}
