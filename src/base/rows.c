/* Rows that grow. */
#include "base/rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

void gsai_rows_init(gsai_rows *rows, size_t max_rows, size_t max_values, const gsai_env *env)
{
    *rows = (gsai_rows){.env = env,
                        .max_rows = max_rows ? max_rows : GSAI_BATCH_ROWS,
                        .max_values = max_values ? max_values : GSAI_BATCH_VALUES};
    gsai_words_init(&rows->words, env);
    gsai_rows_clear(rows);
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
    rows->n_rows = rows->n_values = rows->n_cells = rows->width = rows->kept_size = 0;
    rows->index_view = NULL;
    rows->value_view = NULL;
    rows->all_ones = true;
    rows->has_values = rows->any_word = rows->any_weight = rows->any_bad = false;
}

uint64_t gsai_rows_size(const gsai_rows *rows)
{
    size_t row_size = sizeof *rows->row_start + sizeof *rows->label + sizeof *rows->word + sizeof *rows->weight +
                      (rows->without_places ? 0 : sizeof *rows->place);
    return (uint64_t)rows->row_capacity * row_size + rows->index_capacity * sizeof *rows->index +
           rows->value_capacity * sizeof *rows->value;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* An array that is longer than row_capacity says, because another could not follow, does no harm. */
static bool reserve_rows(gsai_rows *rows, size_t more)
{
    const struct {
        void *array;
        size_t element_size;
        bool is_there, is_wanted;
    } by_row[] = {{&rows->row_start, sizeof *rows->row_start, rows->row_start, true},
                  {&rows->label, sizeof *rows->label, rows->label, true},
                  {&rows->word, sizeof *rows->word, rows->word, true},
                  {&rows->weight, sizeof *rows->weight, rows->weight, true},
                  {&rows->place, sizeof *rows->place, rows->place, !rows->without_places},
                  {&rows->bad, sizeof *rows->bad, rows->bad, rows->keeps},
                  {&rows->kept_start, sizeof *rows->kept_start, rows->kept_start, rows->keeps}};
    size_t need, capacity = SIZE_MAX;
    if (!gsai_add(rows->n_rows, more, &need) || !gsai_add(need, 1, &need))
        return false;
    if (rows->row_start && need <= rows->row_capacity + 1)
        return true;
    if (rows->max_rows <= 2 * GSAI_BATCH_ROWS && need <= rows->max_rows)
        need = rows->max_rows + 1; /* a batch is reserved at once */
    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++) {
        size_t n = by_row[i].is_there ? rows->row_capacity + 1 : 0;
        if (by_row[i].is_wanted && !gsai_reserve(rows->env, by_row[i].array, &n, need, by_row[i].element_size))
            return false;
        capacity = by_row[i].is_wanted && n < capacity ? n : capacity;
    }
    rows->row_start[0] = 0;
    rows->row_capacity = capacity - 1;
    return true;
}

/* Values that were implied are written once others follow. */
static bool reserve_values(gsai_rows *rows, size_t need)
{
    if (!gsai_reserve(rows->env, &rows->value, &rows->value_capacity, need, sizeof *rows->value))
        return false;
    for (size_t i = 0; i < rows->n_values && !rows->has_values; i++)
        rows->value[i] = 1;
    rows->has_values = true;
    return true;
}

gsa_status gsai_rows_reserve_block(gsai_rows *rows, size_t n_rows, size_t n, bool has_values, gsa_error *error)
{
    size_t need;
    bool has_room = gsai_add(rows->n_values, n, &need) && reserve_rows(rows, n_rows);
    need |= 1; /* never without memory */
    has_room = has_room && gsai_reserve(rows->env, &rows->index, &rows->index_capacity, need, sizeof *rows->index) &&
               ((!has_values && !rows->has_values) || reserve_values(rows, need));
    return has_room ? GSA_OK
                    : gsai_fail_memory(rows->env, error, "no memory for %zu values after %zu rows", n, rows->n_rows);
}

gsa_status gsai_rows_reserve_dense(gsai_rows *rows, size_t n_rows, size_t width, gsa_error *error)
{
    size_t need;
    GSAI_TRY_MEMORY(gsai_multiply(n_rows, width, &need) && gsai_add(rows->n_values, need, &need) &&
                        reserve_rows(rows, n_rows) && reserve_values(rows, need),
                    rows->env, error, "no memory for %zu rows of %zu values", n_rows, width);
    rows->width = width;
    return GSA_OK;
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

/* ---- texts and words --------------------------------------------------------------------------------------------- */

gsa_status gsai_rows_keep(gsai_rows *rows, gsa_error *error)
{
    if (rows->keeps)
        return GSA_OK;
    size_t n = rows->row_capacity + 1;
    rows->kept_start = gsai_alloc_zeroed(rows->env, n, sizeof *rows->kept_start);
    rows->bad = gsai_alloc_zeroed(rows->env, n, 1);
    rows->keeps = rows->kept_start && rows->bad;
    if (rows->keeps)
        return gsai_rows_keep_texts(rows, "", 0, error);
    gsai_free(rows->env, rows->kept_start);
    gsai_free(rows->env, rows->bad);
    rows->kept_start = NULL;
    rows->bad = NULL;
    return gsai_fail_memory(rows->env, error, "no memory for the texts of %zu rows", n);
}

gsa_status gsai_rows_keep_texts(gsai_rows *rows, const char *texts, size_t size, gsa_error *error)
{
    size_t need;
    GSAI_TRY_MEMORY(gsai_add(rows->kept_size, size, &need) && gsai_add(need, 1, &need) &&
                        gsai_reserve(rows->env, &rows->kept, &rows->kept_capacity, need, 1),
                    rows->env, error, "no memory for the texts of a row");
    memcpy(rows->kept + rows->kept_size, texts, size);
    rows->kept_size += size;
    return GSA_OK;
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

/* Fills in the number that the word of a row has here. */
static gsa_status number_word(gsai_rows *rows, const gsa_batch *from, size_t row, gsai_word_map *words, int32_t *out,
                              gsa_error *error)
{
    size_t number = (size_t)from->word[row];
    GSAI_TRY_MEMORY(gsai_reserve(rows->env, &words->number, &words->capacity, number + 1, sizeof *words->number),
                    rows->env, error, "no memory for the label words");
    while (words->n <= number)
        words->number[words->n++] = -1;
    if (words->number[number] < 0) {
        const char *text = from->words[number];
        gsa_place place = from->place ? from->place[row] : (gsa_place){0};
        GSA_TRY(gsai_rows_word(rows, text, strlen(text), place.line, place.byte, &words->number[number], error));
    }
    *out = words->number[number];
    return GSA_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

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

gsa_status gsai_rows_finish_bad(gsai_rows *rows, gsa_place place, gsa_error *error)
{
    if (rows->width > 0) {
        GSA_TRY(gsai_rows_reserve_dense(rows, 1, rows->width, error));
        memset(rows->value + rows->n_values, 0, rows->width * sizeof *rows->value);
    } else {
        GSA_TRY(gsai_rows_reserve(rows, 0, error));
    }
    gsai_rows_finish(rows, rows->width, rows->width == 0, 0, -1, place);
    rows->bad[rows->n_rows - 1] = 1;
    rows->any_bad = true;
    return GSA_OK;
}

void gsai_rows_finish_block(gsai_rows *rows, size_t n_rows, bool has_values, bool all_ones)
{
    size_t before = rows->n_values;
    rows->n_rows += n_rows;
    rows->n_values = (size_t)rows->row_start[rows->n_rows];
    rows->all_ones = rows->all_ones && all_ones;
    for (size_t i = before; i < rows->n_values && !has_values && rows->has_values; i++)
        rows->value[i] = 1;
}

gsa_status gsai_rows_make_sparse(gsai_rows *rows, gsa_error *error)
{
    size_t width = rows->width, n = 0;
    if (width == 0)
        return GSA_OK;
    GSAI_TRY_MEMORY(
        gsai_reserve(rows->env, &rows->index, &rows->index_capacity, rows->n_values | 1, sizeof *rows->index),
        rows->env, error, "no memory for the ids of %zu values", rows->n_values);
    GSAI_TRY_MEMORY(
        gsai_reserve(rows->env, &rows->value, &rows->value_capacity, rows->n_values | 1, sizeof *rows->value),
        rows->env, error, "no memory for %zu values", rows->n_values);
    const float *value = rows->value_view ? rows->value_view : rows->value;
    for (size_t r = 0, from = 0; r < rows->n_rows; r++) {
        for (size_t i = 0; i < width; i++, from++) {
            rows->index[n] = (uint32_t)i;
            rows->value[n] = value[from];
            n += rows->value[n] != 0;
        }
        rows->row_start[r + 1] = (int64_t)n;
    }
    rows->n_values = n;
    rows->width = 0;
    rows->value_view = NULL;
    rows->has_values = true;
    return GSA_OK;
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Writes the entries of rows that are appended, without zeros, and where each row ends. */
static void copy_entries(gsai_rows *rows, const gsa_batch *from, size_t first, size_t n)
{
    size_t at = rows->n_values, start = gsai_batch_start(from, first), end = gsai_batch_start(from, first + n);
    int64_t *row_start = rows->row_start + rows->n_rows + 1;
    int n_zero = 0;
    for (size_t i = start; i < end && from->value; i++)
        n_zero |= from->value[i] == 0;
    if (from->index && n_zero == 0) {
        if (end > start)
            memcpy(rows->index + at, from->index + start, (end - start) * sizeof *rows->index);
        if (end > start && from->value)
            memcpy(rows->value + at, from->value + start, (end - start) * sizeof *rows->value);
        for (size_t r = 0; r < n; r++)
            row_start[r] = from->row_start[first + r + 1] + ((int64_t)at - (int64_t)start);
        return;
    }
    for (size_t r = 0; r < n; r++) {
        size_t begin = gsai_batch_start(from, first + r);
        end = gsai_batch_start(from, first + r + 1);
        for (size_t i = begin; i < end; i++) {
            rows->index[at] = from->index ? from->index[i] : (uint32_t)(i - begin);
            if (from->value)
                rows->value[at] = from->value[i];
            at += !from->value || from->value[i] != 0;
        }
        row_start[r] = (int64_t)at;
    }
}

/* Copies what rows have one element of. */
static void copy_columns(gsai_rows *rows, const gsa_batch *from, size_t first, size_t n)
{
    size_t at = rows->n_rows;
    uint32_t n_words = 0, n_weights = 0;
    if (from->label)
        memcpy(rows->label + at, from->label + first, n * sizeof *rows->label);
    else
        memset(rows->label + at, 0, n * sizeof *rows->label);
    for (size_t r = 0; r < n; r++) {
        rows->word[at + r] = from->word ? from->word[first + r] : -1;
        rows->weight[at + r] = from->weight ? from->weight[first + r] : 1;
        n_words |= rows->word[at + r] >= 0;
        n_weights |= rows->weight[at + r] != 1;
    }
    rows->any_word = rows->any_word || n_words > 0;
    rows->any_weight = rows->any_weight || n_weights > 0;
    if (rows->without_places)
        return;
    if (from->place)
        memcpy(rows->place + at, from->place + first, n * sizeof *rows->place);
    else
        memset(rows->place + at, 0, n * sizeof *rows->place);
}

/* Copies the texts of a row, to row r, and whether it is a bad one. */
static gsa_status copy_kept(gsai_rows *rows, size_t r, const gsa_batch *from, size_t row, gsa_error *error)
{
    if (from->kept)
        GSA_TRY(gsai_rows_keep_texts(rows, from->kept + from->kept_start[row],
                                     from->kept_start[row + 1] - from->kept_start[row], error));
    rows->kept_start[r + 1] = rows->kept_size;
    rows->bad[r] = from->bad ? from->bad[row] : 0;
    rows->any_bad = rows->any_bad || rows->bad[r];
    return GSA_OK;
}

gsa_status gsai_rows_append(gsai_rows *rows, const gsa_batch *from, size_t first, size_t n, bool is_dense,
                            gsai_word_map *words, gsa_error *error)
{
    size_t start = gsai_batch_start(from, first), n_values = gsai_batch_start(from, first + n) - start;
    const bool has_values = from->value != NULL;
    bool all_ones = !is_dense && (!has_values || rows->all_ones);
    if (from->kept || from->bad)
        GSA_TRY(gsai_rows_keep(rows, error));
    gsai_rows_begin_texts(rows);
    if (is_dense) {
        GSA_TRY(gsai_rows_reserve_dense(rows, n, from->width, error));
        memcpy(rows->value + rows->n_values, from->value + start, n_values * sizeof *rows->value);
        for (size_t r = 1; r <= n; r++)
            rows->row_start[rows->n_rows + r] = (int64_t)(rows->n_values + r * from->width);
    } else {
        GSA_TRY(gsai_rows_make_sparse(rows, error));
        GSA_TRY(gsai_rows_reserve_block(rows, n, n_values, has_values, error));
        copy_entries(rows, from, first, n);
    }
    copy_columns(rows, from, first, n);
    gsa_status status = GSA_OK;
    for (size_t r = 0, at = rows->n_rows; r < n && ((from->word && words) || rows->keeps); r++, at++) {
        if (words && rows->word[at] >= 0)
            status = number_word(rows, from, first + r, words, &rows->word[at], error);
        if (status == GSA_OK && rows->keeps)
            status = copy_kept(rows, at, from, first + r, error);
        if (status != GSA_OK)
            n = r;
    }
    for (size_t i = start; i < start + n_values && has_values && all_ones; i++)
        all_ones = from->value[i] == 1;
    gsai_rows_finish_block(rows, n, has_values, all_ones);
    return status;
}

size_t gsai_batch_count(const gsa_batch *batch, size_t first, size_t max_rows, size_t max_values)
{
    size_t n = 1, start = gsai_batch_start(batch, first);
    while (n < max_rows && first + n < batch->n_rows && gsai_batch_start(batch, first + n) - start < max_values)
        n++;
    return n;
}

gsa_batch gsai_rows_view(const gsai_rows *rows)
{
    bool is_dense = rows->width > 0;
    return (gsa_batch){.n_rows = rows->n_rows,
                       .row_start = is_dense ? NULL : rows->row_start,
                       .index = is_dense           ? NULL
                                : rows->index_view ? rows->index_view
                                                   : rows->index,
                       .width = rows->width,
                       .value = rows->all_ones     ? NULL
                                : rows->value_view ? rows->value_view
                                                   : rows->value,
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

gsa_batch gsai_batch_slice(const gsa_batch *batch, size_t first, size_t n)
{
    gsa_batch slice = *batch;
    slice.n_rows = n;
    slice.row_start = batch->row_start ? batch->row_start + first : NULL;
    slice.value = batch->index || !batch->value ? batch->value : batch->value + first * batch->width;
    slice.label = batch->label ? batch->label + first : NULL;
    slice.word = batch->word ? batch->word + first : NULL;
    slice.weight = batch->weight ? batch->weight + first : NULL;
    slice.place = batch->place ? batch->place + first : NULL;
    slice.kept_start = batch->kept_start ? batch->kept_start + first : NULL;
    slice.bad = batch->bad ? batch->bad + first : NULL;
    return slice;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Before the arrays of packed rows: row_start, label, index, value, word and weight, as far as they have them, and the
 * words, each with its NUL. */
typedef struct packed_head {
    uint64_t n_rows, n_values, words_size;
    int64_t start; /* that row_start begins with */
    uint32_t has_values, has_words, has_weights, unused;
} packed_head;

int gsai_rows_pack(const gsa_batch *from, size_t first, size_t n, gsa_write_fn write, void *ctx)
{
    const size_t start = gsai_batch_start(from, first), n_values = gsai_batch_start(from, first + n) - start;
    packed_head head = {.n_rows = n,
                        .n_values = n_values,
                        .start = (int64_t)start,
                        .has_values = from->value != NULL,
                        .has_words = from->word != NULL,
                        .has_weights = from->weight != NULL};
    for (size_t i = 0; from->word && i < from->n_words; i++)
        head.words_size += strlen(from->words[i]) + 1;
    const struct {
        const void *at;
        size_t size;
    } array[] = {{&head, sizeof head},
                 {from->row_start + first, (n + 1) * sizeof *from->row_start},
                 {from->label + first, n * sizeof *from->label},
                 {from->index + start, n_values * sizeof *from->index},
                 {from->value ? from->value + start : NULL, from->value ? n_values * sizeof *from->value : 0},
                 {from->word ? from->word + first : NULL, from->word ? n * sizeof *from->word : 0},
                 {from->weight ? from->weight + first : NULL, from->weight ? n * sizeof *from->weight : 0}};
    int failed = 0;
    for (size_t i = 0; i < sizeof array / sizeof *array && !failed; i++)
        failed = array[i].size > 0 ? write(ctx, array[i].at, array[i].size) : 0;
    for (size_t i = 0; from->word && i < from->n_words && !failed; i++)
        failed = write(ctx, from->words[i], strlen(from->words[i]) + 1);
    return failed;
}

/* Moves n elements from the front of the bytes that are left; false if there are fewer. */
static bool take(const unsigned char **from, size_t *left, void *to, uint64_t n, size_t element_size)
{
    if (n > *left / element_size)
        return false;
    size_t size = (size_t)n * element_size;
    if (size > 0)
        memcpy(to, *from, size);
    *from += size;
    *left -= size;
    return true;
}

static gsa_status fail_packed(gsa_error *error)
{
    return gsai_fail(error, GSA_FORMAT, "cannot take rows of another process: their bytes are damaged");
}

/* Gives packed rows the numbers that their words have here: `texts` has them in the order of theirs. */
static gsa_status renumber_words(gsai_rows *rows, size_t n_rows, const char *texts, size_t size, gsa_error *error)
{
    gsai_word_map words = {0};
    gsa_status status = GSA_OK;
    int32_t *word = rows->word + rows->n_rows;
    for (size_t at = 0; at < size && status == GSA_OK; at += strlen(texts + at) + 1) {
        if (!gsai_reserve(rows->env, &words.number, &words.capacity, words.n + 1, sizeof *words.number))
            status = gsai_fail_memory(rows->env, error, "no memory for the label words");
        else
            status = gsai_words_enter(&rows->words, texts + at, strlen(texts + at), &words.number[words.n++], error);
    }
    for (size_t r = 0; r < n_rows && status == GSA_OK; r++) {
        if (word[r] >= 0 && (size_t)word[r] >= words.n)
            status = fail_packed(error);
        else
            word[r] = word[r] >= 0 ? words.number[word[r]] : -1;
    }
    gsai_free(rows->env, words.number);
    return status;
}

gsa_status gsai_rows_unpack(gsai_rows *rows, const void *bytes, size_t size, gsa_error *error)
{
    static const gsa_place nowhere = {0, 0, 0};
    const unsigned char *at = bytes;
    packed_head head;
    if (!take(&at, &size, &head, 1, sizeof head) || head.n_rows > size / sizeof *rows->row_start ||
        head.n_values > size / sizeof *rows->index)
        return fail_packed(error);
    size_t n = (size_t)head.n_rows, n_values = (size_t)head.n_values, before = rows->n_rows;
    GSA_TRY(gsai_rows_make_sparse(rows, error));
    GSA_TRY(gsai_rows_reserve_block(rows, n, n_values, head.has_values, error));
    int64_t start = 0, *row_start = rows->row_start + before;
    uint32_t *index = rows->index + rows->n_values, n_bad = 0;
    if (!take(&at, &size, &start, 1, sizeof start) || !take(&at, &size, row_start + 1, n, sizeof *row_start) ||
        !take(&at, &size, rows->label + before, n, sizeof *rows->label) ||
        !take(&at, &size, index, n_values, sizeof *index) ||
        (head.has_values && !take(&at, &size, rows->value + rows->n_values, n_values, sizeof *rows->value)) ||
        (head.has_words && !take(&at, &size, rows->word + before, n, sizeof *rows->word)) ||
        (head.has_weights && !take(&at, &size, rows->weight + before, n, sizeof *rows->weight)) ||
        size != head.words_size || (size > 0 && at[size - 1] != '\0') || start != head.start)
        return fail_packed(error);
    for (size_t i = 0; i < n_values; i++)
        n_bad |= index[i] > GSA_MAX_ID;
    for (size_t r = 0; r < n && n_bad == 0; r++) {
        n_bad = row_start[r + 1] < start || (uint64_t)row_start[r + 1] - (uint64_t)head.start > head.n_values;
        start = row_start[r + 1];
    }
    if (n_bad > 0 || (uint64_t)start - (uint64_t)head.start != head.n_values)
        return fail_packed(error);
    for (size_t r = 0; r < n; r++) {
        row_start[r + 1] = (int64_t)rows->n_values + (row_start[r + 1] - head.start);
        if (!head.has_words)
            rows->word[before + r] = -1;
        if (!head.has_weights)
            rows->weight[before + r] = 1;
        if (!rows->without_places)
            rows->place[before + r] = nowhere;
    }
    if (head.has_words)
        GSA_TRY(renumber_words(rows, n, (const char *)at, size, error));
    rows->any_word = rows->any_word || head.has_words;
    rows->any_weight = rows->any_weight || head.has_weights;
    gsai_rows_finish_block(rows, n, head.has_values, !head.has_values);
    return GSA_OK;
}
