/* No library is loaded. */
#ifndef GSA_WASI_DLFCN_H
#define GSA_WASI_DLFCN_H
#include <stddef.h>
enum { RTLD_NOW = 1, RTLD_LOCAL = 2, RTLD_GLOBAL = 4 };
#define dlopen(path, how) ((void)(path), (void *)NULL)
#define dlsym(library, name) ((void)(library), (void)(name), (void *)NULL)
#define dlclose(library) ((void)(library), 0)
#define dlerror() "WebAssembly loads no libraries"
#endif
