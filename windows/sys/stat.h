#pragma GCC system_header /* include_next is no C17 */
#include_next <sys/stat.h>

#include "../posix.h"

#undef stat
#undef fstat
#define stat gsai_windows_stat
#define fstat gsai_windows_fstat
