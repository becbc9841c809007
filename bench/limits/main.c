/* limits [ROWS]: measures on generated rows, 10^6 of them, in memory and in a temporary folder ($TMPDIR), each beside
 * what a bare loop over the same data reaches. Prints a line per figure, separated by tabs: what, ours, the limit, the
 * unit, what the limit is. */
#define _DEFAULT_SOURCE /* NOLINT: the name that the C library looks for; mkdtemp */
#include "limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

gsa_status bench_fail_memory(gsa_error *error)
{
    snprintf(error->message, sizeof error->message, "no memory for so many rows; take fewer");
    return GSA_MEMORY;
}

gsa_status bench_fail_file(gsa_error *error, const char *path)
{
    snprintf(error->message, sizeof error->message, "%.200s: %s", path, strerror(errno));
    return GSA_IO;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t n, double share)
{
    qsort(values, n, sizeof *values, compare_numbers);
    return values[(size_t)((double)n * share)];
}

static gsa_status time_action(bench_action action, const bench_job *job, double *seconds, gsa_error *error)
{
    clockid_t clock = job->is_on_the_wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    struct timespec begun, ended;
    clock_gettime(clock, &begun);
    gsa_status status = action(job->ctx, error);
    clock_gettime(clock, &ended);
    *seconds = (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
    return status;
}

void bench_print_line(const bench_line *line)
{
    printf("%s\t%.6g\t%.6g\t%s\t%s\n", line->what, line->ours, line->limit, line->unit, line->limit_is);
    fflush(stdout);
}

gsa_status bench_compare(const bench_job *job, const char *what, gsa_error *error)
{
    double ours[BENCH_ROUNDS], limit[BENCH_ROUNDS];
    for (size_t i = 0; i < BENCH_ROUNDS; i++) {
        gsa_status status = job->prepare != NULL ? job->prepare(job->ctx, error) : GSA_OK;
        if (status == GSA_OK)
            status = time_action(job->ours, job, &ours[i], error);
        if (status == GSA_OK)
            status = time_action(job->limit, job, &limit[i], error);
        if (status != GSA_OK)
            return status;
    }
    double our_seconds = bench_quantile(ours, BENCH_ROUNDS, 0.5);
    double limit_seconds = bench_quantile(limit, BENCH_ROUNDS, 0.5);
    bench_line line = {.unit = job->unit,
                       .limit_is = job->limit_is,
                       .ours = job->work / our_seconds,
                       .limit = job->work / limit_seconds};
    snprintf(line.what, sizeof line.what, "%s", what);
    bench_print_line(&line);
    return GSA_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* The rows of BENCH_FEATURES features, in memory and in files. */
static gsa_status make_rows(const bench *all, bench_rows *rows, bench_bytes *text, bench_bytes *cache, gsa_error *error)
{
    char path[BENCH_PATH_SIZE];
    gsa_status status = bench_rows_open(rows, all->n_rows, BENCH_FEATURES, BENCH_NNZ, &all->call, error);
    if (status == GSA_OK)
        status = bench_rows_next(rows, error);
    if (status == GSA_OK)
        status = bench_rows_write(rows, bench_path(all, "rows.svm", path), &all->call, error);
    if (status == GSA_OK)
        status = bench_load(path, text, error);
    if (status == GSA_OK)
        status = bench_rows_write(rows, bench_path(all, "rows.gsac", path), &all->call, error);
    return status == GSA_OK ? bench_load(path, cache, error) : status;
}

static gsa_status measure_learning(bench *all, gsa_error *error)
{
    static const struct {
        uint64_t n_features;
        const char *what;
    } tables[] = {
        {10000, "learn, 10^4 features"}, {1000000, "learn, 10^6 features"}, {10000000, "learn, 10^7 features"}};
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == GSA_OK; i++)
        status = bench_learning(all, tables[i].n_features, tables[i].what, error);
    return status;
}

static gsa_status measure(bench *all, gsa_error *error)
{
    bench_rows rows = {0};
    bench_bytes text = {0}, cache = {0};
    gsa_status status = make_rows(all, &rows, &text, &cache, error);
    if (status == GSA_OK)
        status = bench_reading(all, &text, &cache, error);
    if (status == GSA_OK)
        status = measure_learning(all, error);
    if (status == GSA_OK)
        status = bench_merging(all, &rows, error);
    if (status == GSA_OK)
        status = bench_predicting(all, &rows, error);
    if (status == GSA_OK)
        status = bench_training(all, &rows, &text, &cache, error);
    bench_rows_close(&rows);
    free(text.data);
    free(cache.data);
    return status;
}

static void remove_files(const bench *all)
{
    char path[BENCH_PATH_SIZE];
    unlink(bench_path(all, "rows.svm", path));
    unlink(bench_path(all, "rows.gsac", path));
    rmdir(all->folder);
}

int main(int argc, char **argv)
{
    bench all = {.call = {.size = sizeof(gsa_call), .n_threads = 1},
                 .n_rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000};
    long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char *place = getenv("TMPDIR");
    gsa_error error = {0};
    if (argc > 2 || all.n_rows < 1000) {
        fprintf(stderr, "limits [ROWS], of which there are at least 1000\n");
        return 2;
    }
    all.n_threads = n_processors > 1 ? (unsigned)n_processors : 1;
    snprintf(all.folder, sizeof all.folder, "%.400s/greedystep-limits-XXXXXX", place ? place : "/tmp");
    if (mkdtemp(all.folder) == NULL) {
        perror(all.folder);
        return 1;
    }
    gsa_status status = measure(&all, &error);
    remove_files(&all);
    if (status != GSA_OK)
        fprintf(stderr, "limits: %s\n", error.message);
    return status == GSA_OK ? 0 : 1;
}
