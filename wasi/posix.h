/* The parts of POSIX that the library and the command use and WASI lacks: there is one process and one thread, and no
 * users or signals.
 *
 * Where greedystep is compiled for WASI this folder comes first in the search for headers: each of its headers takes
 * the system's of the same name, if there is one, and this. What cannot be done fails, and what needs not be done
 * succeeds. */
#ifndef GSA_WASI_POSIX_H
#define GSA_WASI_POSIX_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns -1, as for a call that the system has not. */
static inline int gsai_wasi_missing(void)
{
    errno = ENOSYS;
    return -1;
}

#endif
