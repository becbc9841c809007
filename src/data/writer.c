/* The public face of writers: checks rows, puts their entries in order and hands them to the writer's kind. */
#include "data/writer.h"

#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One row of a batch, dense or sparse. */
typedef struct row_view {
    size_t n;
    const uint32_t *index; /* NULL: dense */
    const float *value;    /* NULL: ones */
} row_view;

static bool ends_with(const char *path, const char *ending)
{
    size_t size = strlen(path), ending_size = strlen(ending);
    return size > ending_size && strcmp(path + size - ending_size, ending) == 0;
}

/* The kind of that name or, if there is no name, by the path's ending. */
static const gsa__writer_kind *choose(const char *path, const char *format)
{
    const gsa__writer_kind *kinds[] = {gsa__writer_cache(), gsa__writer_libsvm()};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (format ? strcmp(format, kinds[i]->name) == 0 : !kinds[i]->ending || ends_with(path, kinds[i]->ending))
            return kinds[i];
    return NULL;
}

gsa_status gsa_writer_open_as(const char *path, const char *format, const gsa_env *env, gsa_writer **out,
                              gsa_error *error)
{
    const gsa__writer_kind *kind = choose(path, format);
    if (!kind)
        return gsa__fail(error, GSA_ARGUMENT, "unknown format %s: expected libsvm or gsac", format);
    gsa_env resolved = gsa__env_resolve(env);
    gsa_writer *writer = gsa__alloc_zeroed(&resolved, 1, kind->size);
    if (!writer)
        return gsa__fail(error, GSA_MEMORY, "no memory for a writer");
    writer->kind = kind;
    writer->env = resolved;
    gsa_status status = gsa__atomic_file_open(path, &writer->env, &writer->file, error);
    if (status == GSA_OK)
        status = kind->open(writer, error);
    if (status != GSA_OK) {
        gsa_writer_discard(writer);
        return status;
    }
    *out = writer;
    return GSA_OK;
}

gsa_status gsa_writer_open(const char *path, const gsa_env *env, gsa_writer **out, gsa_error *error)
{
    return gsa_writer_open_as(path, NULL, env, out, error);
}

static void free_writer(gsa_writer *writer)
{
    gsa_env env = writer->env;
    writer->kind->free(writer);
    gsa__free(&env, writer->row);
    gsa__free(&env, writer);
}

void gsa_writer_discard(gsa_writer *writer)
{
    if (!writer)
        return;
    gsa__atomic_file_discard(writer->file);
    free_writer(writer);
}

static gsa_status fail_again(gsa_error *error)
{
    return gsa__fail(error, GSA_IO, "an earlier write failed: the file is incomplete");
}

gsa_status gsa__writer_put(gsa_writer *writer, const void *bytes, size_t size, gsa_error *error)
{
    gsa_status status = gsa__atomic_file_write(writer->file, bytes, size, error);
    writer->failed = writer->failed || status != GSA_OK;
    return status;
}

gsa_status gsa_writer_close(gsa_writer *writer, gsa_error *error)
{
    gsa_status status = writer->failed ? fail_again(error) : writer->kind->finish(writer, error);
    if (status != GSA_OK) {
        gsa_writer_discard(writer);
        return status;
    }
    status = gsa__atomic_file_commit(writer->file, error);
    free_writer(writer);
    return status;
}

static int compare_index(const void *a, const void *b)
{
    uint32_t x = ((const gsa__pair *)a)->index, y = ((const gsa__pair *)b)->index;
    return (x > y) - (x < y);
}

static row_view view_row(const gsa_batch *batch, size_t r)
{
    if (!batch->row_start)
        return (row_view){batch->width, NULL, batch->value + r * batch->width};
    size_t from = (size_t)batch->row_start[r], to = (size_t)batch->row_start[r + 1];
    return (row_view){to - from, batch->index + from, batch->value ? batch->value + from : NULL};
}

/* Copies the values that are not zero to writer->row, checked and in ascending order. */
static gsa_status collect(gsa_writer *writer, const row_view *row, size_t r, size_t *n, gsa_error *error)
{
    void *memory = writer->row;
    bool has_room = gsa__reserve(&writer->env, &memory, &writer->row_capacity, row->n, sizeof *writer->row);
    writer->row = memory;
    if (!has_room)
        return gsa__fail(error, GSA_MEMORY, "no memory for a row of %zu values", row->n);
    size_t count = 0;
    bool ascends = true;
    for (size_t i = 0; i < row->n; i++) {
        gsa__pair p = {row->index ? row->index[i] : (uint32_t)i, row->value ? row->value[i] : 1.0f};
        if (!isfinite(p.value) || p.index > GSA_MAX_ID)
            return gsa__fail_row(error, GSA_INPUT, r,
                                 "feature %" PRIu32
                                 " has the value %g: expected a finite value and a feature id of at most %u",
                                 p.index, (double)p.value, GSA_MAX_ID);
        ascends = ascends && (count == 0 || p.index > writer->row[count - 1].index);
        writer->row[count] = p;
        count += p.value != 0;
    }
    *n = count;
    if (ascends)
        return GSA_OK;
    qsort(writer->row, count, sizeof *writer->row, compare_index);
    for (size_t i = 1; i < count; i++)
        if (writer->row[i].index == writer->row[i - 1].index)
            return gsa__fail_row(error, GSA_INPUT, r, "feature %" PRIu32 " stands twice in the row",
                                 writer->row[i].index);
    return GSA_OK;
}

static gsa_status write_row(gsa_writer *writer, const gsa_batch *batch, size_t r, gsa_error *error)
{
    row_view row = view_row(batch, r);
    size_t n = 0;
    gsa_status status = collect(writer, &row, r, &n, error);
    if (status != GSA_OK)
        return status;
    if (!(batch->word && batch->word[r] >= 0) && !isfinite(batch->label[r]))
        return gsa__fail_row(error, GSA_INPUT, r, "the label is %g: labels must be finite", batch->label[r]);
    return writer->kind->write(writer, batch, r, n, error);
}

gsa_status gsa_writer_write(gsa_writer *writer, const gsa_batch *batch, gsa_error *error)
{
    if (writer->failed)
        return fail_again(error);
    if (!batch->label)
        return gsa__fail(error, GSA_ARGUMENT, "a file needs a label in every row: the batch has none");
    for (size_t r = 0; r < batch->n_rows; r++) {
        gsa_status status = write_row(writer, batch, r, error);
        if (status != GSA_OK)
            return status;
    }
    return GSA_OK;
}
