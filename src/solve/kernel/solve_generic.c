/* The loops for the machine's baseline. */
#define GSAI_KERNELS gsai_solve_generic
#define GSAI_KERNELS_NAME "generic"
#include "solve/kernel/solve_loops.h"
