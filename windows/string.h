#pragma GCC system_header /* include_next is no C17 */
#include_next <string.h>

#define strerror_r(number, out, size) strerror_s(out, size, number)
