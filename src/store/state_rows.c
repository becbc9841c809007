/* Rows of a state as tensors, there and back.
 *
 * The sample and the group have the same six tensors; the sample also the hashes of its rows and the weights that were
 * seen. */
#include "store/state_rows.h"

#include "learn/learner.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

enum { START, NUMBER, WEIGHT, CLASS, INDEX, VALUE, HASH, SEEN, TENSORS, GROUP_TENSORS = HASH };

static const gsai_key sample_keys[TENSORS] = {
    [START] = {"sample.row_start", GSAI_U64, UINT64_MAX},
    [NUMBER] = {"sample.number", GSAI_F64, GSAI_FINITE},
    [WEIGHT] = {"sample.weight", GSAI_F64, GSAI_NOT_NEGATIVE},
    [CLASS] = {"sample.class", GSAI_U32, UINT32_MAX},
    [INDEX] = {"sample.index", GSAI_U32, GSA_MAX_ID},
    [VALUE] = {"sample.value", GSAI_F32, GSAI_FINITE},
    [HASH] = {"sample.hash", GSAI_U64, UINT64_MAX},
    [SEEN] = {"sample.seen", GSAI_F64, GSAI_NOT_NEGATIVE},
};

static const gsai_key group_keys[GROUP_TENSORS] = {
    [START] = {"group.row_start", GSAI_U64, UINT64_MAX},      [NUMBER] = {"group.number", GSAI_F64, GSAI_FINITE},
    [WEIGHT] = {"group.weight", GSAI_F64, GSAI_NOT_NEGATIVE}, [CLASS] = {"group.class", GSAI_U32, UINT32_MAX},
    [INDEX] = {"group.index", GSAI_U32, GSA_MAX_ID},          [VALUE] = {"group.value", GSAI_F32, GSAI_FINITE},
};

/* The elements of the tensors, in the order of the enum. Those of a file are only read. */
typedef struct stored_rows {
    size_t n;
    uint64_t n_entries, *start;
    double *number, *weight;
    uint32_t *class_number, *index;
    float *value;
    uint64_t *hash;
    double *seen;
} stored_rows;

/* One number per row, one more for the starts, or one per entry. */
static uint64_t len_of(size_t tensor, uint64_t n_rows, uint64_t n_entries)
{
    return tensor == INDEX || tensor == VALUE ? n_entries : n_rows + (tensor == START);
}

static stored_rows rows_of(size_t n, uint64_t n_entries, void *const at[TENSORS])
{
    return (stored_rows){n,         n_entries, at[START], at[NUMBER], at[WEIGHT],
                         at[CLASS], at[INDEX], at[VALUE], at[HASH],   at[SEEN]};
}

/* ---- to a bundle ------------------------------------------------------------------------------------------------- */

/* Describes zeros, which the caller fills in. */
static gsa_status add_rows(gsai_snapshot *snapshot, const gsai_key *keys, size_t n_tensors, size_t n,
                           uint64_t n_entries, stored_rows *out, gsa_error *error)
{
    void *at[TENSORS] = {NULL};
    for (size_t t = 0; t < n_tensors; t++) {
        uint64_t len = len_of(t, n, n_entries);
        at[t] = gsai_snapshot_alloc(snapshot, (size_t)len, gsai_dtype_size(keys[t].dtype));
        GSAI_TRY_MEMORY(at[t], &snapshot->env, error, "no memory to describe %zu rows", n);
        gsai_snapshot_add(snapshot, &keys[t], at[t], len);
    }
    *out = rows_of(n, n_entries, at);
    return GSA_OK;
}

gsa_status gsai_snapshot_sample(gsai_snapshot *snapshot, const gsai_sample *sample, gsa_error *error)
{
    uint64_t n_entries = 0;
    stored_rows rows = {0};
    for (size_t i = 0; i < sample->n; i++)
        n_entries += sample->at[i]->n;
    GSA_TRY(add_rows(snapshot, sample_keys, TENSORS, sample->n, n_entries, &rows, error));
    for (size_t i = 0; i < sample->n; i++) {
        const gsai_held_row *held = sample->at[i];
        gsai_row row = gsai_held_row_view(held);
        rows.hash[i] = held->hash;
        rows.number[i] = held->number;
        rows.class_number[i] = held->class_number;
        rows.weight[i] = held->weight;
        rows.seen[i] = held->seen;
        rows.start[i + 1] = rows.start[i] + held->n;
        if (held->n > 0) {
            memcpy(rows.index + rows.start[i], row.index, held->n * sizeof *rows.index);
            memcpy(rows.value + rows.start[i], row.value, held->n * sizeof *rows.value);
        }
    }
    return GSA_OK;
}

gsa_status gsai_snapshot_group(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    const gsai_group *group = &state->group;
    bool has_classes = gsai_loss_has_classes(state->loss);
    uint64_t n_entries = 0, at = 0;
    stored_rows rows = {0};
    for (size_t i = 0; i < group->n_rows; i++)
        n_entries += group->n[i];
    GSA_TRY(add_rows(snapshot, group_keys, GROUP_TENSORS, group->n_rows, n_entries, &rows, error));
    for (size_t i = 0; i < group->n_rows; i++) {
        rows.class_number[i] = has_classes ? (uint32_t)group->class_number[i] : 0;
        rows.number[i] = has_classes ? 0 : group->y[i];
        rows.weight[i] = group->c[i];
        for (size_t e = group->start[i], end = e + group->n[i]; e < end; e++, at++) {
            rows.index[at] = group->slot[e] - 1;
            rows.value[at] = group->x[e];
        }
        rows.start[i + 1] = at;
    }
    return GSA_OK;
}

/* ---- from a bundle ----------------------------------------------------------------------------------------------- */

/* Finds the tensors and checks their types and lengths; *out has no rows if they are not there. */
static gsa_status find_rows(const gsai_bundle *bundle, const gsai_key *keys, size_t n_tensors, stored_rows *out,
                            gsa_error *error)
{
    const gsai_tensor *found, *entries;
    void *at[TENSORS] = {NULL};
    *out = (stored_rows){0};
    GSA_TRY(gsai_bundle_may_have(bundle, &keys[NUMBER], GSAI_ANY_LEN, &found, error));
    if (!found)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, &keys[INDEX], GSAI_ANY_LEN, &entries, error));
    uint64_t n = gsai_tensor_len(found), n_entries = gsai_tensor_len(entries);
    for (size_t t = 0; t < n_tensors; t++) {
        GSA_TRY(gsai_bundle_need(bundle, &keys[t], len_of(t, n, n_entries), &found, error));
        at[t] = (void *)found->data;
    }
    *out = rows_of((size_t)n, n_entries, at);
    return GSA_OK;
}

/* Takes row i; false if it cannot be. Entries follow each other without gaps. */
static bool take_row(const gsa_state *state, const stored_rows *in, size_t i, gsai_row *out)
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

/* Rows of a sample ascend by hash, class and number. */
static bool sample_row_is_above(const stored_rows *in, size_t i)
{
    if (i == 0 || in->hash[i] != in->hash[i - 1])
        return i == 0 || in->hash[i] > in->hash[i - 1];
    if (in->class_number[i] != in->class_number[i - 1])
        return in->class_number[i] > in->class_number[i - 1];
    return in->number[i] > in->number[i - 1];
}

gsa_status gsai_sample_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    stored_rows in = {0};
    gsai_row row;
    GSA_TRY(find_rows(bundle, sample_keys, TENSORS, &in, error));
    for (size_t i = 0; i < in.n; i++) {
        if (!take_row(state, &in, i, &row) || !sample_row_is_above(&in, i) || in.seen[i] == 0 ||
            in.weight[i] > in.seen[i])
            return gsai_fail(error, GSA_FORMAT, "row %zu of the held-out sample is damaged", i);
        gsai_held_row *held =
            gsai_held_row_new(&row, in.hash[i], in.class_number[i], in.number[i], in.seen[i], &state->env);
        if (held)
            held->weight = in.weight[i];
        GSA_TRY(gsai_sample_insert(&state->sample, held, &state->env, error));
    }
    return GSA_OK;
}

static bool has_slots_of(const gsa_state *state, const gsai_row *row)
{
    for (size_t i = 0; i < row->n; i++)
        if ((size_t)row->index[i] + 1 >= state->table.n_slots)
            return false;
    return true;
}

gsa_status gsai_group_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    stored_rows in = {0};
    gsai_row row;
    GSA_TRY(find_rows(bundle, group_keys, GROUP_TENSORS, &in, error));
    if (in.n > 0 && !gsai_state_has_groups(state))
        return gsai_fail(error, GSA_FORMAT, "the rows of a group do not fit the state");
    for (size_t i = 0; i < in.n; i++) {
        if (gsai_group_is_full(state) || !take_row(state, &in, i, &row) || in.weight[i] == 0 ||
            !has_slots_of(state, &row))
            return gsai_fail(error, GSA_FORMAT, "row %zu of a group is damaged", i);
        GSA_TRY(gsai_group_add(state, &row, NULL, in.class_number[i], in.number[i], in.weight[i], error));
    }
    return in.n > 0 && gsai_group_is_full(state) ? gsai_fail(error, GSA_FORMAT, "a group that is full still waits")
                                                 : GSA_OK;
}
