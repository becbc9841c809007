/* Generated rows in memory and in files. */
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void bench_rows_close(bench_rows *rows)
{
    gsa_reader_close(rows->generator);
    free(rows->start);
    free(rows->index);
    free(rows->label);
    *rows = (bench_rows){0};
}

gsa_status bench_rows_open(bench_rows *rows, size_t n, uint64_t n_features, size_t nnz, const gsa_call *call,
                           gsa_error *error)
{
    gsa_generator what = {
        .size = sizeof what, .n_rows = UINT64_MAX, .n_features = n_features, .nnz = nnz, .n_classes = 2};
    *rows = (bench_rows){.n = n, .nnz = nnz};
    gsa_status status = gsa_reader_open_generated(&what, NULL, call, &rows->generator, error);
    if (status == GSA_OK && n < SIZE_MAX / sizeof(uint64_t) / nnz) {
        rows->start = calloc(n + 1, sizeof *rows->start);
        rows->index = calloc(n * nnz, sizeof *rows->index);
        rows->label = calloc(n, sizeof *rows->label);
    }
    if (rows->start == NULL || rows->index == NULL || rows->label == NULL) {
        bench_rows_close(rows);
        return status == GSA_OK ? bench_fail_memory(error) : status;
    }
    for (size_t r = 0; r <= n; r++)
        rows->start[r] = (int64_t)(r * nnz);
    return GSA_OK;
}

gsa_status bench_rows_next(bench_rows *rows, gsa_error *error)
{
    gsa_batch batch;
    for (size_t at = 0, n; at < rows->n; at += n) {
        gsa_status status = gsa_reader_next(rows->generator, &batch, error);
        if (status != GSA_OK)
            return status;
        n = batch.n_rows < rows->n - at ? batch.n_rows : rows->n - at;
        memcpy(rows->index + at * rows->nnz, batch.index, n * rows->nnz * sizeof *rows->index);
        memcpy(rows->label + at, batch.label, n * sizeof *rows->label);
    }
    return GSA_OK;
}

gsa_batch bench_rows_view(const bench_rows *rows, size_t from, size_t n)
{
    return (gsa_batch){.n_rows = n, .row_start = rows->start + from, .index = rows->index, .label = rows->label + from};
}

gsa_status bench_rows_write(const bench_rows *rows, const char *path, const gsa_call *call, gsa_error *error)
{
    gsa_writer *writer = NULL;
    gsa_batch batch = bench_rows_view(rows, 0, rows->n);
    gsa_status status = gsa_writer_open(path, NULL, NULL, call, &writer, error);
    if (status == GSA_OK && (status = gsa_writer_write(writer, &batch, error)) == GSA_OK) {
        status = gsa_writer_close(writer, error);
        writer = NULL;
    }
    gsa_writer_discard(writer);
    return status;
}

static gsa_status load_stream(FILE *stream, const char *path, bench_bytes *out, gsa_error *error)
{
    struct stat facts;
    if (fstat(fileno(stream), &facts) != 0)
        return bench_fail_file(error, path);
    if (out->data == NULL)
        *out = (bench_bytes){malloc((size_t)facts.st_size), (size_t)facts.st_size};
    if (out->data == NULL)
        return bench_fail_memory(error);
    setvbuf(stream, NULL, _IONBF, 0); /* straight to where they are wanted */
    return fread(out->data, 1, out->size, stream) == out->size ? GSA_OK : bench_fail_file(error, path);
}

gsa_status bench_load(const char *path, bench_bytes *out, gsa_error *error)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return bench_fail_file(error, path);
    gsa_status status = load_stream(stream, path, out, error);
    fclose(stream);
    return status;
}

const char *bench_path(const bench *all, const char *name, char path[BENCH_PATH_SIZE])
{
    snprintf(path, BENCH_PATH_SIZE, "%s/%.32s", all->folder, name);
    return path;
}
