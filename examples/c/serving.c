/* Serves predictions by a model that is replaced while it is used, as `greedystep train --publish MODEL` does.
 *
 *   cc serving.c -o serving $(pkg-config --cflags --libs greedystep) -pthread
 *   ./serving my.model < ../data/new.csv
 *
 * The first line of the input has the names of the columns, the others one row each, and a prediction is printed as
 * soon as its row has come (../expected/serving.txt). A row takes neither a lock nor memory:
 *
 *   - `current` is the model to use. A worker writes the pointer into its own slot of `in_use`, and looks whether it is
 *     still the current one: if so, it is not freed before the slot is empty again (a hazard pointer).
 *   - The thread that publishes puts the next model in place first, then waits until no slot has the old one, and frees
 * it.
 *   - Each worker has a gsa_row of its own for every model. The model itself is shared, since it is const.
 *
 * A server with threads gives each a number below N_WORKERS. */
#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { N_WORKERS = 8, MAX_COLUMNS = 1000, MAX_LINE = 1 << 16, CHECK_MILLISECONDS = 100 };

typedef struct served {
    gsa_model *model;
    gsa_row *row[N_WORKERS];
    size_t width;   /* numbers of a prediction */
    double *number; /* that many per worker */
} served;

static _Atomic(served *) current, in_use[N_WORKERS];

/* ---- for workers ------------------------------------------------------------------------------------------------ */

static served *begin(size_t worker)
{
    served *seen, *now = atomic_load(&current);
    do {
        seen = now;
        atomic_store(&in_use[worker], seen);
        now = atomic_load(&current);
    } while (now != seen);
    return seen;
}

static void end(size_t worker)
{
    atomic_store(&in_use[worker], NULL);
}

/* Returns the numbers of a prediction, valid until the worker ends; NULL if a cell is refused. */
static const double *predict(const served *by, size_t worker, const gsa_cell *cells, gsa_error *error)
{
    gsa_batch batch;
    double *out = by->number + worker * by->width;
    gsa_status status = gsa_row_set(by->row[worker], cells, &batch, error);
    if (status == GSA_OK)
        status = gsa_model_predict(by->model, &batch, out, error);
    return status == GSA_OK ? out : NULL;
}

/* ---- for the one who publishes ---------------------------------------------------------------------------------- */

static void pause_for(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000}, NULL);
}

static void discard(served *old)
{
    if (old == NULL)
        return;
    for (size_t i = 0; i < N_WORKERS; i++)
        gsa_row_free(old->row[i]);
    gsa_model_free(old->model);
    free(old->number);
    free(old);
}

static gsa_status load(const char *path, const char *const *columns, size_t n_columns, served **out, gsa_error *error)
{
    gsa_model_info info = {.size = sizeof info};
    served *next = calloc(1, sizeof *next);
    gsa_status status = next != NULL ? gsa_model_load(path, NULL, NULL, &next->model, error) : GSA_MEMORY;
    for (size_t i = 0; i < N_WORKERS && status == GSA_OK; i++)
        status = gsa_row_new(gsa_model_schema(next->model), columns, n_columns, NULL, &next->row[i], error);
    if (status == GSA_OK)
        status = gsa_model_get_info(next->model, &info);
    if (status == GSA_OK) {
        next->width = info.n_classes > 0 ? (size_t)info.n_classes : 1;
        next->number = calloc(N_WORKERS * next->width, sizeof *next->number);
        status = next->number != NULL ? GSA_OK : GSA_MEMORY;
    }
    if (status == GSA_OK)
        *out = next;
    else
        discard(next);
    return status;
}

static void publish(served *next)
{
    served *old = atomic_exchange(&current, next);
    for (size_t i = 0; i < N_WORKERS && old != NULL; i++)
        while (atomic_load(&in_use[i]) == old)
            pause_for(1);
    discard(old);
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

typedef struct watched {
    const char *path, *const *columns;
    size_t n_columns;
    struct stat facts; /* of the model in use */
    atomic_int is_over;
} watched;

/* Loads the model whenever its file was replaced. One that cannot be read leaves the model that there is. */
static void *watch(void *ctx)
{
    watched *file = ctx;
    while (!atomic_load(&file->is_over)) {
        struct stat now;
        gsa_error error;
        served *next;
        pause_for(CHECK_MILLISECONDS);
        if (stat(file->path, &now) != 0 || (now.st_ino == file->facts.st_ino && now.st_mtime == file->facts.st_mtime &&
                                            now.st_size == file->facts.st_size))
            continue;
        file->facts = now;
        if (load(file->path, file->columns, file->n_columns, &next, &error) == GSA_OK)
            publish(next);
        else
            fprintf(stderr, "serving: %s\n", error.message);
    }
    return NULL;
}

/* Divides a line at its commas, in place; returns how many cells it has. Quotes are not looked at. */
static size_t split(char *line, char *cell[MAX_COLUMNS])
{
    size_t n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && n < MAX_COLUMNS; n++) {
        cell[n] = at;
        at = strchr(at, ',');
        if (at != NULL)
            *at++ = '\0';
    }
    return n;
}

static int answer(const gsa_cell *cells, gsa_error *error)
{
    served *by = begin(0);
    const double *out = predict(by, 0, cells, error);
    size_t best = 0;
    for (size_t i = 1; i < by->width && out != NULL; i++)
        best = out[i] > out[best] ? i : best;
    const char *label = gsa_model_label(by->model, best);
    if (out != NULL)
        printf("%s%s%.6g\n", label != NULL ? label : "", label != NULL ? " " : "", out[best]);
    end(0);
    return out == NULL;
}

int main(int argc, char **argv)
{
    static char header[MAX_LINE], line[MAX_LINE];
    static char *columns[MAX_COLUMNS], *text[MAX_COLUMNS];
    static gsa_cell cells[MAX_COLUMNS];
    watched file = {.columns = (const char *const *)columns};
    served *first;
    gsa_error error = {0};
    pthread_t watcher;
    int failed = 0;
    if (argc != 2 || fgets(header, sizeof header, stdin) == NULL)
        return fprintf(stderr, "usage: serving MODEL < ROWS, with the names of the columns in the first line\n"), 2;
    file.path = argv[1];
    file.n_columns = split(header, columns);
    if (stat(file.path, &file.facts) != 0 || load(file.path, file.columns, file.n_columns, &first, &error) != GSA_OK)
        return fprintf(stderr, "serving: %s\n", error.message[0] ? error.message : "cannot find the model"), 1;
    publish(first);
    if (pthread_create(&watcher, NULL, watch, &file) != 0)
        return fprintf(stderr, "serving: cannot start a thread\n"), 1;
    while (!failed && fgets(line, sizeof line, stdin) != NULL) {
        if (split(line, text) != file.n_columns) {
            fprintf(stderr, "serving: a row has not as many cells as the first line\n");
            continue;
        }
        for (size_t i = 0; i < file.n_columns; i++)
            cells[i] = (gsa_cell){.text = text[i], .text_size = strlen(text[i])};
        if (answer(cells, &error) != 0)
            fprintf(stderr, "serving: %s\n", error.message); /* and the next row may be fine */
        failed = fflush(stdout) != 0;
    }
    atomic_store(&file.is_over, 1);
    pthread_join(watcher, NULL);
    publish(NULL);
    return failed;
}
