/* The outputs of a state: one per class, or one for two classes. */
#ifndef GSA_LEARN_STATE_OUTPUTS_H
#define GSA_LEARN_STATE_OUTPUTS_H

#include <greedystep/greedystep.h>

/* Makes room for the labels there are now: more outputs, or one output for two classes becomes one per class (logistic
 * becomes softmax). On failure nothing has changed. */
gsa_status gsai_state_fit_labels(gsa_state *state, gsa_error *error);
/* Turns one output for two classes into two, of the same model. */
gsa_status gsai_state_split(gsa_state *state, gsa_error *error);
/* Returns the intercept of a class that none of the rows so far had: -log(rows + 1), not 0, or one stray label would
 * take a share of every probability. 0 without probabilities or an intercept, and in the paper's method. */
double gsai_state_unseen(const gsa_state *state);

#endif
