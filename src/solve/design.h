/* Rows to be solved: equal ones joined, in the order of a hash of their features, their columns standardised.
 *
 *   D1  Rows stand in the order of the hash of their features, so that the first n are a random sample of all, whatever
 *       the order of the input; rows with equal features stand side by side.
 *   D2  Rows equal in features, label and fold are one row with the sum of their weights. Weights have the mean 1; or,
 *       where rows are assigned to folds one by one, the mean is how many of them are joined in one row.
 *   D3  Columns are numbered as they first appear in that order: the first rows need only the first columns. Column 0
 *       is the intercept, 1 in every row and not stored. Columns of customers come after all others.
 *   D4  A stored value is (x - origin) / unit of its column. Dense rows have every column centred; sparse rows keep
 *       absent values at 0 and have the mean of the stored values in `mean`.
 *   D5  A fold has about an eighth of the rows. Rows of a group are in one fold, and the groups with most rows are
 *       dealt first, each to the fold with fewest rows; with times the latest eighth is the one fold that is held out,
 *       in two halves. Else copies, rows with equal features and labels, are in one fold; rows that merely repeat
 *       others are assigned one by one (design.c distinguishes them). */
#ifndef GSA_SOLVE_DESIGN_H
#define GSA_SOLVE_DESIGN_H

#include "solve/kernel/solve_kernels.h"

#include "solve/bend.h"

#include "learn/results.h"

#define GSAI_FOLDS 8u
/* Labels of a robust loss are clipped to this many of their scales: beyond, they pull alike, and sums of losses would
 * lose the digits of all others. */
#define GSAI_MAX_TARGET 65536.0

typedef struct gsai_design {
    size_t n_rows, n_columns;
    uint32_t *order;          /* all rows, equal ones too, in an order that is not theirs */
    uint32_t *row;            /* of each row: one that waits and is equal to it */
    size_t n_different;       /* rows that differ in features or label */
    size_t n_outputs, stride; /* outputs, and as many as loops run over: 1, or a multiple of 8 */
    size_t width;             /* values of a dense row, a multiple of GSAI_PAD; 0: sparse rows */
    float *dense;
    bool keeps_columns; /* dense rows have the columns of their entries, too */
    size_t *start;
    uint32_t *column;
    float *value;
    float *target; /* the class; a number in `margin_unit`s from `margin_origin`, with a log link in `loss_unit`s */
    float *offset; /* of a row, added to its margin; NULL: rows of classes have none, and targets are less theirs */
    float *weight;
    uint8_t *fold;   /* with times: 0 and 1 for the halves of the latest rows, 2 for others; gsai_design_fold */
    size_t n_folds;  /* that can be held out: from 0 on */
    uint32_t *group; /* number of the group of a row; NULL: rows have none */
    size_t n_groups;
    size_t n_groups_in[GSAI_FOLDS]; /* groups of a fold; all 0 if there is one group only */
    bool has_times;
    size_t n_latest;                  /* rows that are held out for being the latest, before equal ones are joined */
    uint32_t *kind;                   /* number of the features of a row, ascending */
    uint32_t *id;                     /* feature of a column; 0 for the intercept */
    uint32_t *count;                  /* rows where a column is present */
    double *origin, *unit, *variance; /* of a column; variance: mean square of the stored values around their mean */
    float *mean;
    int8_t *sign; /* of the weights of a column: 1 if none may be below 0, -1 if none above. NULL: all are free */
    double margin_origin, margin_unit, loss_unit, weight_unit, total_weight;
    /* Columns that bend: column 1 + p is part p of them all, the others follow. Entries are in knots: number 1 + k is
     * knot k, and others follow there too. NULL: all columns are lines. */
    const gsai_bends *bends;
    /* The first feature of customers, whose columns are the last, and the number of features of each; without customers
     * it is above all features. */
    uint64_t first_own, own_each;
    double clipped; /* mean distance by which labels are beyond GSAI_MAX_TARGET, in units of the label */
    gsai_env env;
} gsai_design;

/* Makes the design. The rows are not needed afterwards. */
gsa_status gsai_design_make(gsai_design *design, const gsai_waiting *rows, const gsa_state *state, gsa_error *error);
void gsai_design_release(gsai_design *design);
/* Makes a design of the same rows with columns that bend. It shares what both have, and lasts as long. */
gsa_status gsai_design_bend(gsai_design *bent, const gsai_design *lines, const gsai_bends *bends,
                            const gsai_waiting *rows, gsai_arena *arena, gsa_error *error);
/* Returns by how much the numbers of entries are higher than those of columns, from the first column on that is a line.
 */
static inline size_t gsai_design_shift(const gsai_design *design)
{
    return design->bends ? design->bends->n_knots - design->bends->n_parts : 0;
}
/* Returns whether a column is in the model: not if it is of a pair that only folds have found. */
bool gsai_design_has(const gsai_design *design, size_t column);
/* Returns whether a column is of a customer. */
static inline bool gsai_design_is_own(const gsai_design *design, size_t column)
{
    return design->id[column] >= design->first_own;
}
/* Returns how many columns are not, the intercept among them. */
static inline size_t gsai_design_common(const gsai_design *design)
{
    size_t n = design->n_columns;
    while (n > 1 && gsai_design_is_own(design, n - 1))
        n--;
    return n;
}
/* Returns the number of columns that bent parts and the intercept take. */
static inline size_t gsai_design_parts(const gsai_design *design)
{
    return design->bends ? 1 + design->bends->n_parts : 1;
}
/* Returns the margin of a row with one output under weights of the columns in their units. */
double gsai_design_margin(const gsai_design *design, size_t row, const double *weight);
/* Returns the value of a row in a column, in its units; of a part, in those of the column that bends. */
double gsai_design_value(const gsai_design *design, size_t row, size_t column);
/* Returns the fold of a row: the two halves of the latest rows are one. */
static inline size_t gsai_design_fold(const gsai_design *design, size_t row)
{
    return design->n_latest > 0 ? design->fold[row] / 2u : design->fold[row];
}
/* Returns the middle of a column: the mean of its values, in their own units. */
static inline double gsai_design_middle(const gsai_design *design, size_t j)
{
    return design->origin[j] + (double)design->mean[j] * design->unit[j];
}
/* Sets how many groups the first folds have, or how many rows are the latest. */
void gsai_design_describe(const gsai_design *design, size_t n_folds, gsai_results *out);
/* Returns whether any column varies. If none does, the intercept is all that a model has. */
bool gsai_design_varies(const gsai_design *design);
/* Returns the number of columns that the first n_rows rows need. */
size_t gsai_design_columns(const gsai_design *design, size_t n_rows);

#endif
