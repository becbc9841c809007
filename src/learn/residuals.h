/* The scale of the residuals of a regression, which says where a robust loss takes them for outliers.
 *
 * Huber's proposal 2 (1964): the scale s solves mean min(r^2, (k s)^2) = B s^2, where B is what the left side is for
 * Gaussian residuals of scale 1. The width of the loss is k s. The iteration starts at the median of |r|, so outliers
 * of any size count no more than the width. */
#ifndef GSA_LEARN_RESIDUALS_H
#define GSA_LEARN_RESIDUALS_H

#include <stddef.h>
#include <stdint.h>

/* The width in scales: 95 % of the efficiency of least squares where residuals are Gaussian (Huber 1981). */
#define GSAI_WIDTH 1.345
/* The median of |z| and the mean of min(z^2, GSAI_WIDTH^2) of a standard Gaussian z. */
#define GSAI_MEDIAN_DISTANCE 0.6744898
#define GSAI_CLIPPED_SQUARE 0.7101645
/* Bins of |r|: zeros, then two per octave from 2^-160 to 2^95. */
#define GSAI_RESIDUAL_BINS 512
#define GSAI_FIRST_LABELS 32

/* Weights of the residuals since the last power of two of rows, and of those between it and the one before. */
typedef struct gsai_residuals {
    double late[GSAI_RESIDUAL_BINS], earlier[GSAI_RESIDUAL_BINS];
    double first[GSAI_FIRST_LABELS]; /* labels */
    uint64_t n_first;
    double n_rows, n_not_zero; /* in all */
    double width;              /* 0: not known yet; a row moves no weight */
} gsai_residuals;

/* Adds a residual of weight c. */
void gsai_residuals_add(gsai_residuals *residuals, double r, double c);
/* Adds a label and returns the median of the first ones: a centre that outliers do not move. */
double gsai_residuals_centre(gsai_residuals *residuals, double y);
/* Returns the width for n residuals of weights c. start: a width to begin with. */
double gsai_residuals_solve(const double *r, const float *c, size_t n, double start);
/* Returns n residuals of weights c and their width, all in this unit. */
gsai_residuals gsai_residuals_of(const double *r, const float *c, size_t n, double width, double unit);

typedef struct gsai_weighted {
    double number, weight;
} gsai_weighted;
/* Returns the number below which half of the weight is; reorders the numbers. */
double gsai_weighted_median(gsai_weighted *at, size_t n);

#endif
