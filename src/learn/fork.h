/* Copies of a state. */
#ifndef GSA_LEARN_FORK_H
#define GSA_LEARN_FORK_H

#include <greedystep/greedystep.h>

/* Makes a copy whose group is closed. */
gsa_status gsai_state_closed(const gsa_state *state, gsa_state **out, gsa_error *error);

#endif
