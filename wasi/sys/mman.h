/* A mapped file is read: there is nothing to advise. */
#ifndef GSA_WASI_MMAN_H
#define GSA_WASI_MMAN_H
#pragma clang system_header /* the next one of this name */
#include_next <sys/mman.h>
#undef MADV_HUGEPAGE
#endif
