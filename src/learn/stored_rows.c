/* Rows of a state as tensors, there and back. */
#include "learn/stored_rows.h"

#include "learn/inside.h"

#include "base/memory.h"

/* One number per row, one more for the starts, or one per entry. */
static uint64_t len_of(size_t tensor, uint64_t n_rows, uint64_t n_entries)
{
    return tensor == GSAI_ROW_INDEX || tensor == GSAI_ROW_VALUE ? n_entries : n_rows + (tensor == GSAI_ROW_START);
}

static gsai_stored_rows rows_of(size_t n, uint64_t n_entries, void *const at[GSAI_ROW_TENSORS])
{
    return (gsai_stored_rows){n,
                              n_entries,
                              at[GSAI_ROW_START],
                              at[GSAI_ROW_NUMBER],
                              at[GSAI_ROW_WEIGHT],
                              at[GSAI_ROW_CLASS],
                              at[GSAI_ROW_INDEX],
                              at[GSAI_ROW_VALUE],
                              at[GSAI_ROW_HASH],
                              at[GSAI_ROW_SEEN]};
}

bool gsai_stored_rows_add(gsai_snapshot *snapshot, const gsai_tensor_key *keys, size_t n_tensors, size_t n,
                          uint64_t n_entries, gsai_stored_rows *out)
{
    void *at[GSAI_ROW_TENSORS] = {NULL};
    for (size_t t = 0; t < n_tensors; t++) {
        uint64_t len = len_of(t, n, n_entries);
        at[t] = gsai_arena_take(&snapshot->owned, (size_t)len, gsai_dtype_size(keys[t].dtype));
        gsai_snapshot_add(snapshot, &keys[t], at[t], len);
    }
    *out = rows_of(n, n_entries, at);
    return at[n_tensors - 1];
}

gsa_status gsai_stored_rows_find(const gsai_bundle *bundle, const gsai_tensor_key *keys, size_t n_tensors,
                                 gsai_stored_rows *out, gsa_error *error)
{
    const gsai_tensor *found, *entries;
    void *at[GSAI_ROW_TENSORS] = {NULL};
    GSA_TRY(gsai_bundle_need(bundle, &keys[GSAI_ROW_NUMBER], GSAI_ANY_LEN, &found, error));
    GSA_TRY(gsai_bundle_need(bundle, &keys[GSAI_ROW_INDEX], GSAI_ANY_LEN, &entries, error));
    uint64_t n = gsai_tensor_len(found), n_entries = gsai_tensor_len(entries);
    for (size_t t = 0; t < n_tensors; t++) {
        GSA_TRY(gsai_bundle_need(bundle, &keys[t], len_of(t, n, n_entries), &found, error));
        at[t] = (void *)found->data;
    }
    *out = rows_of((size_t)n, n_entries, at);
    return GSA_OK;
}

bool gsai_stored_row(const gsa_state *state, const gsai_stored_rows *in, size_t i, gsai_row *out)
{
    uint64_t start = in->start[i], end = in->start[i + 1];
    if ((i == 0 && start != 0) || (i + 1 == in->n && end != in->n_entries))
        return false;
    if (start > end || end > in->n_entries || end - start > UINT32_MAX)
        return false;
    if (in->class_number[i] >= (gsai_loss_has_classes(state->loss) ? state->labels.n : 1))
        return false;
    for (uint64_t e = start; e < end; e++)
        if (in->value[e] == 0)
            return false;
    *out = (gsai_row){(size_t)(end - start), in->index + start, in->value + start};
    return true;
}
