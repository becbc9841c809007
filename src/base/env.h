/* What the inside of the library takes: the memory of an object, and what the call asked for. */
#ifndef GSA_BASE_ENV_H
#define GSA_BASE_ENV_H

#include <greedystep/greedystep.h>

#include <stdbool.h>

typedef struct gsai_env {
    gsa_memory memory;
    gsa_call call;
} gsai_env;

static inline bool gsai_should_stop(const gsai_env *env)
{
    return env->call.should_stop(env->call.ctx) != 0;
}

#endif
