/* The loops for x86-64 with AVX-512 (compiled with -mavx512f and its like). */
#define GSAI_KERNELS gsai_kernels_avx512
#define GSAI_KERNELS_NAME "avx512"
#define GSAI_WIDEST 16
#include "learn/kernel/loops.h"
