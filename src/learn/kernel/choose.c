/* Which of the compiled kernels this machine runs. */
#include "learn/kernel/kernel.h"

#include "base/vectors.h"

static const gsai_kernels *const COMPILED[] = {
    &gsai_kernels_generic,
#ifdef GSAI_HAVE_AVX
    &gsai_kernels_avx2,
    &gsai_kernels_avx512,
#endif
};

const gsai_kernels *gsai_kernels_at(size_t number)
{
    return number <= gsai_vectors() ? COMPILED[number] : NULL;
}

const gsai_kernels *gsai_kernels_best(void)
{
    return COMPILED[gsai_vectors()];
}
