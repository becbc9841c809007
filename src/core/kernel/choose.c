/* Which of the compiled kernels this machine runs. */
#include "core/kernel/kernel.h"

const gsa__kernels *gsa__kernels_at(size_t number)
{
    switch (number) {
    case 0:
        return &gsa__kernels_generic;
#ifdef GSA__HAVE_AVX
    case 1:
        return __builtin_cpu_supports("avx2") ? &gsa__kernels_avx2 : NULL;
    case 2:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
                   ? &gsa__kernels_avx512
                   : NULL;
#endif
    default:
        return NULL;
    }
}

const gsa__kernels *gsa__kernels_best(void)
{
    const gsa__kernels *best = gsa__kernels_at(0), *next;
    for (size_t i = 1; (next = gsa__kernels_at(i)) != NULL; i++)
        best = next;
    return best;
}
