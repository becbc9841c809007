/* The state of an optimum: its weights come from all rows at once, the rest from one pass that moves no weight. */
#ifndef GSA_LEARN_SOLUTION_H
#define GSA_LEARN_SOLUTION_H

#include "learn/compact.h"
#include "learn/label_offset.h"
#include "learn/residuals.h"
#include "learn/results.h"

#include <greedystep/distributed.h>

/* The results of a solver, besides the weights of features. */
typedef struct gsai_solution {
    const double *intercept;               /* [outputs] */
    const gsai_label_offset *label_offset; /* NULL: as it is */
    gsai_residuals residuals;              /* of losses with a width */
    gsai_results results;
    bool is_standardised;
    double prior_share;   /* share of the rows of earlier runs that counts */
    uint64_t n_different; /* rows, equal ones counted once */
    double held_out_loss, constant_loss;
} gsai_solution;

/* Completes a state whose table has the weights of features. rows->env: whether to stop. goes_on: rows are learned
 * after these, which were some of the pass; it does not end. */
gsa_status gsai_solution_finish(gsa_state *state, const gsai_solution *solution, const gsai_unlearned_rows *rows,
                                bool goes_on, gsa_error *error);
/* Drops features. What that costs was measured on few rows: where it seems to gain, the losses stay as they are. */
gsa_status gsai_solution_compact(gsa_state *state, const gsai_compaction *measured, const gsai_unlearned_rows *rows,
                                 gsa_error *error);

#endif
