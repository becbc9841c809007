/* A batch under construction. */
#include "data/rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

gsa_status gsai_rows_init(gsai_rows *rows, size_t max_rows, size_t max_values, const gsai_env *env, gsa_error *error)
{
    *rows = (gsai_rows){.env = env,
                        .max_rows = max_rows ? max_rows : GSAI_BATCH_ROWS,
                        .max_values = max_values ? max_values : GSAI_BATCH_VALUES};
    gsai_words_init(&rows->words, env);
    size_t n = rows->row_capacity = rows->max_rows;
    rows->row_start = gsai_alloc(env, n + 1, sizeof *rows->row_start);
    rows->label = gsai_alloc(env, n, sizeof *rows->label);
    rows->word = gsai_alloc(env, n, sizeof *rows->word);
    rows->weight = gsai_alloc(env, n, sizeof *rows->weight);
    rows->place = gsai_alloc(env, n, sizeof *rows->place);
    if (!rows->row_start || !rows->label || !rows->word || !rows->weight || !rows->place) {
        gsai_rows_free(rows);
        return gsai_fail_memory(env, error, "no memory for a batch of %zu rows", n);
    }
    gsai_rows_clear(rows);
    return GSA_OK;
}

void gsai_rows_free(gsai_rows *rows)
{
    void *arrays[] = {rows->row_start, rows->index, rows->value, rows->label,      rows->word, rows->weight,
                      rows->place,     rows->cell,  rows->kept,  rows->kept_start, rows->bad};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        gsai_free(rows->env, arrays[i]);
    gsai_words_free(&rows->words);
    *rows = (gsai_rows){.env = rows->env};
}

void gsai_rows_clear(gsai_rows *rows)
{
    rows->n_rows = 0;
    rows->n_values = rows->n_implied = rows->n_cells = rows->width = 0;
    rows->row_start[0] = 0;
    rows->all_ones = true;
    rows->any_word = rows->any_weight = rows->any_bad = false;
    rows->kept_size = 0;
    if (rows->keeps)
        rows->kept_start[0] = 0;
}

gsa_status gsai_rows_keep(gsai_rows *rows, gsa_error *error)
{
    if (rows->keeps)
        return GSA_OK;
    rows->kept_start = gsai_alloc_zeroed(rows->env, rows->row_capacity + 1, sizeof *rows->kept_start);
    rows->bad = gsai_alloc_zeroed(rows->env, rows->row_capacity, 1);
    rows->keeps = rows->kept_start && rows->bad;
    if (rows->keeps)
        return gsai_rows_keep_texts(rows, "", 0, error);
    gsai_free(rows->env, rows->kept_start);
    gsai_free(rows->env, rows->bad);
    rows->kept_start = NULL;
    rows->bad = NULL;
    return gsai_fail_memory(rows->env, error, "no memory for the texts of %zu rows", rows->row_capacity);
}

gsa_status gsai_rows_keep_texts(gsai_rows *rows, const char *texts, size_t size, gsa_error *error)
{
    size_t need;
    GSAI_TRY_MEMORY(gsai_add(rows->kept_size, size + 1, &need) &&
                        gsai_reserve(rows->env, &rows->kept, &rows->kept_capacity, need, 1),
                    rows->env, error, "no memory for the texts of a row");
    memcpy(rows->kept + rows->kept_size, texts, size);
    rows->kept_size += size;
    return GSA_OK;
}

void gsai_rows_finish_bad(gsai_rows *rows, gsa_place place)
{
    if (rows->width > 0)
        memset(rows->value + rows->n_values, 0, rows->width * sizeof *rows->value);
    gsai_rows_finish(rows, rows->width, rows->width == 0, 0, -1, place);
    rows->bad[rows->n_rows - 1] = 1;
    rows->any_bad = true;
}

/* Room for n more ids and values, of which those before them that are implied are written now. */
static bool reserve_values(gsai_rows *rows, size_t need)
{
    bool has_room = gsai_reserve(rows->env, &rows->index, &rows->index_capacity, need, sizeof *rows->index) &&
                    gsai_reserve(rows->env, &rows->value, &rows->value_capacity, need, sizeof *rows->value);
    while (has_room && rows->n_implied > 0)
        rows->value[--rows->n_implied] = 1;
    return has_room;
}

gsa_status gsai_rows_reserve(gsai_rows *rows, size_t n, gsa_error *error)
{
    size_t need;
    bool has_room = gsai_add(rows->n_values, n, &need) && reserve_values(rows, need);
    return has_room ? GSA_OK : gsai_fail_memory(rows->env, error, "no memory for a row of up to %zu values", n);
}

/* An array that is longer than row_capacity says, because another could not follow, does no harm. */
static bool reserve_rows(gsai_rows *rows, size_t need)
{
    size_t had = rows->row_capacity, n[] = {had, had, had, had, had, had, had};
    if (need <= had)
        return true;
    bool has_room = gsai_reserve(rows->env, &rows->row_start, &n[0], need + 1, sizeof *rows->row_start) &&
                    gsai_reserve(rows->env, &rows->label, &n[1], need, sizeof *rows->label) &&
                    gsai_reserve(rows->env, &rows->word, &n[2], need, sizeof *rows->word) &&
                    gsai_reserve(rows->env, &rows->weight, &n[3], need, sizeof *rows->weight) &&
                    gsai_reserve(rows->env, &rows->place, &n[4], need, sizeof *rows->place);
    if (has_room && rows->keeps)
        has_room = gsai_reserve(rows->env, &rows->bad, &n[5], need, 1) &&
                   gsai_reserve(rows->env, &rows->kept_start, &n[6], need + 1, sizeof *rows->kept_start);
    n[0]--; /* one more than there are rows */
    n[6] -= rows->keeps;
    for (size_t i = 0; i < (rows->keeps ? 7u : 5u) && has_room; i++)
        rows->row_capacity = i == 0 || n[i] < rows->row_capacity ? n[i] : rows->row_capacity;
    return has_room;
}

gsa_status gsai_rows_reserve_block(gsai_rows *rows, size_t n_rows, size_t n, bool has_values, gsa_error *error)
{
    size_t need_rows = 0, need = 0;
    bool is_implied = !has_values && rows->n_implied == rows->n_values;
    bool has_room = gsai_add(rows->n_rows, n_rows, &need_rows) && gsai_add(rows->n_values, n, &need) &&
                    reserve_rows(rows, need_rows);
    need |= 1; /* never without memory */
    if (has_room)
        has_room = is_implied ? gsai_reserve(rows->env, &rows->index, &rows->index_capacity, need, sizeof *rows->index)
                              : reserve_values(rows, need);
    return has_room ? GSA_OK : gsai_fail_memory(rows->env, error, "no memory for %zu rows of %zu values", n_rows, n);
}

gsa_status gsai_rows_reserve_dense(gsai_rows *rows, size_t n_rows, size_t width, gsa_error *error)
{
    size_t need_rows = 0, need = 0;
    bool has_room = gsai_add(rows->n_rows, n_rows, &need_rows) && gsai_multiply(n_rows, width, &need) &&
                    gsai_add(rows->n_values, need, &need) && reserve_rows(rows, need_rows) &&
                    gsai_reserve(rows->env, &rows->value, &rows->value_capacity, need, sizeof *rows->value);
    rows->width = has_room ? width : rows->width;
    return has_room ? GSA_OK
                    : gsai_fail_memory(rows->env, error, "no memory for %zu rows of %zu values", n_rows, width);
}

gsa_status gsai_rows_make_sparse(gsai_rows *rows, gsa_error *error)
{
    size_t width = rows->width, n = 0;
    if (width == 0)
        return GSA_OK;
    GSAI_TRY_MEMORY(
        gsai_reserve(rows->env, &rows->index, &rows->index_capacity, rows->n_values | 1, sizeof *rows->index),
        rows->env, error, "no memory for the ids of %zu values", rows->n_values);
    for (size_t r = 0, from = 0; r < rows->n_rows; r++) {
        for (size_t i = 0; i < width; i++, from++) {
            rows->index[n] = (uint32_t)i;
            rows->value[n] = rows->value[from];
            n += rows->value[n] != 0;
        }
        rows->row_start[r + 1] = (int64_t)n;
    }
    rows->n_values = n;
    rows->width = 0;
    return GSA_OK;
}

void gsai_rows_finish_block(gsai_rows *rows, size_t n_rows, bool has_values, bool all_ones)
{
    size_t before = rows->n_values;
    rows->n_rows += n_rows;
    rows->n_values = (size_t)rows->row_start[rows->n_rows];
    rows->all_ones = rows->all_ones && all_ones;
    if (!has_values && rows->n_implied == before)
        rows->n_implied = rows->n_values;
    for (size_t i = before; i < rows->n_values && !has_values && rows->n_implied == 0; i++)
        rows->value[i] = 1;
}

gsa_status gsai_rows_reserve_cells(gsai_rows *rows, size_t n, gsa_error *error)
{
    size_t need;
    GSAI_TRY_MEMORY(gsai_add(rows->n_cells, n, &need) &&
                        gsai_reserve(rows->env, &rows->cell, &rows->cell_capacity, need, sizeof *rows->cell),
                    rows->env, error, "no memory for a row of %zu cells", n);
    if (n > 0)
        memset(rows->cell + rows->n_cells, 0, n * sizeof *rows->cell);
    return GSA_OK;
}

void gsai_rows_finish(gsai_rows *rows, size_t n, bool all_ones, double label, int32_t word, gsa_place place)
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
    if (!rows->keeps)
        return;
    rows->kept_start[row + 1] = rows->kept_size;
    rows->bad[row] = 0;
}

uint64_t gsai_rows_size(const gsai_rows *rows)
{
    size_t row_size =
        sizeof *rows->row_start + sizeof *rows->label + sizeof *rows->word + sizeof *rows->weight + sizeof *rows->place;
    return (uint64_t)rows->row_capacity * row_size + rows->index_capacity * sizeof *rows->index +
           rows->value_capacity * sizeof *rows->value;
}

gsa_status gsai_rows_word(gsai_rows *rows, const char *text, size_t size, uint64_t line, uint64_t byte, int32_t *out,
                          gsa_error *error)
{
    gsa_status status = gsai_words_enter(&rows->words, text, size, out, error);
    if (status != GSA_OK && error) {
        error->line = line;
        error->byte = byte;
    }
    return status;
}

/* The number of a row's word in the rows that it goes to. */
static gsa_status number_word(gsai_rows *rows, gsai_rows_source *from, size_t row, int32_t *out, gsa_error *error)
{
    const gsai_rows *other = from->rows;
    *out = other->word[row];
    if (*out < 0)
        return GSA_OK;
    size_t number = (size_t)*out;
    GSAI_TRY_MEMORY(
        gsai_reserve(rows->env, &from->word, &from->word_capacity, other->words.n_words, sizeof *from->word), rows->env,
        error, "no memory for the label words");
    while (from->n_words <= number)
        from->word[from->n_words++] = -1;
    gsa_status status = GSA_OK;
    if (from->word[number] < 0) {
        const char *text = other->words.word[number];
        status = gsai_rows_word(rows, text, strlen(text), from->n_lines + other->place[row].line,
                                other->place[row].byte, &from->word[number], error);
    }
    *out = from->word[number];
    return status;
}

/* Whether none of these values is needed, tested only where it is not known. */
static bool are_ones(const float *value, size_t n)
{
    size_t i = 0;
    while (i < n && value[i] == 1)
        i++;
    return i == n;
}

gsa_status gsai_rows_append(gsai_rows *rows, gsai_rows_source *from, gsa_error *error)
{
    const gsai_rows *other = from->rows;
    if (from->n_taken == other->n_rows)
        return GSA_OK;
    size_t n_cells = other->n_cells / other->n_rows; /* of a row */
    size_t n_left = other->n_rows - from->n_taken, n_values = (size_t)other->row_start[from->n_taken];
    gsa_status status = gsai_rows_reserve(rows, other->n_values - n_values + 1, error);
    if (status == GSA_OK && n_cells > 0)
        status = gsai_rows_reserve_cells(rows, n_left * n_cells, error);
    for (size_t r = from->n_taken; status == GSA_OK && r < other->n_rows && !gsai_rows_full(rows); r++) {
        size_t start = (size_t)other->row_start[r], n = (size_t)other->row_start[r + 1] - start;
        int32_t word;
        status = number_word(rows, from, r, &word, error);
        if (status != GSA_OK)
            return status;
        memcpy(rows->index + rows->n_values, other->index + start, n * sizeof *rows->index);
        memcpy(rows->value + rows->n_values, other->value + start, n * sizeof *rows->value);
        if (other->keeps)
            status = gsai_rows_keep_texts(rows, other->kept + other->kept_start[r],
                                          other->kept_start[r + 1] - other->kept_start[r], error);
        if (status != GSA_OK)
            return status;
        if (n_cells > 0)
            memcpy(rows->cell + rows->n_cells, other->cell + r * n_cells, n_cells * sizeof *rows->cell);
        rows->n_cells += n_cells;
        gsa_place place = other->place[r];
        place.line += from->n_lines;
        bool all_ones = other->all_ones || (rows->all_ones && are_ones(other->value + start, n));
        gsai_rows_finish(rows, n, all_ones, other->label[r], word, place);
        gsai_rows_weigh(rows, other->weight[r]);
        if (other->keeps && other->bad[r])
            rows->bad[rows->n_rows - 1] = rows->any_bad = true;
        from->n_taken = r + 1;
    }
    return status;
}

void gsai_rows_view(const gsai_rows *rows, gsa_batch *out)
{
    bool is_dense = rows->width > 0;
    *out = (gsa_batch){.n_rows = rows->n_rows,
                       .row_start = is_dense ? NULL : rows->row_start,
                       .index = is_dense ? NULL : rows->index,
                       .width = rows->width,
                       .value = rows->all_ones ? NULL : rows->value,
                       .label = rows->without_labels ? NULL : rows->label,
                       .word = rows->any_word && !rows->without_labels ? rows->word : NULL,
                       .words = (const char *const *)rows->words.word,
                       .n_words = rows->words.n_words,
                       .weight = rows->any_weight ? rows->weight : NULL,
                       .place = rows->place,
                       .kept = rows->keeps ? rows->kept : NULL,
                       .kept_start = rows->kept_start,
                       .bad = rows->any_bad ? rows->bad : NULL};
}
