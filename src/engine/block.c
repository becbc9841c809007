/* Gathering rows into blocks.
 *
 *   B1  rows [0, n_rows) of the block are consecutive rows of the input;
 *   B2  `pending` is what is left of the reader's last batch, from row pending_row on; it is copied before the reader
 * is asked again. */
#include "engine/block.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

struct gsa__block {
    gsa_env env;
    size_t n_rows, n_entries;
    int has_words, has_values, has_weights, complete, is_last;
    int64_t *row_start;
    double *label;
    int32_t *word;
    float *weight;
    gsa_place *place;
    uint32_t *index;
    float *value;
    size_t index_capacity, value_capacity;
    const char **words; /* a copy of the reader's table, which may move; the words themselves stay */
    size_t n_words, words_capacity;
    gsa_batch pending;
    size_t pending_row;
};

gsa_status gsa__block_new(const gsa_env *env, gsa__block **out, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    gsa__block *block = gsa__alloc_zeroed(&resolved, 1, sizeof *block);
    if (!block)
        return gsa__fail_memory(&resolved, error, "no memory for a block of rows");
    block->env = resolved;
    block->row_start = gsa__alloc_zeroed(&resolved, GSA_BLOCK_ROWS + 1, sizeof *block->row_start);
    block->label = gsa__alloc(&resolved, GSA_BLOCK_ROWS, sizeof *block->label);
    block->word = gsa__alloc(&resolved, GSA_BLOCK_ROWS, sizeof *block->word);
    block->weight = gsa__alloc(&resolved, GSA_BLOCK_ROWS, sizeof *block->weight);
    block->place = gsa__alloc(&resolved, GSA_BLOCK_ROWS, sizeof *block->place);
    if (!block->row_start || !block->label || !block->word || !block->weight || !block->place) {
        gsa__block_free(block);
        return gsa__fail_memory(&resolved, error, "no memory for a block of rows");
    }
    *out = block;
    return GSA_OK;
}

void gsa__block_free(gsa__block *block)
{
    if (!block)
        return;
    gsa_env env = block->env;
    gsa__free(&env, block->row_start);
    gsa__free(&env, block->label);
    gsa__free(&env, block->word);
    gsa__free(&env, block->weight);
    gsa__free(&env, block->place);
    gsa__free(&env, block->index);
    gsa__free(&env, block->value);
    gsa__free(&env, block->words);
    gsa__free(&env, block);
}

uint64_t gsa__block_size(const gsa__block *block)
{
    size_t row_size = sizeof *block->row_start + sizeof *block->label + sizeof *block->word + sizeof *block->weight +
                      sizeof *block->place;
    return (uint64_t)GSA_BLOCK_ROWS * row_size + block->index_capacity * sizeof *block->index +
           block->value_capacity * sizeof *block->value;
}

static void empty(gsa__block *block)
{
    block->n_rows = block->n_entries = 0;
    block->has_words = block->has_values = block->has_weights = block->complete = block->is_last = 0;
}

void gsa__block_clear(gsa__block *block)
{
    empty(block);
    block->pending.n_rows = block->pending_row = 0;
}

static gsa_status reserve(gsa__block *block, size_t n_entries, gsa_error *error)
{
    if (!gsa__reserve(&block->env, &block->index, &block->index_capacity, n_entries, sizeof *block->index) ||
        !gsa__reserve(&block->env, &block->value, &block->value_capacity, n_entries, sizeof *block->value))
        return gsa__fail_memory(&block->env, error, "no memory for a block of %zu entries", n_entries);
    return GSA_OK;
}

static void copy_facts(gsa__block *block, const gsa_batch *from, size_t row, size_t n)
{
    static const gsa_place nowhere = {0, 0, 0};
    size_t at = block->n_rows;
    for (size_t i = 0; i < n; i++) {
        block->label[at + i] = from->label ? from->label[row + i] : 0;
        block->word[at + i] = from->word ? from->word[row + i] : -1;
        block->weight[at + i] = from->weight ? from->weight[row + i] : 1;
        block->place[at + i] = from->place ? from->place[row + i] : nowhere;
    }
    block->has_words |= from->word != NULL;
    block->has_weights |= from->weight != NULL;
}

/* Words are only ever added: those that the block has are the first of the reader's. */
static gsa_status copy_words(gsa__block *block, const gsa_batch *from, gsa_error *error)
{
    if (!gsa__reserve(&block->env, &block->words, &block->words_capacity, from->n_words, sizeof *block->words))
        return gsa__fail_memory(&block->env, error, "no memory for %zu label words", from->n_words);
    while (block->n_words < from->n_words) {
        block->words[block->n_words] = from->words[block->n_words];
        block->n_words++;
    }
    return GSA_OK;
}

/* Values are written down from the first on that is not 1; those before it were. */
static void note_values(gsa__block *block)
{
    for (size_t i = 0; i < block->n_entries && !block->has_values; i++)
        block->value[i] = 1.0f;
    block->has_values = 1;
}

/* A dense row becomes a sparse one; zeros are left out either way. */
static gsa_status copy_row(gsa__block *block, const gsa_batch *from, size_t row, gsa_error *error)
{
    size_t start = from->index ? (size_t)from->row_start[row] : row * from->width;
    size_t n = from->index ? (size_t)(from->row_start[row + 1] - from->row_start[row]) : from->width;
    gsa_status status = reserve(block, block->n_entries + n, error);
    if (status != GSA_OK)
        return status;
    if (from->value)
        note_values(block);
    size_t at = block->n_entries;
    for (size_t i = 0; i < n; i++) {
        float value = from->value ? from->value[start + i] : 1.0f;
        if (value == 0)
            continue;
        block->index[at] = from->index ? from->index[start + i] : (uint32_t)i;
        block->value[at++] = value;
    }
    block->n_entries = at;
    copy_facts(block, from, row, 1);
    block->row_start[++block->n_rows] = (int64_t)at;
    return GSA_OK;
}

static int has_zeros(const float *value, size_t n)
{
    int zeros = 0;
    for (size_t i = 0; i < n; i++)
        zeros |= value[i] == 0;
    return zeros;
}

/* Sparse rows without zeros, as readers deliver them: all at once. */
static gsa_status copy_rows(gsa__block *block, const gsa_batch *from, size_t row, size_t n_rows, gsa_error *error)
{
    size_t start = (size_t)from->row_start[row], n = (size_t)from->row_start[row + n_rows] - start;
    gsa_status status = reserve(block, block->n_entries + n, error);
    if (status != GSA_OK || n_rows == 0)
        return status;
    if (from->value)
        note_values(block);
    if (n > 0) /* else there may be no memory */
        memcpy(block->index + block->n_entries, from->index + start, n * sizeof *block->index);
    if (n > 0 && from->value)
        memcpy(block->value + block->n_entries, from->value + start, n * sizeof *block->value);
    for (size_t i = 0; i < n && !from->value && block->has_values; i++)
        block->value[block->n_entries + i] = 1.0f;
    copy_facts(block, from, row, n_rows);
    for (size_t i = 1; i <= n_rows; i++)
        block->row_start[block->n_rows + i] =
            (int64_t)block->n_entries + (from->row_start[row + i] - from->row_start[row]);
    block->n_rows += n_rows;
    block->n_entries += n;
    return GSA_OK;
}

static int is_full(const gsa__block *block, size_t most_rows)
{
    return block->n_rows >= most_rows || block->n_entries >= GSA_BLOCK_ENTRIES;
}

int gsa__block_is_full(const gsa__block *block)
{
    return is_full(block, GSA_BLOCK_ROWS);
}

static gsa_status take_pending(gsa__block *block, size_t most_rows, gsa_error *error)
{
    const gsa_batch *from = &block->pending;
    gsa_status status = GSA_OK;
    size_t row = block->pending_row, n = from->n_rows - row;
    if (n > most_rows - block->n_rows)
        n = most_rows - block->n_rows;
    if (n > 0 && from->index) {
        size_t start = (size_t)from->row_start[row], n_entries = (size_t)from->row_start[row + n] - start;
        if (block->n_entries + n_entries < GSA_BLOCK_ENTRIES &&
            !(from->value && has_zeros(from->value + start, n_entries))) {
            status = copy_rows(block, from, row, n, error);
            block->pending_row += status == GSA_OK ? n : 0;
            return status;
        }
    }
    while (status == GSA_OK && block->pending_row < from->n_rows && !is_full(block, most_rows)) {
        status = copy_row(block, from, block->pending_row, error);
        if (status == GSA_OK)
            block->pending_row++;
    }
    return status;
}

void gsa__block_follow(gsa__block *block, const gsa__block *before)
{
    empty(block);
    block->pending = before->pending;
    block->pending_row = before->pending_row;
}

static gsa_batch view_of(const gsa__block *block)
{
    return (gsa_batch){.n_rows = block->n_rows,
                       .row_start = block->row_start,
                       .index = block->index,
                       .value = block->has_values ? block->value : NULL,
                       .label = block->label,
                       .word = block->has_words ? block->word : NULL,
                       .words = block->words,
                       .n_words = block->n_words,
                       .weight = block->has_weights ? block->weight : NULL,
                       .place = block->place};
}

size_t gsa__block_view(const gsa__block *block, gsa_batch *view)
{
    *view = view_of(block);
    return block->n_rows;
}

gsa_status gsa__block_add(gsa__block *block, const gsa_batch *rows, size_t n, size_t *at, gsa_error *error)
{
    block->pending = *rows;
    block->pending.n_rows = n;
    block->pending_row = *at;
    gsa_status status = copy_words(block, rows, error);
    if (status == GSA_OK)
        status = take_pending(block, GSA_BLOCK_ROWS, error);
    *at = block->pending_row;
    block->pending.n_rows = block->pending_row = 0;
    return status;
}

/* Rows that waited, and after them those of the reader until there are least_rows. */
static gsa_status gather(gsa__block *block, gsa_reader *reader, size_t least_rows, size_t most_rows, gsa_error *error)
{
    gsa_status status = reserve(block, 1, error); /* a block of empty rows is sparse too */
    if (status == GSA_OK)
        status = take_pending(block, most_rows, error);
    while (status == GSA_OK && !is_full(block, least_rows)) {
        status = gsa_reader_next(reader, &block->pending, error);
        block->pending_row = 0;
        if (status != GSA_OK)
            block->pending.n_rows = 0;
        else if ((status = copy_words(block, &block->pending, error)) == GSA_OK)
            status = take_pending(block, most_rows, error);
    }
    return status;
}

gsa_status gsa__block_take(gsa__block *block, gsa_reader *reader, size_t most_rows, gsa_batch *view, gsa_error *error)
{
    gsa_status status = gather(block, reader, 1, most_rows, error);
    if (status == GSA_OK)
        *view = view_of(block);
    return status;
}

gsa_status gsa__block_read(gsa__block *block, gsa_reader *reader, size_t most_rows, gsa_batch *view, gsa_error *error)
{
    if (block->complete)
        empty(block);
    gsa_status status = gather(block, reader, most_rows, most_rows, error);
    if (status == GSA_END && block->n_rows > 0) {
        block->is_last = 1;
        status = GSA_OK;
    }
    if (status == GSA_OK) {
        block->complete = 1;
        *view = view_of(block);
    }
    return status;
}

int gsa__block_is_last(const gsa__block *block)
{
    return block->is_last;
}

void gsa__block_order(int shuffled, uint64_t seed, uint64_t pass, uint64_t block_number, uint32_t n_rows,
                      uint32_t *order)
{
    if (shuffled)
        gsa_plan_order(seed, pass, block_number, n_rows, order);
    for (uint32_t i = 0; i < n_rows && !shuffled; i++)
        order[i] = i;
}
