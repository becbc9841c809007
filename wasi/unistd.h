#ifndef GSA_WASI_UNISTD_H
#define GSA_WASI_UNISTD_H
#pragma clang system_header /* the next one of this name */
#include "posix.h"
#include_next <unistd.h>
#define execv(path, words) ((void)(path), (void)(words), gsai_wasi_missing())
#define execvp(path, words) ((void)(path), (void)(words), gsai_wasi_missing())
/* Asks only for existence: a file that may not be written fails when it is. */
#define faccessat(folder, name, how, flags) faccessat(folder, name, F_OK, flags)
#define geteuid() ((uid_t)0)
/* A folder cannot be synced. */
#define fsync gsai_wasi_fsync
int gsai_wasi_fsync(int fd);
#endif
