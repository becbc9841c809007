/* A lock is for other processes: it succeeds. A file has one descriptor. A folder that may be searched only takes no
 * files. */
#ifndef GSA_WASI_FCNTL_H
#define GSA_WASI_FCNTL_H
#pragma clang system_header /* the next one of this name */
#include "posix.h"
#include_next <fcntl.h>
#undef O_SEARCH
#define F_SETLK 1006
#define F_WRLCK 1
#define F_DUPFD_CLOEXEC 1030
#define fcntl gsai_wasi_fcntl
static inline int gsai_wasi_fcntl(int fd, int command, ...)
{
    return command == F_DUPFD_CLOEXEC || fd < 0 ? gsai_wasi_missing() : 0;
}
#endif
