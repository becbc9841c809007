/* Rows as they come, checked, with the class or number of each. */
#include "solve/design.h"

#include "learn/prepare.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static bool make_room(gsai_gathered *rows, size_t n_rows, size_t n_entries)
{
    const gsai_env *env = &rows->env;
    return gsai_reserve(env, &rows->start, &rows->rows_capacity[0], n_rows + 1, sizeof *rows->start) &&
           gsai_reserve(env, &rows->hash, &rows->rows_capacity[1], n_rows, sizeof *rows->hash) &&
           gsai_reserve(env, &rows->class_number, &rows->rows_capacity[2], n_rows, sizeof *rows->class_number) &&
           gsai_reserve(env, &rows->number, &rows->rows_capacity[3], n_rows, sizeof *rows->number) &&
           gsai_reserve(env, &rows->weight, &rows->rows_capacity[4], n_rows, sizeof *rows->weight) &&
           gsai_reserve(env, &rows->index, &rows->entries_capacity[0], n_entries, sizeof *rows->index) &&
           gsai_reserve(env, &rows->value, &rows->entries_capacity[1], n_entries, sizeof *rows->value);
}

/* Makes room for the bits of a row's ids. */
static bool make_bits(gsai_gathered *rows, const gsai_row *row)
{
    uint32_t top = row->index || row->n == 0 ? 0 : (uint32_t)(row->n - 1);
    for (size_t i = 0; row->index && i < row->n; i++)
        top = row->index[i] > top ? row->index[i] : top;
    top = top < GSAI_MAX_COUNTED ? top : GSAI_MAX_COUNTED - 1;
    size_t n = top / 64 + 1;
    if (n <= rows->n_seen)
        return true;
    if (!gsai_reserve(&rows->env, &rows->seen, &rows->seen_capacity, n, sizeof *rows->seen))
        return false;
    memset(rows->seen + rows->n_seen, 0, (n - rows->n_seen) * sizeof *rows->seen);
    rows->n_seen = n;
    return true;
}

static void count_feature(gsai_gathered *rows, uint32_t id)
{
    if (id >= GSAI_MAX_COUNTED) {
        rows->n_features++;
        return;
    }
    uint64_t bit = UINT64_C(1) << id % 64;
    rows->n_features += !(rows->seen[id / 64] & bit);
    rows->seen[id / 64] |= bit;
}

static gsa_status take_entries(gsai_gathered *rows, const gsai_row *row, size_t number, gsa_error *error)
{
    size_t n = rows->n_entries;
    GSAI_TRY_MEMORY(make_bits(rows, row), &rows->env, error, "no memory to count features");
    for (size_t i = 0; i < row->n; i++) {
        float x = row->value ? row->value[i] : 1.0F;
        if (!isfinite(x))
            return gsai_fail_row(error, GSA_INPUT, number, "a value is not a finite number");
        rows->index[n] = row->index ? row->index[i] : (uint32_t)i;
        rows->value[n] = x;
        if (x == 0)
            continue;
        rows->highest = rows->index[n] > rows->highest ? rows->index[n] : rows->highest;
        count_feature(rows, rows->index[n++]);
    }
    rows->n_entries = n;
    return GSA_OK;
}

static gsa_status add_row(gsai_gathered *rows, const gsai_unlearned *of, uint64_t hash, size_t number, gsa_error *error)
{
    GSAI_TRY_MEMORY(make_room(rows, rows->n_rows + 1, rows->n_entries + of->row.n), &rows->env, error,
                    "no memory for %zu rows", rows->n_rows + 1);
    GSA_TRY(take_entries(rows, &of->row, number, error));
    rows->hash[rows->n_rows] = hash;
    rows->class_number[rows->n_rows] = (uint32_t)of->class_number;
    rows->number[rows->n_rows] = of->number;
    rows->weight[rows->n_rows] = of->weight;
    rows->start[0] = 0;
    rows->start[++rows->n_rows] = rows->n_entries;
    return GSA_OK;
}

static gsa_status take_row(gsai_gathered *rows, gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    double weight, y = 0;
    size_t class_number = 0;
    gsai_row view = gsai_row_at(batch, row);
    GSA_TRY(gsai_row_weight(batch, row, &weight, error));
    GSA_TRY(gsai_batch_check_ids(batch, row, error));
    GSA_TRY(gsai_label_check(batch, row, error));
    if (weight == 0)
        return GSA_OK;
    GSA_TRY(gsai_label_take(state, batch, row, &class_number, &y, error));
    gsai_unlearned of = {view, class_number, y, weight};
    return add_row(rows, &of, gsai_row_features_hash(batch, row), row, error);
}

gsa_status gsai_gathered_copy(gsai_gathered *to, const gsai_gathered *from, size_t i, gsa_error *error)
{
    gsai_unlearned of = gsai_gathered_at(from, i);
    return add_row(to, &of, from->hash[i], i, error);
}

gsai_unlearned gsai_gathered_at(const void *rows, size_t i)
{
    const gsai_gathered *of = rows;
    gsai_row row = {of->start[i + 1] - of->start[i], of->index + of->start[i], of->value + of->start[i]};
    return (gsai_unlearned){row, of->class_number[i], of->number[i], of->weight[i]};
}

gsa_status gsai_gather(gsai_gathered *rows, gsa_state *state, const gsa_batch *batch, gsa_error *error)
{
    gsa_status status = gsai_batch_check(batch, NULL, batch->n_rows, 1, error);
    for (size_t row = 0; row < batch->n_rows && status == GSA_OK; row++) {
        status = take_row(rows, state, batch, row, error);
        if (status != GSA_OK && error)
            error->row = row;
    }
    return status;
}

void gsai_gathered_release(gsai_gathered *rows)
{
    void *const all[] = {rows->start,        rows->index,  rows->value,  rows->hash,
                         rows->class_number, rows->number, rows->weight, rows->seen};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gsai_free(&rows->env, all[i]);
    *rows = (gsai_gathered){.env = rows->env};
}
