/* Gathering rows into blocks.
 *
 *   1 Rows [0, n_rows) of the block are consecutive rows of the input.
 *   2 `pending` is what is left of the reader's last batch, from row pending_row on; it is copied before the reader is
 *     asked again.
 *   3 A batch that is a whole block, as those of caches are, is not copied: its arrays are taken from the reader.
 *   4 Rows are dense as long as batches are, all of one width and with more values than zeros; else they are sparse.
 *     Entries are values that are not zero, so that blocks end at the same rows either way. */
#include "train/block.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/reader.h"

#include <string.h>

struct gsai_block {
    gsai_env env;
    gsai_rows rows;
    int complete, is_last;
    const char **words; /* a copy of the reader's table, which may move; the words themselves stay */
    size_t n_words, words_capacity;
    gsa_batch pending;
    size_t pending_row;
    bool is_cut;                   /* what is pending begins another file, and another block */
    bool by_file;                  /* even small files are blocks of their own */
    size_t n_entries;              /* of its rows */
    size_t part_row, part_entries; /* where the rows of the last file begin */
};

gsa_status gsai_block_new(const gsai_env *env, gsai_block **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    gsai_block *block = gsai_alloc_zeroed(&resolved, 1, sizeof *block);
    GSAI_TRY_MEMORY(block, &resolved, error, "no memory for a block of rows");
    block->env = resolved;
    gsa_status status = gsai_rows_init(&block->rows, 0, 0, &block->env, error);
    if (status != GSA_OK)
        gsai_free(&resolved, block);
    else
        *out = block;
    return status;
}

void gsai_block_free(gsai_block *block)
{
    if (!block)
        return;
    gsai_env env = block->env;
    gsai_rows_free(&block->rows);
    gsai_free(&env, block->words);
    gsai_free(&env, block);
}

void gsai_block_separate_files(gsai_block *block)
{
    block->by_file = true;
}

uint64_t gsai_block_size(const gsai_block *block)
{
    return gsai_rows_size(&block->rows);
}

static void empty(gsai_block *block)
{
    gsai_rows_clear(&block->rows);
    block->complete = block->is_last = 0;
    block->n_entries = block->part_row = block->part_entries = 0;
}

void gsai_block_clear(gsai_block *block)
{
    empty(block);
    block->pending.n_rows = block->pending_row = 0;
    block->is_cut = false;
}

/* Words are only ever added: those that the block has are the first of the reader's. */
static gsa_status copy_words(gsai_block *block, const gsa_batch *from, gsa_error *error)
{
    GSAI_TRY_MEMORY(
        gsai_reserve(&block->env, &block->words, &block->words_capacity, from->n_words, sizeof *block->words),
        &block->env, error, "no memory for %zu label words", from->n_words);
    while (block->n_words < from->n_words) {
        block->words[block->n_words] = from->words[block->n_words];
        block->n_words++;
    }
    return GSA_OK;
}

/* Where the entries of a row begin. */
static size_t start_of(const gsa_batch *from, size_t row)
{
    return from->index ? (size_t)from->row_start[row] : row * from->width;
}

/* The entries of a row but for zeros, which mean the same as none; returns how many there are now. */
static size_t copy_entries(gsai_rows *to, size_t at, const gsa_batch *from, size_t start, size_t end)
{
    int is_plain = from->index != NULL;
    for (size_t i = start; i < end && from->value; i++)
        is_plain &= from->value[i] != 0;
    if (is_plain && end > start) {
        memcpy(to->index + at, from->index + start, (end - start) * sizeof *to->index);
        if (from->value)
            memcpy(to->value + at, from->value + start, (end - start) * sizeof *to->value);
        return at + (end - start);
    }
    for (size_t i = start; i < end; i++) {
        to->index[at] = from->index ? from->index[i] : (uint32_t)(i - start);
        if (from->value)
            to->value[at] = from->value[i];
        at += !from->value || from->value[i] != 0;
    }
    return at;
}

/* Entries of dense rows. */
static size_t count_entries(const gsa_batch *from, size_t row, size_t n)
{
    const float *value = from->value + row * from->width;
    size_t n_entries = 0;
    for (size_t end; n > 0; n--, value += from->width) {
        uint32_t n_here = 0; /* of a row, so that the loop is one of vectors */
        for (end = 0; end < from->width; end++)
            n_here += value[end] != 0;
        n_entries += n_here;
    }
    return n_entries;
}

/* Whether these rows of what is pending go to the block as they are, dense; if so, makes room for them. */
static gsa_status reserve_rows(gsai_block *block, size_t n, size_t n_values, bool *is_dense, gsa_error *error)
{
    const gsa_batch *from = &block->pending;
    gsai_rows *to = &block->rows;
    *is_dense = !from->index && from->width > 0 && (to->n_rows == 0 || to->width == from->width);
    if (*is_dense) {
        size_t n_entries = count_entries(from, block->pending_row, n);
        *is_dense = n_values - n_entries < n_entries;
        block->n_entries += *is_dense ? n_entries : 0;
    }
    if (*is_dense)
        return gsai_rows_reserve_dense(to, n, from->width, error);
    GSA_TRY(gsai_rows_make_sparse(to, error));
    return gsai_rows_reserve_block(to, n, n_values, from->value != NULL, error);
}

/* The texts of a row, and whether it is a bad one. */
static gsa_status copy_kept(gsai_rows *to, size_t r, const gsa_batch *from, size_t row, gsa_error *error)
{
    if (from->kept)
        GSA_TRY(gsai_rows_keep_texts(to, from->kept + from->kept_start[row],
                                     from->kept_start[row + 1] - from->kept_start[row], error));
    to->kept_start[r + 1] = to->kept_size;
    to->bad[r] = from->bad ? from->bad[row] : 0;
    to->any_bad = to->any_bad || to->bad[r];
    return GSA_OK;
}

/* n rows of what is pending, which have so many values, zeros included. */
static gsa_status copy_rows(gsai_block *block, size_t n, size_t n_values, gsa_error *error)
{
    static const gsa_place nowhere = {0, 0, 0};
    const gsa_batch *from = &block->pending;
    gsai_rows *to = &block->rows;
    const bool has_values = from->value != NULL;
    bool is_dense;
    if (from->kept || from->bad)
        GSA_TRY(gsai_rows_keep(to, error));
    GSA_TRY(reserve_rows(block, n, n_values, &is_dense, error));
    size_t at = to->n_values, row = block->pending_row, r = to->n_rows;
    if (is_dense)
        memcpy(to->value + at, from->value + start_of(from, row), n_values * sizeof *to->value);
    for (size_t i = 0; i < n; i++, row++, r++) {
        at = is_dense ? at + from->width : copy_entries(to, at, from, start_of(from, row), start_of(from, row + 1));
        to->row_start[r + 1] = (int64_t)at;
        to->label[r] = from->label ? from->label[row] : 0;
        to->word[r] = from->word ? from->word[row] : -1;
        to->weight[r] = from->weight ? from->weight[row] : 1;
        to->place[r] = from->place ? from->place[row] : nowhere;
        if (to->keeps)
            GSA_TRY(copy_kept(to, r, from, row, error));
    }
    to->any_word = to->any_word || from->word;
    to->any_weight = to->any_weight || from->weight;
    gsai_rows_finish_block(to, n, has_values, !has_values);
    block->n_entries = is_dense ? block->n_entries : to->n_values;
    block->pending_row = row;
    return GSA_OK;
}

static int is_full(const gsai_block *block, size_t max_rows)
{
    return block->rows.n_rows >= max_rows || block->rows.n_rows - block->part_row >= GSA_BLOCK_ROWS ||
           block->n_entries - block->part_entries >= GSA_BLOCK_ENTRIES;
}

int gsai_block_is_full(const gsai_block *block)
{
    return is_full(block, GSA_BLOCK_ROWS);
}

static gsa_status take_pending(gsai_block *block, size_t max_rows, gsa_error *error)
{
    const gsa_batch *from = &block->pending;
    gsa_status status = GSA_OK;
    while (status == GSA_OK && block->pending_row < from->n_rows && !is_full(block, max_rows)) {
        size_t row = block->pending_row, start = start_of(from, row), n = 0;
        size_t max = GSA_BLOCK_ENTRIES - (block->n_entries - block->part_entries);
        size_t left = max_rows - block->rows.n_rows, part = GSA_BLOCK_ROWS - (block->rows.n_rows - block->part_row);
        left = left < part ? left : part;
        do
            n++;
        while (n < left && row + n < from->n_rows && start_of(from, row + n) - start < max);
        status = copy_rows(block, n, start_of(from, row + n) - start, error);
    }
    return status;
}

void gsai_block_continue(gsai_block *block, const gsai_block *before)
{
    empty(block);
    block->pending = before->pending;
    block->pending_row = before->pending_row;
    block->is_cut = false; /* which is where this one begins */
}

size_t gsai_block_view(const gsai_block *block, gsa_batch *view)
{
    gsai_rows_view(&block->rows, view);
    view->words = block->words;
    view->n_words = block->n_words;
    return view->n_rows;
}

gsa_status gsai_block_make_sparse(gsai_block *block, gsa_batch *view, gsa_error *error)
{
    GSA_TRY(gsai_rows_make_sparse(&block->rows, error));
    gsai_block_view(block, view);
    return GSA_OK;
}

uint64_t gsai_block_entries(const gsai_block *block)
{
    return block->n_entries;
}

gsa_status gsai_block_add(gsai_block *block, const gsa_batch *rows, size_t n, size_t *at, gsa_error *error)
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

/* The reader's last batch as it is, if the block is to have just that. */
static int take_whole(gsai_block *block, gsa_reader *reader, size_t min_rows, size_t max_rows)
{
    const gsa_batch *from = &block->pending;
    if (block->rows.n_rows > 0 || from->n_rows > max_rows || (!from->index && from->width == 0))
        return 0;
    size_t last = start_of(from, from->n_rows - 1), end = start_of(from, from->n_rows), n_values = end;
    size_t min = min_rows < GSA_BLOCK_ROWS ? min_rows : GSA_BLOCK_ROWS;
    if (!from->index && (from->n_rows >= min || end >= GSA_BLOCK_ENTRIES)) {
        last = count_entries(from, 0, from->n_rows - 1);
        end = last + count_entries(from, from->n_rows - 1, 1);
    }
    if ((from->n_rows < min && end < GSA_BLOCK_ENTRIES) || last >= GSA_BLOCK_ENTRIES ||
        (!from->index && n_values - end >= end) || !gsai_reader_take_rows(reader, &block->rows))
        return 0;
    block->rows.without_labels = !from->label;
    block->pending_row = from->n_rows;
    block->n_entries = end;
    return 1;
}

/* What is pending begins a file: another block does, or another part of this one. */
static void begin_file(gsai_block *block)
{
    block->is_cut = block->by_file || gsai_block_ends(block->rows.n_rows, block->n_entries);
    block->part_row = block->is_cut ? block->part_row : block->rows.n_rows;
    block->part_entries = block->is_cut ? block->part_entries : block->n_entries;
}

/* Rows that waited, and after them those of the reader until there are min_rows. */
static gsa_status gather(gsai_block *block, gsa_reader *reader, size_t min_rows, size_t max_rows, gsa_error *error)
{
    block->is_cut = false;
    gsa_status status = block->pending_row < block->pending.n_rows ? copy_words(block, &block->pending, error) : GSA_OK;
    if (status == GSA_OK)
        status = take_pending(block, max_rows, error);
    while (status == GSA_OK && !is_full(block, min_rows) && !block->is_cut) {
        status = gsa_reader_next(reader, &block->pending, error);
        block->pending_row = 0;
        if (status == GSA_OK && block->rows.n_rows > 0 && gsa_reader_begins_file(reader))
            begin_file(block);
        if (status != GSA_OK)
            block->pending.n_rows = 0;
        else if ((status = copy_words(block, &block->pending, error)) == GSA_OK && !block->is_cut &&
                 !take_whole(block, reader, min_rows, max_rows))
            status = take_pending(block, max_rows, error);
    }
    return status;
}

gsa_status gsai_block_take(gsai_block *block, gsa_reader *reader, size_t max_rows, gsa_batch *view, gsa_error *error)
{
    gsa_status status = gather(block, reader, 1, max_rows, error);
    if (status == GSA_OK)
        gsai_block_view(block, view);
    return status;
}

gsa_status gsai_block_read_some(gsai_block *block, gsa_reader *reader, size_t min_rows, size_t max_rows,
                                gsa_batch *view, gsa_error *error)
{
    if (block->complete)
        empty(block);
    gsa_status status = gather(block, reader, min_rows, max_rows, error);
    if (status == GSA_END && block->rows.n_rows > 0) {
        block->is_last = 1;
        status = GSA_OK;
    }
    if (status == GSA_OK) {
        block->complete = 1;
        gsai_block_view(block, view);
    }
    return status;
}

gsa_status gsai_block_read(gsai_block *block, gsa_reader *reader, size_t max_rows, gsa_batch *view, gsa_error *error)
{
    return gsai_block_read_some(block, reader, max_rows, max_rows, view, error);
}

gsa_status gsai_block_read_range(gsai_block *block, gsa_reader *reader, const gsa_row_range *range, gsa_batch *view,
                                 gsa_error *error)
{
    gsai_block_clear(block);
    GSA_TRY(gsa_reader_seek(reader, &range->at, error));
    gsa_status status = gsai_block_read(block, reader, (size_t)range->n_rows, view, error);
    if (status == GSA_END || (status == GSA_OK && view->n_rows != range->n_rows))
        return gsai_fail(error, GSA_CONFLICT, "%s has changed while it was read; train on a copy",
                         gsa_reader_file(reader, range->at.file));
    return status;
}

int gsai_block_is_last(const gsai_block *block)
{
    return block->is_last;
}

void gsai_block_order(int shuffled, uint64_t seed, uint64_t pass, uint64_t block_number, uint32_t n_rows,
                      uint32_t *order)
{
    if (shuffled)
        gsa_plan_order(seed, pass, block_number, n_rows, order);
    for (uint32_t i = 0; i < n_rows && !shuffled; i++)
        order[i] = i;
}
