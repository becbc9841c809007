/* Prediction intervals of numbers, from the residuals of held-out rows.
 *
 * Held-out rows are ordered by their prediction and divided into up to five groups. Each has quantiles of its
 * residuals, and stands at the prediction in its middle; between two of them, quantiles are interpolated. So an
 * interval is wide where labels spread, as they often do where predictions are high. A quantile of n residuals is the
 * one of rank (n + 1) p, rounded outwards: the share of new labels below is then at most p in every group (split
 * conformal prediction; Vovk, Gammerman, Shafer 2005). */
#ifndef GSA_LEARN_INTERVAL_H
#define GSA_LEARN_INTERVAL_H

#include "base/bundle.h"

#define GSAI_INTERVAL_GROUPS 5
#define GSAI_INTERVAL_LEVELS 23

typedef struct gsai_intervals {
    uint64_t n;                      /* groups; 0: none is known */
    double at[GSAI_INTERVAL_GROUPS]; /* predictions, ascending */
    float off[GSAI_INTERVAL_GROUPS][GSAI_INTERVAL_LEVELS];
} gsai_intervals;

/* A held-out row: the label is prediction + off. */
typedef struct gsai_held_number {
    double prediction, off, weight;
} gsai_held_number;

/* Finds intervals of held-out rows, which are reordered. */
void gsai_intervals_find(gsai_intervals *intervals, gsai_held_number *row, size_t n);
/* Measures predictions in other units, and from elsewhere. */
void gsai_intervals_move(gsai_intervals *intervals, double unit, double origin);
/* Fills in what is to be added to a prediction for the lower and the upper end; the share of labels between them is the
 * coverage, above 0 and at most GSAI_MAX_COVERAGE. */
#define GSAI_MAX_COVERAGE 0.99
void gsai_intervals_at(const gsai_intervals *intervals, double coverage, double prediction, double off[2]);
/* Add intervals that are known to a file, and read them. */
void gsai_intervals_save(gsai_snapshot *snapshot, const gsai_intervals *intervals);
gsa_status gsai_intervals_load(gsai_intervals *out, const gsai_bundle *bundle, gsa_error *error);

#endif
