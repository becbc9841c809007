#pragma GCC system_header /* include_next is no C17 */
#include_next <stdlib.h>

#define aligned_alloc(alignment, size) malloc(size) /* for the pages of a benchmark, which may lie anywhere */
