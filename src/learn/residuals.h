/* The scale of the residuals of a regression, which says where a robust loss takes them for outliers.
 *
 * Huber's proposal 2 (1964): the scale s solves mean min(r^2, (k s)^2) = B s^2, where B is what the left side is for
 * Gaussian residuals of scale 1. The width of the loss is k s. Outliers count no more than the width, so they do not
 * widen it. */
#ifndef GSA_LEARN_RESIDUALS_H
#define GSA_LEARN_RESIDUALS_H

#include <stdbool.h>
#include <stddef.h>

/* The width in scales: 95 % of the efficiency of least squares where residuals are Gaussian (Huber 1981). */
#define GSAI_WIDTH 1.345
/* The mean of min(z^2, GSAI_WIDTH^2) of a standard Gaussian z. */
#define GSAI_CLIPPED_SQUARE 0.7101645

/* Sums over the rows since the last power of two, and over those between it and the one before: squares of clipped
 * residuals, weights. All doubles: it is stored as it is. */
typedef struct gsai_residuals {
    double late[2], earlier[2];
    double n_rows; /* in all */
} gsai_residuals;

/* Adds a residual, clipped to the present width, of weight c. */
void gsai_residuals_add(gsai_residuals *residuals, double clipped, double c);
/* Adds a share of the residuals of another state. A merge takes the mean of all: what they have from their base must
 * not multiply from round to round. */
void gsai_residuals_merge(gsai_residuals *into, const gsai_residuals *from, double share);
/* Returns the width; INFINITY while there are no residuals but zeros. */
double gsai_residuals_width(const gsai_residuals *residuals);
/* Returns the width for n residuals of weights c, and the residuals that give it. start: a width to begin with. */
double gsai_residuals_solve(const double *r, const float *c, size_t n, double start, gsai_residuals *out);

#endif
