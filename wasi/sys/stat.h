#ifndef GSA_WASI_STAT_H
#define GSA_WASI_STAT_H
#pragma clang system_header /* the next one of this name */
#include_next <sys/stat.h>
#define fchmod(fd, mode) ((void)(fd), (void)(mode), 0)
#endif
