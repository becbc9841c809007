/* learn ROWS FEATURES NONZEROS [REPEATS]: rows a second that gsa_state_update_rows learns from memory, beside its bare
 * limit: the same loads and stores for the same ids on records of the same size, no arithmetic.
 *
 * Prints a line a measure: name, median, unit. Both in one run, in turn, since machines are noisy. */
#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define AHEAD 8u
#define MOST_REPEATS 101

typedef struct record {
    uint32_t cell[4];
} record;

typedef struct rows {
    size_t n, nnz;
    int64_t *start;
    uint32_t *index;
    double *label;
    uint32_t *order;
} rows;

static void die(const char *what)
{
    fprintf(stderr, "learn: %s\n", what);
    exit(1);
}

static void *need(void *memory)
{
    if (!memory)
        die("no memory");
    return memory;
}

/* Of the processor: others may be at work on this machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void generate(rows *all, uint64_t n_features, uint64_t seed)
{
    gsa_generator what = {all->n, n_features, all->nnz, 2, seed};
    gsa_reader *reader;
    gsa_batch batch;
    if (gsa_reader_open_generated(&what, NULL, &reader, NULL) != GSA_OK)
        die("cannot generate");
    all->start = need(calloc(all->n + 1, sizeof *all->start));
    all->label = need(calloc(all->n, sizeof *all->label));
    all->index = need(calloc(all->n * all->nnz, sizeof *all->index));
    all->order = need(calloc(all->n, sizeof *all->order));
    size_t row = 0;
    while (gsa_reader_next(reader, &batch, NULL) == GSA_OK)
        for (size_t i = 0; i < batch.n_rows; i++, row++) {
            memcpy(all->index + row * all->nnz, batch.index + batch.row_start[i], all->nnz * sizeof *all->index);
            all->label[row] = batch.label[i];
            all->start[row + 1] = (int64_t)((row + 1) * all->nnz);
            all->order[row] = (uint32_t)row;
        }
    gsa_reader_close(reader);
}

static double learn(gsa_state *state, const rows *all)
{
    gsa_batch batch = {.n_rows = all->n, .row_start = all->start, .index = all->index, .label = all->label};
    double begun = now();
    if (gsa_state_update_rows(state, &batch, all->order, all->n, NULL) != GSA_OK)
        die("cannot learn");
    return (double)all->n / (now() - begun);
}

static double touch(record *table, const rows *all)
{
    double begun = now();
    for (size_t row = 0; row < all->n; row++) {
        const uint32_t *id = all->index + row * all->nnz;
        if (row + AHEAD < all->n)
            for (size_t i = 0; i < all->nnz; i++)
                __builtin_prefetch(&table[id[AHEAD * all->nnz + i] + 1], 1);
        for (size_t i = 0; i < all->nnz; i++) {
            volatile record *at = &table[id[i] + 1];
            for (int j = 0; j < 4; j++)
                at->cell[j] = at->cell[j];
        }
    }
    return (double)all->n / (now() - begun);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *value, size_t n)
{
    qsort(value, n, sizeof *value, compare);
    printf("%s\t%.4g\trows/s\n", name, value[n / 2]);
}

int main(int argc, char **argv)
{
    double learned[MOST_REPEATS], touched[MOST_REPEATS];
    if (argc < 4)
        die("usage: learn ROWS FEATURES NONZEROS [REPEATS]");
    rows all = {.n = strtoul(argv[1], NULL, 10), .nnz = strtoul(argv[3], NULL, 10)};
    uint64_t n_features = strtoull(argv[2], NULL, 10);
    size_t repeats = argc > 4 ? strtoul(argv[4], NULL, 10) : 5;
    if (repeats < 1 || repeats > MOST_REPEATS)
        die("1 to 101 repeats");
    rows *part = need(calloc(repeats + 1, sizeof *part));
    for (size_t i = 0; i <= repeats; i++) {
        part[i] = all;
        generate(&part[i], n_features, i);
    }
    size_t size = ((n_features + 1) * sizeof(record) + 0x1fffff) & ~(size_t)0x1fffff;
    record *table = need(aligned_alloc(0x200000, size));
#ifdef MADV_HUGEPAGE
    (void)madvise(table, size, MADV_HUGEPAGE);
#endif
    memset(table, 0, size);
    gsa_state *state;
    if (gsa_state_new(NULL, NULL, &state, NULL) != GSA_OK)
        die("no state");
    (void)learn(state, &part[repeats]);
    for (size_t i = 0; i < repeats; i++) {
        learned[i] = learn(state, &part[i]);
        touched[i] = touch(table, &part[i]);
    }
    report("learn", learned, repeats);
    report("touch", touched, repeats);
    gsa_state_free(state);
    free(table);
    return 0;
}
