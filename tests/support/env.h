/* Both structs that calls take, as the library has them inside: for tests that hand them on together. */
#ifndef TESTS_SUPPORT_ENV_H
#define TESTS_SUPPORT_ENV_H

#include "base/memory.h"

/* The first members of an initialiser. */
#define ENV_SIZES .memory.size = sizeof(gsa_memory), .call.size = sizeof(gsa_call)

/* NULL: the defaults. */
static inline const gsa_memory *memory_of(const gsai_env *env)
{
    return env ? &env->memory : NULL;
}

static inline const gsa_call *call_of(const gsai_env *env)
{
    return env ? &env->call : NULL;
}

#endif
