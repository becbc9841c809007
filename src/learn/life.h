/* The life of a state. */
#ifndef GSA_LEARN_LIFE_H
#define GSA_LEARN_LIFE_H

#include "learn/config.h"

/* Makes an empty state with these parameters. */
gsa_status gsai_state_create(const gsai_params *params, const gsai_env *env, gsa_state **out, gsa_error *error);

#endif
