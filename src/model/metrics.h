/* The inside of metrics. */
#ifndef GSA_MODEL_METRICS_H
#define GSA_MODEL_METRICS_H

#include "model/auc.h"
#include "model/model.h"

#define MAX_RESULTS 16
#define CALIBRATION_BINS 15

typedef struct class_counts {
    double predicted, actual, correct; /* weights of rows */
} class_counts;

struct gsa_metrics {
    gsa_env env;
    const gsa_model *model;
    /* What was counted, up to the classes: numbers of 8 bytes without gaps, as they travel. */
    uint64_t n_rows, n_unknown;
    double weight, unknown_weight, correct, loss, brier;
    double absolute_error, squared_error;
    double excess[CALIBRATION_BINS]; /* sum of c (confidence - correct) of the rows in each bin */
    double label_mean, label_spread; /* spread: sum of c (y - mean)^2, kept by Welford's update */
    class_counts *classes;
    gsai_ranking *ranking; /* two classes only */
    double *group_margins; /* of n_at_once rows */
    size_t n_at_once;
    const double *margins; /* of a row */
    double *probabilities;
    gsa_metric results[MAX_RESULTS];
    size_t n_results;
};

#endif
