/* The scale and the shift of margins that fit rows best: s m + b, by Newton's method on the loss of all rows, which is
 * convex in both. The solver calibrates held-out folds by it, the learner its held-out rows. */
#ifndef GSA_LEARN_SCALE_SHIFT_H
#define GSA_LEARN_SCALE_SHIFT_H

#include "base/memory.h"
#include "learn/loss/loss_rows.h"

typedef struct gsai_scale_shift {
    double scale, shift;
    double loss; /* of the rows, a weighted sum, where the last step began */
} gsai_scale_shift;

/* Rows, and what else holds their scale and shift. */
typedef struct gsai_scaled_rows {
    void (*loss)(gsai_rows_at *at);
    gsai_rows_at at;         /* the rows at scale 1 and shift 0 */
    const double *smoothing; /* by class: how far the target of a row is below 1 (Platt 1999); NULL: not at all */
    bool has_shift;          /* for one output only: with one per class, the classes would need one each */
    bool is_fixed;           /* only the loss is asked for */
    double prior[2];         /* weights of a normal prior of unit width around scale 1, and around shift 0 */
    double unit;             /* of the shift: a step below 1e-5 of it, and of the scale, is the last */
    bool may_vanish;         /* the scale ends at 0 if a lower one would fit better; else it stays above, and a step at
                              * most halves it */
    bool has_full_steps;     /* the loss is quadratic or below its curvature; else a step at most doubles the scale (and
                              * adds 0.1 if it may vanish) and moves the shift by one unit */
    double behind;           /* as if for each row there were this many for which 1 and 0 are right */
    float *scratch;          /* [3 x n], of one output */
    const gsai_env *stop;    /* asked between rows of many outputs; NULL: never */
} gsai_scaled_rows;

/* Finds scale and shift, from those given on. Returns false if it was stopped. */
bool gsai_scale_shift_fit(const gsai_scaled_rows *rows, gsai_scale_shift *at);

#endif
