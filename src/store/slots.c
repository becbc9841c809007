/* What a state has per slot, as tensors. */
#include "store/slots.h"

#include "base/error.h"
#include "store/lines.h"

static const gsai_key list_key = {"slot", GSAI_U32, GSA_MAX_ID + 1u};
enum { MAX_OF_PART = 4, MAX_TENSORS = 9 };

static gsai_line_tensor of_table(const char *name, gsai_dtype dtype, const gsai_table *table, size_t cell,
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

static gsai_line_tensor of_prior(const char *name, gsai_dtype dtype, void *at, size_t n, uint64_t limit)
{
    return (gsai_line_tensor){{name, dtype, limit}, 1, 1, at, gsai_dtype_size(dtype), n};
}

/* Lists the tensors of a part, none if the state has no such part, and returns how many. No feature is in more rows
 * than there are: counts would else overflow before the next fold. */
static size_t list_part(const gsa_state *state, gsai_slots_part part, gsai_line_tensor out[MAX_OF_PART])
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
        size_t width = best->n_outputs;
        out[n++] = (gsai_line_tensor){{"best_checkpoint.weight", GSAI_F32, GSAI_FINITE},
                                      2,
                                      width,
                                      (char *)best->weight,
                                      width * sizeof *best->weight,
                                      best->n_slots};
    }
    return n;
}

/* Is anything known of the slot besides what the table has? */
static bool has_others(const gsa_state *state, size_t slot)
{
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    bool any = state->scaling && !gsai_table_is_zero(&state->scaling->table, slot);
    any = any || (slot < state->prior.n && (state->prior.count[slot] != 0 || state->prior.sum_sq[slot] != 0));
    for (size_t k = 0; !any && best->weight && slot < best->n_slots && k < best->n_outputs; k++)
        any = best->weight[slot * best->n_outputs + k] != 0;
    return any;
}

/* The first and the last slot are always written: they say how large the table is. */
static size_t next_slot(const void *ctx, size_t slot, size_t n_slots)
{
    const gsa_state *state = ctx;
    while (slot > 0 && slot + 1 < n_slots && gsai_table_is_zero(&state->table, slot) && !has_others(state, slot))
        slot++;
    return slot;
}

gsa_status gsai_snapshot_slots(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    gsai_line_tensor tensors[MAX_TENSORS];
    size_t n = 0;
    for (gsai_slots_part part = GSAI_SLOTS_TABLE; part <= GSAI_SLOTS_BEST; part++)
        n += list_part(state, part, tensors + n);
    return gsai_snapshot_lines(snapshot, tensors, n, &list_key, state->table.n_slots, next_slot, state, error);
}

gsa_status gsai_slots_shape(const gsai_bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error)
{
    const gsai_tensor *weight;
    const gsai_key weight_key = {"weight", GSAI_F32, GSAI_ANY_NUMBER}; /* for its shape */
    gsai_lines lines;
    GSA_TRY(gsai_bundle_need(bundle, &weight_key, GSAI_ANY_LEN, &weight, error));
    GSA_TRY(gsai_lines_find(bundle, &list_key, (size_t)GSA_MAX_ID + 2, &lines, error));
    bool fits = weight->n_dims == 2 && weight->shape[1] == n_outputs && weight->shape[0] > 0 &&
                weight->shape[0] <= lines.n && (!lines.id || (weight->shape[0] == lines.n && lines.id[0] == 0));
    *n_slots = !fits ? 0 : lines.id ? (size_t)lines.id[lines.n - 1] + 1 : (size_t)weight->shape[0];
    return GSA_OK;
}

gsa_status gsai_slots_restore(gsa_state *state, gsai_slots_part part, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_line_tensor tensors[MAX_OF_PART];
    gsai_lines lines;
    size_t n = list_part(state, part, tensors);
    GSA_TRY(gsai_lines_find(bundle, &list_key, state->table.n_slots, &lines, error));
    for (size_t i = 0; i < n; i++)
        GSA_TRY(gsai_lines_restore(&tensors[i], &lines, bundle, error));
    return GSA_OK;
}
