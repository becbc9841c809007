/* The choice of scaling: two ways to learn the same rows, side by side, until held-out and progressive loss choose one:
 * with features as given (the state's own table), and standardised. */
#ifndef GSA_LEARN_SCALING_H
#define GSA_LEARN_SCALING_H

#include "learn/table.h"

/* The mean of the greedy steps: sum c eta / sum c. */
typedef struct gsai_step_mean {
    double sum;
    double weight;
} gsai_step_mean;

typedef struct gsai_scaling {
    gsai_table table; /* of standardised features */
    gsai_step_mean step;
    /* Progressive losses, as given and standardised: of the rows since the last power of two, and of those between the
     * last and the one before it. Together that is the last half to three quarters of the rows. */
    double loss[2], earlier_loss[2];
    double held_out_loss[2]; /* of all held-out rows together, at the last power of two; of one output */
    uint64_t restart;        /* the next power of two */
} gsai_scaling;

/* Open the choice of scaling if the method has one and nothing is learned yet, and close it, with the better table as
 * the state's own. Closing one that is not open does nothing. */
gsa_status gsai_scaling_open(gsa_state *state, gsa_error *error);
void gsai_scaling_close(gsa_state *state);

#endif
