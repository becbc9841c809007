/* Learning a row, or a group of them. */
#ifndef GSA_LEARN_LEARNER_H
#define GSA_LEARN_LEARNER_H

#include "learn/group.h"

/* Makes room for a row, whose values must be finite, and what it takes to learn it. */
gsa_status gsai_state_fit_row(gsa_state *state, const gsai_row *row, gsa_error *error);
/* Learns one row. Class for losses with classes, y for the others, c > 0 its weight. */
gsa_status gsai_state_learn(gsa_state *state, const gsai_row *row, size_t class_number, double y, double c,
                            gsa_error *error);
/* Learns a row that was staged for its group, since when none was learned. */
gsa_status gsai_state_learn_staged(gsa_state *state, const gsai_staged *staged, size_t class_number, double y, double c,
                                   gsa_error *error);

/* Returns what to do about weights that are no longer finite; y: the label of the row, 0 if it is not known. */
const char *gsai_diverged_remedy(const gsa_state *state, double y);

#endif
