/* The loops for the machine's baseline: the oracle. */
#define GSA__KERNELS gsa__kernels_generic
#define GSA__KERNELS_NAME "generic"
#define GSA__WIDEST 4
#include "core/kernel/loops.h"
