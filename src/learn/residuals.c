/* Huber's proposal 2, by rows that come one after the other and by all rows at once. */
#include "learn/residuals.h"

#include <math.h>
#include <string.h>

#define ITERATIONS 60

static bool is_power_of_two(double n)
{
    int exponent;
    return frexp(n, &exponent) == 0.5;
}

void gsai_residuals_add(gsai_residuals *residuals, double clipped, double c)
{
    residuals->n_rows += 1;
    if (is_power_of_two(residuals->n_rows)) {
        memcpy(residuals->earlier, residuals->late, sizeof residuals->late);
        residuals->late[0] = residuals->late[1] = 0;
    }
    residuals->late[0] += c * clipped * clipped;
    residuals->late[1] += c;
}

void gsai_residuals_merge(gsai_residuals *into, const gsai_residuals *from, double share)
{
    for (int i = 0; i < 2; i++) {
        into->late[i] += share * from->late[i];
        into->earlier[i] += share * from->earlier[i];
    }
    into->n_rows = fmax(into->n_rows, from->n_rows);
}

double gsai_residuals_width(const gsai_residuals *residuals)
{
    double sum = residuals->late[0] + residuals->earlier[0], weight = residuals->late[1] + residuals->earlier[1];
    return sum > 0 ? GSAI_WIDTH * sqrt(sum / (GSAI_CLIPPED_SQUARE * weight)) : (double)INFINITY;
}

double gsai_residuals_solve(const double *r, const float *c, size_t n, double start, gsai_residuals *out)
{
    double width = start;
    for (int i = 0; i < ITERATIONS; i++) {
        *out = (gsai_residuals){.n_rows = (double)n};
        for (size_t row = 0; row < n; row++) {
            double clipped = fmin(fabs(r[row]), width);
            out->late[0] += (double)c[row] * clipped * clipped;
            out->late[1] += (double)c[row];
        }
        width = gsai_residuals_width(out);
    }
    return width;
}
