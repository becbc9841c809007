/* The loops for x86-64 with AVX-512. */
#define GSAI_KERNELS gsai_solve_avx512
#define GSAI_KERNELS_NAME "avx512"
#include "solve/kernel/solve_loops.h"
