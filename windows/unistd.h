#pragma GCC system_header /* include_next is no C17 */
#include_next <unistd.h>

#include "posix.h"

#define access gsai_windows_access
#define unlink gsai_windows_unlink
