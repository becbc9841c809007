/* Rows to be solved: equal ones joined, in the order of a hash of their features, their columns standardised.
 *
 *   D1  Rows stand in the order of the hash of their features, so that the first n are a random sample of all, whatever
 *       the order of the input; rows with equal features stand side by side.
 *   D2  Rows equal in features, label and fold are one row with the sum of their weights. Weights have the mean 1; or,
 *       where rows are assigned to folds one by one, the mean is how many of them are joined in one row.
 *   D3  Columns are numbered as they first appear in that order: the first rows need only the first columns. Column 0
 *       is the intercept, 1 in every row and not stored.
 *   D4  A stored value is (x - origin) / unit of its column. Dense rows have every column centred; sparse rows keep
 *       absent values at 0 and have the mean of the stored values in `mean`.
 *   D5  A fold has about an eighth of the rows. Copies, rows with equal features and labels, are in one fold; rows that
 *       merely repeat others are assigned one by one (design.c distinguishes them). */
#ifndef GSA_SOLVE_DESIGN_H
#define GSA_SOLVE_DESIGN_H

#include "solve/kernel/solve_kernels.h"

#include "base/rows.h"
#include "learn/compact.h"

#define GSAI_FOLDS 8u
/* Labels of a robust loss are clipped to this many of their scales: beyond, they pull alike, and sums of losses would
 * lose the digits of all others. */
#define GSAI_MAX_TARGET 65536.0

/* Rows as they come. In `csr` the word of a row is its class, the label the number of a loss without classes. */
typedef struct gsai_gathered {
    gsai_env env;
    gsai_rows csr;
    uint64_t *hash; /* of the features of each row */
    size_t hash_capacity;
    uint32_t highest;    /* feature id */
    uint64_t n_features; /* different ids; those from GSAI_MAX_COUNTED on count as often as they come */
    uint64_t *seen;      /* a bit per id */
    size_t n_seen, seen_capacity;
} gsai_gathered;

/* Hashed words have far fewer features than ids: they are counted, in at most 16 MB. */
#define GSAI_MAX_COUNTED (UINT32_C(1) << 27)

/* Prepares for rows; the struct must not move afterwards. */
void gsai_gathered_init(gsai_gathered *rows, const gsai_env *env);
/* Adds the rows of a batch; a row of weight 0 is left out. Labels that are new are entered into the state. */
gsa_status gsai_gather(gsai_gathered *rows, gsa_state *state, const gsa_batch *batch, gsa_error *error);
void gsai_gathered_release(gsai_gathered *rows);
/* Adds row i of others. */
gsa_status gsai_gathered_copy(gsai_gathered *to, const gsai_gathered *from, size_t i, gsa_error *error);
/* Returns row i; as gsai_unlearned_rows asks for it. */
gsai_unlearned gsai_gathered_at(const void *rows, size_t i);

typedef struct gsai_design {
    size_t n_rows, n_columns;
    size_t n_different;       /* rows that differ in features or label */
    size_t n_outputs, stride; /* outputs, and as many as loops run over: 1, or a multiple of 8 */
    size_t width;             /* values of a dense row, a multiple of GSAI_PAD; 0: sparse rows */
    float *dense;
    size_t *start;
    uint32_t *column;
    float *value;
    float *target; /* the class; a number in `margin_unit`s from `margin_origin`, with a log link in `loss_unit`s */
    float *weight;
    uint8_t *fold;
    uint32_t *kind;                   /* number of the features of a row, ascending */
    uint32_t *id;                     /* feature of a column; 0 for the intercept */
    uint32_t *count;                  /* rows where a column is present */
    double *origin, *unit, *variance; /* of a column; variance: mean square of the stored values around their mean */
    float *mean;
    double margin_origin, margin_unit, loss_unit, weight_unit, total_weight;
    double clipped; /* mean distance by which labels are beyond GSAI_MAX_TARGET, in units of the label */
    gsai_env env;
} gsai_design;

/* Makes the design. The gathered rows are not needed afterwards. */
gsa_status gsai_design_make(gsai_design *design, gsai_gathered *rows, const gsa_state *state, gsa_error *error);
void gsai_design_release(gsai_design *design);
/* Returns the margin of a row with one output under weights of the columns in their units. */
double gsai_design_margin(const gsai_design *design, size_t row, const double *weight);
/* Returns the middle of a column: the mean of its values, in their own units. */
static inline double gsai_design_middle(const gsai_design *design, size_t j)
{
    return design->origin[j] + (double)design->mean[j] * design->unit[j];
}
/* Returns whether any column varies. If none does, the intercept is all that a model has. */
bool gsai_design_varies(const gsai_design *design);
/* Returns the number of columns that the first n_rows rows need. */
size_t gsai_design_columns(const gsai_design *design, size_t n_rows);

#endif
