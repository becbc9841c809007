#pragma GCC system_header /* include_next is no C17 */
#include_next <signal.h>

#include "posix.h"
