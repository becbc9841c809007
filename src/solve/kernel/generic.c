/* The loops for the machine's baseline. */
#define GSA__KERNELS gsa__solve_generic
#define GSA__KERNELS_NAME "generic"
#include "solve/kernel/loops.h"
