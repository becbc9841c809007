/* Calibration: one scale, and for one output an offset, on the margins, and a shrinkage of rare features, found by
 * held-out rows. */
#ifndef GSA_LEARN_CALIBRATION_H
#define GSA_LEARN_CALIBRATION_H

#include "base/memory.h"
#include "learn/state.h"

typedef struct gsai_calibration {
    double scale, offset; /* 1 and 0: margins as they are */
    double shrinkage;     /* a weight counts n / (n + shrinkage) if its feature was in n rows */
    double loss;          /* mean loss of the held-out rows with these; NaN if no rows are held out */
} gsai_calibration;

/* Calibrates by the rows that a state holds out, under the averaged weights of one of its tables. Losses of the
 * caller's are left as they are, and so are all with the paper's method; hinge losses get a scale. GSA_STOPPED if
 * `stop` (NULL: never) asks for it. */
gsa_status gsai_calibrate(const gsa_state *state, const gsai_table *table, const gsai_env *stop, gsai_calibration *out,
                          gsa_error *error);

/* Held-out rows as a model that has not been calibrated by them predicts them. */
typedef struct gsai_held_out {
    double *margins; /* [rows of the sample x outputs], calibrated */
    double *weight;  /* [rows]: what a row counts for in means; of the same memory */
    double loss;     /* the mean; NaN without rows */
} gsai_held_out;
/* Predicts every held-out row by the weights that a model would have now, calibrated on the rows of other folds: rows
 * that choose the calibration do not evaluate it. `by` is the calibration of all, for its shrinkage; not read if the
 * best checkpoint is used. The group of the state is closed. The caller frees the margins, also on failure. */
gsa_status gsai_held_out_predict(const gsa_state *state, const gsai_calibration *by, const gsai_env *stop,
                                 gsai_held_out *out, gsa_error *error);

/* Returns the averaged and calibrated weights of all slots and outputs; NULL if out of memory. */
float *gsai_weights_of(const gsa_state *state, const gsai_calibration *calibration);
/* Returns whether the model of a state has the weights of its best checkpoint. */
bool gsai_state_uses_checkpoint(const gsa_state *state);

/* Returns the averaged weight of a slot of the state, calibrated. */
double gsai_calibrated(const gsai_calibration *calibration, const gsa_state *state, size_t slot, double weight);

#endif
