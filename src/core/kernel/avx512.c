/* The loops for x86-64 with AVX-512 (compiled with -mavx512f and its like). */
#define GSA__KERNELS gsa__kernels_avx512
#define GSA__KERNELS_NAME "avx512"
#define GSA__WIDEST 16
#include "core/kernel/loops.h"
