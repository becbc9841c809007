/* Results of training: what was chosen on held-out rows, and how good the model is on them. A result is one line of the
 * list; files, JSON and Python have it by its name. */
#ifndef GSA_LEARN_RESULTS_H
#define GSA_LEARN_RESULTS_H

#include "base/bundle.h"
#include "learn/auc.h"
#include "learn/interval.h"
#include "learn/loss/loss.h"

#define GSAI_RESULTS(X)                                                                  \
    X(held_out_loss)      /* mean, calibrated; for an optimum of cross-validation */     \
    X(baseline_loss)      /* of the best constant prediction on the same rows */         \
    X(accuracy)           /* of classes, on the held-out rows */                         \
    X(auc)                /* of two classes, likewise */                                 \
    X(r2)                 /* of numbers, likewise */                                     \
    X(mae)                /* likewise */                                                 \
    X(quantile)           /* that a quantile loss was asked for; */                      \
    X(below)              /* the share of labels below the held-out predictions */       \
    X(C)                  /* of classes: the inverse of the penalty */                   \
    X(alpha)              /* of numbers: the penalty */                                  \
    X(lambda)             /* the penalty on the scaled features, as it is solved */      \
    X(penalties_tried)    /* for all scalings */                                         \
    X(penalties_averaged) /* the one above is that of the largest share */               \
    X(folds)              /* that were held out, of eight; 1: a hold-out */              \
    X(groups)             /* that were held out, each whole */                           \
    X(latest)             /* rows that were held out, by their time */                   \
    X(standardised)       /* 1, or 0: features as given */                               \
    X(inverse_frequency)  /* exponent: rare features are scaled up */                    \
    X(curves)             /* columns that bend; 0: lines are as good */                  \
    X(pairs)              /* pairs of columns with a surface */                          \
    X(lines_loss)         /* of lines alone, on the rows of held_out_loss */             \
    X(customers)          /* with features of their own; 0: a model of all is as good */ \
    X(customer_deviation) /* of their intercepts, as the penalty has it */               \
    X(common_loss)        /* without them, on the rows of held_out_loss */               \
    X(prior_share)        /* of the rows of earlier runs that counts */                  \
    X(calibration_scale)  /* of the margins */                                           \
    X(calibration_shift)  /* likewise */                                                 \
    X(shrinkage)          /* rows at which the weight of a feature counts half */        \
    X(best_pass)          /* whose weights the model has */

typedef enum gsai_result {
#define GSAI_RESULT_ENTRY(name) GSAI_RESULT_##name,
    GSAI_RESULTS(GSAI_RESULT_ENTRY)
#undef GSAI_RESULT_ENTRY
        GSAI_N_RESULTS
} gsai_result;

typedef struct gsai_results {
    double at[GSAI_N_RESULTS]; /* NaN: not known, or without meaning for this model */
    gsai_intervals intervals;
} gsai_results;

gsai_results gsai_results_none(void);
/* Returns a name by its number. */
const char *gsai_result_name(size_t number);
/* Add the results that are known to a file, and read them from one. */
void gsai_results_save(gsai_snapshot *snapshot, const gsai_results *results);
gsa_status gsai_results_load(gsai_results *out, const gsai_bundle *bundle, gsa_error *error);

/* Held-out predictions of rows, as they are added up. Zeros but for the first three; gsai_quality_finish frees it. */
typedef struct gsai_quality {
    size_t n_classes;     /* 0: numbers */
    double quantile;      /* of the loss; 0: none */
    gsai_ranking ranking; /* of two classes; with its env */
    double weight, correct, absolute, squared, below;
    double mean, spread; /* of the labels, by Welford's update */
    struct {
        gsai_held_number *at;
        size_t n, capacity;
    } held; /* numbers */
} gsai_quality;

/* Adds a row of weight c with its margins: n_outputs, or one for two classes. */
gsa_status gsai_quality_add_class(gsai_quality *quality, const double *margins, size_t n_outputs, size_t class_number,
                                  double c, gsa_error *error);
gsa_status gsai_quality_add_number(gsai_quality *quality, double prediction, double label, double c, gsa_error *error);
/* Sets accuracy and AUC, or intervals and R2 and the mean absolute error, or what is below a quantile. out NULL: frees
 * only. */
void gsai_quality_finish(gsai_quality *quality, gsai_results *out);

#endif
