/* Gathering rows into blocks. */
#include "train/block.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/reader.h"

#include <string.h>

void gsai_block_init(gsai_block *block, const gsai_env *env)
{
    *block = (gsai_block){0};
    gsai_rows_init(&block->rows, 0, 0, env);
}

void gsai_block_free(gsai_block *block)
{
    gsai_rows_free(&block->rows);
    gsai_free(block->rows.env, block->words);
}

static void empty(gsai_block *block)
{
    gsai_rows_clear(&block->rows);
    block->is_complete = block->is_last = false;
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
        gsai_reserve(block->rows.env, &block->words, &block->words_capacity, from->n_words, sizeof *block->words),
        block->rows.env, error, "no memory for %zu label words", from->n_words);
    while (block->n_words < from->n_words) {
        block->words[block->n_words] = from->words[block->n_words];
        block->n_words++;
    }
    return GSA_OK;
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

static int is_full(const gsai_block *block, size_t max_rows)
{
    return block->rows.n_rows >= max_rows || block->rows.n_rows - block->part_row >= GSA_BLOCK_ROWS ||
           block->n_entries - block->part_entries >= GSA_BLOCK_ENTRIES;
}

static gsa_status take_pending(gsai_block *block, size_t max_rows, gsa_error *error)
{
    const gsa_batch *from = &block->pending;
    gsai_rows *to = &block->rows;
    while (block->pending_row < from->n_rows && !is_full(block, max_rows)) {
        size_t row = block->pending_row, n_entries = 0;
        size_t left = max_rows - to->n_rows, part = GSA_BLOCK_ROWS - (to->n_rows - block->part_row);
        size_t n = gsai_batch_count(from, row, left < part ? left : part,
                                    GSA_BLOCK_ENTRIES - (block->n_entries - block->part_entries));
        bool is_dense = !from->index && from->width > 0 && (to->n_rows == 0 || to->width == from->width);
        if (is_dense) {
            n_entries = count_entries(from, row, n);
            is_dense = n * from->width - n_entries < n_entries;
        }
        GSA_TRY(gsai_rows_append(to, from, row, n, is_dense, NULL, error));
        block->n_entries = is_dense ? block->n_entries + n_entries : to->n_values;
        block->pending_row += n;
    }
    return GSA_OK;
}

void gsai_block_continue(gsai_block *block, const gsai_block *before)
{
    empty(block);
    block->pending = before->pending;
    block->pending_row = before->pending_row;
    block->is_cut = false; /* which is where this one begins */
}

static void view_rows(const gsai_block *block, gsa_batch *view)
{
    *view = gsai_rows_view(&block->rows);
    view->words = block->words;
    view->n_words = block->n_words;
}

gsa_status gsai_block_make_sparse(gsai_block *block, gsa_batch *view, gsa_error *error)
{
    GSA_TRY(gsai_rows_make_sparse(&block->rows, error));
    view_rows(block, view);
    return GSA_OK;
}

/* The reader's last batch as it is, if the block is to have just that. */
static int take_whole(gsai_block *block, gsa_reader *reader, size_t min_rows, size_t max_rows)
{
    const gsa_batch *from = &block->pending;
    if (block->rows.n_rows > 0 || from->n_rows > max_rows || (!from->index && from->width == 0))
        return 0;
    size_t last = gsai_batch_start(from, from->n_rows - 1), end = gsai_batch_start(from, from->n_rows), n_values = end;
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

/* Lets the reader write the next rows of the file where the block has them; GSA_UNSUPPORTED if it cannot. */
static gsa_status extend(gsai_block *block, gsa_reader *reader, size_t max_rows, gsa_error *error)
{
    gsai_rows *rows = &block->rows;
    gsa_batch added;
    size_t part_end = block->part_row + GSA_BLOCK_ROWS;
    rows->max_rows = max_rows < part_end ? max_rows : part_end;
    rows->max_values = block->part_entries + GSA_BLOCK_ENTRIES;
    gsa_status status = gsai_reader_extend(reader, rows, &added, error);
    if (added.n_rows > 0) {
        block->n_entries = rows->n_values;
        GSA_TRY(copy_words(block, &added, error));
    }
    return status == GSA_END ? GSA_OK : status;
}

gsa_status gsai_block_read(gsai_block *block, gsa_reader *reader, size_t min_rows, size_t max_rows, gsa_batch *view,
                           gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (block->is_complete)
        empty(block);
    block->is_cut = false;
    if (block->pending_row < block->pending.n_rows) {
        GSA_TRY(copy_words(block, &block->pending, error));
        GSA_TRY(take_pending(block, max_rows, error));
    }
    while (status == GSA_OK && !is_full(block, min_rows) && !block->is_cut) {
        if (min_rows == max_rows && (status = extend(block, reader, max_rows, error)) != GSA_UNSUPPORTED)
            continue;
        status = gsa_reader_next(reader, &block->pending, error);
        block->pending_row = 0;
        if (status != GSA_OK) {
            block->pending.n_rows = 0;
            break;
        }
        if (block->rows.n_rows > 0 && gsa_reader_begins_file(reader)) { /* another block, or another part of this one */
            block->is_cut = block->by_file || gsai_block_ends(block->rows.n_rows, block->n_entries);
            block->part_row = block->is_cut ? block->part_row : block->rows.n_rows;
            block->part_entries = block->is_cut ? block->part_entries : block->n_entries;
        }
        GSA_TRY(copy_words(block, &block->pending, error));
        if (!block->is_cut && !take_whole(block, reader, min_rows, max_rows))
            GSA_TRY(take_pending(block, max_rows, error));
    }
    if (status != GSA_OK && (status != GSA_END || block->rows.n_rows == 0))
        return status;
    block->is_last = status == GSA_END;
    block->is_complete = true;
    view_rows(block, view);
    return GSA_OK;
}

bool gsai_block_partial(gsai_block *block, gsa_batch *view)
{
    if (block->is_complete || block->rows.n_rows == 0)
        return false;
    view_rows(block, view);
    return true;
}

void gsai_block_order(int shuffled, uint64_t seed, uint64_t pass, uint64_t block_number, uint32_t n_rows,
                      uint32_t *order)
{
    if (shuffled)
        gsa_plan_order(seed, pass, block_number, n_rows, order);
    for (uint32_t i = 0; i < n_rows && !shuffled; i++)
        order[i] = i;
}
