#pragma GCC system_header /* include_next is no C17 */
#include_next <sys/stat.h>

#include "../posix.h"

#undef stat
#undef fstat
#define stat gsa__windows_stat
#define fstat gsa__windows_fstat
