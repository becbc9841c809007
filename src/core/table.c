/* The working copy's memory. */
#include "core/table.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static gsa_status too_large(size_t n_slots, size_t n_outputs, uint64_t size, const gsa_env *env, gsa_error *error)
{
    char need[GSA__SIZE_TEXT], limit[GSA__SIZE_TEXT];
    return gsa__fail(error, GSA_LIMIT,
                     "feature %zu needs a table of %s for %zu output%s, above the memory limit of %s; number the "
                     "features without large gaps, or raise the limit (--memory-limit)",
                     n_slots - 1, gsa__size_text(size, need), n_outputs, n_outputs == 1 ? "" : "s",
                     gsa__size_text(gsa__memory_limit(env), limit));
}

static size_t record_size(size_t room)
{
    return (2 * room + 2) * sizeof(gsa__cell);
}

/* Takes memory for the slots with records of that room, and for up to `spare` more: as many as a quarter of what the
 * limit leaves is enough for, so that spare slots are never what lacks elsewhere. */
static gsa_status allocate(size_t n_slots, size_t spare, size_t n_outputs, size_t room, const gsa_env *env,
                           gsa__cell **cells, size_t *capacity, gsa_error *error)
{
    size_t size;
    if (!gsa__multiply(n_slots, record_size(room), &size) || size > gsa__memory_limit(env))
        return too_large(n_slots, n_outputs, (uint64_t)n_slots * record_size(room), env, error);
    uint64_t left = gsa__memory_left(env), affordable = left > size ? (left - size) / 4 / record_size(room) : 0;
    *capacity = n_slots + (spare < affordable ? spare : (size_t)affordable);
    *cells = gsa__alloc_zeroed(env, *capacity, record_size(room));
    if (!*cells) {
        char need[GSA__SIZE_TEXT];
        return gsa__fail_memory(env, error, "no memory for a table of %s (%zu features, %zu output%s)",
                                gsa__size_text((uint64_t)*capacity * record_size(room), need), n_slots - 1, n_outputs,
                                n_outputs == 1 ? "" : "s");
    }
    gsa__prefer_huge_pages(*cells, *capacity * record_size(room));
    return GSA_OK;
}

gsa_status gsa__table_init(gsa__table *table, size_t n_slots, size_t n_outputs, const gsa_env *env, gsa_error *error)
{
    memset(table, 0, sizeof *table);
    size_t room = gsa__table_padded(n_outputs);
    gsa_status status = allocate(n_slots, 0, n_outputs, room, env, &table->cells, &table->capacity, error);
    if (status != GSA_OK)
        return status;
    table->n_slots = n_slots;
    table->n_outputs = n_outputs;
    table->room = room;
    return GSA_OK;
}

void gsa__table_release(gsa__table *table, const gsa_env *env)
{
    gsa__free(env, table->cells);
    memset(table, 0, sizeof *table);
}

gsa_status gsa__table_grow(gsa__table *table, size_t n_slots, const gsa_env *env, gsa_error *error)
{
    if (n_slots > table->capacity) {
        gsa__cell *cells = NULL;
        size_t capacity = 0, spare = table->capacity > n_slots / 4 ? table->capacity / 2 : n_slots / 8;
        gsa_status status = allocate(n_slots, spare, table->n_outputs, table->room, env, &cells, &capacity, error);
        if (status != GSA_OK)
            return status;
        memcpy(cells, table->cells, table->n_slots * record_size(table->room));
        gsa__free(env, table->cells);
        table->cells = cells;
        table->capacity = capacity;
    }
    if (n_slots > table->n_slots)
        table->n_slots = n_slots;
    return GSA_OK;
}

void gsa__table_copy_record(gsa__table *to, size_t to_slot, const gsa__table *from, size_t slot)
{
    const gsa__cell *source = gsa__table_slot(from, slot);
    gsa__cell *target = gsa__table_slot(to, to_slot);
    memcpy(target, source, from->n_outputs * sizeof *target);
    memcpy(target + gsa__table_average(to), source + gsa__table_average(from), from->n_outputs * sizeof *target);
    target[gsa__table_mean(to)] = source[gsa__table_mean(from)];
    target[gsa__table_count(to)] = source[gsa__table_count(from)];
}

static void copy_records(gsa__table *to, const gsa__table *from)
{
    if (to->room == from->room) {
        memcpy(to->cells, from->cells, from->n_slots * record_size(from->room));
        return;
    }
    for (size_t slot = 0; slot < from->n_slots; slot++)
        gsa__table_copy_record(to, slot, from, slot);
}

gsa_status gsa__table_copy(gsa__table *out, const gsa__table *from, const gsa_env *env, gsa_error *error)
{
    gsa_status status = gsa__table_init(out, from->n_slots, from->n_outputs, env, error);
    if (status == GSA_OK)
        copy_records(out, from);
    return status;
}

bool gsa__table_refill(gsa__table *table, const gsa__table *from)
{
    if (table->room != from->room || table->capacity < from->n_slots)
        return false;
    if (table->n_slots > from->n_slots)
        memset(gsa__table_slot(table, from->n_slots), 0, (table->n_slots - from->n_slots) * record_size(table->room));
    table->n_slots = from->n_slots;
    table->n_outputs = from->n_outputs;
    copy_records(table, from);
    return true;
}

gsa_status gsa__table_widen(gsa__table *table, size_t n_outputs, const gsa_env *env, gsa_error *error)
{
    if (n_outputs > table->room) {
        /* Half as much room again, so that classes that come one by one are not copied one by one. */
        size_t room = gsa__table_padded(n_outputs > 2 ? n_outputs + table->room / 2 : n_outputs);
        gsa__table wide = {NULL, table->n_slots, 0, n_outputs, room};
        gsa_status status = allocate(table->n_slots, 0, n_outputs, wide.room, env, &wide.cells, &wide.capacity, error);
        if (status != GSA_OK)
            return status;
        copy_records(&wide, table);
        gsa__free(env, table->cells);
        *table = wide;
    }
    if (n_outputs > table->n_outputs)
        table->n_outputs = n_outputs;
    return GSA_OK;
}

void gsa__table_clear_average(gsa__table *table)
{
    for (size_t slot = 0; slot < table->n_slots; slot++) {
        gsa__cell *average = gsa__table_slot(table, slot) + gsa__table_average(table);
        for (size_t k = 0; k < table->n_outputs; k++)
            if (average[k].f != 0) /* reading leaves untouched pages untouched, writing would not */
                average[k].f = 0;
    }
}
