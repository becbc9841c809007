/* The loops for x86-64 with AVX2 (compiled with -mavx2). */
#define GSA__KERNELS gsa__kernels_avx2
#define GSA__KERNELS_NAME "avx2"
#define GSA__WIDEST 8
#include "core/kernel/loops.h"
