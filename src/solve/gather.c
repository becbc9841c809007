/* Rows as they come, checked, with the class or number of each. */
#include "solve/design.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

static bool make_room(gsa__gathered *rows, size_t n_rows, size_t n_entries)
{
    const gsa_env *env = &rows->env;
    return gsa__reserve(env, &rows->start, &rows->rows_capacity[0], n_rows + 1, sizeof *rows->start) &&
           gsa__reserve(env, &rows->hash, &rows->rows_capacity[1], n_rows, sizeof *rows->hash) &&
           gsa__reserve(env, &rows->class_number, &rows->rows_capacity[2], n_rows, sizeof *rows->class_number) &&
           gsa__reserve(env, &rows->number, &rows->rows_capacity[3], n_rows, sizeof *rows->number) &&
           gsa__reserve(env, &rows->weight, &rows->rows_capacity[4], n_rows, sizeof *rows->weight) &&
           gsa__reserve(env, &rows->index, &rows->entries_capacity[0], n_entries, sizeof *rows->index) &&
           gsa__reserve(env, &rows->value, &rows->entries_capacity[1], n_entries, sizeof *rows->value);
}

static gsa_status take_entries(gsa__gathered *rows, const gsa__row *row, size_t number, gsa_error *error)
{
    size_t n = rows->n_entries;
    for (size_t i = 0; i < row->n; i++) {
        float x = row->value ? row->value[i] : 1.0F;
        if (!isfinite(x))
            return gsa__fail_row(error, GSA_INPUT, number, "a value is not a finite number");
        rows->index[n] = row->index ? row->index[i] : (uint32_t)i;
        rows->value[n] = x;
        rows->highest = x != 0 && rows->index[n] > rows->highest ? rows->index[n] : rows->highest;
        n += x != 0;
    }
    rows->n_entries = n;
    return GSA_OK;
}

static gsa_status take_row(gsa__gathered *rows, gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    double weight, y = 0;
    size_t class_number = 0;
    gsa__row view = gsa__row_at(batch, row);
    gsa_status status = gsa__row_weight(batch, row, &weight, error);
    if (status == GSA_OK)
        status = gsa__batch_check_ids(batch, row, error);
    if (status == GSA_OK)
        status = gsa__label_check(batch, row, error);
    if (status != GSA_OK || weight == 0)
        return status;
    status = gsa__label_take(state, batch, row, &class_number, &y, error);
    if (status == GSA_OK && !make_room(rows, rows->n_rows + 1, rows->n_entries + view.n))
        status = gsa__fail_memory(&rows->env, error, "no memory for %zu rows", rows->n_rows + 1);
    if (status == GSA_OK)
        status = take_entries(rows, &view, row, error);
    if (status != GSA_OK)
        return status;
    rows->hash[rows->n_rows] = gsa__row_features_hash(batch, row);
    rows->class_number[rows->n_rows] = (uint32_t)class_number;
    rows->number[rows->n_rows] = y;
    rows->weight[rows->n_rows] = weight;
    rows->start[0] = 0;
    rows->start[++rows->n_rows] = rows->n_entries;
    return GSA_OK;
}

gsa_status gsa__gather(gsa__gathered *rows, gsa_state *state, const gsa_batch *batch, gsa_error *error)
{
    gsa_status status = gsa__batch_check(batch, NULL, batch->n_rows, 1, error);
    for (size_t row = 0; row < batch->n_rows && status == GSA_OK; row++) {
        status = take_row(rows, state, batch, row, error);
        if (status != GSA_OK && error)
            error->row = row;
    }
    return status;
}

void gsa__gathered_release(gsa__gathered *rows)
{
    void *const all[] = {rows->start,        rows->index,  rows->value, rows->hash,
                         rows->class_number, rows->number, rows->weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gsa__free(&rows->env, all[i]);
    *rows = (gsa__gathered){.env = rows->env};
}
