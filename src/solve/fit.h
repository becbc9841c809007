/* One minimisation: the penalised loss of some rows of a design, by L-BFGS.
 *
 * The weights v are those of z = s x, x the standardised values and s the scale of each column: the penalty is lambda /
 * 2 |v|^2, and next to nothing for the intercept. After an earlier run it is the prior's (prior.h). Margins are kept
 * from step to step, so that a line search costs no pass over the rows. */
#ifndef GSA_SOLVE_FIT_H
#define GSA_SOLVE_FIT_H

#include "learn/loss/loss_rows.h"
#include "learn/order.h"
#include "solve/prior.h"
#include "solve/strength_hook.h"

#include "base/memory.h"

#define GSAI_MEMORY 5

/* How columns are scaled: standardised or as given, more or less by how rare they are, and by a factor of each. */
typedef struct gsai_column_scaling {
    bool standardised;
    double inverse_frequency; /* the scale has the share of rows that have a column to the power of -this as a factor */
    const float *factor;      /* of all rows, and of each fold, [columns] each; NULL: 1 */
    const float *own;         /* of the intercepts and slopes of customers; NULL: they are left out */
} gsai_column_scaling;

/* The problem that the fits of one solution share. */
typedef struct gsai_problem {
    const gsai_design *design;
    void (*loss)(gsai_rows_at *at);
    const gsai_solve_kernels *kernels;
    const gsai_env *env;
    float *scale;        /* of each column; 1 for the intercept, 0 without one */
    double squared_norm; /* mean of |z|^2 over all rows */
    double common_unit;  /* that features as given are divided by; 1 if they are standardised */
    gsai_strength_hook hook;
    const char *loss_name;     /* for the hook */
    uint64_t n_tried, n_about; /* strengths, and how many there will be, by the stages that are left */
    uint64_t n_after;          /* of them, those after the present stages */
    double best_loss;          /* the lowest held-out loss of the present rows */
    uint64_t asked;            /* scaling: GSAI_SCALE_AUTO, _NONE or _STANDARD */
    gsai_column_scaling scaling;
    gsai_prior *prior;         /* NULL: none */
    struct gsai_problem *bent; /* the same rows with columns that bend; NULL: none can */
    gsai_order *order;         /* of the rows, to be measured; NULL: none */
    size_t n_strengths;        /* of the path */
    float width, quantile;     /* of a loss that has one, the width in units of the label */
    size_t n_classes;          /* 0: labels are numbers */
    bool has_intercept, has_probabilities, has_log_link;
    bool is_start;            /* rows are learned after these */
    const gsai_waiting *rows; /* of the design, which pairs of columns are found in; NULL: none are wanted */
    bool has_texts;           /* columns of words are */
} gsai_problem;

/* How strong the penalty is, and the share of the prior in it. */
typedef struct gsai_penalty {
    double lambda;
    double share; /* 0: none. Otherwise the prior is set to it */
} gsai_penalty;

/* The power of how rare a word of texts is: its value as given, and times its frequency to minus this. Standardised
 * words have it already. */
#define GSAI_INVERSE_FREQUENCY_OF_WORDS 0.5

/* Returns the scaling that is tried first. */
static inline gsai_column_scaling gsai_first_scaling(const gsai_problem *problem, bool standardised, double power)
{
    const double of_words = standardised ? 0 : GSAI_INVERSE_FREQUENCY_OF_WORDS;
    return (gsai_column_scaling){standardised, problem->has_texts ? of_words : power, NULL, NULL};
}

/* The inverse that L-BFGS begins with: a Cholesky factor of the first columns, or a diagonal. Where weights have signs,
 * the matrix itself. */
typedef struct gsai_inverse {
    float *factor; /* NULL: a diagonal alone */
    size_t n;      /* columns that it has: the others, of customers, have the diagonal */
    float *diagonal;
} gsai_inverse;

typedef struct gsai_fit {
    const gsai_problem *problem;
    size_t n_columns, size; /* columns that its rows need; numbers in a vector of weights, padded */
    uint32_t *row;
    size_t n_rows;
    float *target, *weight, *offset;
    double *total; /* of the residuals of each output */
    float *v;
    float *margin, *margin_step, *residual; /* [n_rows x stride] */
    float *gradient, *applied;              /* the gradient, and the inverse applied to it */
    float *next, *direction;
    float *scaled;                 /* as long as entries have columns */
    float *moved[GSAI_MEMORY];     /* of the weights, */
    float *changed[GSAI_MEMORY];   /* of the gradient */
    float *turned[GSAI_MEMORY];    /* and of what is applied */
    double curvature[GSAI_MEMORY]; /* 1 / (moved . changed) */
    gsai_inverse inverse;
    size_t n_iterations; /* of the last minimisation */
    double objective;
} gsai_fit;

/* Returns the numbers in a vector of weights for rows of n_columns columns. */
static inline size_t gsai_fit_size(const gsai_design *design, size_t n_columns)
{
    size_t columns = design->width > 0 ? 1 + design->width : n_columns;
    return gsai_padded(columns * design->stride);
}
/* Returns the same for the entries of those rows. */
static inline size_t gsai_fit_entries_size(const gsai_design *design, size_t n_columns)
{
    return gsai_fit_size(design, n_columns + gsai_design_shift(design));
}
/* Takes memory for up to n_rows rows of n_columns columns. The rows are set by gsai_fit_rows. `like`: a fit of the same
 * size that is never minimised at the same time, whose working memory it shares; NULL: none. */
void gsai_fit_make(gsai_fit *fit, const gsai_problem *problem, size_t n_rows, size_t n_columns, const gsai_fit *like,
                   gsai_arena *arena);
/* Chooses the rows to fit: those of row[], which must be in the fit already. */
void gsai_fit_rows(gsai_fit *fit, size_t n_rows);
/* Computes the margins of rows under v. scaled: scratch for the weights of entries. */
void gsai_margins_of(const gsai_problem *problem, size_t n_columns, const uint32_t *row, size_t n_rows, const float *v,
                     float *scaled, float *margin);
/* Minimises from v on until a step gains less than tolerance times the objective. GSA_STOPPED if asked to. */
gsa_status gsai_fit_minimise(gsai_fit *fit, const gsai_penalty *penalty, double tolerance, size_t max_iterations,
                             gsa_error *error);

/* Expected number of strengths tried in one solution. */
#define GSAI_EXPECTED_STRENGTHS 12u

/* Estimates that `n` more strengths will be tried, and then those after the present stages. */
static inline void gsai_expect_strengths(gsai_problem *problem, uint64_t n)
{
    problem->n_about = problem->n_tried + n + problem->n_after;
}

/* Reports that a strength was tried. The loss is in the units of the label. */
static inline void gsai_report_strength(gsai_problem *problem, double held_out_loss)
{
    problem->n_tried++;
    if (problem->n_about < problem->n_tried + problem->n_after)
        problem->n_about = problem->n_tried + problem->n_after;
    if (held_out_loss < problem->best_loss)
        problem->best_loss = held_out_loss;
    if (problem->hook.tried)
        problem->hook.tried(problem->hook.ctx, problem->n_tried, problem->n_about, problem->loss_name,
                            problem->best_loss * problem->design->loss_unit);
}

/* Returns rows at their margins; the caller adds what it wants of them. */
static inline gsai_rows_at gsai_problem_rows(const gsai_problem *problem, const float *target, const float *offset,
                                             const float *weight, const float *margin, size_t n)
{
    return (gsai_rows_at){.math = &problem->kernels->math,
                          .n = n,
                          .n_outputs = problem->design->n_outputs,
                          .stride = problem->design->stride,
                          .target = target,
                          .offset = offset,
                          .weight = weight,
                          .margin = margin,
                          .width = problem->width,
                          .quantile = problem->quantile};
}

/* Returns the mean loss of the parts of labels that are clipped. */
static inline double gsai_problem_clipped(const gsai_problem *problem)
{
    return problem->design->clipped * (problem->quantile > 0 ? 1 : (double)problem->width);
}

/* Sets the scale of every column: 1 for standardised ones, their units (by one common number) for those as given,
 * times what the inverse frequency makes of them. */
void gsai_scale_columns(gsai_problem *problem, gsai_column_scaling scaling);

/* Returns the penalty of the intercept. */
static inline double gsai_intercept_penalty(double lambda)
{
    return 1e-6 * lambda + 1e-9;
}

/* Computes the sum over rows of their curvature times x x', lower triangle, [columns x columns] in rows of
 * gsai_padded(n_columns); every step-th row counts step times. curvature is by row number. inverse.c. */
void gsai_gram_of(const gsai_problem *problem, size_t n_columns, const uint32_t *row, size_t n_rows, size_t step,
                  const float *curvature, float *scratch, float *gram);
size_t gsai_gram_scratch(size_t n_columns);
/* Factors curvature * scale (all - without) scale + penalty; without NULL: nothing is subtracted. */
void gsai_inverse_factor(gsai_inverse *inverse, const gsai_problem *problem, size_t n_columns, const float *all,
                         const float *without, double curvature, const gsai_penalty *penalty, float *scratch);
/* Computes the diagonal of the same, from the variance of the columns and the mean curvature of the rows. */
void gsai_inverse_diagonal(gsai_inverse *inverse, const gsai_problem *problem, size_t n_columns, double curvature,
                           const gsai_penalty *penalty);
void gsai_inverse_apply(const gsai_inverse *inverse, const gsai_problem *problem, size_t n_columns, const float *from,
                        float *to);

#endif
