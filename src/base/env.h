/* The environment of internal functions: the memory of an object, and the stop request and threads of a call. */
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
    return env->call.should_stop && env->call.should_stop(env->call.ctx) != 0;
}

#endif
