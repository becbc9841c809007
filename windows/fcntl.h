#pragma GCC system_header /* include_next is no C17 */
#include_next <fcntl.h>

#include "posix.h"

#define open gsai_windows_open
