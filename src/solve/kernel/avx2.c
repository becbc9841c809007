/* The loops for x86-64 with AVX2 (compiled with -mavx2). */
#define GSA__KERNELS gsa__solve_avx2
#define GSA__KERNELS_NAME "avx2"
#include "solve/kernel/loops.h"
