#ifndef GSA_WASI_IOCTL_H
#define GSA_WASI_IOCTL_H
#pragma clang system_header /* the next one of this name */
#include "../posix.h"
#include_next <sys/ioctl.h>
struct winsize {
    unsigned short ws_col;
};
#define TIOCGWINSZ 0
#define ioctl(fd, what, out) ((void)(out), gsai_wasi_missing())
#endif
