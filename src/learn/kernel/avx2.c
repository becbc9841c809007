/* The loops for x86-64 with AVX2 (compiled with -mavx2). */
#define GSAI_KERNELS gsai_kernels_avx2
#define GSAI_KERNELS_NAME "avx2"
#define GSAI_WIDEST 8
#include "learn/kernel/loops.h"
