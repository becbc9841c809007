/* Calibration and losses of held-out rows. */
#include "solve/held_out.h"

#include <math.h>

gsai_scale_shift gsai_held_calibrate(const gsai_problem *problem, const float *target, const float *weight,
                                     const float *margin, size_t n, double behind, float *scratch)
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
                             .at = gsai_problem_rows(problem, target, weight, margin, n),
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

void gsai_held_losses(const gsai_problem *problem, const gsai_scale_shift *by, const float *target, const float *weight,
                      const float *margin, size_t n, float *scratch, float *loss)
{
    size_t n_cells = n * problem->design->stride;
    for (size_t i = 0; i < n_cells; i++)
        scratch[i] = (float)(by->scale * (double)margin[i] + by->shift);
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
