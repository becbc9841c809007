/* Which of the compiled loops this machine runs. */
#include "solve/kernel/solve_kernels.h"

#include "base/vectors.h"

static const gsai_solve_kernels *const COMPILED[] = {
    &gsai_solve_generic,
#ifdef GSAI_HAVE_AVX
    &gsai_solve_avx2,
    &gsai_solve_avx512,
#endif
};

const gsai_solve_kernels *gsai_solve_kernels_at(size_t number)
{
    return number <= gsai_vectors() ? COMPILED[number] : NULL;
}

const gsai_solve_kernels *gsai_solve_kernels_best(void)
{
    return COMPILED[gsai_vectors()];
}
