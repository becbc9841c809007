/* The loops for the machine's baseline: the reference. */
#define GSAI_KERNELS gsai_kernels_generic
#define GSAI_KERNELS_NAME "generic"
#define GSAI_WIDEST 4
#include "learn/kernel/loops.h"
