/* The held-out sample as tensors, and back: the part of a state's snapshot that holds rows. */
#include "core/snapshot_parts.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

gsa_status gsa__sample_snapshot(gsa__snapshot *snapshot, const gsa__sample *sample, gsa_error *error)
{
    size_t n = sample->n, n_entries = 0;
    for (size_t i = 0; i < n; i++)
        n_entries += sample->at[i]->n;
    uint64_t *hash = gsa__snapshot_alloc(snapshot, n, sizeof *hash);
    double *number = gsa__snapshot_alloc(snapshot, n, sizeof *number);
    uint64_t *start = gsa__snapshot_alloc(snapshot, n + 1, sizeof *start);
    uint32_t *class_number = gsa__snapshot_alloc(snapshot, n, sizeof *class_number);
    uint32_t *pass = gsa__snapshot_alloc(snapshot, n, sizeof *pass);
    float *weight = gsa__snapshot_alloc(snapshot, n, sizeof *weight);
    double *seen = gsa__snapshot_alloc(snapshot, n, sizeof *seen);
    bool has_equals = false; /* most samples have none */
    uint32_t *index = gsa__snapshot_alloc(snapshot, n_entries, sizeof *index);
    float *value = gsa__snapshot_alloc(snapshot, n_entries, sizeof *value);
    if (!hash || !number || !start || !class_number || !pass || !weight || !seen || !index || !value)
        return gsa__fail(error, GSA_MEMORY, "no memory to describe the held-out sample");
    for (size_t i = 0; i < n; i++) {
        const gsa__held_row *held = sample->at[i];
        gsa__row row = gsa__held_row_view(held);
        hash[i] = held->hash;
        number[i] = held->number;
        class_number[i] = held->class_number;
        pass[i] = held->pass;
        weight[i] = held->weight;
        seen[i] = held->seen;
        has_equals = has_equals || held->seen != (double)held->weight;
        start[i + 1] = start[i] + held->n;
        if (held->n > 0) {
            memcpy(index + start[i], row.index, held->n * sizeof *index);
            memcpy(value + start[i], row.value, held->n * sizeof *value);
        }
    }
    gsa__snapshot_vector(snapshot, "sample.hash", GSA__U64, hash, n);
    gsa__snapshot_vector(snapshot, "sample.number", GSA__F64, number, n);
    if (has_equals)
        gsa__snapshot_vector(snapshot, "sample.seen", GSA__F64, seen, n);
    gsa__snapshot_vector(snapshot, "sample.row_start", GSA__U64, start, n + 1);
    gsa__snapshot_vector(snapshot, "sample.class", GSA__U32, class_number, n);
    gsa__snapshot_vector(snapshot, "sample.pass", GSA__U32, pass, n);
    gsa__snapshot_vector(snapshot, "sample.weight", GSA__F32, weight, n);
    gsa__snapshot_vector(snapshot, "sample.index", GSA__U32, index, n_entries);
    gsa__snapshot_vector(snapshot, "sample.value", GSA__F32, value, n_entries);
    return GSA_OK;
}

/* The tensors of a sample, once their types and lengths are known to fit. */
typedef struct sample_tensors {
    size_t n;
    uint64_t n_entries;
    const uint64_t *hash, *start;
    const double *number, *seen; /* seen is NULL: as the weights */
    const uint32_t *class_number, *index;
    const float *weight, *value;
    const uint32_t *pass;
} sample_tensors;

static gsa_status sample_need(const gsa__bundle *bundle, sample_tensors *out, gsa_error *error)
{
    const gsa__tensor *found[8] = {NULL};
    static const struct {
        const char *name;
        gsa__dtype dtype;
        int len; /* 0: n, 1: n + 1, 2: entries */
    } needed[8] = {{"sample.hash", GSA__U64, 0},  {"sample.row_start", GSA__U64, 1}, {"sample.number", GSA__F64, 0},
                   {"sample.class", GSA__U32, 0}, {"sample.index", GSA__U32, 2},     {"sample.weight", GSA__F32, 0},
                   {"sample.value", GSA__F32, 2}, {"sample.pass", GSA__U32, 0}};
    gsa_status status = gsa__bundle_need(bundle, "sample.hash", GSA__U64, GSA__ANY_LEN, &found[0], error);
    if (status == GSA_OK)
        status = gsa__bundle_need(bundle, "sample.index", GSA__U32, GSA__ANY_LEN, &found[4], error);
    if (status != GSA_OK)
        return status;
    uint64_t n = gsa__tensor_len(found[0]), n_entries = gsa__tensor_len(found[4]);
    for (size_t i = 0; i < 8 && status == GSA_OK; i++) {
        uint64_t len = needed[i].len == 2 ? n_entries : n + (uint64_t)needed[i].len;
        status = gsa__bundle_need(bundle, needed[i].name, needed[i].dtype, len, &found[i], error);
    }
    if (status != GSA_OK)
        return status;
    *out = (sample_tensors){.n = (size_t)n,
                            .n_entries = n_entries,
                            .hash = found[0]->data,
                            .start = found[1]->data,
                            .number = found[2]->data,
                            .class_number = found[3]->data,
                            .index = found[4]->data,
                            .weight = found[5]->data,
                            .value = found[6]->data,
                            .pass = found[7]->data};
    status = gsa__bundle_may_have(bundle, "sample.seen", GSA__F64, n, &found[0], error);
    out->seen = found[0] ? found[0]->data : NULL;
    return status;
}

static bool sample_row_is_sound(const gsa_state *state, const sample_tensors *in, size_t i)
{
    if (in->start[i] > in->start[i + 1] || in->start[i + 1] > in->n_entries ||
        in->start[i + 1] - in->start[i] > UINT32_MAX || (i > 0 && in->hash[i] <= in->hash[i - 1]))
        return false;
    if (!isfinite(in->number[i]) || !isfinite(in->weight[i]) || !(in->weight[i] > 0) ||
        (in->seen && (!isfinite(in->seen[i]) || !(in->seen[i] > 0))))
        return false;
    if (gsa__loss_has_classes(state->loss) && in->class_number[i] >= state->labels.n)
        return false;
    for (uint64_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (in->index[e] > GSA_MAX_ID || !isfinite(in->value[e]) || in->value[e] == 0)
            return false;
    return true;
}

gsa_status gsa__sample_restore(gsa_state *state, const gsa__bundle *bundle, gsa_error *error)
{
    sample_tensors in = {0};
    if (!gsa__bundle_tensor(bundle, "sample.hash"))
        return GSA_OK;
    gsa_status status = sample_need(bundle, &in, error);
    for (size_t i = 0; i < in.n && status == GSA_OK; i++) {
        if (!sample_row_is_sound(state, &in, i))
            return gsa__fail(error, GSA_FORMAT, "row %zu of the held-out sample is damaged", i);
        size_t start = (size_t)in.start[i];
        gsa__row row = {(size_t)(in.start[i + 1] - in.start[i]), in.index + start, in.value + start};
        gsa__held_row *held =
            gsa__held_row_new(&row, in.hash[i], in.class_number[i], in.number[i], (double)in.weight[i], &state->env);
        if (held) {
            held->pass = in.pass[i];
            held->seen = in.seen ? in.seen[i] : held->seen;
        }
        status = gsa__sample_insert(&state->sample, held, in.n, &state->env, NULL, error);
    }
    return status;
}
