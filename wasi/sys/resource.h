#ifndef GSA_WASI_RESOURCE_H
#define GSA_WASI_RESOURCE_H
#include "../posix.h"
enum { RUSAGE_SELF, RLIMIT_FSIZE, RLIMIT_AS };
struct rusage {
    size_t ru_maxrss; /* kB */
};
struct rlimit {
    unsigned long long rlim_cur;
};
#define RLIM_INFINITY (~0ull)
#define getrusage(who, out) ((out)->ru_maxrss = __builtin_wasm_memory_size(0) * 64, 0)
#define getrlimit(which, out) ((void)(out), gsai_wasi_missing())
#endif
