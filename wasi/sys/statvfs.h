#ifndef GSA_WASI_STATVFS_H
#define GSA_WASI_STATVFS_H
#include "../posix.h"
struct statvfs {
    unsigned long long f_bavail, f_frsize;
};
#define fstatvfs(fd, out) ((void)(fd), (void)(out), gsai_wasi_missing())
#endif
