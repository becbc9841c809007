/* The slots and the outputs of a state. */
#ifndef GSA_LEARN_STATE_SLOTS_H
#define GSA_LEARN_STATE_SLOTS_H

#include "learn/state.h"

/* Sets the loss and makes the table. For classes the labels may be entered before or after. */
gsa_status gsai_state_decide(gsa_state *state, const gsai_loss *loss, gsa_error *error);

/* Standardises features if that was asked for, or a loss of the caller's leaves nothing to decide it by; else rows that
 * wait decide. */
void gsai_state_scale_as_asked(gsa_state *state);
/* Makes room for features up to that slot. */
gsa_status gsai_state_fit_slots(gsa_state *state, size_t n_slots, gsa_error *error);
/* Makes room for the margins and gradient scales of a group. */
gsa_status gsai_state_reserve_scratch(gsa_state *state, size_t n_outputs, gsa_error *error);
/* Makes room for more outputs; one for two classes becomes one per class of the same model (logistic becomes softmax).
 * On failure nothing has changed. */
gsa_status gsai_state_widen(gsa_state *state, size_t n_outputs, gsa_error *error);
/* Moves the table's counts into the prior totals. */
gsa_status gsai_state_fold(gsa_state *state, gsa_error *error);

#endif
