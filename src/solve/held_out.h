/* Rows that were held out: the calibration of their margins, and their losses. */
#ifndef GSA_SOLVE_HELD_OUT_H
#define GSA_SOLVE_HELD_OUT_H

#include "learn/scale_shift.h"
#include "solve/fit.h"

/* Fits scale and shift to held-out rows, with a prior of one row, and as if for each row there were `behind` rows that
 * need neither. Labels of two classes are Platt's (1999). The loss of the result is a mean. */
gsai_scale_shift gsai_held_calibrate(const gsai_problem *problem, const float *target, const float *weight,
                                     const float *margin, size_t n, double behind, float *scratch);
/* Computes the losses of single rows under a calibration. */
void gsai_held_losses(const gsai_problem *problem, const gsai_scale_shift *by, const float *target, const float *weight,
                      const float *margin, size_t n, float *scratch, float *loss);
/* Returns the mean excess of weighted losses over others of the same rows, and its standard error. */
double gsai_mean_excess(const float *loss, const float *over, const float *weight, size_t n, double *error_of_mean);

#endif
