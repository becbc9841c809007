/* The inverse that L-BFGS begins with. */
#include "solve/fit.h"

#include <math.h>
#include <string.h>

#define ROWS_AT_ONCE ((size_t)64)
/* Rows of less curvature count for this, or the matrix would have holes. */
#define MIN_CURVATURE 1e-6F
#define MIN_PIVOT 1e-6

size_t gsai_gram_scratch(size_t n_columns)
{
    return 2 * ROWS_AT_ONCE * gsai_padded(n_columns);
}

/* Makes a sparse row with parts dense: centred, without the intercept. */
static void spread_row(const gsai_design *design, size_t row, size_t n_columns, float *x)
{
    size_t shift = gsai_design_shift(design), first_line = gsai_design_parts(design) + shift, at = 0;
    const gsai_bends *bends = design->bends;
    for (size_t j = 1; j < n_columns; j++)
        x[j] = -design->mean[j];
    for (size_t t = design->start[row]; t < design->start[row + 1]; t++) {
        size_t column = design->column[t];
        float value = design->value[t];
        if (column >= first_line) {
            if (column - shift < n_columns)
                x[column - shift] += value;
            continue;
        }
        while (column - 1 < bends->at[at].first_knot || column - 1 >= bends->at[at].first_knot + bends->at[at].n_knots)
            at = at + 1 < bends->n ? at + 1 : 0;
        const gsai_bend *bend = &bends->at[at];
        const float *matrix = bend->matrix + (column - 1 - bend->first_knot) * bend->n_parts;
        for (size_t p = 0; p < bend->n_parts; p++)
            x[1 + bend->first_part + p] += value * matrix[p];
    }
}

void gsai_gram_of(const gsai_problem *problem, size_t n_columns, const uint32_t *row, size_t n_rows, size_t step,
                  const float *curvature, float *scratch, float *gram)
{
    const gsai_design *design = problem->design;
    size_t n = gsai_padded(n_columns), kept = 0;
    float *x = scratch, *y = scratch + ROWS_AT_ONCE * n;
    bool is_dense = design->width > 0 || design->bends; /* parts have an entry in every row */
    memset(gram, 0, n * n * sizeof *gram);
    if (is_dense)
        memset(scratch, 0, gsai_gram_scratch(n_columns) * sizeof *scratch);
    for (size_t q = 0; q < n_rows; q += step) {
        float weight = fmaxf(curvature[row[q]], MIN_CURVATURE) * (float)step;
        if (is_dense) {
            x[kept * n] = problem->has_intercept ? 1.0F : 0.0F;
            if (design->bends)
                spread_row(design, row[q], n_columns, x + kept * n);
            else
                memcpy(x + kept * n + 1, design->dense + row[q] * design->width, (n_columns - 1) * sizeof *x);
            for (size_t j = 0; j < n_columns; j++)
                y[kept * n + j] = weight * x[kept * n + j];
            if (++kept == ROWS_AT_ONCE || q + step >= n_rows) {
                problem->kernels->gram(x, y, kept, n, gram);
                kept = 0;
            }
            continue;
        }
        size_t from = design->start[row[q]], end = design->start[row[q] + 1];
        gram[0] += weight;
        for (size_t t = from; t < end; t++) {
            size_t a = design->column[t];
            if (a >= n_columns)
                continue;
            float scaled = weight * design->value[t];
            gram[a * n] += scaled;
            for (size_t u = from; u <= t; u++) {
                size_t b = design->column[u];
                if (b >= n_columns)
                    continue;
                gram[a > b ? a * n + b : b * n + a] += scaled * design->value[u];
            }
        }
    }
    /* Products of sparse rows with the intercept's are sums, by which columns are centred. */
    float total = gram[0];
    for (size_t a = 1; a < n_columns && !is_dense; a++)
        for (size_t b = 1; b <= a; b++)
            gram[a * n + b] +=
                (total * design->mean[a] - gram[a * n]) * design->mean[b] - design->mean[a] * gram[b * n];
    for (size_t a = 1; a < n_columns && !is_dense; a++)
        gram[a * n] = problem->has_intercept ? gram[a * n] - total * design->mean[a] : 0;
}

/* Returns the second derivative of the penalty by the weights of a column, a mean over its outputs. */
static double penalty_of_column(const gsai_problem *problem, const gsai_penalty *penalty, size_t j)
{
    if (penalty->share > 0)
        return problem->prior->column[j];
    return j == 0 ? gsai_intercept_penalty(penalty->lambda) : penalty->lambda;
}

void gsai_inverse_factor(gsai_inverse *inverse, const gsai_problem *problem, size_t n_columns, const float *all,
                         const float *without, double curvature, const gsai_penalty *penalty, float *scratch)
{
    size_t n = gsai_padded(n_columns);
    double trace = 0;
    inverse->n = n_columns;
    for (size_t a = 0; a < n_columns; a++) {
        float scale = (float)curvature * problem->scale[a];
        for (size_t b = 0; b <= a; b++) {
            float sum = without ? all[a * n + b] - without[a * n + b] : all[a * n + b];
            inverse->factor[a * n + b] = sum * scale * problem->scale[b];
        }
        inverse->factor[a * n + a] += (float)penalty_of_column(problem, penalty, a);
        trace += (double)inverse->factor[a * n + a];
    }
    for (size_t a = 0; a < n_columns && problem->design->sign; a++) /* the model itself is wanted */
        for (size_t b = 0; b < a; b++)
            inverse->factor[b * n + a] = inverse->factor[a * n + b];
    if (problem->design->sign)
        return;
    problem->kernels->factor(inverse->factor, n_columns, n, (float)(MIN_PIVOT * trace / (double)n_columns), scratch);
}

void gsai_inverse_diagonal(gsai_inverse *inverse, const gsai_problem *problem, size_t n_columns, double curvature,
                           const gsai_penalty *penalty)
{
    for (size_t j = 0; j < n_columns; j++) {
        double scale = (double)problem->scale[j], own = penalty_of_column(problem, penalty, j);
        inverse->diagonal[j] = (float)(1 / (curvature * scale * scale * problem->design->variance[j] + own));
    }
}

void gsai_inverse_apply(const gsai_inverse *inverse, const gsai_problem *problem, size_t n_columns, const float *from,
                        float *to)
{
    size_t stride = problem->design->stride, size = gsai_fit_size(problem->design, n_columns);
    size_t n = inverse->factor ? inverse->n : 0;
    if (n > 0) {
        memcpy(to, from, n * stride * sizeof *to);
        problem->kernels->solve(inverse->factor, n, gsai_padded(n), to, stride);
    }
    for (size_t j = n; j < n_columns; j++)
        for (size_t k = 0; k < stride; k++)
            to[j * stride + k] = inverse->diagonal[j] * from[j * stride + k];
    memset(to + n_columns * stride, 0, (size - n_columns * stride) * sizeof *to);
}
