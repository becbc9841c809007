/* Trains, merges, saves, loads, predicts and evaluates in one process, again and again, with failures in between, and
 * watches what must not grow: resident memory, open files, threads.
 *
 *   soak [--seconds N] [--leak BYTES]      --leak: what each turn loses on purpose, to see that the soak finds it
 *
 * Run it with a sanitizer whose quarantine is small (ASAN_OPTIONS=quarantine_size_mb=8), else memory that was freed
 * counts as resident. Flat means: the mean of the last third of the turns is at most 3 % and 2 MB above that of the
 * second third; files and threads are as many after every turn as after the first. */
#define _GNU_SOURCE
#include <greedystep/train.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_KINDS = 5, MOST_SAMPLES = 1 << 20 };
static const char *const names[N_KINDS] = {"rows.svm", "rows.svm.gz", "rows.gsac", "rows.csv", "rows.vw.zst"};
#define OTHER "other.svm" /* what the first is merged with */

static _Noreturn void die(const char *what, const gsa_error *error)
{
    fprintf(stderr, "soak: %s: %s\n", what, error ? error->message : "");
    exit(1);
}

static void must(gsa_status status, const char *what, const gsa_error *error)
{
    if (status != GSA_OK)
        die(what, error);
}

/* ---- input ------------------------------------------------------------------------------------------------------ */

static void write_rows(const char *path, uint64_t n_classes, uint64_t seed)
{
    gsa_error error = {0};
    gsa_generator what = {
        .size = sizeof what, .n_rows = 1500, .n_features = 200, .nnz = 8, .n_classes = n_classes, .seed = seed};
    gsa_reader *reader;
    gsa_writer *writer;
    gsa_batch batch;
    must(gsa_reader_open_generated(&what, NULL, NULL, &reader, &error), path, &error);
    must(gsa_writer_open(path, NULL, NULL, NULL, &writer, &error), path, &error);
    while (gsa_reader_next(reader, &batch, &error) == GSA_OK)
        must(gsa_writer_write(writer, &batch, &error), path, &error);
    must(gsa_writer_close(writer, &error), path, &error);
    gsa_reader_close(reader);
}

static void write_table(const char *path)
{
    static const char *const cities[] = {"Bern", "Ulm", "Graz", "\"Sankt \"\"P\"\"\"", ""};
    FILE *f = fopen(path, "w");
    if (!f)
        die(path, NULL);
    fputs("label,age,city\n", f);
    for (unsigned i = 0; i < 1500; i++)
        fprintf(f, "%s,%u,%s\n", i % 3 ? "yes" : "no", (i * 7919) % 90, cities[(i * 31 + i / 3) % 5]);
    fclose(f);
}

static void write_inputs(void)
{
    write_rows(names[0], 2, 1);
    write_rows(names[1], 3, 2);
    write_rows(names[2], 1, 3);
    write_table(names[3]);
    write_rows(names[4], 2, 4);
    write_rows(OTHER, 2, 5);
}

/* ---- a turn ----------------------------------------------------------------------------------------------------- */

static gsa_state *learned(const char *path, uint64_t seed)
{
    gsa_error error = {0};
    gsa_config *config;
    gsa_state *state;
    gsa_reader *reader;
    gsa_call call = {.size = sizeof call, .n_threads = 2};
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    must(gsa_config_new(NULL, &config, &error), "configuration", &error);
    must(gsa_config_set(config, "seed", text, &error), "seed", &error);
    must(gsa_config_set(config, "passes", "2", &error), "passes", &error);
    must(gsa_reader_open(&path, 1, NULL, NULL, &call, &reader, &error), path, &error);
    must(gsa_reader_begin(reader, &error), path, &error);
    must(gsa_state_new(config, NULL, &state, &error), "state", &error);
    if (gsa_reader_schema(reader))
        must(gsa_state_set_schema(state, gsa_reader_schema(reader), &error), "schema", &error);
    must(gsa_train(state, reader, NULL, &call, &error), path, &error);
    gsa_reader_close(reader);
    gsa_config_free(config);
    return state;
}

static gsa_status count_bytes(void *ctx, const gsa_predictions *some, gsa_error *error)
{
    (void)error;
    *(size_t *)ctx += some->text_size;
    return GSA_OK;
}

static void predict(const gsa_model *model, const char *path)
{
    gsa_error error = {0};
    gsa_call call = {.size = sizeof call, .n_threads = 2};
    gsa_reader *reader;
    gsa_metrics *metrics;
    size_t size = 0;
    gsa_predict_hooks hooks = {
        .size = sizeof hooks, .ctx = &size, .text = GSA_TEXT_JSONL, .every_class = 1, .take = count_bytes};
    must(gsa_reader_open(&path, 1, NULL, NULL, &call, &reader, &error), path, &error);
    must(gsa_reader_set_schema(reader, gsa_model_schema(model), &error), path, &error);
    must(gsa_predict(model, reader, &hooks, &call, &error), path, &error);
    must(gsa_reader_rewind(reader, &error), path, &error);
    must(gsa_metrics_new(model, &metrics, &error), "metrics", &error);
    must(gsa_evaluate(metrics, reader, &call, &error), path, &error);
    must(gsa_metrics_finish(metrics, &error), path, &error);
    if (size == 0)
        die("no predictions", NULL);
    gsa_metrics_free(metrics);
    gsa_reader_close(reader);
}

/* There and back through files, merged in between with a state of other rows where there is one. */
static void train_merge_predict(size_t kind, uint64_t turn)
{
    gsa_error error = {0};
    gsa_state *first = learned(names[kind], turn), *merged = NULL, *again = NULL;
    gsa_state *second = kind == 0 ? learned(OTHER, turn) : NULL;
    gsa_model *model, *mapped;
    const gsa_state *both[] = {first, second};
    must(gsa_state_merge(both, second ? 2 : 1, NULL, NULL, &merged, &error), "merge", &error);
    must(gsa_state_save(merged, "soak.state", &error), "save", &error);
    must(gsa_state_load("soak.state", NULL, NULL, &again, &error), "load", &error);
    must(gsa_state_finish(again, NULL, &model, &error), "finish", &error);
    must(gsa_model_save(model, "soak.model", &error), "save", &error);
    must(gsa_model_load("soak.model", NULL, NULL, &mapped, &error), "load", &error);
    predict(mapped, names[kind]);
    gsa_model_free(mapped);
    gsa_model_free(model);
    gsa_state_free(again);
    gsa_state_free(merged);
    gsa_state_free(second);
    gsa_state_free(first);
}

static int stop_soon(void *left)
{
    return --*(int *)left < 0;
}

/* What fails must leave nothing behind either. */
static void failures(void)
{
    static const char bad[] = "1 1:1\n0 2:1\n1 1:oops\n";
    const char *missing = "no such file", *given = names[3];
    gsa_error error;
    gsa_reader *reader;
    gsa_state *state;
    gsa_model *model;
    int left = 3;
    gsa_call stopping = {.size = sizeof stopping, .should_stop = stop_soon, .ctx = &left};
    if (gsa_reader_open(&missing, 1, NULL, NULL, NULL, &reader, &error) == GSA_OK &&
        gsa_reader_begin(reader, &error) == GSA_OK)
        die("a file that is not there was opened", NULL);
    if (gsa_model_load(given, NULL, NULL, &model, &error) == GSA_OK)
        die("a table was loaded as a model", NULL);
    must(gsa_reader_open_memory(bad, sizeof bad - 1, "bad.svm", NULL, NULL, NULL, &reader, &error), "bad.svm", &error);
    must(gsa_state_new(NULL, NULL, &state, &error), "state", &error);
    if (gsa_train(state, reader, NULL, NULL, &error) == GSA_OK)
        die("a bad row was learned", NULL);
    gsa_reader_close(reader);
    gsa_state_free(state);
    must(gsa_reader_open(names, 1, NULL, NULL, &stopping, &reader, &error), names[0], &error);
    must(gsa_state_new(NULL, NULL, &state, &error), "state", &error);
    if (gsa_train(state, reader, NULL, &stopping, &error) == GSA_OK)
        die("it did not stop", NULL);
    gsa_reader_close(reader);
    gsa_state_free(state);
}

/* ---- what must not grow ----------------------------------------------------------------------------------------- */

static double resident_mib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        die("no /proc/self/statm: the soak needs Linux", NULL);
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static size_t entries_of(const char *folder)
{
    size_t n = 0; /* with the two dots */
    DIR *d = opendir(folder);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static double mean(const double *at, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += at[i];
    return sum / (double)(to - from);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t turn_for(double seconds, size_t leak, double *resident)
{
    size_t n = 0, files = 0, threads = 0;
    double start = now(), told = start;
    for (; n < 12 || (now() - start < seconds && n < MOST_SAMPLES); n++) {
        train_merge_predict(n % N_KINDS, n);
        if (n % N_KINDS == 0)
            failures();
        if (leak)
            memset(malloc(leak), 1, leak);
        resident[n] = resident_mib();
        if (n == 0)
            usleep(200000); /* a thread that was joined is in the list a moment longer */
        size_t files_now = entries_of("/proc/self/fd"), threads_now = entries_of("/proc/self/task");
        for (int tries = 0; n > 0 && threads_now != threads && tries < 1000; tries++) {
            usleep(1000);
            threads_now = entries_of("/proc/self/task");
        }
        if (n == 0) {
            files = files_now;
            threads = threads_now;
        }
        if (files_now != files || threads_now != threads) {
            fprintf(stderr, "soak: turn %zu: %zu files and %zu threads, %zu and %zu after the first\n", n, files_now,
                    threads_now, files, threads);
            exit(1);
        }
        if (now() - told >= 60 || n == 0) {
            told = n == 0 ? told : now();
            printf("%6.0f s, turn %zu: %.1f MiB, %zu files, %zu threads\n", now() - start, n, resident[n],
                   files_now - 3, threads_now - 2);
            fflush(stdout);
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    double seconds = 20;
    size_t leak = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0)
            seconds = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--leak") == 0)
            leak = strtoull(argv[i + 1], NULL, 10);
        else
            die("usage: soak [--seconds N] [--leak BYTES]", NULL);
    }
    char folder[] = "/tmp/gsa-soak-XXXXXX";
    double *resident = calloc(MOST_SAMPLES, sizeof *resident);
    if (!resident || !mkdtemp(folder) || chdir(folder) != 0)
        die(folder, NULL);
    memset(resident, 1, MOST_SAMPLES * sizeof *resident); /* so that it does not become resident turn by turn */
    write_inputs();
    size_t n = turn_for(seconds, leak, resident);
    double second = mean(resident, n / 3, 2 * n / 3), last = mean(resident, 2 * n / 3, n);
    printf("%zu turns: %.2f MiB in the second third, %.2f MiB in the last\n", n, second, last);
    for (size_t i = 0; i < N_KINDS; i++)
        unlink(names[i]);
    unlink(OTHER);
    unlink("soak.state");
    unlink("soak.model");
    if (chdir("/") == 0)
        rmdir(folder);
    free(resident);
    return last > second * 1.03 + 2;
}
