/* Functions of arrays for machines of any kind. */
#include "learn/loss/array_loops.h"

const gsai_array_math gsai_array_math_generic = GSAI_ARRAY_MATH;
