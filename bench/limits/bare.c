/* The bare limits: loops that do the minimum with the same bytes or ids. Results are stored in a volatile, so that they
 * have to be computed. */
#define _DEFAULT_SOURCE /* NOLINT: the name that the C library looks for; madvise */
#include "limits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROWS_AHEAD = 8 };
#define HUGE_PAGE ((size_t)1 << 21)

void *bench_table(size_t n, size_t element_size)
{
    size_t size = (n * element_size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *table = n < SIZE_MAX / 2 / element_size ? aligned_alloc(HUGE_PAGE, size) : NULL;
#ifdef MADV_HUGEPAGE
    if (table != NULL)
        (void)madvise(table, size, MADV_HUGEPAGE);
#endif
    return table != NULL ? memset(table, 0, size) : NULL;
}

void bench_find_newlines(const bench_bytes *bytes)
{
    const unsigned char *at = bytes->data, *end = at + bytes->size;
    volatile size_t n = 0;
    for (; at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n = n + 1;
}

void bench_add_up(const bench_bytes *bytes)
{
    uint64_t sum = 0, word;
    for (size_t i = 0; i + sizeof word <= bytes->size; i += sizeof word) {
        memcpy(&word, bytes->data + i, sizeof word);
        sum += word;
    }
    volatile uint64_t found = sum;
    (void)found;
}

/* Feature i has record i + 1, behind the intercept's. The records of a row some way ahead are fetched, as anybody would
 * do. */
void bench_touch_records(bench_record *table, const bench_rows *rows)
{
    for (size_t r = 0; r < rows->n; r++) {
        const uint32_t *id = rows->index + r * rows->nnz;
        for (size_t i = 0; r + ROWS_AHEAD < rows->n && i < rows->nnz; i++)
            __builtin_prefetch(&table[id[ROWS_AHEAD * rows->nnz + i] + 1], 1);
        for (size_t i = 0; i < rows->nnz; i++) {
            volatile bench_record *at = &table[id[i] + 1];
            for (int j = 0; j < 4; j++)
                at->cell[j] = at->cell[j];
        }
    }
}

void bench_load_weights(const float *weight, const bench_rows *rows, size_t from, size_t n)
{
    volatile float margin;
    for (size_t r = from; r < from + n; r++) {
        const uint32_t *id = rows->index + r * rows->nnz;
        float sum = 0;
        for (size_t i = 0; i < rows->nnz; i++)
            sum += weight[id[i]];
        margin = sum;
    }
    (void)margin;
}
