/* The vector instructions of this processor. */
#include "base/vectors.h"

#include <stdbool.h>

size_t gsai_vectors(void)
{
#ifdef GSAI_HAVE_AVX
    bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return !__builtin_cpu_supports("avx2") ? 0 : 1 + (size_t)has_512;
#else
    return 0;
#endif
}
