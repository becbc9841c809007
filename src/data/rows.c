/* A batch under construction. */
#include "data/rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

gsa_status gsa__rows_init(gsa__rows *rows, size_t most_rows, size_t most_values, const gsa_env *env, gsa_error *error)
{
    *rows = (gsa__rows){.env = env,
                        .most_rows = most_rows ? most_rows : GSA__BATCH_ROWS,
                        .most_values = most_values ? most_values : GSA__BATCH_VALUES};
    gsa__words_init(&rows->words, env);
    size_t n = rows->most_rows;
    rows->row_start = gsa__alloc(env, n + 1, sizeof *rows->row_start);
    rows->label = gsa__alloc(env, n, sizeof *rows->label);
    rows->word = gsa__alloc(env, n, sizeof *rows->word);
    rows->weight = gsa__alloc(env, n, sizeof *rows->weight);
    rows->place = gsa__alloc(env, n, sizeof *rows->place);
    if (!rows->row_start || !rows->label || !rows->word || !rows->weight || !rows->place) {
        gsa__rows_free(rows);
        return gsa__fail_memory(env, error, "no memory for a batch of %zu rows", n);
    }
    gsa__rows_clear(rows);
    return GSA_OK;
}

void gsa__rows_free(gsa__rows *rows)
{
    void *arrays[] = {rows->row_start, rows->index,  rows->value, rows->label,
                      rows->word,      rows->weight, rows->place, rows->cell};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        gsa__free(rows->env, arrays[i]);
    gsa__words_free(&rows->words);
    *rows = (gsa__rows){.env = rows->env};
}

void gsa__rows_clear(gsa__rows *rows)
{
    rows->n_rows = 0;
    rows->n_values = rows->n_cells = 0;
    rows->row_start[0] = 0;
    rows->all_ones = true;
    rows->any_word = rows->any_weight = false;
}

gsa_status gsa__rows_reserve(gsa__rows *rows, size_t n, gsa_error *error)
{
    size_t need;
    if (!gsa__add(rows->n_values, n, &need))
        return gsa__fail_memory(rows->env, error, "no memory for a row of %zu values", n);
    bool has_room = gsa__reserve(rows->env, &rows->index, &rows->index_capacity, need, sizeof *rows->index) &&
                    gsa__reserve(rows->env, &rows->value, &rows->value_capacity, need, sizeof *rows->value);
    return has_room ? GSA_OK : gsa__fail_memory(rows->env, error, "no memory for a row of up to %zu values", n);
}

gsa_status gsa__rows_reserve_cells(gsa__rows *rows, size_t n, gsa_error *error)
{
    size_t need;
    if (!gsa__add(rows->n_cells, n, &need) ||
        !gsa__reserve(rows->env, &rows->cell, &rows->cell_capacity, need, sizeof *rows->cell))
        return gsa__fail_memory(rows->env, error, "no memory for a row of %zu cells", n);
    if (n > 0)
        memset(rows->cell + rows->n_cells, 0, n * sizeof *rows->cell);
    return GSA_OK;
}

void gsa__rows_finish(gsa__rows *rows, size_t n, bool all_ones, double label, int32_t word, gsa_place place)
{
    size_t row = rows->n_rows++;
    rows->n_values += n;
    rows->row_start[row + 1] = (int64_t)rows->n_values;
    rows->label[row] = label;
    rows->word[row] = word;
    rows->weight[row] = 1;
    rows->place[row] = place;
    rows->all_ones = rows->all_ones && all_ones;
    rows->any_word = rows->any_word || word >= 0;
}

void gsa__rows_view(const gsa__rows *rows, gsa_batch *out)
{
    *out = (gsa_batch){.n_rows = rows->n_rows,
                       .row_start = rows->row_start,
                       .index = rows->index,
                       .value = rows->all_ones ? NULL : rows->value,
                       .label = rows->without_labels ? NULL : rows->label,
                       .word = rows->any_word && !rows->without_labels ? rows->word : NULL,
                       .words = (const char *const *)rows->words.word,
                       .n_words = rows->words.n_words,
                       .weight = rows->any_weight ? rows->weight : NULL,
                       .place = rows->place};
}
