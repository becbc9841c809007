/* Processors and memory of systems of POSIX other than Linux: those of the machine. */
#include "base/os.h"

#include <unistd.h>

size_t gsai_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (size_t)n;
}

uint64_t gsai_os_processor_set(void)
{
    return 0;
}

uint64_t gsai_os_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : 0;
}
