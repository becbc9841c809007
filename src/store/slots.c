/* The numbers of a state per slot, as tensors. */
#include "store/slots.h"

#include "base/error.h"
#include "store/lines.h"

static const gsai_key list_key = {"slot", GSAI_U32, GSA_MAX_ID + 1u};
enum { MAX_TENSORS = 11 };

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

static size_t list_table(const gsai_table *table, const char *weight, const char *term, gsai_line_tensor *out)
{
    out[0] = of_table(weight, GSAI_F32, table, 0, GSAI_FINITE);
    out[1] = of_table(term, GSAI_F32, table, gsai_table_average(table), GSAI_FINITE);
    return 2;
}

/* Both tables of a choice of scaling have counted the same rows. */
static size_t list_counts(const gsa_state *state, const gsai_table *table, gsai_line_tensor *out)
{
    out[0] = of_table("mean_square", GSAI_F32, table, gsai_table_mean(table), GSAI_NOT_NEGATIVE);
    out[1] = of_table("n_seen", GSAI_U32, table, gsai_table_count(table), state->n_counted);
    return 2;
}

/* Lists the tensors of a state and returns how many. No feature is in more rows than there are: counts would else
 * overflow before the next fold. */
static size_t list_tensors(const gsa_state *state, gsai_line_tensor out[MAX_TENSORS])
{
    const gsai_prior_totals *prior = &state->prior;
    const gsai_best_checkpoint *best = &state->best_checkpoint;
    size_t n = list_table(&state->table, "weight", "average_term", out), width = best->n_outputs;
    n += list_counts(state, &state->table, out + n);
    if (state->scaling)
        n += list_table(&state->scaling->table, "scaling.weight", "scaling.average_term", out + n);
    if (prior->n > 0) {
        out[n++] = of_prior("prior.sum_sq", GSAI_F64, prior->sum_sq, prior->n, GSAI_NOT_NEGATIVE);
        out[n++] = of_prior("prior.n_seen", GSAI_U64, prior->count, prior->n, state->rows_behind - state->n_counted);
    }
    if (best->weight)
        out[n++] = (gsai_line_tensor){{"best_checkpoint.weight", GSAI_F32, GSAI_FINITE},
                                      2,
                                      width,
                                      (char *)best->weight,
                                      width * sizeof *best->weight,
                                      best->n_slots};
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
    size_t n = list_tensors(state, tensors);
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

gsa_status gsai_slots_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_line_tensor tensors[MAX_TENSORS];
    gsai_lines lines;
    size_t n = list_tensors(state, tensors);
    if (state->scaling)
        n += list_counts(state, &state->scaling->table, tensors + n);
    GSA_TRY(gsai_lines_find(bundle, &list_key, state->table.n_slots, &lines, error));
    for (size_t i = 0; i < n; i++)
        GSA_TRY(gsai_lines_restore(&tensors[i], &lines, bundle, error));
    return GSA_OK;
}
