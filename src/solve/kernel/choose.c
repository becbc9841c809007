/* Which of the compiled loops this machine runs. */
#include "solve/kernel/kernel.h"

#include "base/vectors.h"

static const gsa__solve_kernels *const COMPILED[] = {
    &gsa__solve_generic,
#ifdef GSA__HAVE_AVX
    &gsa__solve_avx2,
    &gsa__solve_avx512,
#endif
};

const gsa__solve_kernels *gsa__solve_kernels_at(size_t number)
{
    return number <= gsa__vectors() ? COMPILED[number] : NULL;
}

const gsa__solve_kernels *gsa__solve_kernels_best(void)
{
    return COMPILED[gsa__vectors()];
}
