/* Nodes of Arrow schemas and arrays on the heap, as a producer makes them; buffers are borrowed. Fuzz targets use it
 * too.
 *
 * What a stream hands out counts in the arrow_count that its private_data points to; what is inside of it is released
 * with it and counts nowhere. */
#ifndef GSA_TESTS_DATA_ARROW_NODES_H
#define GSA_TESTS_DATA_ARROW_NODES_H

#include <greedystep/arrow.h>

#include <stdint.h>
#include <stdlib.h>

typedef struct arrow_count {
    int n_schemas, n_arrays; /* released */
    int n_open;              /* not released */
} arrow_count;

static inline void arrow_free_schema(struct ArrowSchema *schema)
{
    if (schema)
        schema->release(schema);
    free(schema);
}

static inline void arrow_release_node(struct ArrowSchema *schema)
{
    arrow_count *count = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        arrow_free_schema(schema->children[i]);
    arrow_free_schema(schema->dictionary);
    free(schema->children);
    if (count) {
        count->n_schemas++;
        count->n_open--;
    }
    schema->release = NULL;
}

/* Its children are to be filled in. */
static inline struct ArrowSchema arrow_schema_of(const char *format, const char *name, int64_t n_children)
{
    struct ArrowSchema **children = calloc((size_t)n_children + 1, sizeof *children);
    return (struct ArrowSchema){.format = format,
                                .name = name,
                                .flags = ARROW_FLAG_NULLABLE,
                                .n_children = n_children,
                                .children = children,
                                .release = arrow_release_node};
}

static inline struct ArrowSchema *arrow_new_schema(struct ArrowSchema node)
{
    struct ArrowSchema *out = malloc(sizeof *out);
    *out = node;
    return out;
}

static inline void arrow_free_array(struct ArrowArray *array)
{
    if (array)
        array->release(array);
    free(array);
}

static inline void arrow_release_values(struct ArrowArray *array)
{
    arrow_count *count = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        arrow_free_array(array->children[i]);
    arrow_free_array(array->dictionary);
    free(array->children);
    if (count) {
        count->n_arrays++;
        count->n_open--;
    }
    array->release = NULL;
}

/* Its children are to be filled in; how many nulls there are is not said. */
static inline struct ArrowArray arrow_array_of(int64_t length, int64_t offset, int64_t n_buffers,
                                               const void *const *buffers, int64_t n_children)
{
    struct ArrowArray **children = calloc((size_t)n_children + 1, sizeof *children);
    return (struct ArrowArray){.length = length,
                               .offset = offset,
                               .null_count = -1,
                               .n_buffers = n_buffers,
                               .n_children = n_children,
                               .buffers = (const void **)(uintptr_t)buffers,
                               .children = children,
                               .release = arrow_release_values};
}

static inline struct ArrowArray *arrow_new_array(struct ArrowArray node)
{
    struct ArrowArray *out = malloc(sizeof *out);
    *out = node;
    return out;
}

#endif
