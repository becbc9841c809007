/* The path of strengths: folds are fitted from strong penalties to weak ones, each from where the last ended, and
 * evaluated on the rows that they leave out.
 *
 * The strength of a penalty is stated as tau2 = mean |z|^2 / lambda, the variance of a margin under the prior that the
 * penalty stands for. It has the same meaning on every data set. */
#ifndef GSA_SOLVE_PATH_H
#define GSA_SOLVE_PATH_H

#include "learn/scale_shift.h"
#include "solve/fit.h"

/* A strength is better if it gains this share of the loss, and another scaling if it gains this one. */
#define GSAI_STRENGTH_GAIN 1e-3
#define GSAI_CALIBRATION_MIN_GAIN 5e-4
#define GSAI_STRENGTHS 20
#define GSAI_MAX_ITERATIONS 100u
#define GSAI_RECORDS (7 * GSAI_STRENGTHS + GSAI_SHARES)
/* More columns than this have a diagonal inverse to begin with. */
#define GSAI_FACTOR_COLUMNS ((size_t)1024)
/* Columns at most where weights have signs: all of their products are needed. */
#define GSAI_SIGNED_COLUMNS ((size_t)2048)

/* A strength that was tried. */
typedef struct gsai_record {
    gsai_column_scaling scaling;
    size_t strength; /* number on the path */
    gsai_penalty penalty;
    gsai_scale_shift calibration;
    float *held;  /* margins of the held-out rows */
    float *v;     /* mean of the folds, each in its scale */
    float *parts; /* [n_folds x n_parts x stride], weights of columns that bend; NULL: no columns bend */
} gsai_record;

typedef struct gsai_path {
    gsai_problem *problem;
    size_t n_rows, n_columns, n_folds; /* the first rows; folds that are held out, of GSAI_FOLDS */
    size_t n_common;                   /* columns that are not of customers */
    size_t n_groups;                   /* fold f shares the memory of fold f mod n_groups */
    gsai_fit fit[GSAI_FOLDS];
    gsai_problem of_fold[GSAI_FOLDS]; /* scaled by what the fold knows; not set where no columns bend */
    uint32_t *held;                   /* held-out rows, fold by fold */
    size_t held_from[GSAI_FOLDS + 1];
    float *held_target, *held_offset, *held_weight, *held_margin, *held_loss[2];
    float *curvature, *gram[GSAI_FOLDS + 1], *scratch[GSAI_FOLDS + 1];
    double *group_sum;    /* per group; NULL: rows have none */
    uint32_t *all, *rest; /* rows: all of the path, and those that no fold holds out */
    size_t n_rest;
    double weight;        /* of all rows */
    gsai_penalty penalty; /* of the strength at hand, */
    double sum_curvature; /* and the rows' at the weights that it begins with */
    /* The Gram matrix is made for each strength, or kept: of rows that count alike, where entries are many; with pairs,
     * as they count at the first. */
    bool is_factored, is_kept, is_uniform;
    double gram_curvature; /* of what it is made from: of all rows; 0: not made */
    gsai_record record[GSAI_RECORDS];
    size_t n_records;
    gsai_arena *arena;
    double tolerance;
} gsai_path;

/* ---- held-out rows ----------------------------------------------------------------------------------------------- */

/* Fits scale and shift to held-out rows, with a prior of one row, and as if for each row there were `behind` rows that
 * need neither. Labels of two classes are Platt's (1999). The loss of the result is a mean. */
gsai_scale_shift gsai_held_calibrate(const gsai_problem *problem, const float *target, const float *offset,
                                     const float *weight, const float *margin, size_t n, double behind, float *scratch);
/* Computes the losses of single rows under a calibration. */
void gsai_held_losses(const gsai_problem *problem, const gsai_scale_shift *by, const float *target, const float *offset,
                      const float *weight, const float *margin, size_t n, float *scratch, float *loss);
/* Returns the mean excess of weighted losses over others of the same rows, and its standard error. */
double gsai_mean_excess(const float *loss, const float *over, const float *weight, size_t n, double *error_of_mean);

/* ---- the path ---------------------------------------------------------------------------------------------------- */

/* Returns how many rows are to be held out, of all rows or of a sample. */
size_t gsai_held_out_wanted(const gsai_problem *problem, bool all);
gsa_status gsai_path_make(gsai_path *path, gsai_problem *problem, size_t n_rows, size_t n_held_out, double tolerance,
                          gsai_arena *arena, gsa_error *error);
/* Multiplies the weights of folds by the scales of their columns; scales columns, and divides by theirs. The folds keep
 * their predictions, or begin with nothing where weights would be large. */
void gsai_path_unscale(gsai_path *path);
void gsai_path_scale(gsai_path *path, gsai_column_scaling scaling);
/* Makes the inverse that a fit of all rows of the path begins with. */
void gsai_path_prepare(gsai_path *path, gsai_fit *fit, const gsai_penalty *penalty);
/* Tries the strengths from `first` on, until they gain no more; if none does, stronger ones. *best: the strongest that
 * is as good as the best, up to one standard error. */
gsa_status gsai_path_climb(gsai_path *path, size_t first, size_t patience, size_t *best, gsa_error *error);
/* Chooses the share of the prior, at the strength of a record without it: the largest that is as good as the best. The
 * path then has that record alone, or those without the prior if nothing of it is any good. */
gsa_status gsai_path_choose_share(gsai_path *path, size_t at, gsa_error *error);
/* Returns the mean excess loss of a record's held-out rows over another's, and its standard error. */
double gsai_path_excess(gsai_path *path, const gsai_record *of, const gsai_record *over, double *error_of_mean);

#endif
