/* The position of a run in its input, and whether its loss still falls. */
#ifndef GSA_LEARN_POSITION_H
#define GSA_LEARN_POSITION_H

#include "learn/state.h"

/* Notes the loss of the rows that follow the first n_before. */
void gsai_position_note(gsai_position *position, uint64_t n_before, uint64_t n_rows, double loss, double weight);
/* Returns by which share the loss fell of late; NaN if too few rows tell. */
double gsai_position_falling(const gsai_position *position);

#endif
