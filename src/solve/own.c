/* Factors of customers' own intercepts and slopes. */
#include "solve/own.h"

#include <math.h>

/* The variance of margins that features of customers have under the first factors, at the penalty of the others. */
#define FIRST_VARIANCE 1.0

/* Computes for a feature of customers the mean square of its values over rows, and the sum of squares of the weights
 * over outputs, each by how common its customer is, relative to it. */
static void measure(const gsai_path *path, const gsai_record *record, size_t feature, double *square, double *size)
{
    const gsai_problem *problem = path->problem;
    const gsai_design *design = problem->design;
    *square = *size = 0;
    for (size_t j = path->n_common; j < path->n_columns; j++) {
        if ((design->id[j] - design->first_own) % design->own_each != feature)
            continue;
        *square += design->variance[j] * design->unit[j] * design->unit[j];
        for (size_t k = 0; k < design->n_outputs && record->scaling.own; k++) {
            double weight = (double)record->scaling.own[feature] * design->unit[j];
            weight *= (double)record->v[j * design->stride + k];
            *size += weight * weight * design->variance[j];
        }
    }
}

void gsai_own_factors(const gsai_path *path, const gsai_record *record, float *own)
{
    const size_t n = (size_t)path->problem->design->own_each;
    double variance = 0, total = 0, n_used = 0;
    for (size_t i = 0; i < n; i++) {
        double square, size;
        measure(path, record, i, &square, &size);
        if (record->scaling.own)
            variance += (double)record->scaling.own[i] * (double)record->scaling.own[i] * square;
        own[i] = square > 0 ? (float)((record->scaling.own ? size : 1) / square) : 0;
        total += size;
        n_used += square > 0;
    }
    double unit = record->scaling.own ? variance / total : FIRST_VARIANCE * record->penalty.lambda / n_used;
    for (size_t i = 0; i < n; i++)
        own[i] = total > 0 || !record->scaling.own ? (float)sqrt(unit * (double)own[i]) : 0;
}

double gsai_own_deviation(const gsai_path *path, const gsai_record *record)
{
    double square, size;
    measure(path, record, 0, &square, &size);
    return sqrt(size / square / (double)path->problem->design->n_outputs);
}

size_t gsai_own_customers(const gsai_design *design)
{
    size_t n = 0;
    for (size_t j = gsai_design_common(design); j < design->n_columns; j++)
        n += (design->id[j] - design->first_own) % design->own_each == 0;
    return n;
}
