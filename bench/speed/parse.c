/* bench_parse FILE...: how fast libsvm text is read, with the limit beside it.
 *
 * A line a measure: NAME <tab> VALUE <tab> UNIT. `file` reads through gsa_reader_open, `memory` through
 * gsa_reader_open_memory; MB (10^6 bytes) are those of the plain text, whatever the file is compressed with. `memchr`
 * is a bare search for newlines in the bytes of the file as they are. All three take turns, so that a noisy machine is
 * noisy for all; the value is the median of five rounds. */
#include <greedystep/data.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5 };

typedef struct bytes {
    char *data;
    size_t size;
} bytes;

typedef struct counts {
    double rows, bytes; /* bytes: where the last row begins */
} counts;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_parse: %s\n", what);
    exit(1);
}

static bytes load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die(path);
    bytes all = {.size = (size_t)ftell(file)};
    rewind(file);
    all.data = malloc(all.size + 1);
    if (!all.data || fread(all.data, 1, all.size, file) != all.size)
        die(path);
    fclose(file);
    return all;
}

/* Seconds to read all rows; memory NULL: of the file. */
static double read_rows(const char *path, const bytes *memory, counts *out)
{
    gsa_reader *reader = NULL;
    gsa_error error;
    double start = now();
    gsa_status status = memory ? gsa_reader_open_memory(memory->data, memory->size, path, NULL, NULL, &reader, &error)
                               : gsa_reader_open(&path, 1, NULL, NULL, &reader, &error);
    gsa_batch batch;
    *out = (counts){0};
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, &error)) == GSA_OK) {
        out->rows += (double)batch.n_rows;
        out->bytes = (double)batch.place[batch.n_rows - 1].byte;
    }
    if (status != GSA_END)
        die(error.message);
    gsa_reader_close(reader);
    return now() - start;
}

static double find_newlines(const bytes *all)
{
    double start = now();
    const char *p = all->data, *end = p + all->size;
    volatile size_t n = 0;
    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return now() - start;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds)
{
    qsort(seconds, ROUNDS, sizeof *seconds, compare);
    return seconds[ROUNDS / 2];
}

static void measure(const char *path)
{
    bytes all = load(path);
    counts n = {0};
    double file[ROUNDS], memory[ROUNDS], limit[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        file[i] = read_rows(path, NULL, &n);
        memory[i] = read_rows(path, &all, &n);
        limit[i] = find_newlines(&all);
    }
    double from_file = median(file), from_memory = median(memory);
    printf("%s file\t%.0f\tMB/s\n", path, n.bytes / from_file / 1e6);
    printf("%s file\t%.0f\trows/s\n", path, n.rows / from_file);
    printf("%s memory\t%.0f\tMB/s\n", path, n.bytes / from_memory / 1e6);
    printf("%s memory\t%.0f\trows/s\n", path, n.rows / from_memory);
    printf("%s memchr\t%.0f\tMB/s\n", path, (double)all.size / median(limit) / 1e6);
    free(all.data);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        die("give files in libsvm text, plain or compressed");
    for (int i = 1; i < argc; i++)
        measure(argv[i]);
    return 0;
}
