/* Tensors with a line per slot, there and back. */
#include "store/slots.h"

#include "base/error.h"
#include "base/memory.h"
#include "store/fields.h"

#include <math.h>
#include <string.h>

/* Slots by line: those of the list, or all. */
typedef struct slot_lines {
    const uint32_t *slot;
    size_t n;
} slot_lines;

static size_t slot_at(const slot_lines *lines, size_t i)
{
    return lines->slot ? lines->slot[i] : i;
}

/* One tensor, and where its elements are in the state. */
typedef struct slot_tensor {
    const char *name;
    gsai_dtype dtype;
    unsigned n_dims;
    size_t width;   /* elements per slot */
    uint64_t limit; /* the largest integer, or the gsai_range of floats */
    char *at;       /* the elements of slot 0 */
    size_t stride;  /* bytes to those of the next */
    size_t n_slots; /* slots beyond have zeros */
    slot_lines lines;
} slot_tensor;

enum { MAX_OF_PART = 4, MAX_TENSORS = 16 };

static slot_tensor of_table(const char *name, gsai_dtype dtype, const gsai_table *table, size_t cell, uint64_t limit)
{
    bool is_wide = cell < gsai_table_mean(table);
    return (slot_tensor){.name = name,
                         .dtype = dtype,
                         .n_dims = is_wide ? 2 : 1,
                         .width = is_wide ? table->n_outputs : 1,
                         .limit = limit,
                         .at = (char *)(table->cells + cell),
                         .stride = gsai_table_stride(table) * sizeof *table->cells,
                         .n_slots = table->n_slots};
}

static slot_tensor of_prior(const char *name, gsai_dtype dtype, void *at, size_t n_slots, uint64_t limit)
{
    return (slot_tensor){name, dtype, 1, 1, limit, at, gsai_dtype_size(dtype), n_slots, {NULL, 0}};
}

/* Lists the tensors of a part, none if the state has no such part, and returns how many. No feature is in more rows
 * than there are: counts would else overflow before the next fold. */
static size_t list_part(const gsa_state *state, gsai_slots_part part, slot_tensor out[MAX_OF_PART])
{
    const gsai_table *table = &state->table, *standard = state->scaling ? &state->scaling->table : NULL;
    const gsai_prior_totals *prior = &state->prior;
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    size_t n = 0;
    if (part == GSAI_SLOTS_TABLE) {
        out[n++] = of_table("weight", GSAI_F32, table, 0, GSAI_FINITE);
        out[n++] = of_table("average_term", GSAI_F32, table, gsai_table_average(table), GSAI_FINITE);
        out[n++] = of_table("mean_square", GSAI_F32, table, gsai_table_mean(table), GSAI_NOT_NEGATIVE);
        out[n++] = of_table("n_seen", GSAI_U32, table, gsai_table_count(table), state->n_counted);
    } else if (part == GSAI_SLOTS_SCALING && standard) { /* it has counted the same rows */
        out[n++] = of_table("scaling.weight", GSAI_F32, standard, 0, GSAI_FINITE);
        out[n++] = of_table("scaling.average_term", GSAI_F32, standard, gsai_table_average(standard), GSAI_FINITE);
    } else if (part == GSAI_SLOTS_PRIOR && prior->n > 0) {
        out[n++] = of_prior("prior.sum_sq", GSAI_F64, prior->sum_sq, prior->n, GSAI_NOT_NEGATIVE);
        out[n++] = of_prior("prior.n_seen", GSAI_U64, prior->count, prior->n, state->rows_behind - state->n_counted);
    } else if (part == GSAI_SLOTS_BEST && best->weight) {
        out[n++] = (slot_tensor){"best_checkpoint.weight",
                                 GSAI_F32,
                                 2,
                                 best->n_outputs,
                                 GSAI_FINITE,
                                 (char *)best->weight,
                                 best->n_outputs * sizeof *best->weight,
                                 best->n_slots,
                                 {NULL, 0}};
    }
    return n;
}

/* ---- to a bundle ------------------------------------------------------------------------------------------------- */

static void copy_element(gsai_dtype dtype, void *to, const void *from)
{
    if (gsai_dtype_size(dtype) == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, 8);
}

static void fill_lines(const void *ctx, uint64_t from, size_t n, void *out)
{
    static const uint64_t zero = 0;
    const slot_tensor *of = ctx;
    size_t size = gsai_dtype_size(of->dtype), i = (size_t)(from / of->width), k = (size_t)(from % of->width);
    for (size_t done = 0; done < n; done++) {
        size_t slot = slot_at(&of->lines, i);
        const void *element = slot < of->n_slots ? (const void *)(of->at + slot * of->stride + k * size) : &zero;
        copy_element(of->dtype, (char *)out + done * size, element);
        if (++k == of->width) {
            k = 0;
            i++;
        }
    }
}

static bool has_totals(const gsa_state *state, size_t slot)
{
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    bool any = slot < state->prior.n && (state->prior.count[slot] != 0 || state->prior.sum_sq[slot] != 0);
    for (size_t k = 0; !any && best->weight && slot < best->n_slots && k < best->n_outputs; k++)
        any = best->weight[slot * best->n_outputs + k] != 0;
    return any;
}

/* The first and the last slot are always written: they say how large the table is. */
static bool is_used(const gsa_state *state, size_t slot)
{
    return slot == 0 || slot + 1 == state->table.n_slots || !gsai_table_is_zero(&state->table, slot) ||
           (state->scaling && !gsai_table_is_zero(&state->scaling->table, slot)) || has_totals(state, slot);
}

/* Chooses the slots to write: all, or, where that is smaller, those in use and a list of them. */
static gsa_status choose_lines(gsai_snapshot *snapshot, const gsa_state *state, size_t line_size, slot_lines *out,
                               gsa_error *error)
{
    size_t n_slots = state->table.n_slots, n = 0;
    uint32_t *list;
    *out = (slot_lines){NULL, n_slots};
    for (size_t slot = 0; slot < n_slots; slot++)
        n += is_used(state, slot);
    if ((double)n * (double)(line_size + sizeof *list) >= (double)n_slots * (double)line_size)
        return GSA_OK;
    *out = (slot_lines){list = gsai_snapshot_alloc(snapshot, n, sizeof *list), n};
    if (!list)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a table of %zu features", n);
    gsai_snapshot_vector(snapshot, "slot", GSAI_U32, list, n);
    for (size_t slot = 0; slot < n_slots; slot++)
        if (is_used(state, slot))
            *list++ = (uint32_t)slot;
    return GSA_OK;
}

gsa_status gsai_snapshot_slots(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    slot_tensor *all = gsai_snapshot_alloc(snapshot, MAX_TENSORS, sizeof *all);
    size_t n = 0, line_size = 0;
    slot_lines lines;
    if (!all)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a table");
    for (gsai_slots_part part = GSAI_SLOTS_TABLE; part <= GSAI_SLOTS_BEST; part++)
        n += list_part(state, part, all + n);
    for (size_t i = 0; i < n; i++)
        line_size += all[i].width * gsai_dtype_size(all[i].dtype);
    GSA_TRY(choose_lines(snapshot, state, line_size, &lines, error));
    for (size_t i = 0; i < n; i++) {
        all[i].lines = lines;
        gsai_tensor *tensor = gsai_snapshot_add(snapshot, all[i].name, all[i].dtype);
        tensor->n_dims = all[i].n_dims;
        tensor->shape[0] = lines.n;
        tensor->shape[1] = all[i].width;
        tensor->fill = fill_lines;
        tensor->ctx = &all[i];
    }
    return GSA_OK;
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

gsa_status gsai_slots_shape(const gsai_bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error)
{
    const gsai_tensor *weight, *slots;
    GSA_TRY(gsai_bundle_need(bundle, "weight", GSAI_F32, GSAI_ANY_LEN, &weight, error));
    GSA_TRY(gsai_bundle_may_have(bundle, "slot", GSAI_U32, GSAI_ANY_LEN, &slots, error));
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

static bool is_sound(const slot_tensor *of, const void *element)
{
    if (of->dtype == GSAI_U32)
        return *(const uint32_t *)element <= of->limit;
    if (of->dtype == GSAI_U64)
        return *(const uint64_t *)element <= of->limit;
    double number = of->dtype == GSAI_F32 ? (double)*(const float *)element : *(const double *)element;
    return isfinite(number) && (number >= 0 || of->limit == GSAI_FINITE);
}

static gsa_status fail_element(const slot_tensor *of, gsa_error *error)
{
    bool is_count = of->dtype == GSAI_U32 || of->dtype == GSAI_U64;
    return gsai_fail(error, GSA_FORMAT, "tensor '%s' %s", of->name,
                     is_count                   ? "has a feature that is in more rows than there are"
                     : of->limit == GSAI_FINITE ? "has a value that is not finite"
                                                : "has a value that is negative or not finite");
}

/* Elements that the state has already are not written: pages of zeros stay untouched. */
static gsa_status restore_lines(const slot_tensor *to, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    size_t size = gsai_dtype_size(to->dtype);
    GSA_TRY(gsai_bundle_need(bundle, to->name, to->dtype, (uint64_t)to->lines.n * to->width, &found, error));
    const char *element = found->data;
    for (size_t i = 0; i < to->lines.n; i++) {
        char *line = to->at + slot_at(&to->lines, i) * to->stride;
        for (size_t k = 0; k < to->width; k++, line += size, element += size) {
            if (!is_sound(to, element))
                return fail_element(to, error);
            if (size == 4 ? memcmp(line, element, 4) != 0 : memcmp(line, element, 8) != 0)
                copy_element(to->dtype, line, element);
        }
    }
    return GSA_OK;
}

gsa_status gsai_slots_restore(gsa_state *state, gsai_slots_part part, const gsai_bundle *bundle, gsa_error *error)
{
    slot_tensor tensors[MAX_OF_PART];
    const gsai_tensor *slots = gsai_bundle_tensor(bundle, "slot");
    size_t n = list_part(state, part, tensors);
    for (size_t i = 0; i < n; i++) {
        tensors[i].lines = slots ? (slot_lines){slots->data, (size_t)gsai_tensor_len(slots)}
                                 : (slot_lines){NULL, state->table.n_slots};
        GSA_TRY(restore_lines(&tensors[i], bundle, error));
    }
    return GSA_OK;
}
