#pragma GCC system_header /* include_next is no C17 */
#include "../posix.h"
