/* Which rows are learned, and which are held out. */
#ifndef GSA_LEARN_UPDATE_H
#define GSA_LEARN_UPDATE_H

#include "base/env.h"

/* Learns the rows that are held out, which stay there. GSA_STOPPED if `stop` asks for it. */
gsa_status gsai_state_learn_sample(gsa_state *state, const gsai_env *stop, gsa_error *error);

#endif
