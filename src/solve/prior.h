/* The prior of a run that starts from a state: what the earlier run knows about the weights.
 *
 * A weight v of the earlier run is as certain as the rows behind it are many: its precision is lambda + p, p = mean
 * curvature of the loss x sum of squares of the feature in those rows (the diagonal of the Hessian there). Since then
 * weights may have drifted. If of each a share c of the variance is still the old weight and the rest is drawn anew,
 * then today's are expected at sqrt(c) v with the variance c / (lambda + p) + (1 - c) / lambda, which is the precision
 *
 *   lambda + c p / (1 + (1 - c) p / lambda).
 *
 * With c = 1 the earlier run counts in full, with c = 0 not at all, which is the plain penalty; in between, what is
 * very certain is forgotten first, and the weights of rare features stay. Today's folds choose c (path.c). The
 * intercept is expected at v whatever c is. */
#ifndef GSA_SOLVE_PRIOR_H
#define GSA_SOLVE_PRIOR_H

#include "solve/design.h"

#include "base/memory.h"

struct gsai_problem;
struct gsai_penalty;

typedef struct gsai_prior {
    float *standard;   /* [columns x stride]: weights of standardised values, the intercept that of centred columns */
    double *rows;      /* [columns]: of how many of today's rows the sum of squares is */
    double *curvature; /* [stride]: mean second derivative of the loss by the margin of an output */
    float *mean;       /* in today's scale and at today's c: where weights are expected, */
    float *precision;  /* how certainly, */
    double n_rows;     /* of earlier rows, as many as the intercept is certain by */
    double *column;    /* and that as a mean over the outputs of a column */
} gsai_prior;

/* Times all that are tried while that is better: of correlated features the diagonal says too little about sums of
 * weights, which today's rows would then move as if they were most of all rows. */
#define GSAI_CERTAINTY_FACTOR 4
#define GSAI_MAX_CERTAINTY 64
/* Shares that are tried, from all down, until GSAI_SHARE_PATIENCE of them are not better. */
#define GSAI_SHARES 8
#define GSAI_SHARE_PATIENCE 2u
extern const double gsai_shares[GSAI_SHARES];
/* Returns how many are to be tried: all; or the first only, which is then right, where all rows have one label. They
 * say nothing about what tells labels apart. */
size_t gsai_prior_shares(const gsai_design *design);

/* Returns whether an excess of the mean loss of n rows, with its standard error, does not justify forgetting: less than
 * two errors and two nats. unit: the loss that a nat is. */
static inline bool gsai_prior_holds(double excess, double error_of_mean, double unit, size_t n)
{
    return excess <= 2 * error_of_mean + 2 * unit / (double)n;
}

/* Makes the prior of a problem from the state that its rows are for; n_rows: rows before equal ones were joined. The
 * problem has none if nothing is behind the state. */
gsa_status gsai_prior_make(struct gsai_problem *problem, const gsa_state *state, size_t n_rows, gsai_arena *arena,
                           gsa_error *error);
/* Sets mean and precision for a penalty, in the scale of the problem's columns. */
void gsai_prior_set(const struct gsai_problem *problem, const struct gsai_penalty *penalty);
#endif
