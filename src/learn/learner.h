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

#endif
