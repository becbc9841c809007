/* Rows as they come, checked, with the class or number of each. */
#include "solve/design.h"

#include "learn/prepare.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

void gsai_gathered_init(gsai_gathered *rows, const gsai_env *env)
{
    *rows = (gsai_gathered){.env = *env};
    gsai_rows_init(&rows->csr, 0, 0, &rows->env);
    rows->csr.without_places = true;
}

void gsai_gathered_release(gsai_gathered *rows)
{
    gsai_rows_free(&rows->csr);
    gsai_free(&rows->env, rows->hash);
    gsai_free(&rows->env, rows->seen);
    *rows = (gsai_gathered){.env = rows->env};
}

static gsa_status add_row(gsai_gathered *rows, const gsa_batch *from, size_t row, size_t class_number, double number,
                          uint64_t hash, gsa_error *error)
{
    gsai_rows *csr = &rows->csr;
    gsai_row view = gsai_row_at(from, row);
    size_t at = csr->n_rows, n_before = csr->n_values;
    GSAI_TRY_MEMORY(gsai_reserve(&rows->env, &rows->hash, &rows->hash_capacity, at + 1, sizeof *rows->hash), &rows->env,
                    error, "no memory for %zu rows", at + 1);
    for (size_t i = 0; view.value && i < view.n; i++)
        if (!isfinite(view.value[i]))
            return gsai_fail_row(error, GSA_INPUT, row, "a value is not a finite number");
    GSA_TRY(gsai_rows_append(csr, from, row, 1, false, NULL, error));
    csr->label[at] = number;
    csr->word[at] = (int32_t)class_number;
    rows->hash[at] = hash;
    for (size_t i = n_before; i < csr->n_values; i++) { /* features that this row is the first to have */
        uint32_t id = csr->index[i];
        uint64_t bit = UINT64_C(1) << id % 64;
        rows->highest = id > rows->highest ? id : rows->highest;
        if (id >= GSAI_MAX_COUNTED) {
            rows->n_features++;
            continue;
        }
        if (id / 64 >= rows->n_seen)
            GSAI_TRY_MEMORY(
                gsai_reserve(&rows->env, &rows->seen, &rows->seen_capacity, id / 64 + 1, sizeof *rows->seen),
                &rows->env, error, "no memory to count features");
        while (id / 64 >= rows->n_seen)
            rows->seen[rows->n_seen++] = 0;
        rows->n_features += !(rows->seen[id / 64] & bit);
        rows->seen[id / 64] |= bit;
    }
    return GSA_OK;
}

gsa_status gsai_gathered_copy(gsai_gathered *to, const gsai_gathered *from, size_t i, gsa_error *error)
{
    const gsa_batch rows = gsai_rows_view(&from->csr);
    return add_row(to, &rows, i, (size_t)from->csr.word[i], from->csr.label[i], from->hash[i], error);
}

gsai_unlearned gsai_gathered_at(const void *rows, size_t i)
{
    const gsai_rows *csr = &((const gsai_gathered *)rows)->csr;
    const gsa_batch view = gsai_rows_view(csr);
    return (gsai_unlearned){gsai_row_at(&view, i), (size_t)csr->word[i], csr->label[i], (double)csr->weight[i]};
}

gsa_status gsai_gather(gsai_gathered *rows, gsa_state *state, const gsa_batch *batch, gsa_error *error)
{
    gsa_status status = gsai_batch_check(batch, NULL, batch->n_rows, 1, error);
    for (size_t row = 0; row < batch->n_rows && status == GSA_OK; row++) {
        double weight, y = 0;
        size_t class_number = 0;
        status = gsai_row_weight(batch, row, &weight, error);
        if (status == GSA_OK)
            status = gsai_batch_check_ids(batch, row, error);
        if (status == GSA_OK)
            status = gsai_label_check(batch, row, error);
        if (status == GSA_OK && weight > 0)
            status = gsai_label_take(state, batch, row, &class_number, &y, error);
        if (status == GSA_OK && weight > 0)
            status = add_row(rows, batch, row, class_number, y, gsai_row_features_hash(batch, row), error);
        if (status != GSA_OK && error)
            error->row = row;
    }
    return status;
}
