#pragma GCC system_header /* include_next is no C17 */
#include_next <stdio.h>

/* Opens a file whose name is in UTF-8. */
#define fopen gsai_windows_fopen
FILE *fopen(const char *path, const char *mode);
