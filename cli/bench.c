/* `greedystep bench`: the verb, and the rounds that all measures share. */
#include "bench.h"

#include "interrupt.h"
#include "message.h"
#include "report.h"
#include "session.h"
#include "style.h"
#include "verbs.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const cli_option bench_options[] = {
    {"rows", 0, OPTION_COUNT, false, "N", "1000000", 1000, 1000000000,
     "rows of every measure; the default takes a minute"},
    {"json", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "print the figures as one JSON object"},
    {"quiet", 0, OPTION_FLAG, false, NULL, NULL, 0, 0, "do not say what is being measured"},
};

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

gsa_status bench_fail_memory(gsa_error *error)
{
    return gsa__fail(error, GSA_MEMORY, "no memory for so many rows; --rows takes fewer");
}

gsa_status bench_fail_file(gsa_error *error, const char *path)
{
    return gsa__fail(error, GSA_IO, "%s: %s", path, strerror(errno));
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

void bench_add_line(bench *all, const bench_line *line)
{
    if (all->n_lines < BENCH_MOST_LINES)
        all->line[all->n_lines++] = *line;
}

gsa_status bench_compare(bench *all, const bench_job *job, const char *what, gsa_error *error)
{
    double ours[BENCH_ROUNDS], limit[BENCH_ROUNDS];
    progress_say(&all->progress, "%s", what);
    for (size_t i = 0; i < BENCH_ROUNDS; i++) {
        gsa_status status = interrupt_should_stop(NULL) ? GSA_STOPPED : GSA_OK;
        if (status == GSA_OK && job->prepare != NULL)
            status = job->prepare(job->ctx, error);
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
                       .limit = job->work / limit_seconds,
                       .share = limit_seconds / our_seconds};
    snprintf(line.what, sizeof line.what, "%s", what);
    bench_add_line(all, &line);
    return GSA_OK;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* "2.14 M rows/s", "917 MB/s". */
static const char *figure_text(double value, const char *unit, char text[32])
{
    const char *scale = "";
    if (unit[0] != 'M' && unit[0] != 'n' && value >= 1e3) { /* of MB and ns no thousands are made */
        scale = value >= 1e9 ? "G " : value >= 1e6 ? "M " : "k ";
        value /= value >= 1e9 ? 1e9 : value >= 1e6 ? 1e6 : 1e3;
    }
    snprintf(text, 32, "%.*f %s%s", value < 10 ? 2 : value < 100 ? 1 : 0, value, scale, unit);
    return text;
}

static int print_table(const bench *all)
{
    char ours[32], limit[32];
    printf("%zu rows of %d ones, %u thread%s at most, medians of %d\n\n", all->n_rows, BENCH_NNZ, all->n_threads,
           all->n_threads > 1 ? "s" : "", BENCH_ROUNDS);
    printf("%-32s %18s %18s %6s  %s\n", "", "speed", "bare limit", "share", "the limit is");
    for (size_t i = 0; i < all->n_lines; i++) {
        const bench_line *line = &all->line[i];
        printf("%-32s %18s %18s %4.0f %%  %s\n", line->what, figure_text(line->ours, line->unit, ours),
               figure_text(line->limit, line->unit, limit), 100 * line->share, line->limit_is);
    }
    return EXIT_DONE;
}

static int print_json(const bench *all)
{
    json_t *object = json_object(), *lines = json_array();
    json_object_set_new(object, "version", report_text(gsa_version()));
    json_object_set_new(object, "rows", report_count(all->n_rows));
    json_object_set_new(object, "nnz", report_count(BENCH_NNZ));
    json_object_set_new(object, "threads", report_count(all->n_threads));
    json_object_set_new(object, "rounds", report_count(BENCH_ROUNDS));
    for (size_t i = 0; i < all->n_lines; i++) {
        const bench_line *line = &all->line[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "what", report_text(line->what));
        json_object_set_new(entry, "unit", report_text(line->unit));
        json_object_set_new(entry, "ours", report_real(line->ours));
        json_object_set_new(entry, "limit", report_real(line->limit));
        json_object_set_new(entry, "limit_is", report_text(line->limit_is));
        json_array_append_new(lines, entry);
    }
    json_object_set_new(object, "measures", lines);
    return report_print_json(object);
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

/* The rows of BENCH_FEATURES features, in memory and in files. */
static gsa_status make_rows(const bench *all, bench_rows *rows, bench_bytes *text, bench_bytes *cache, gsa_error *error)
{
    char path[BENCH_PATH_SIZE];
    gsa_status status = bench_rows_open(rows, all->n_rows, BENCH_FEATURES, BENCH_NNZ, &all->env, error);
    if (status == GSA_OK)
        status = bench_rows_next(rows, error);
    if (status == GSA_OK)
        status = bench_rows_write(rows, bench_path(all, "rows.svm", path), &all->env, error);
    if (status == GSA_OK)
        status = bench_load(path, text, error);
    if (status == GSA_OK)
        status = bench_rows_write(rows, bench_path(all, "rows.gsac", path), &all->env, error);
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
    progress_say(&all->progress, "generating rows");
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

static int run_bench(const cli_arguments *arguments)
{
    bench all = {.env = session_env(arguments), .n_rows = (size_t)arguments_number(arguments, "rows")};
    long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char *place = session_temporary_folder();
    gsa_error error = {0};
    all.env.n_threads = 1;
    all.n_threads = n_processors > 1 ? (unsigned)n_processors : 1;
    snprintf(all.folder, sizeof all.folder, "%.400s/greedystep-bench-XXXXXX", place);
    if (mkdtemp(all.folder) == NULL)
        return complain_failed("cannot make a folder in %s: %s; TMPDIR names another place", place, strerror(errno));
    interrupt_catch();
    progress_begin(&all.progress, style_is_on(stderr), NULL);
    gsa_status status = measure(&all, &error);
    remove_files(&all);
    progress_clear(&all.progress);
    if (status != GSA_OK)
        return complain_error(status, &error);
    return arguments_flag(arguments, "json") ? print_json(&all) : print_table(&all);
}

const cli_verb bench_verb = {
    .name = "bench",
    .usage = "[OPTIONS]",
    .summary = "measure how fast this machine reads, learns and predicts",
    .details =
        "Measures on generated rows, in memory and in a temporary folder ($TMPDIR), and puts beside each figure what a "
        "bare loop over the same data reaches: how much of the machine is used. Both take turns; figures are medians. "
        "Parts on one thread are timed by the processor's clock, whole runs by the clock on the wall.",
    .examples = "# some seconds; the default is ten times as many rows\n"
                "greedystep bench --rows 100000",
    .options = bench_options,
    .n_options = sizeof bench_options / sizeof *bench_options,
    .run = run_bench,
};
