/* The path of strengths: folds are fitted from strong penalties to weak ones, each from where the last ended, and
 * evaluated on the rows that they leave out.
 *
 * The strength of a penalty is said as tau2 = mean |z|^2 / lambda, the variance of a margin under the prior that the
 * penalty stands for. It has the same meaning on every data set. */
#ifndef GSA_SOLVE_PATH_H
#define GSA_SOLVE_PATH_H

#include "solve/fit.h"

/* A strength is better if it gains this share of the loss, and another scaling if it gains this one. */
#define GSA__STRENGTH_GAIN 1e-3
#define GSA__SCALING_GAIN 5e-4
#define GSA__STRENGTHS 20
#define GSA__MAX_ITERATIONS 100u
#define GSA__RECORDS (2 * GSA__STRENGTHS + GSA__SHARES)
/* More columns than this have a diagonal inverse to begin with. */
#define GSA__FACTOR_COLUMNS ((size_t)1024)

/* Held-out margins m become scale m + shift. */
typedef struct gsa__scaling {
    double scale, shift;
    double loss; /* mean, of the rows that it was fitted on */
} gsa__scaling;

/* A strength that was tried. */
typedef struct gsa__record {
    bool standardised;
    size_t strength; /* number on the path */
    gsa__penalty penalty;
    gsa__scaling scaling;
    float *held; /* margins of the held-out rows */
    float *v;    /* mean of the folds */
} gsa__record;

typedef struct gsa__path {
    gsa__problem *problem;
    size_t n_rows, n_columns, n_folds; /* the first rows; folds that are held out, of GSA__FOLDS */
    size_t n_groups;                   /* fold f shares the memory of fold f mod n_groups */
    gsa__fit fit[GSA__FOLDS];
    uint32_t *held; /* held-out rows, fold by fold */
    size_t held_from[GSA__FOLDS + 1];
    float *held_target, *held_weight, *held_margin, *held_loss[2];
    float *curvature, *gram[GSA__FOLDS + 1], *scratch[GSA__FOLDS + 1];
    uint32_t *all, *rest; /* rows: all of the path, and those that no fold holds out */
    size_t n_rest;
    double weight; /* of all rows */
    bool has_gram;
    gsa__record record[GSA__RECORDS];
    size_t n_records;
    gsa__arena *arena;
    size_t n_threads;
    double tolerance;
} gsa__path;

gsa_status gsa__path_make(gsa__path *path, gsa__problem *problem, size_t n_rows, size_t n_held_out, double tolerance,
                          gsa__arena *arena, size_t n_threads, gsa_error *error);
/* Sets all folds to v (NULL: zero). */
void gsa__path_start(gsa__path *path, const float *v);
/* Makes the inverse that a fit of all rows of the path begins with. */
void gsa__path_prepare(gsa__path *path, gsa__fit *fit, const gsa__penalty *penalty);
/* Tries the strengths from `first` on, until they gain no more. *best: the strongest that is as good as the best, up to
 * one standard error. */
gsa_status gsa__path_climb(gsa__path *path, bool standardised, size_t first, size_t patience, size_t *best,
                           gsa_error *error);
/* Chooses the share of the prior, at the strength of a record without it: the largest that is as good as the best. The
 * path then has that record alone, or those without the prior if nothing of it is any good. */
gsa_status gsa__path_choose_share(gsa__path *path, size_t at, gsa_error *error);
/* Returns the mean excess loss of a record's held-out rows over another's, and its standard error. */
double gsa__path_excess(gsa__path *path, const gsa__record *of, const gsa__record *over, double *error_of_mean);

/* calibrate.c: fits scale and shift to rows that were held out, by Newton's method with a unit normal prior about (1,
 * 0), and as if for each row there were `behind` rows for which that is right. Labels of two classes are Platt's
 * (1999).
 */
gsa__scaling gsa__scaling_fit(const gsa__problem *problem, const float *target, const float *weight,
                              const float *margin, size_t n, double behind, float *scratch);
/* Losses of single rows under a scaling. */
void gsa__scaling_losses(const gsa__problem *problem, const gsa__scaling *scaling, const float *target,
                         const float *weight, const float *margin, size_t n, float *scratch, float *loss);
/* Returns the mean excess of weighted losses over others of the same rows, and its standard error. */
double gsa__mean_excess(const float *loss, const float *over, const float *weight, size_t n, double *error_of_mean);

#endif
