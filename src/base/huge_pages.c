/* Large pages: a table of weights that is read here and there misses the processor's table of pages at every other
 * feature if pages are small. madvise is not POSIX. */
#define _DEFAULT_SOURCE /* NOLINT: the name that the C library looks for */
#include "base/memory.h"

#include <sys/mman.h>

#define HUGE_PAGE ((uintptr_t)1 << 21)

void gsai_prefer_huge_pages(void *memory, size_t size)
{
    uintptr_t first = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = ((uintptr_t)memory + size) / HUGE_PAGE * HUGE_PAGE;
#ifdef MADV_HUGEPAGE
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)first;
    (void)end;
#endif
}
