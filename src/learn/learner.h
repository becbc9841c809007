/* Learning a row, or a group of them. */
#ifndef GSA_LEARN_LEARNER_H
#define GSA_LEARN_LEARNER_H

#include "learn/group.h"
#include "learn/state.h"

/* Makes room for a row, whose values must be finite, and what it takes to learn it. */
gsa_status gsai_state_fit_row(gsa_state *state, const gsai_row *row, gsa_error *error);
/* Learns one row; scan NULL: it was not scanned. Class for losses with classes, y for the others, c > 0 its weight. */
gsa_status gsai_state_learn(gsa_state *state, const gsai_row *row, const gsai_row_scan *scan, size_t class_number,
                            double y, double c, gsa_error *error);
/* Learns the rows that wait for their group, whatever waits to be solved. */
gsa_status gsai_state_close_own_group(gsa_state *state, gsa_error *error);
/* Returns by which share the loss fell of late; NaN if too few rows tell. */
double gsai_position_falling(const gsai_position *position);

#endif
