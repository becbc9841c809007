#pragma GCC system_header /* include_next is no C17 */
#include_next <stdlib.h>

#define strtod_l(text, end, locale) _strtod_l(text, end, locale)
#define aligned_alloc(alignment, size) malloc(size) /* for the pages of a benchmark, which may lie anywhere */
#define mkstemp(path) (-1)                          /* a file cannot be kept when its name is removed: none is made */
