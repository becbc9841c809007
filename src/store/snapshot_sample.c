/* The held-out sample as tensors, and back: the part of a state's snapshot that holds rows. */
#include "store/snapshot_parts.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* In the order of the file. */
enum { HASH, NUMBER, WEIGHT, SEEN, START, CLASS, INDEX, VALUE, TENSORS };
static const struct {
    const char *name;
    gsai_dtype dtype;
} tensors[TENSORS] = {
    [HASH] = {"sample.hash", GSAI_U64},       [NUMBER] = {"sample.number", GSAI_F64},
    [WEIGHT] = {"sample.weight", GSAI_F64},   [SEEN] = {"sample.seen", GSAI_F64},
    [START] = {"sample.row_start", GSAI_U64}, [CLASS] = {"sample.class", GSAI_U32},
    [INDEX] = {"sample.index", GSAI_U32},     [VALUE] = {"sample.value", GSAI_F32},
};

/* One number a row, one more for the starts, or one an entry. */
static uint64_t len_of(int tensor, uint64_t n_rows, uint64_t n_entries)
{
    return tensor == INDEX || tensor == VALUE ? n_entries : n_rows + (tensor == START);
}

/* The data of the tensors. */
static void fill(const gsai_sample *sample, void *const data[TENSORS])
{
    uint64_t *hash = data[HASH], *start = data[START];
    double *number = data[NUMBER], *weight = data[WEIGHT], *seen = data[SEEN];
    uint32_t *class_number = data[CLASS], *index = data[INDEX];
    float *value = data[VALUE];
    for (size_t i = 0; i < sample->n; i++) {
        const gsai_held_row *held = sample->at[i];
        gsai_row row = gsai_held_row_view(held);
        hash[i] = held->hash;
        number[i] = held->number;
        class_number[i] = held->class_number;
        weight[i] = held->weight;
        seen[i] = held->seen;
        start[i + 1] = start[i] + held->n;
        if (held->n > 0) {
            memcpy(index + start[i], row.index, held->n * sizeof *index);
            memcpy(value + start[i], row.value, held->n * sizeof *value);
        }
    }
}

gsa_status gsai_sample_snapshot(gsai_snapshot *snapshot, const gsai_sample *sample, gsa_error *error)
{
    void *data[TENSORS];
    uint64_t n_entries = 0;
    for (size_t i = 0; i < sample->n; i++)
        n_entries += sample->at[i]->n;
    for (int t = 0; t < TENSORS; t++) {
        size_t len = (size_t)len_of(t, sample->n, n_entries);
        data[t] = gsai_snapshot_alloc(snapshot, len, gsai_dtype_size(tensors[t].dtype));
        if (!data[t])
            return gsai_fail_memory(&snapshot->env, error, "no memory to describe the held-out sample");
    }
    fill(sample, data);
    for (int t = 0; t < TENSORS; t++)
        gsai_snapshot_vector(snapshot, tensors[t].name, tensors[t].dtype, data[t], len_of(t, sample->n, n_entries));
    return GSA_OK;
}

/* The tensors of a sample, once their types and lengths are known to fit. */
typedef struct sample_tensors {
    size_t n;
    uint64_t n_entries;
    const uint64_t *hash, *start;
    const double *number, *weight, *seen;
    const uint32_t *class_number, *index;
    const float *value;
} sample_tensors;

static gsa_status need_all(const gsai_bundle *bundle, sample_tensors *out, gsa_error *error)
{
    const gsai_tensor *found[TENSORS];
    const void *data[TENSORS];
    gsa_status status = gsai_bundle_need(bundle, tensors[HASH].name, GSAI_U64, GSAI_ANY_LEN, &found[HASH], error);
    if (status == GSA_OK)
        status = gsai_bundle_need(bundle, tensors[INDEX].name, GSAI_U32, GSAI_ANY_LEN, &found[INDEX], error);
    if (status != GSA_OK)
        return status;
    uint64_t n = gsai_tensor_len(found[HASH]), n_entries = gsai_tensor_len(found[INDEX]);
    for (int t = 0; t < TENSORS; t++) {
        status = gsai_bundle_need(bundle, tensors[t].name, tensors[t].dtype, len_of(t, n, n_entries), &found[t], error);
        if (status != GSA_OK)
            return status;
        data[t] = found[t]->data;
    }
    *out = (sample_tensors){(size_t)n,    n_entries,  data[HASH],  data[START], data[NUMBER],
                            data[WEIGHT], data[SEEN], data[CLASS], data[INDEX], data[VALUE]};
    return GSA_OK;
}

/* Rows ascend by hash, class and number. */
static bool sample_row_is_above(const sample_tensors *in, size_t i)
{
    if (i == 0 || in->hash[i] != in->hash[i - 1])
        return i == 0 || in->hash[i] > in->hash[i - 1];
    if (in->class_number[i] != in->class_number[i - 1])
        return in->class_number[i] > in->class_number[i - 1];
    return in->number[i] > in->number[i - 1];
}

static bool sample_row_is_sound(const gsa_state *state, const sample_tensors *in, size_t i)
{
    if (in->start[i] > in->start[i + 1] || in->start[i + 1] > in->n_entries ||
        in->start[i + 1] - in->start[i] > UINT32_MAX || !sample_row_is_above(in, i))
        return false;
    if (!isfinite(in->number[i]) || !isfinite(in->seen[i]) || !(in->seen[i] > 0) ||
        !(in->weight[i] >= 0 && in->weight[i] <= in->seen[i]))
        return false;
    if (gsai_loss_has_classes(state->loss) && in->class_number[i] >= state->labels.n)
        return false;
    for (uint64_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (in->index[e] > GSA_MAX_ID || !isfinite(in->value[e]) || in->value[e] == 0)
            return false;
    return true;
}

gsa_status gsai_sample_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    sample_tensors in = {0};
    if (!gsai_bundle_tensor(bundle, "sample.hash"))
        return GSA_OK;
    gsa_status status = need_all(bundle, &in, error);
    for (size_t i = 0; i < in.n && status == GSA_OK; i++) {
        if (!sample_row_is_sound(state, &in, i))
            return gsai_fail(error, GSA_FORMAT, "row %zu of the held-out sample is damaged", i);
        size_t start = (size_t)in.start[i];
        gsai_row row = {(size_t)(in.start[i + 1] - in.start[i]), in.index + start, in.value + start};
        gsai_held_row *held =
            gsai_held_row_new(&row, in.hash[i], in.class_number[i], in.number[i], in.seen[i], &state->env);
        if (held)
            held->weight = in.weight[i];
        status = gsai_sample_insert(&state->sample, held, &state->env, error);
    }
    return status;
}
