/* The loops for x86-64 with AVX2 (compiled with -mavx2). */
#define GSAI_KERNELS gsai_solve_avx2
#define GSAI_KERNELS_NAME "avx2"
#include "solve/kernel/solve_loops.h"
