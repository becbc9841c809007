/* Which of the compiled loops this machine runs. */
#include "solve/kernel/kernel.h"

const gsa__solve_kernels *gsa__solve_kernels_at(size_t number)
{
    switch (number) {
    case 0:
        return &gsa__solve_generic;
#ifdef GSA__HAVE_AVX
    case 1:
        return __builtin_cpu_supports("avx2") ? &gsa__solve_avx2 : NULL;
    case 2:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
                   ? &gsa__solve_avx512
                   : NULL;
#endif
    default:
        return NULL;
    }
}

const gsa__solve_kernels *gsa__solve_kernels_best(void)
{
    const gsa__solve_kernels *best = gsa__solve_kernels_at(0), *next;
    for (size_t i = 1; (next = gsa__solve_kernels_at(i)) != NULL; i++)
        best = next;
    return best;
}
