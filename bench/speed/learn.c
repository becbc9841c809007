/* learn [ROWS [FEATURES [REPEATS]]]: learning rows of 20 features that are in memory (10^6 rows, 10^4 features), beside
 * a bare loop that touches the same records of 16 bytes in the same order and computes nothing. Both take turns on one
 * thread; prints medians in processor nanoseconds per row: rows of ones, rows with values and weights, and ones in the
 * order of a shuffled block. Only functions that the first version (52b00f8) has too are called, so that this file can
 * be built with either. */
#include <greedystep/greedystep.h>
#if __has_include(<greedystep/distributed.h>) /* version 1 has one header */
#include <greedystep/distributed.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define NNZ 20u
#define BLOCK 65536u
#define MAX_REPEATS 21
#define HUGE_PAGE ((size_t)2 << 20)
#define AHEAD 8u

typedef struct rows {
    size_t n;
    uint32_t n_features;
    int64_t *start;
    uint32_t *index, *order[2]; /* as they come, and shuffled */
    float *value, *weight;
    double *label;
} rows;

static void *room(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory) {
        fprintf(stderr, "learn: no memory\n");
        exit(1);
    }
    return memory;
}

static uint64_t draw(uint64_t *random)
{
    uint64_t z = *random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Every twentieth of the features has one in each row; labels depend on some. */
static rows make_rows(size_t n, uint32_t n_features)
{
    rows r = {.n = n, .n_features = n_features};
    uint64_t random = 1, width = n_features / NNZ;
    r.start = room(n + 1, sizeof *r.start);
    r.index = room(n * NNZ, sizeof *r.index);
    r.value = room(n * NNZ, sizeof *r.value);
    r.weight = room(n, sizeof *r.weight);
    r.label = room(n, sizeof *r.label);
    for (size_t i = 0; i < n; i++) {
        double margin = 0;
        for (uint64_t e = 0; e < NNZ; e++) {
            uint32_t id = (uint32_t)(e * width + draw(&random) % width);
            r.index[i * NNZ + e] = id;
            r.value[i * NNZ + e] = (float)(1 + draw(&random) % 8) / 4;
            margin += (double)(id * 2654435761u % 1000u) / 1000 - 0.5;
        }
        r.start[i + 1] = (int64_t)((i + 1) * NNZ);
        r.weight[i] = (float)(1 + draw(&random) % 4) / 2;
        r.label[i] = margin + (double)(draw(&random) % 1000) / 250 - 2 > 0;
    }
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        uint32_t *order = r.order[shuffled] = room(n, sizeof *order);
        for (size_t i = 0; i < n; i++)
            order[i] = (uint32_t)i;
        for (size_t from = 0; from < n && shuffled; from += BLOCK)
            for (size_t i = n - from < BLOCK ? n - from : BLOCK; i > 1; i--) {
                size_t j = from + (size_t)(draw(&random) % i), last = from + i - 1;
                uint32_t held = order[last];
                order[last] = order[j];
                order[j] = held;
            }
    }
    return r;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The records of a row are asked for some rows before they are read and written. */
static double touch(const rows *r, const uint32_t *order, volatile uint32_t *records)
{
    double began = seconds();
    for (size_t i = 0; i < r->n; i++) {
        const uint32_t *index = r->index + order[i] * (size_t)NNZ;
        if (i + AHEAD < r->n)
            for (size_t e = 0; e < NNZ; e++)
                __builtin_prefetch((const void *)(records + 4 * (size_t)r->index[order[i + AHEAD] * (size_t)NNZ + e]),
                                   1);
        for (size_t e = 0; e < NNZ; e++)
            for (size_t j = 0; j < 4; j++)
                records[4 * (size_t)index[e] + j] = records[4 * (size_t)index[e] + j];
    }
    return seconds() - began;
}

/* The first pass makes the table and decides the units; the second is measured, on a table that is warm. */
static double learn(const rows *r, const uint32_t *order, int has_values)
{
    gsa_error error = {0};
    gsa_state *state = NULL;
    gsa_batch batch = {.n_rows = r->n, .row_start = r->start, .index = r->index, .label = r->label};
    double began = 0;
    if (has_values) {
        batch.value = r->value;
        batch.weight = r->weight;
    }
    gsa_status status = gsa_state_new(NULL, NULL, &state, &error);
    for (int pass = 0; pass < 2 && status == GSA_OK; pass++) {
        began = seconds();
        for (size_t from = 0; from < r->n && status == GSA_OK; from += BLOCK)
            status =
                gsa_state_update_rows(state, &batch, order + from, r->n - from < BLOCK ? r->n - from : BLOCK, &error);
        if (status == GSA_OK)
            status = gsa_state_end_pass(state, &error);
    }
    double spent = seconds() - began;
    if (status != GSA_OK) {
        fprintf(stderr, "learn: %s\n", error.message);
        exit(1);
    }
    gsa_state_free(state);
    return spent;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    uint32_t n_features = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10000;
    size_t repeats = argc > 3 ? strtoul(argv[3], NULL, 10) : 5;
    static const char *const names[] = {"ones", "values_weights", "shuffled"};
    if (n < BLOCK || n > UINT32_MAX || n_features < NNZ || repeats == 0 || repeats > MAX_REPEATS) {
        fprintf(stderr, "learn [ROWS [FEATURES [REPEATS]]]\n");
        return 2;
    }
    rows r = make_rows(n, n_features);
    size_t size = ((size_t)n_features * 16 / HUGE_PAGE + 1) * HUGE_PAGE;
    uint32_t *records = aligned_alloc(HUGE_PAGE, size);
    if (!records)
        return 1;
    (void)madvise(records, size, MADV_HUGEPAGE);
    memset(records, 0, size);
    for (size_t kind = 0; kind < 3; kind++) {
        double bare[MAX_REPEATS], own[MAX_REPEATS];
        for (size_t i = 0; i < repeats; i++) {
            bare[i] = touch(&r, r.order[kind == 2], records);
            own[i] = learn(&r, r.order[kind == 2], kind == 1);
        }
        qsort(bare, repeats, sizeof *bare, ascending);
        qsort(own, repeats, sizeof *own, ascending);
        printf("%-15s %u features: bare loop %.0f ns a row, learning %.0f, share %.2f\n", names[kind], n_features,
               1e9 * bare[repeats / 2] / (double)n, 1e9 * own[repeats / 2] / (double)n,
               bare[repeats / 2] / own[repeats / 2]);
    }
    free(records);
    free(r.start);
    free(r.index);
    free(r.value);
    free(r.weight);
    free(r.label);
    free(r.order[0]);
    free(r.order[1]);
    return 0;
}
