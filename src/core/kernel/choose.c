/* Which of the compiled kernels this machine runs. */
#include "core/kernel/kernel.h"

#include "base/vectors.h"

static const gsa__kernels *const COMPILED[] = {
    &gsa__kernels_generic,
#ifdef GSA__HAVE_AVX
    &gsa__kernels_avx2,
    &gsa__kernels_avx512,
#endif
};

const gsa__kernels *gsa__kernels_at(size_t number)
{
    return number <= gsa__vectors() ? COMPILED[number] : NULL;
}

const gsa__kernels *gsa__kernels_best(void)
{
    return COMPILED[gsa__vectors()];
}
