/* The large tensors of a state, there and back. */
#include "store/state_tensors.h"

#include "learn/learner.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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

/* ---- tables to a bundle ------------------------------------------------------------------------------------------ */

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
    GSA_TRY(add_part(snapshot, weights, GSAI_F32, (part){table, slots, 0, n}, error));
    return add_part(snapshot, averages, GSAI_F32, (part){table, slots, gsai_table_average(table), n}, error);
}

/* The first and the last slot are always written: they say how large the table is. */
static bool is_used(const gsai_table *table, const gsai_table *standard, size_t slot)
{
    return slot == 0 || slot + 1 == table->n_slots || !gsai_table_is_zero(table, slot) ||
           (standard && !gsai_table_is_zero(standard, slot));
}

/* The slots to write: all, unless that would be mostly zeros. */
static gsa_status choose(gsai_snapshot *snapshot, const gsai_table *own, const gsai_table *standard, chosen *out,
                         gsa_error *error)
{
    size_t n = 0, room = own->n_slots / SPARSE;
    *out = (chosen){NULL, own->n_slots};
    uint32_t *list = gsai_snapshot_alloc(snapshot, room, sizeof *list);
    if (!list && room > 0)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe a table of %zu features", room);
    for (size_t slot = 0; slot < own->n_slots; slot++) {
        if (!is_used(own, standard, slot))
            continue;
        if (n + 1 >= room) /* too many for a list */
            return GSA_OK;
        list[n++] = (uint32_t)slot;
    }
    *out = (chosen){list, n};
    gsai_snapshot_vector(snapshot, "slots", GSAI_U32, out->slot, n);
    return GSA_OK;
}

gsa_status gsai_snapshot_tables(gsai_snapshot *snapshot, const gsai_table *own, const gsai_table *standard,
                                gsa_error *error)
{
    chosen slots;
    GSA_TRY(choose(snapshot, own, standard, &slots, error));
    GSA_TRY(add_weights(snapshot, "weight", "average", own, slots, error));
    GSA_TRY(add_part(snapshot, "mean_square", GSAI_F32, (part){own, slots, gsai_table_mean(own), 1}, error));
    GSA_TRY(add_part(snapshot, "presence", GSAI_U32, (part){own, slots, gsai_table_count(own), 1}, error));
    /* The other table has counted the same rows. */
    return standard ? add_weights(snapshot, "rival.weight", "rival.average", standard, slots, error) : GSA_OK;
}

/* ---- tables from a bundle ---------------------------------------------------------------------------------------- */

/* The list has been checked by gsai_table_shape. */
static chosen slots_of(const gsai_bundle *bundle, const gsai_table *table)
{
    const gsai_tensor *slots = gsai_bundle_tensor(bundle, "slots");
    return slots ? (chosen){slots->data, (size_t)gsai_tensor_len(slots)} : (chosen){NULL, table->n_slots};
}

gsa_status gsai_table_shape(const gsai_bundle *bundle, size_t n_outputs, size_t *n_slots, gsa_error *error)
{
    const gsai_tensor *weight, *slots;
    GSA_TRY(gsai_bundle_need(bundle, "weight", GSAI_F32, GSAI_ANY_LEN, &weight, error));
    GSA_TRY(gsai_bundle_may_have(bundle, "slots", GSAI_U32, GSAI_ANY_LEN, &slots, error));
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
    GSA_TRY(gsai_bundle_need(bundle, weights, GSAI_F32, len, &weight, error));
    GSA_TRY(gsai_bundle_need(bundle, averages, GSAI_F32, len, &average, error));
    GSA_TRY(restore_part(table, &slots, 0, weight, error));
    return restore_part(table, &slots, gsai_table_average(table), average, error);
}

/* No feature is in more rows than there are: the counts would else overflow before the next fold. */
gsa_status gsai_counts_restore(gsai_table *table, uint64_t n_counted, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *means, *counts;
    chosen slots = slots_of(bundle, table);
    GSA_TRY(gsai_bundle_need(bundle, "mean_square", GSAI_F32, slots.n, &means, error));
    GSA_TRY(gsai_bundle_need(bundle, "presence", GSAI_U32, slots.n, &counts, error));
    for (size_t i = 0; i < slots.n; i++) {
        gsai_cell *record = gsai_table_slot(table, slot_at(&slots, i));
        float mean = ((const float *)means->data)[i];
        uint32_t count = ((const uint32_t *)counts->data)[i];
        if (!isfinite(mean) || mean < 0)
            return gsai_fail(error, GSA_FORMAT, "a mean square is negative or not finite");
        if (count > n_counted)
            return gsai_fail(error, GSA_FORMAT, "a feature is in more rows than there are");
        if (mean != 0)
            record[gsai_table_mean(table)].f = mean;
        if (count != 0)
            record[gsai_table_count(table)].u = count;
    }
    return GSA_OK;
}

/* ---- totals of features ------------------------------------------------------------------------------------------ */

/* Numbers of a column in "columns": rows, mean, sum of squares around it. */
#define COLUMN 3u
static_assert(sizeof(gsai_column) == COLUMN * sizeof(double), "columns are stored as they are");

void gsai_snapshot_totals(gsai_snapshot *snapshot, const gsa_state *state)
{
    if (state->prior.n > 0) {
        gsai_snapshot_vector(snapshot, "carried.mass", GSAI_F64, state->prior.sum_sq, state->prior.n);
        gsai_snapshot_vector(snapshot, "carried.presence", GSAI_U64, state->prior.count, state->prior.n);
    }
    if (state->centre.n > 0)
        gsai_snapshot_vector(snapshot, "columns", GSAI_F64, state->centre.at, COLUMN * (uint64_t)state->centre.n);
}

static gsa_status restore_prior(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *sums_sq, *seen;
    GSA_TRY(gsai_bundle_may_have(bundle, "carried.mass", GSAI_F64, GSAI_ANY_LEN, &sums_sq, error));
    if (!sums_sq)
        return GSA_OK;
    size_t n = (size_t)gsai_tensor_len(sums_sq);
    GSA_TRY(gsai_bundle_need(bundle, "carried.presence", GSAI_U64, n, &seen, error));
    const double *sum_sq = sums_sq->data;
    const uint64_t *count = seen->data;
    if (n > state->table.n_slots)
        return gsai_fail(error, GSA_FORMAT, "there is more mass than there are features");
    for (size_t slot = 0; slot < n; slot++) {
        if (!(sum_sq[slot] >= 0) || !isfinite(sum_sq[slot]))
            return gsai_fail(error, GSA_FORMAT, "a mass is negative or not finite");
        if (count[slot] > state->rows_behind - state->n_counted)
            return gsai_fail(error, GSA_FORMAT, "a feature is in more rows than there are");
    }
    GSA_TRY(gsai_prior_totals_grow(&state->prior, n, &state->env, error));
    if (n > 0) {
        memcpy(state->prior.sum_sq, sum_sq, n * sizeof *sum_sq);
        memcpy(state->prior.count, count, n * sizeof *count);
    }
    return GSA_OK;
}

static gsa_status restore_centre(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *columns;
    GSA_TRY(gsai_bundle_may_have(bundle, "columns", GSAI_F64, GSAI_ANY_LEN, &columns, error));
    if (!columns)
        return GSA_OK;
    uint64_t len = gsai_tensor_len(columns), n = len / COLUMN;
    const double *number = columns->data;
    if (len % COLUMN != 0 || n > GSAI_MAX_COLUMNS) /* the header of a delta has no features, and columns all the same */
        return gsai_fail(error, GSA_FORMAT, "the means of columns are more than %u", (unsigned)GSAI_MAX_COLUMNS);
    for (size_t i = 0; i < len; i++)
        if (!isfinite(number[i]) || (i % COLUMN != 1 && number[i] < 0) ||
            (i % COLUMN == 0 ? number[i] != floor(number[i]) : number[i - i % COLUMN] == 0 && number[i] != 0))
            return gsai_fail(error, GSA_FORMAT, "a mean of a column is out of range");
    GSA_TRY(gsai_centre_grow(&state->centre, (size_t)n, &state->env, error));
    if (n > 0)
        memcpy(state->centre.at, number, (size_t)len * sizeof *number);
    return GSA_OK;
}

gsa_status gsai_totals_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    GSA_TRY(restore_prior(state, bundle, error));
    return restore_centre(state, bundle, error);
}

/* ---- the held-out sample ----------------------------------------------------------------------------------------- */

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

/* One number per row, one more for the starts, or one per entry. */
static uint64_t len_of(int tensor, uint64_t n_rows, uint64_t n_entries)
{
    return tensor == INDEX || tensor == VALUE ? n_entries : n_rows + (tensor == START);
}

/* The data of the tensors. */
static void fill_sample(const gsai_sample *sample, void *const data[TENSORS])
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

gsa_status gsai_snapshot_sample(gsai_snapshot *snapshot, const gsai_sample *sample, gsa_error *error)
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
    fill_sample(sample, data);
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
    GSA_TRY(gsai_bundle_need(bundle, tensors[HASH].name, GSAI_U64, GSAI_ANY_LEN, &found[HASH], error));
    GSA_TRY(gsai_bundle_need(bundle, tensors[INDEX].name, GSAI_U32, GSAI_ANY_LEN, &found[INDEX], error));
    uint64_t n = gsai_tensor_len(found[HASH]), n_entries = gsai_tensor_len(found[INDEX]);
    for (int t = 0; t < TENSORS; t++) {
        GSA_TRY(gsai_bundle_need(bundle, tensors[t].name, tensors[t].dtype, len_of(t, n, n_entries), &found[t], error));
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
    GSA_TRY(need_all(bundle, &in, error));
    for (size_t i = 0; i < in.n; i++) {
        if (!sample_row_is_sound(state, &in, i))
            return gsai_fail(error, GSA_FORMAT, "row %zu of the held-out sample is damaged", i);
        size_t start = (size_t)in.start[i];
        gsai_row row = {(size_t)(in.start[i + 1] - in.start[i]), in.index + start, in.value + start};
        gsai_held_row *held =
            gsai_held_row_new(&row, in.hash[i], in.class_number[i], in.number[i], in.seen[i], &state->env);
        if (held)
            held->weight = in.weight[i];
        GSA_TRY(gsai_sample_insert(&state->sample, held, &state->env, error));
    }
    return GSA_OK;
}

/* ---- rows that wait for their group ------------------------------------------------------------------------------ */

/* Numbers of a row that waits for its group, "group.rows": class or label, weight, entries. */
enum { GROUP_LABEL, GROUP_WEIGHT, GROUP_ENTRIES, GROUP_ROW };

gsa_status gsai_snapshot_group(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    const gsai_group *group = &state->group;
    bool has_classes = gsai_loss_has_classes(state->loss);
    double *number = gsai_snapshot_alloc(snapshot, GROUP_ROW * group->n_rows, sizeof *number);
    uint32_t *index = gsai_snapshot_alloc(snapshot, group->n_entries, sizeof *index);
    float *value = gsai_snapshot_alloc(snapshot, group->n_entries, sizeof *value);
    size_t n_entries = 0;
    if (!number || !index || !value)
        return gsai_fail_memory(&snapshot->env, error, "no memory to describe the rows of a group");
    for (size_t row = 0; row < group->n_rows; row++) {
        double *of = number + GROUP_ROW * row;
        of[GROUP_LABEL] = has_classes ? (double)group->class_number[row] : group->y[row];
        of[GROUP_WEIGHT] = group->c[row];
        of[GROUP_ENTRIES] = (double)group->n[row];
        for (size_t e = group->start[row], end = e + group->n[row]; e < end; e++, n_entries++) {
            index[n_entries] = group->slot[e] - 1;
            value[n_entries] = group->x[e];
        }
    }
    gsai_snapshot_vector(snapshot, "group.rows", GSAI_F64, number, GROUP_ROW * (uint64_t)group->n_rows);
    gsai_snapshot_vector(snapshot, "group.index", GSAI_U32, index, n_entries);
    gsai_snapshot_vector(snapshot, "group.value", GSAI_F32, value, n_entries);
    return GSA_OK;
}

static bool group_row_is_sound(const gsa_state *state, const double *of, uint64_t n_left)
{
    bool known = gsai_loss_has_classes(state->loss)
                     ? of[GROUP_LABEL] == 0 || gsai_is_whole(of[GROUP_LABEL], (double)state->labels.n - 1)
                     : isfinite(of[GROUP_LABEL]);
    return known && of[GROUP_WEIGHT] > 0 && isfinite(of[GROUP_WEIGHT]) &&
           (of[GROUP_ENTRIES] == 0 || gsai_is_whole(of[GROUP_ENTRIES], (double)n_left));
}

static bool group_entries_are_sound(const gsa_state *state, const gsai_row *row)
{
    for (size_t i = 0; i < row->n; i++)
        if (row->value[i] == 0 || (size_t)row->index[i] + 1 >= state->table.n_slots)
            return false;
    return true;
}

gsa_status gsai_group_restore(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *rows, *index, *value;
    bool has_classes = gsai_loss_has_classes(state->loss);
    GSA_TRY(gsai_bundle_may_have(bundle, "group.rows", GSAI_F64, GSAI_ANY_LEN, &rows, error));
    if (!rows)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, "group.index", GSAI_U32, GSAI_ANY_LEN, &index, error));
    uint64_t n_entries = gsai_tensor_len(index), n = gsai_tensor_len(rows) / GROUP_ROW;
    GSA_TRY(gsai_bundle_need(bundle, "group.value", GSAI_F32, n_entries, &value, error));
    if (n * GROUP_ROW != gsai_tensor_len(rows) || !gsai_state_has_groups(state))
        return gsai_fail(error, GSA_FORMAT, "the rows of a group do not fit the state");
    for (size_t i = 0, at = 0; i < n; i++) {
        const double *of = (const double *)rows->data + GROUP_ROW * i;
        bool sound = !gsai_group_is_full(state) && group_row_is_sound(state, of, n_entries - at);
        gsai_row row = {sound ? (size_t)of[GROUP_ENTRIES] : 0, (const uint32_t *)index->data + at,
                        (const float *)value->data + at};
        if (!sound || !group_entries_are_sound(state, &row))
            return gsai_fail(error, GSA_FORMAT, "row %zu of a group is damaged", i);
        gsai_staged staged;
        GSA_TRY(gsai_group_stage(state, &row, &staged, error));
        GSA_TRY(gsai_group_add(state, &staged, has_classes ? (size_t)of[GROUP_LABEL] : 0,
                               has_classes ? 0 : of[GROUP_LABEL], of[GROUP_WEIGHT], error));
        at += row.n;
    }
    return gsai_group_is_full(state) ? gsai_fail(error, GSA_FORMAT, "a group that is full still waits") : GSA_OK;
}
