/* Tables there and back. */
#include "store/snapshot_parts.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

/* Left out are slots if not one in so many is there. */
#define SPARSE 4u

/* Slots by number: those of the list, or all. */
typedef struct chosen {
    const uint32_t *slot;
    size_t n;
} chosen;

static size_t slot_at(const chosen *slots, size_t i)
{
    return slots->slot ? slots->slot[i] : i;
}

/* ---- there ------------------------------------------------------------------------------------------------------- */

/* Cells of each record from `cell` on, `width` of them: what a tensor is filled from. */
typedef struct part {
    const gsai_table *table;
    chosen slots;
    size_t cell, width;
} part;

static void fill_part(const void *ctx, uint64_t from, size_t n, void *out)
{
    const part *what = ctx;
    size_t i = (size_t)(from / what->width), k = (size_t)(from % what->width);
    gsai_cell *to = out;
    for (size_t done = 0; done < n; done++) {
        to[done] = gsai_table_slot(what->table, slot_at(&what->slots, i))[what->cell + k];
        if (++k == what->width) {
            k = 0;
            i++;
        }
    }
}

static gsa_status add_part(gsai_snapshot *snapshot, const char *name, gsai_dtype dtype, part what, gsa_error *error)
{
    part *kept = gsai_snapshot_alloc(snapshot, 1, sizeof *kept);
    if (!kept)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a table");
    *kept = what;
    gsai_tensor *tensor = gsai_snapshot_add(snapshot, name, dtype);
    bool single = what.cell >= gsai_table_mean(what.table);
    tensor->n_dims = single ? 1 : 2;
    tensor->shape[0] = what.slots.n;
    tensor->shape[1] = what.width;
    tensor->fill = fill_part;
    tensor->ctx = kept;
    return GSA_OK;
}

static gsa_status add_weights(gsai_snapshot *snapshot, const char *weights, const char *averages,
                              const gsai_table *table, chosen slots, gsa_error *error)
{
    size_t n = table->n_outputs;
    gsa_status status = add_part(snapshot, weights, GSAI_F32, (part){table, slots, 0, n}, error);
    if (status != GSA_OK)
        return status;
    return add_part(snapshot, averages, GSAI_F32, (part){table, slots, gsai_table_average(table), n}, error);
}

/* The first and the last slot are always written: they say how large the table is. */
static bool is_used(const gsai_table *table, const gsai_table *rival, size_t slot)
{
    return slot == 0 || slot + 1 == table->n_slots || !gsai_table_is_zero(table, slot) ||
           (rival && !gsai_table_is_zero(rival, slot));
}

/* The slots to write: all, unless that would be mostly zeros. */
static gsa_status choose(gsai_snapshot *snapshot, const gsai_table *own, const gsai_table *rival, chosen *out,
                         gsa_error *error)
{
    size_t n = 0, room = own->n_slots / SPARSE;
    *out = (chosen){NULL, own->n_slots};
    uint32_t *list = gsai_snapshot_alloc(snapshot, room, sizeof *list);
    if (!list && room > 0)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a table of %zu features", room);
    for (size_t slot = 0; slot < own->n_slots; slot++) {
        if (!is_used(own, rival, slot))
            continue;
        if (n + 1 >= room) /* too many for a list */
            return GSA_OK;
        list[n++] = (uint32_t)slot;
    }
    *out = (chosen){list, n};
    gsai_snapshot_vector(snapshot, "slots", GSAI_U32, out->slot, n);
    return GSA_OK;
}

gsa_status gsai_tables_snapshot(gsai_snapshot *snapshot, const gsai_table *own, const gsai_table *rival,
                                gsa_error *error)
{
    chosen slots;
    gsa_status status = choose(snapshot, own, rival, &slots, error);
    if (status == GSA_OK)
        status = add_weights(snapshot, "weight", "average", own, slots, error);
    if (status == GSA_OK)
        status = add_part(snapshot, "mean_square", GSAI_F32, (part){own, slots, gsai_table_mean(own), 1}, error);
    if (status == GSA_OK)
        status = add_part(snapshot, "presence", GSAI_U32, (part){own, slots, gsai_table_count(own), 1}, error);
    /* What the rival has counted is what the state's own table has. */
    return status == GSA_OK && rival ? add_weights(snapshot, "rival.weight", "rival.average", rival, slots, error)
                                     : status;
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

/* The list has been checked by gsai_table_shape. */
static chosen slots_of(const gsai_bundle *bundle, const gsai_table *table)
{
    const gsai_tensor *slots = gsai_bundle_tensor(bundle, "slots");
    return slots ? (chosen){slots->data, (size_t)gsai_tensor_len(slots)} : (chosen){NULL, table->n_slots};
}

gsa_status gsai_table_shape(const gsai_bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error)
{
    const gsai_tensor *weight, *slots;
    gsa_status status = gsai_bundle_need(bundle, "weight", GSAI_F32, GSAI_ANY_LEN, &weight, error);
    if (status == GSA_OK)
        status = gsai_bundle_may_have(bundle, "slots", GSAI_U32, GSAI_ANY_LEN, &slots, error);
    if (status != GSA_OK)
        return status;
    *n_slots = 0;
    if (weight->n_dims != 2 || weight->shape[1] != n_outputs || weight->shape[0] == 0 ||
        weight->shape[0] > (uint64_t)GSA_MAX_ID + 2)
        return GSA_OK;
    *n_slots = (size_t)weight->shape[0];
    if (!slots)
        return GSA_OK;
    const uint32_t *list = slots->data;
    bool fits = gsai_tensor_len(slots) == *n_slots && list[0] == 0 && list[*n_slots - 1] <= GSA_MAX_ID + 1u;
    for (size_t i = 1; fits && i < *n_slots; i++)
        fits = list[i] > list[i - 1];
    *n_slots = fits ? (size_t)list[*n_slots - 1] + 1 : 0;
    return GSA_OK;
}

static gsa_status restore_part(gsai_table *table, const chosen *slots, size_t cell, const gsai_tensor *tensor,
                               gsa_error *error)
{
    const float *value = tensor->data;
    for (size_t i = 0; i < slots->n; i++)
        for (size_t k = 0; k < table->n_outputs; k++, value++) {
            if (!isfinite(*value))
                return gsai_fail(error, GSA_FORMAT, "tensor '%s' has a value that is not finite", tensor->name);
            gsai_table_slot(table, slot_at(slots, i))[cell + k].f = *value;
        }
    return GSA_OK;
}

gsa_status gsai_weights_restore(gsai_table *table, const char *weights, const char *averages, const gsai_bundle *bundle,
                                gsa_error *error)
{
    const gsai_tensor *weight, *average;
    chosen slots = slots_of(bundle, table);
    uint64_t len = (uint64_t)slots.n * table->n_outputs;
    gsa_status status = gsai_bundle_need(bundle, weights, GSAI_F32, len, &weight, error);
    if (status == GSA_OK)
        status = gsai_bundle_need(bundle, averages, GSAI_F32, len, &average, error);
    if (status == GSA_OK)
        status = restore_part(table, &slots, 0, weight, error);
    return status == GSA_OK ? restore_part(table, &slots, gsai_table_average(table), average, error) : status;
}

/* No feature is in more rows than there are: the counts would else overflow before the next fold. */
gsa_status gsai_counts_restore(gsai_table *table, uint64_t n_counted, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *means, *counts;
    chosen slots = slots_of(bundle, table);
    gsa_status status = gsai_bundle_need(bundle, "mean_square", GSAI_F32, slots.n, &means, error);
    if (status == GSA_OK)
        status = gsai_bundle_need(bundle, "presence", GSAI_U32, slots.n, &counts, error);
    for (size_t i = 0; i < slots.n && status == GSA_OK; i++) {
        gsai_cell *record = gsai_table_slot(table, slot_at(&slots, i));
        float mean = ((const float *)means->data)[i];
        uint32_t count = ((const uint32_t *)counts->data)[i];
        if (!isfinite(mean) || mean < 0)
            status = gsai_fail(error, GSA_FORMAT, "a mean square is negative or not finite");
        else if (count > n_counted)
            status = gsai_fail(error, GSA_FORMAT, "a feature is in more rows than there are");
        if (mean != 0)
            record[gsai_table_mean(table)].f = mean;
        if (count != 0)
            record[gsai_table_count(table)].u = count;
    }
    return status;
}
