/* The memory of the table, and of arrays. */
#include "learn/table.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static gsa_status too_large(size_t n_slots, size_t n_outputs, uint64_t size, const gsai_env *env, gsa_error *error)
{
    char need[GSAI_SIZE_TEXT], limit[GSAI_SIZE_TEXT];
    if (n_outputs > 2)
        return gsai_fail_param(error, "loss", GSA_LIMIT,
                               "the label has %zu classes, which need a table of %s for %zu features, above "
                               "the memory limit of %s; choose squared loss if the label is a number, hash "
                               "words to fewer bits, or raise the limit",
                               n_outputs, gsai_size_text(size, need), n_slots - 1,
                               gsai_size_text(gsai_memory_limit(env), limit));
    return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                           "feature %zu" GSAI_NEEDS_TABLE "%s for %zu output%s, above the memory limit of %s",
                           n_slots - 1, gsai_size_text(size, need), n_outputs, n_outputs == 1 ? "" : "s",
                           gsai_size_text(gsai_memory_limit(env), limit));
}

static size_t record_size(size_t room)
{
    return (2 * room + 2) * sizeof(gsai_cell);
}

/* Takes memory for the slots with records of that room, and for up to `spare` more: as many as a quarter of what the
 * limit leaves is enough for, so that spare slots are never what lacks elsewhere. */
static gsa_status allocate(size_t n_slots, size_t spare, size_t n_outputs, size_t room, const gsai_env *env,
                           gsai_cell **cells, size_t *capacity, gsa_error *error)
{
    size_t size;
    if (!gsai_multiply(n_slots, record_size(room), &size) || size > gsai_memory_limit(env))
        return too_large(n_slots, n_outputs, (uint64_t)n_slots * record_size(room), env, error);
    uint64_t left = gsai_memory_left(env), affordable = left > size ? (left - size) / 4 / record_size(room) : 0;
    *capacity = n_slots + (spare < affordable ? spare : (size_t)affordable);
    *cells = gsai_alloc_zeroed(env, *capacity, record_size(room));
    if (!*cells) {
        char need[GSAI_SIZE_TEXT];
        return gsai_fail_memory(env, error, "no memory for a table of %s (%zu features, %zu output%s)",
                                gsai_size_text((uint64_t)*capacity * record_size(room), need), n_slots - 1, n_outputs,
                                n_outputs == 1 ? "" : "s");
    }
    gsai_prefer_huge_pages(*cells, *capacity * record_size(room));
    return GSA_OK;
}

gsa_status gsai_array_grow(void *array, size_t n, size_t element, const gsai_env *env, gsa_error *error)
{
    struct {
        void *at;
        size_t n, capacity;
    } grown;
    memcpy(&grown, array, sizeof grown);
    if (n <= grown.n)
        return GSA_OK;
    GSAI_TRY_MEMORY(gsai_reserve(env, &grown.at, &grown.capacity, n, element), env, error,
                    "no memory for %zu numbers of a state", n);
    memset((char *)grown.at + grown.n * element, 0, (n - grown.n) * element);
    grown.n = n;
    memcpy(array, &grown, sizeof grown);
    return GSA_OK;
}

gsa_status gsai_table_init(gsai_table *table, size_t n_slots, size_t n_outputs, const gsai_env *env, gsa_error *error)
{
    memset(table, 0, sizeof *table);
    size_t room = gsai_table_padded(n_outputs);
    GSA_TRY(allocate(n_slots, 0, n_outputs, room, env, &table->cells, &table->capacity, error));
    table->n_slots = n_slots;
    table->n_outputs = n_outputs;
    table->room = room;
    return GSA_OK;
}

void gsai_table_release(gsai_table *table, const gsai_env *env)
{
    gsai_free(env, table->cells);
    memset(table, 0, sizeof *table);
}

gsa_status gsai_table_grow(gsai_table *table, size_t n_slots, const gsai_env *env, gsa_error *error)
{
    if (n_slots > table->capacity) {
        gsai_cell *cells = NULL;
        size_t capacity = 0, spare = table->capacity > n_slots / 4 ? table->capacity / 2 : n_slots / 8;
        GSA_TRY(allocate(n_slots, spare, table->n_outputs, table->room, env, &cells, &capacity, error));
        memcpy(cells, table->cells, table->n_slots * record_size(table->room));
        gsai_free(env, table->cells);
        table->cells = cells;
        table->capacity = capacity;
    }
    if (n_slots > table->n_slots)
        table->n_slots = n_slots;
    return GSA_OK;
}

/* Into a table with at least as many outputs. */
static void copy_records(gsai_table *to, const gsai_table *from)
{
    size_t size = from->n_outputs * sizeof(gsai_cell);
    if (to->room == from->room)
        memcpy(to->cells, from->cells, from->n_slots * record_size(from->room));
    for (size_t slot = 0; slot < from->n_slots && to->room != from->room; slot++) {
        const gsai_cell *source = gsai_table_slot(from, slot);
        gsai_cell *target = gsai_table_slot(to, slot);
        memcpy(target, source, size);
        memcpy(target + gsai_table_average(to), source + gsai_table_average(from), size);
        memcpy(target + gsai_table_mean(to), source + gsai_table_mean(from), 2 * sizeof(gsai_cell)); /* and count */
    }
}

gsa_status gsai_table_copy(gsai_table *to, const gsai_table *from, const gsai_env *env, gsa_error *error)
{
    if (!to->cells || to->room != from->room || to->capacity < from->n_slots) {
        gsai_table_release(to, env);
        GSA_TRY(gsai_table_init(to, from->n_slots, from->n_outputs, env, error));
    }
    if (to->n_slots > from->n_slots)
        memset(gsai_table_slot(to, from->n_slots), 0, (to->n_slots - from->n_slots) * record_size(to->room));
    to->n_slots = from->n_slots;
    to->n_outputs = from->n_outputs;
    copy_records(to, from);
    return GSA_OK;
}

gsa_status gsai_table_widen(gsai_table *table, size_t n_outputs, const gsai_env *env, gsa_error *error)
{
    if (n_outputs > table->room) {
        /* Half as much room again, so that classes that come one by one are not copied one by one. */
        size_t room = gsai_table_padded(n_outputs > 2 ? n_outputs + table->room / 2 : n_outputs);
        gsai_table wide = {NULL, table->n_slots, 0, n_outputs, room};
        GSA_TRY(allocate(table->n_slots, 0, n_outputs, wide.room, env, &wide.cells, &wide.capacity, error));
        copy_records(&wide, table);
        gsai_free(env, table->cells);
        *table = wide;
    }
    if (n_outputs > table->n_outputs)
        table->n_outputs = n_outputs;
    return GSA_OK;
}

void gsai_table_clear_average(gsai_table *table)
{
    for (size_t slot = 0; slot < table->n_slots; slot++) {
        gsai_cell *average = gsai_table_slot(table, slot) + gsai_table_average(table);
        for (size_t k = 0; k < table->n_outputs; k++)
            if (average[k].f != 0) /* reading leaves untouched pages untouched, writing would not */
                average[k].f = 0;
    }
}

gsai_line_tensor gsai_table_lines(const gsai_table *table, const char *name, gsai_dtype dtype, size_t cell,
                                  uint64_t limit)
{
    bool is_wide = cell < gsai_table_mean(table);
    return (gsai_line_tensor){.key = {name, dtype, limit},
                              .n_dims = is_wide ? 2 : 1,
                              .width = is_wide ? table->n_outputs : 1,
                              .at = (char *)(table->cells + cell),
                              .stride = gsai_table_stride(table) * sizeof *table->cells,
                              .n = table->n_slots};
}
