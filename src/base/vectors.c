/* The vector instructions of this processor. */
#include "base/vectors.h"

size_t gsai_vectors(void)
{
#ifdef GSAI_HAVE_AVX
    if (!__builtin_cpu_supports("avx2"))
        return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
               ? 2
               : 1;
#else
    return 0;
#endif
}
