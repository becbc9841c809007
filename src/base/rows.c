/* Rows that grow. */
#include "base/rows.h"

#include "base/batch.h"
#include "base/error.h"
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

void gsai_rows_init(gsai_rows *rows, size_t max_rows, size_t max_values, const gsai_env *env)
{
    *rows = (gsai_rows){.env = env,
                        .max_rows = max_rows ? max_rows : GSAI_BATCH_ROWS,
                        .max_values = max_values ? max_values : GSAI_BATCH_VALUES,
                        .words = {.env = env}};
    gsai_rows_clear(rows);
}

void gsai_rows_free(gsai_rows *rows)
{
    void *arrays[] = {rows->row_start, rows->index, rows->value, rows->label,      rows->word, rows->weight,
                      rows->place,     rows->cell,  rows->kept,  rows->kept_start, rows->bad,  rows->group};
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
    rows->has_values = rows->any_word = rows->any_weight = rows->any_bad = rows->any_group = false;
}

uint64_t gsai_rows_size(const gsai_rows *rows)
{
    size_t row_size = sizeof *rows->row_start + sizeof *rows->label + sizeof *rows->word + sizeof *rows->weight +
                      (rows->without_places ? 0 : sizeof *rows->place) + (rows->group ? sizeof *rows->group : 0);
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
                  {&rows->group, sizeof *rows->group, rows->group, rows->group},
                  {&rows->bad, sizeof *rows->bad, rows->bad, rows->bad},
                  {&rows->kept_start, sizeof *rows->kept_start, rows->kept_start, rows->kept_start}};
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
    size_t n = rows->row_capacity + 1;
    if (rows->keeps)
        return GSA_OK;
    if (!rows->kept_start)
        rows->kept_start = gsai_alloc_zeroed(rows->env, n, sizeof *rows->kept_start);
    if (!rows->bad)
        rows->bad = gsai_alloc_zeroed(rows->env, n, 1);
    GSAI_TRY_MEMORY(rows->kept_start && rows->bad, rows->env, error, "no memory for the texts of %zu rows", n);
    rows->keeps = true;
    return gsai_rows_keep_texts(rows, "", 0, error);
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
    if (rows->group)
        rows->group[row] = 0;
    if (!rows->keeps)
        return;
    rows->kept_start[row + 1] = rows->kept_size;
    rows->bad[row] = 0;
}

gsa_status gsai_rows_begin_groups(gsai_rows *rows, bool is_time, gsa_error *error)
{
    if (!rows->group)
        rows->group = gsai_alloc_zeroed(rows->env, rows->row_capacity + 1, sizeof *rows->group);
    GSAI_TRY_MEMORY(rows->group, rows->env, error, "no memory for the groups of %zu rows", rows->n_rows);
    rows->any_group = true;
    rows->group_is_time = is_time;
    return GSA_OK;
}

gsa_status gsai_rows_set_group(gsai_rows *rows, uint64_t group, bool is_time, gsa_error *error)
{
    GSA_TRY(gsai_rows_begin_groups(rows, is_time, error));
    rows->group[rows->n_rows - 1] = group;
    return GSA_OK;
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
    size_t need = rows->n_values | 1;
    GSAI_TRY_MEMORY(gsai_reserve(rows->env, &rows->index, &rows->index_capacity, need, sizeof *rows->index) &&
                        gsai_reserve(rows->env, &rows->value, &rows->value_capacity, need, sizeof *rows->value),
                    rows->env, error, "no memory for the ids of %zu values", rows->n_values);
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
    for (size_t r = 0; r < n && rows->group; r++)
        rows->group[at + r] = from->group ? from->group[first + r] : 0;
    if (rows->without_places)
        return;
    if (from->place)
        memcpy(rows->place + at, from->place + first, n * sizeof *rows->place);
    else
        memset(rows->place + at, 0, n * sizeof *rows->place);
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
    if (from->group)
        GSA_TRY(gsai_rows_begin_groups(rows, from->group_is_time, error));
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
        size_t row = first + r;
        if (words && rows->word[at] >= 0)
            status = number_word(rows, from, row, words, &rows->word[at], error);
        if (status == GSA_OK && from->kept)
            status = gsai_rows_keep_texts(rows, from->kept + from->kept_start[row],
                                          from->kept_start[row + 1] - from->kept_start[row], error);
        if (status == GSA_OK && rows->keeps) {
            rows->kept_start[at + 1] = rows->kept_size;
            rows->bad[at] = from->bad ? from->bad[row] : 0;
            rows->any_bad = rows->any_bad || rows->bad[at];
        }
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
                       .group = rows->any_group ? rows->group : NULL,
                       .group_is_time = rows->group_is_time,
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
    slice.group = batch->group ? batch->group + first : NULL;
    slice.place = batch->place ? batch->place + first : NULL;
    slice.kept_start = batch->kept_start ? batch->kept_start + first : NULL;
    slice.bad = batch->bad ? batch->bad + first : NULL;
    return slice;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* The beginning of packed rows. The arrays follow, as far as they have them, and the words, each with its NUL. */
typedef struct packed_head {
    uint64_t n_rows, n_values, words_size;
    uint32_t has_values, has_words, has_weights, groups; /* groups: 1, or 2: moments */
} packed_head;

enum { START, LABEL, GROUP, INDEX, VALUE, WORD, WEIGHT, WORDS, PACKED };

/* Fills in the bytes of each array, as they follow one another. */
static void size_packed(const packed_head *head, uint64_t size[PACKED])
{
    const gsa_batch *of = NULL;
    size[START] = (head->n_rows + 1) * sizeof *of->row_start;
    size[LABEL] = head->n_rows * sizeof *of->label;
    size[GROUP] = head->groups > 0 ? head->n_rows * sizeof *of->group : 0;
    size[INDEX] = head->n_values * sizeof *of->index;
    size[VALUE] = head->has_values ? head->n_values * sizeof *of->value : 0;
    size[WORD] = head->has_words ? head->n_rows * sizeof *of->word : 0;
    size[WEIGHT] = head->has_weights ? head->n_rows * sizeof *of->weight : 0;
    size[WORDS] = head->words_size;
}

int gsai_rows_pack(const gsa_batch *from, size_t first, size_t n, gsa_write_fn write, void *ctx)
{
    const size_t start = gsai_batch_start(from, first);
    const void *const array[] = {from->row_start + first,
                                 from->label + first,
                                 from->group ? from->group + first : NULL,
                                 from->index + start,
                                 from->value ? from->value + start : NULL,
                                 from->word ? from->word + first : NULL,
                                 from->weight ? from->weight + first : NULL};
    packed_head head = {.n_rows = n,
                        .n_values = gsai_batch_start(from, first + n) - start,
                        .has_values = from->value != NULL,
                        .has_words = from->word != NULL,
                        .has_weights = from->weight != NULL,
                        .groups = from->group ? 1 + (from->group_is_time != 0) : 0};
    uint64_t size[PACKED];
    for (size_t i = 0; from->word && i < from->n_words; i++)
        head.words_size += strlen(from->words[i]) + 1;
    size_packed(&head, size);
    int failed = write(ctx, &head, sizeof head);
    for (size_t i = 0; i < WORDS && !failed; i++)
        failed = size[i] > 0 ? write(ctx, array[i], (size_t)size[i]) : 0;
    for (size_t i = 0; from->word && i < from->n_words && !failed; i++)
        failed = write(ctx, from->words[i], strlen(from->words[i]) + 1);
    return failed;
}

/* Views packed rows, which begin with 0, as a batch, and enters their words. Returns GSA_FORMAT if they make no sense.
 */
static gsa_status read_packed(gsai_rows *rows, const packed_head *head, unsigned char *bytes, size_t n_bytes,
                              gsa_batch *out, gsai_word_map *words, gsa_error *error)
{
    const size_t n = (size_t)head->n_rows, n_values = (size_t)head->n_values;
    uint64_t size[PACKED], before = 0;
    void *at[PACKED] = {NULL};
    bool is_sound = head->n_rows < n_bytes && head->n_values <= n_bytes; /* so that no size is wrong */
    size_packed(head, size);
    for (size_t i = 0; i < PACKED && is_sound; i++) {
        at[i] = bytes + before;
        is_sound = size[i] <= n_bytes - before;
        before += size[i];
    }
    *out = (gsa_batch){.n_rows = n,
                       .row_start = at[START],
                       .label = at[LABEL],
                       .index = at[INDEX],
                       .value = head->has_values ? at[VALUE] : NULL,
                       .word = head->has_words ? at[WORD] : NULL,
                       .weight = head->has_weights ? at[WEIGHT] : NULL,
                       .group = head->groups > 0 ? at[GROUP] : NULL,
                       .group_is_time = head->groups == 2};
    int64_t *row_start = at[START];
    const char *texts = at[WORDS];
    is_sound = is_sound && before == n_bytes && (size[WORDS] == 0 || texts[size[WORDS] - 1] == '\0') &&
               gsai_batch_check(out, NULL, n, 0, NULL) == GSA_OK &&
               (uint64_t)row_start[n] - (uint64_t)row_start[0] == n_values;
    for (size_t i = 0; i < n_values && is_sound; i++)
        is_sound = out->index[i] <= GSA_MAX_ID;
    for (size_t i = 0; is_sound && i < size[WORDS]; i += strlen(texts + i) + 1) {
        GSAI_TRY_MEMORY(gsai_reserve(rows->env, &words->number, &words->capacity, words->n + 1, sizeof *words->number),
                        rows->env, error, "no memory for the label words");
        GSA_TRY(gsai_words_enter(&rows->words, texts + i, strlen(texts + i), &words->number[words->n++], error));
    }
    for (size_t r = 0; r < n && is_sound && out->word; r++)
        is_sound = out->word[r] < 0 || (size_t)out->word[r] < words->n;
    if (!is_sound)
        return gsai_fail(error, GSA_FORMAT, "cannot take rows of another process: their bytes are damaged");
    const int64_t start = row_start[0];
    for (size_t r = 0; r <= n; r++)
        row_start[r] -= start;
    return GSA_OK;
}

gsa_status gsai_rows_unpack(gsai_rows *rows, const void *bytes, size_t size, gsa_error *error)
{
    packed_head head = {.n_rows = UINT64_MAX};
    gsai_word_map words = {0};
    gsa_batch batch;
    size_t head_size = size < sizeof head ? 0 : sizeof head;
    memcpy(&head, bytes, head_size);
    /* A copy is aligned, as the bytes need not be. */
    unsigned char *copy = gsai_copy(rows->env, (const char *)bytes + head_size, size - head_size, 1);
    GSAI_TRY_MEMORY(copy, rows->env, error, "no memory for rows of another process");
    gsa_status status = read_packed(rows, &head, copy, size - head_size, &batch, &words, error);
    if (status == GSA_OK)
        status = gsai_rows_append(rows, &batch, 0, batch.n_rows, false, &words, error);
    gsai_free(rows->env, words.number);
    gsai_free(rows->env, copy);
    return status;
}
