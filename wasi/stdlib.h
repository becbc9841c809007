#ifndef GSA_WASI_STDLIB_H
#define GSA_WASI_STDLIB_H
#pragma clang system_header /* the next one of this name */
#include "posix.h"
#include_next <stdlib.h>
#define mkstemp(path) ((void)(path), gsai_wasi_missing()) /* a file that is open cannot lose its name */
#endif
