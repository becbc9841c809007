/* limits [ROWS]: how fast this machine does what the library does, each beside a bare limit.
 *
 *   1 Measurements that are compared take turns, round by round; a figure is the median of BENCH_ROUNDS.
 *   2 A limit is a plain loop over the same bytes or ids that does the minimum that any program would have to do.
 *   3 Work on one thread is timed in processor time, which other programs disturb less; work on several threads, and
 *     on files, in wall time. */
#ifndef GREEDYSTEP_BENCH_LIMITS_H
#define GREEDYSTEP_BENCH_LIMITS_H

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <stdbool.h>

enum { BENCH_ROUNDS = 5, BENCH_NNZ = 20, BENCH_FEATURES = 1000000, BENCH_PATH_SIZE = 512, BENCH_FOLDER_SIZE = 448 };

/* One line of the result. */
typedef struct bench_line {
    char what[48];
    const char *unit, *limit_is;
    double ours, limit;
} bench_line;

typedef struct bench {
    gsa_call call; /* of one thread */
    unsigned n_threads;
    size_t n_rows;
    char folder[BENCH_FOLDER_SIZE]; /* of files that go away */
} bench;

/* What is measured: one round of ours, and one of the limit. */
typedef gsa_status (*bench_action)(void *ctx, gsa_error *error);
typedef struct bench_job {
    void *ctx;
    bench_action prepare; /* before a round, not timed; may be NULL */
    bench_action ours, limit;
    double work; /* in a round, in units of which there are so many a second */
    const char *unit, *limit_is;
    bool is_on_the_wall; /* rule 3 */
} bench_job;

/* Runs the rounds and adds a line. */
gsa_status bench_compare(const bench_job *job, const char *what, gsa_error *error);
void bench_print_line(const bench_line *line);
/* Sorts the values. */
double bench_quantile(double *values, size_t n, double share);
gsa_status bench_fail_memory(gsa_error *error);
gsa_status bench_fail_file(gsa_error *error, const char *path);

/* ---- rows (rows.c) ----------------------------------------------------------------------------------------- */

/* Generated rows in memory, all ones. */
typedef struct bench_rows {
    size_t n, nnz;
    gsa_reader *generator; /* of more rows of the same kind, without end */
    int64_t *start;
    uint32_t *index;
    double *label;
} bench_rows;

gsa_status bench_rows_open(bench_rows *rows, size_t n, uint64_t n_features, size_t nnz, const gsa_call *call,
                           gsa_error *error);
/* The next n of them. */
gsa_status bench_rows_next(bench_rows *rows, gsa_error *error);
void bench_rows_close(bench_rows *rows);
gsa_batch bench_rows_view(const bench_rows *rows, size_t from, size_t n);

typedef struct bench_bytes {
    unsigned char *data;
    size_t size;
} bench_bytes;

/* To a file in the format of its name. */
gsa_status bench_rows_write(const bench_rows *rows, const char *path, const gsa_call *call, gsa_error *error);
/* The bytes of a file. Memory that is there already must have its size. */
gsa_status bench_load(const char *path, bench_bytes *out, gsa_error *error);
/* FOLDER/name. */
const char *bench_path(const bench *all, const char *name, char path[BENCH_PATH_SIZE]);

/* ---- limits (bare.c) ------------------------------------------------------------------------------------- */

/* What learning touches for a feature when there is one output. */
typedef struct bench_record {
    uint32_t cell[4];
} bench_record;

/* Zeroed, on large pages where the system has them, like the tables of a state; NULL if there is no memory. */
void *bench_table(size_t n, size_t element_size);

void bench_find_newlines(const bench_bytes *bytes);
void bench_add_up(const bench_bytes *bytes);
void bench_touch_records(bench_record *table, const bench_rows *rows);
/* The sum of the weights of rows [from, from + n), row by row. */
void bench_load_weights(const float *weight, const bench_rows *rows, size_t from, size_t n);

/* ---- what is measured, in order ---------------------------------------------------------------------------------- */

gsa_status bench_reading(bench *all, const bench_bytes *text, const bench_bytes *cache, gsa_error *error);
gsa_status bench_learning(bench *all, uint64_t n_features, const char *what, gsa_error *error);
gsa_status bench_merging(bench *all, const bench_rows *rows, gsa_error *error);
gsa_status bench_predicting(bench *all, const bench_rows *rows, gsa_error *error);
/* From text and from the cache, which are in FOLDER as rows.svm and rows.gsac; their bytes are for the limits. */
gsa_status bench_training(bench *all, const bench_rows *rows, bench_bytes *text, bench_bytes *cache, gsa_error *error);

#endif
