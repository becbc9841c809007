/* One minimisation: the penalised loss of some rows of a design, by L-BFGS.
 *
 * The weights v are those of z = s x, x the standardised values and s the scale of each column: the penalty is lambda /
 * 2 |v|^2, and next to nothing for the intercept. After an earlier run it is the prior's (prior.h). Margins are kept
 * from step to step, so that a line search costs no pass over the rows. */
#ifndef GSA_SOLVE_FIT_H
#define GSA_SOLVE_FIT_H

#include "core/loss/rows.h"
#include "solve/prior.h"
#include "solve/strength_hook.h"

#include "base/arena.h"

#define GSA__MEMORY 5

/* What the fits of one solution share. */
typedef struct gsa__problem {
    const gsa__design *design;
    void (*loss)(gsa__rows_at *at);
    const gsa__solve_kernels *kernels;
    const gsa_env *env;
    float *scale;        /* of each column; of the intercept 1, or 0 if there is none */
    double squared_norm; /* mean of |z|^2 over all rows */
    gsa__strength_hook hook;
    uint64_t n_tried;   /* strengths */
    uint64_t units;     /* as asked for: GSA__UNITS_AUTO, _GIVEN or _FREE */
    gsa__prior *prior;  /* NULL: none */
    size_t n_strengths; /* of the path */
    bool has_intercept, has_probabilities, standardised;
} gsa__problem;

/* How strong the penalty is, and the share of the prior in it. */
typedef struct gsa__penalty {
    double lambda;
    double share; /* 0: none. Otherwise the prior is set to it */
} gsa__penalty;

/* The inverse that L-BFGS begins with: a Cholesky factor of columns x columns, or a diagonal. */
typedef struct gsa__inverse {
    float *factor;
    size_t factor_stride;
    float *diagonal;
} gsa__inverse;

typedef struct gsa__fit {
    const gsa__problem *problem;
    size_t n_columns, size; /* columns that its rows need; numbers in a vector of weights, padded */
    uint32_t *row;
    size_t n_rows;
    float *target, *weight;
    double *total; /* of the residuals of each output */
    float *v;
    float *margin, *along, *residual; /* [n_rows x stride] */
    float *gradient, *applied;        /* the gradient, and the inverse applied to it */
    float *next, *direction, *scaled;
    float *moved[GSA__MEMORY];     /* of the weights, */
    float *changed[GSA__MEMORY];   /* of the gradient */
    float *turned[GSA__MEMORY];    /* and of what is applied */
    double curvature[GSA__MEMORY]; /* 1 / (moved . changed) */
    gsa__inverse inverse;
    size_t n_iterations; /* of the last minimisation */
    double objective;
} gsa__fit;

/* Vectors of weights for rows of so many columns. */
size_t gsa__fit_size(const gsa__design *design, size_t n_columns);
/* Takes memory for up to n_rows rows of n_columns columns. The rows are set by gsa__fit_rows. `like`: a fit of the same
 * size that is never minimised at the same time, whose working memory it shares; NULL: none. */
void gsa__fit_make(gsa__fit *fit, const gsa__problem *problem, size_t n_rows, size_t n_columns, const gsa__fit *like,
                   gsa__arena *arena);
/* Takes memory for the inverse: factored, or a diagonal. */
void gsa__inverse_make(gsa__inverse *inverse, size_t n_columns, bool factored, gsa__arena *arena);
/* Which rows are fitted: those of row[], which are to be in the fit already. */
void gsa__fit_rows(gsa__fit *fit, size_t n_rows);
/* The margins of rows under v. scaled: scratch for a vector of weights. */
void gsa__margins_of(const gsa__problem *problem, size_t n_columns, const uint32_t *row, size_t n_rows, const float *v,
                     float *scaled, float *margin);
/* Minimises from v on until a step gains less than tolerance times the objective. GSA_STOPPED if asked to. */
gsa_status gsa__fit_minimise(gsa__fit *fit, const gsa__penalty *penalty, double tolerance, size_t max_iterations,
                             gsa_error *error);

/* Reports a strength that was tried. The loss is in the units of the label. */
static inline void gsa__report_strength(gsa__problem *problem, double held_out_loss)
{
    double unit = problem->design->target_unit;
    problem->n_tried++;
    if (problem->hook.tried)
        problem->hook.tried(problem->hook.ctx, problem->n_tried, held_out_loss * unit * unit);
}

/* Returns rows at their margins; the caller adds what it wants of them. */
static inline gsa__rows_at gsa__problem_rows(const gsa__problem *problem, const float *target, const float *weight,
                                             const float *margin, size_t n)
{
    return (gsa__rows_at){.math = &problem->kernels->math,
                          .n = n,
                          .n_outputs = problem->design->n_outputs,
                          .stride = problem->design->stride,
                          .target = target,
                          .weight = weight,
                          .margin = margin};
}

/* The penalty of the intercept. */
static inline double gsa__intercept_penalty(double lambda)
{
    return 1e-6 * lambda + 1e-9;
}

/* The second derivative of the penalty by the weights of a column, a mean over its outputs. */
static inline double gsa__penalty_of_column(const gsa__problem *problem, const gsa__penalty *penalty, size_t j)
{
    if (penalty->share > 0)
        return problem->prior->column[j];
    return j == 0 ? gsa__intercept_penalty(penalty->lambda) : penalty->lambda;
}

/* inverse.c: the sum over rows of their curvature times x x', lower triangle, [columns x columns] in rows of
 * gsa__padded(n_columns); every step-th row counts step times. curvature is by row number. */
void gsa__gram_of(const gsa__problem *problem, size_t n_columns, const uint32_t *row, size_t n_rows, size_t step,
                  const float *curvature, float *scratch, float *gram);
size_t gsa__gram_scratch(size_t n_columns);
/* The factor of curvature * scale (all - without) scale + penalty, without NULL: nothing. */
void gsa__inverse_factor(gsa__inverse *inverse, const gsa__problem *problem, size_t n_columns, const float *all,
                         const float *without, double curvature, const gsa__penalty *penalty, float *scratch);
/* The diagonal of the same, from the variance of the columns and the mean curvature of the rows. */
void gsa__inverse_diagonal(gsa__inverse *inverse, const gsa__problem *problem, size_t n_columns, double curvature,
                           const gsa__penalty *penalty);
void gsa__inverse_apply(const gsa__inverse *inverse, const gsa__problem *problem, size_t n_columns, const float *from,
                        float *to);

#endif
