/* The forms that a model may have: lines, curves, and surfaces beside them. Held-out rows choose one, and are
 * themselves predicted by the form that other rows choose, so that the loss which is reported is that of new rows. */
#ifndef GSA_SOLVE_FORMS_H
#define GSA_SOLVE_FORMS_H

#include "solve/path.h"

#define GSAI_MAX_FORMS 4u

/* In the order in which they are tried. Each has the first folds of those before it held out. */
typedef struct gsai_forms {
    gsai_path *path[GSAI_MAX_FORMS];
    size_t best[GSAI_MAX_FORMS]; /* the record that stands for it */
    size_t n, chosen;
    size_t chosen_without[GSAI_FOLDS]; /* a piece of the held-out rows: */
    size_t n_folds, n_held;            /* what the last form has held out */
} gsai_forms;

/* Adds a form, and chooses among those that there are. */
void gsai_forms_add(gsai_forms *forms, gsai_path *path, size_t best);
/* Chooses without each piece of the held-out rows: a fold, or half of the rows if there is one fold only. */
void gsai_forms_choose_without(gsai_forms *forms);
/* Sets the share of each record of a path in the optimum; returns the number of the best. */
size_t gsai_forms_share_out(gsai_path *path, double *share);
/* Predicts the held-out rows of the chosen form as the mix of its records does, calibrated by *last. The loss of
 * *final, which is what remains to be done, is that of new rows: where others choose another form, and wherever rows
 * are of groups or times, a piece is predicted by what others choose. */
gsa_status gsai_forms_predict(const gsai_forms *forms, const double *share, size_t best, float *held,
                              gsai_scale_shift *last, gsai_scale_shift *final, gsa_error *error);

#endif
