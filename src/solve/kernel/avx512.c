/* The loops for x86-64 with AVX-512. */
#define GSA__KERNELS gsa__solve_avx512
#define GSA__KERNELS_NAME "avx512"
#include "solve/kernel/loops.h"
