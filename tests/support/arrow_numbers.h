/* A table of numbers as an Arrow C stream, in batches; what is NaN is null. */
#ifndef TESTS_SUPPORT_ARROW_NUMBERS_H
#define TESTS_SUPPORT_ARROW_NUMBERS_H

#include <greedystep/arrow.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct arrow_numbers {
    const char *const *name;
    const double *const *column; /* a column of n_rows doubles each */
    int64_t n_columns, n_rows, rows_a_batch;
    int64_t at; /* rows that were handed out */
} arrow_numbers;

static inline void arrow_release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    schema->release = NULL;
}

static inline int arrow_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const arrow_numbers *table = stream->private_data;
    *out = (struct ArrowSchema){.format = "+s", .n_children = table->n_columns, .release = arrow_release_schema};
    out->children = calloc((size_t)table->n_columns, sizeof *out->children);
    for (int64_t i = 0; i < table->n_columns; i++) {
        out->children[i] = malloc(sizeof **out->children);
        *out->children[i] = (struct ArrowSchema){
            .format = "g", .name = table->name[i], .flags = ARROW_FLAG_NULLABLE, .release = arrow_release_schema};
    }
    return 0;
}

static inline void arrow_release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free(array->private_data); /* the bitmap of a column */
    free(array->buffers);
    array->release = NULL;
}

static inline struct ArrowArray *arrow_make_column(const double *value, int64_t n)
{
    struct ArrowArray *out = malloc(sizeof *out);
    unsigned char *valid = calloc((size_t)n / 8 + 1, 1);
    for (int64_t i = 0; i < n; i++)
        valid[i / 8] |= (unsigned char)(!isnan(value[i]) << i % 8);
    *out = (struct ArrowArray){.length = n,
                               .null_count = -1,
                               .n_buffers = 2,
                               .buffers = calloc(2, sizeof *out->buffers),
                               .release = arrow_release_array,
                               .private_data = valid};
    out->buffers[0] = valid;
    out->buffers[1] = value;
    return out;
}

static inline int arrow_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    arrow_numbers *table = stream->private_data;
    int64_t left = table->n_rows - table->at, n = left < table->rows_a_batch ? left : table->rows_a_batch;
    *out = (struct ArrowArray){0};
    if (n == 0)
        return 0;
    *out = (struct ArrowArray){.length = n,
                               .n_buffers = 1,
                               .buffers = calloc(1, sizeof *out->buffers),
                               .n_children = table->n_columns,
                               .children = calloc((size_t)table->n_columns, sizeof *out->children),
                               .release = arrow_release_array};
    for (int64_t i = 0; i < table->n_columns; i++)
        out->children[i] = arrow_make_column(table->column[i] + table->at, n);
    table->at += n;
    return 0;
}

static inline const char *arrow_get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static inline void arrow_release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static inline struct ArrowArrayStream arrow_stream(arrow_numbers *table)
{
    table->at = 0;
    return (struct ArrowArrayStream){arrow_get_schema, arrow_get_next, arrow_get_last_error, arrow_release_stream,
                                     table};
}

#endif
