/* How fast rows come from a cache (.gsac) in the page cache, beside the text they were made of and beside the bare
 * limit: adding up as many bytes of the mapped file. One thread, seconds of its processor (user and system, so that
 * others on the machine disturb less), medians of 5; name<TAB>value<TAB>unit.
 *
 *   cc -O2 -Iinclude bench/speed/cache.c -o cache BUILD/src/libgreedystep.so -Wl,-rpath,BUILD/src
 *   ./cache DIRECTORY [ROWS]     writes rows.svm and rows.gsac there: 20 ids a row of 10^7 features, all ones */
#define _POSIX_C_SOURCE 200809L
#include <greedystep/data.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { N_RUNS = 5 };

static void check(gsa_status status, const gsa_error *error)
{
    if (status == GSA_OK || status == GSA_END)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds)
{
    qsort(seconds, N_RUNS, sizeof *seconds, compare_doubles);
    return seconds[N_RUNS / 2];
}

/* Reads all rows of a reader, which it closes; to a file unless path is NULL. */
static double copy(gsa_reader *reader, const char *path)
{
    gsa_error error;
    gsa_writer *writer = NULL;
    gsa_batch batch;
    double began = now();
    if (path)
        check(gsa_writer_open(path, NULL, &writer, &error), &error);
    gsa_status status;
    while ((status = gsa_reader_next(reader, &batch, &error)) == GSA_OK)
        if (path)
            check(gsa_writer_write(writer, &batch, &error), &error);
    check(status, &error);
    if (path)
        check(gsa_writer_close(writer, &error), &error);
    gsa_reader_close(reader);
    return now() - began;
}

static gsa_reader *open_reader(const char *path)
{
    gsa_error error;
    gsa_reader *reader = NULL;
    check(gsa_reader_open(&path, 1, NULL, NULL, &reader, &error), &error);
    return reader;
}

static double time_reading(const char *path, const char *copy_to)
{
    double seconds[N_RUNS];
    for (int i = 0; i < N_RUNS; i++)
        seconds[i] = copy(open_reader(path), copy_to);
    return median(seconds);
}

/* The sum is printed, so that it has to be computed. */
static double time_sum(const char *path, size_t *size)
{
    double seconds[N_RUNS];
    uint64_t sum = 0;
    struct stat facts;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &facts) != 0)
        exit(1);
    *size = (size_t)facts.st_size;
    for (int i = 0; i < N_RUNS; i++) {
        double began = now();
        const uint64_t *word = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (word == MAP_FAILED)
            exit(1);
        for (size_t k = 0; k < *size / sizeof *word; k++)
            sum += word[k];
        munmap((void *)(uintptr_t)word, *size);
        seconds[i] = now() - began;
    }
    close(fd);
    fprintf(stderr, "sum of %s: %llx\n", path, (unsigned long long)sum);
    return median(seconds);
}

static void print_speed(const char *name, double seconds, double n_rows, double n_bytes)
{
    printf("%s\t%.3g\trows/s\n", name, n_rows / seconds);
    printf("%s_bytes\t%.3g\tMB/s\n", name, n_bytes / seconds * 1e-6);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return fprintf(stderr, "usage: cache DIRECTORY [ROWS]\n"), 2;
    gsa_generator what = {
        .n_rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000000, .n_features = 10000000, .nnz = 20, .n_classes = 2};
    char text[4096], cache[4096];
    snprintf(text, sizeof text, "%s/rows.svm", argv[1]);
    snprintf(cache, sizeof cache, "%s/rows.gsac", argv[1]);
    gsa_error error;
    gsa_reader *reader = NULL;
    if (access(text, R_OK) != 0) {
        check(gsa_reader_open_generated(&what, NULL, &reader, &error), &error);
        (void)copy(reader, text);
    }
    double n_rows = (double)what.n_rows;
    size_t text_size, cache_size;
    double text_sum = time_sum(text, &text_size), convert = time_reading(text, cache);
    double cache_sum = time_sum(cache, &cache_size);
    printf("text_size\t%zu\tB\ncache_size\t%zu\tB\n", text_size, cache_size);
    print_speed("read_cache", time_reading(cache, NULL), n_rows, (double)cache_size);
    print_speed("limit_cache", cache_sum, n_rows, (double)cache_size);
    print_speed("read_text", time_reading(text, NULL), n_rows, (double)text_size);
    print_speed("limit_text", text_sum, n_rows, (double)text_size);
    print_speed("convert", convert, n_rows, (double)text_size);
    return 0;
}
