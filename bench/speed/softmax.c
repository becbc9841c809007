/* softmax [CLASSES [FEATURES [REPEATS]]]: dense rows per second that the library learns with so many outputs (default
 * method, no row held out), beside the BLAS limit: for each row the margins by sgemv and an update by sger, on a matrix
 * of the same shape, no probabilities, no average.
 *
 * Prints a line per measure: name, median, unit. Both run in turn, since machines are noisy. OpenBLAS is loaded at run
 * time ($OPENBLAS_LIBRARY, or libopenblas.so.0) and given the kind of the processor, since old releases do not know new
 * ones. Without OpenBLAS the program says so and prints the library's own figure only. */
#include <greedystep/greedystep.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_REPEATS 101
#define WARM_ROWS 16384 /* until the method has decided on units, and groups are whole */
#define ROWS 4096

typedef void sgemv(int order, int trans, int m, int n, float alpha, const float *a, int lda, const float *x, int incx,
                   float beta, float *y, int incy);
typedef void sger(int order, int m, int n, float alpha, const float *x, int incx, const float *y, int incy, float *a,
                  int lda);
enum { ROW_MAJOR = 101, TRANSPOSED = 112 };

typedef struct blas {
    sgemv *gemv;
    sger *ger;
    const char *core;
} blas;

typedef struct task {
    size_t n_classes, n_features;
    float *value; /* [ROWS x features] */
    double *label;
    float *weight, *margin; /* of the limit: [features x classes], [classes] */
} task;

static void die(const char *what)
{
    fprintf(stderr, "softmax: %s\n", what);
    exit(1);
}

static void *need(void *memory)
{
    if (!memory)
        die("no memory");
    return memory;
}

/* From the start of a page: BLAS is a fifth slower where vectors straddle the lines of the cache. */
static float *aligned_zeros(size_t n)
{
    const size_t page = 4096, size = (n * sizeof(float) + page - 1) / page * page;
    return memset(need(aligned_alloc(page, size)), 0, size);
}

/* Of the processor: others may be at work on this machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In [-1, 1). */
static float draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*seed >> 32) * 0x1p-31f;
}

/* A row is the centre of its class with noise. */
static void fill(task *all)
{
    uint64_t seed = 1;
    float *centre = need(calloc(all->n_classes * all->n_features, sizeof *centre));
    for (size_t i = 0; i < all->n_classes * all->n_features; i++)
        centre[i] = draw(&seed);
    for (size_t row = 0; row < ROWS; row++) {
        size_t k = row % all->n_classes;
        all->label[row] = (double)k;
        for (size_t i = 0; i < all->n_features; i++)
            all->value[row * all->n_features + i] = centre[k * all->n_features + i] + 2 * draw(&seed);
    }
    free(centre);
}

static double learn(gsa_state *state, const task *all, size_t n_rows)
{
    gsa_batch batch = {.n_rows = n_rows, .width = all->n_features, .value = all->value, .label = all->label};
    gsa_error error = {0};
    double begun = now();
    if (gsa_state_update(state, &batch, &error) != GSA_OK)
        die(error.message);
    return (double)n_rows / (now() - begun);
}

static double limit(const blas *by, const task *all)
{
    int m = (int)all->n_features, n = (int)all->n_classes;
    double begun = now();
    for (size_t row = 0; row < ROWS; row++) {
        const float *x = all->value + row * all->n_features;
        by->gemv(ROW_MAJOR, TRANSPOSED, m, n, 1, all->weight, n, x, 1, 0, all->margin, 1);
        by->ger(ROW_MAJOR, m, n, -1e-6f, x, 1, all->margin, 1, all->weight, n);
    }
    return ROWS / (now() - begun);
}

/* POSIX gives functions as void pointers. */
static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

static blas find_blas(void)
{
    blas out = {0};
    char *(*core)(void) = NULL;
    const char *path = getenv("OPENBLAS_LIBRARY");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512bw") ? "SkylakeX" : "Haswell", 0);
#endif
    void *library = dlopen(path ? path : "libopenblas.so.0", RTLD_NOW);
    if (!library)
        return out;
    find(library, "cblas_sgemv", &out.gemv);
    find(library, "cblas_sger", &out.ger);
    find(library, "openblas_get_corename", &core);
    out.core = core ? core() : "unknown";
    return out;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *value, size_t n, const char *unit)
{
    qsort(value, n, sizeof *value, compare);
    printf("%s\t%.4g\t%s\n", name, value[n / 2], unit);
}

static gsa_state *new_state(void)
{
    gsa_config *config = NULL;
    gsa_state *state = NULL;
    if (gsa_config_new(NULL, &config, NULL) != GSA_OK || gsa_config_set(config, "holdout", "none", NULL) != GSA_OK ||
        gsa_state_new(config, NULL, &state, NULL) != GSA_OK)
        die("no state");
    gsa_config_free(config);
    return state;
}

int main(int argc, char **argv)
{
    double learned[MOST_REPEATS], limited[MOST_REPEATS], ratio[MOST_REPEATS];
    task all = {argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, argc > 2 ? strtoul(argv[2], NULL, 10) : 128, 0, 0, 0, 0};
    size_t repeats = argc > 3 ? strtoul(argv[3], NULL, 10) : 5;
    if (all.n_classes < 3 || all.n_classes > 1000 || all.n_features < 1 || repeats < 1 || repeats > MOST_REPEATS)
        die("usage: softmax [CLASSES [FEATURES [REPEATS]]], 3 to 1000 classes, 1 to 101 repeats");
    all.value = need(calloc(ROWS * all.n_features, sizeof *all.value));
    all.label = need(calloc(ROWS, sizeof *all.label));
    all.weight = aligned_zeros(all.n_features * all.n_classes);
    all.margin = aligned_zeros(all.n_classes);
    fill(&all);
    blas by = find_blas();
    bool has_blas = by.gemv && by.ger;
    gsa_state *state = new_state();
    for (size_t i = 0; i < WARM_ROWS; i += ROWS)
        (void)learn(state, &all, ROWS);
    for (size_t i = 0; i < repeats; i++) {
        learned[i] = learn(state, &all, ROWS);
        limited[i] = has_blas ? limit(&by, &all) : 0;
        ratio[i] = has_blas ? learned[i] / limited[i] : 0;
    }
    report("softmax", learned, repeats, "rows/s");
    if (has_blas) {
        report("blas_limit", limited, repeats, "rows/s");
        report("share", ratio, repeats, "of the limit");
        fprintf(stderr, "softmax: OpenBLAS with the kernels of %s\n", by.core);
    } else {
        fprintf(stderr, "softmax: no OpenBLAS found, its limit is left out (set OPENBLAS_LIBRARY to its file)\n");
    }
    gsa_state_free(state);
    free(all.value);
    free(all.label);
    free(all.weight);
    free(all.margin);
    return 0;
}
