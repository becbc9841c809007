/* The columns of a block, and rows from them. The caller has checked the hash. */
#include "data/format/cache_block.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

typedef struct cursor {
    const unsigned char *at;
    size_t left;
} cursor;

/* The next n elements, or NULL if there are not so many. */
static const unsigned char *take(cursor *from, size_t n, size_t element_size)
{
    if (n > from->left / element_size)
        return NULL;
    const unsigned char *taken = from->at;
    from->at += n * element_size;
    from->left -= n * element_size;
    return taken;
}

static bool take_packed(cursor *from, size_t n, gsa__packed *out)
{
    *out = (gsa__packed){.control = take(from, gsa__packed_controls(n), 1)};
    out->data = out->control ? take(from, gsa__packed_size(out->control, n), 1) : NULL;
    return out->data != NULL;
}

/* Enters the block's words in the reader's dictionary. */
static gsa_status read_words(gsa__cache_block *block, cursor *from, gsa__words *words, gsa_error *error)
{
    size_t n_words = (size_t)block->header.n_words;
    if (!gsa__reserve(words->env, &block->word, &block->word_capacity, n_words, sizeof *block->word))
        return gsa__fail_memory(words->env, error, "no memory for %zu label words", n_words);
    for (size_t i = 0; i < n_words; i++) {
        const unsigned char *size = take(from, 1, 1);
        const char *text = size ? (const char *)take(from, *size, 1) : NULL;
        if (!text || !gsa__is_text(text, *size))
            return gsa__fail(error, GSA_FORMAT, "a label is no text");
        gsa_status status = gsa__words_enter(words, text, *size, &block->word[i], error);
        if (status != GSA_OK)
            return status;
    }
    return GSA_OK;
}

static bool read_labels(gsa__cache_block *block, cursor *from)
{
    size_t n_rows = (size_t)block->header.n_rows, n_labels = (size_t)block->header.n_labels;
    size_t n = n_labels > 0 ? n_labels : n_rows;
    block->labels = take(from, n, 8);
    block->codes = n_labels > 0 ? take(from, n_rows, 1) : NULL;
    if (!block->labels || (n_labels > 0 && !block->codes))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = gsa__load_u64(block->labels + 8 * i);
        bool is_word = bits >= GSA__CACHE_WORD && (uint32_t)bits < block->header.n_words;
        if (!is_word && (bits >> 52 & 0x7FF) == 0x7FF)
            return false;
    }
    size_t highest = 0;
    for (size_t r = 0; block->codes && r < n_rows; r++)
        highest = block->codes[r] > highest ? block->codes[r] : highest;
    return highest < n;
}

static bool read_lengths(gsa__cache_block *block, cursor *from)
{
    size_t n_rows = (size_t)block->header.n_rows;
    gsa__packed packed;
    if (!take_packed(from, n_rows, &packed))
        return false;
    gsa__unpack(&packed, block->length, n_rows);
    uint64_t sum = 0;
    for (size_t r = 0; r < n_rows; r++)
        sum += block->length[r];
    return sum == block->header.n_entries;
}

/* What is wrong with the columns that follow the words, or NULL. */
static const char *columns_objection(gsa__cache_block *block, cursor *from)
{
    size_t n_rows = (size_t)block->header.n_rows, n_entries = (size_t)block->header.n_entries;
    bool has_weights = block->header.flags & GSA__CACHE_WEIGHTS, has_values = block->header.flags & GSA__CACHE_VALUES;
    if (!read_labels(block, from))
        return "its labels make no sense";
    if (!read_lengths(block, from))
        return "the lengths of its rows make no sense";
    bool fits = take_packed(from, n_entries, &block->ids);
    block->weights = fits && has_weights ? take(from, n_rows, sizeof(float)) : NULL;
    block->values = fits && has_values ? take(from, n_entries, sizeof(float)) : NULL;
    fits = fits && (block->weights || !has_weights) && (block->values || !has_values) && from->left == 0;
    return fits ? NULL : "its size does not fit its columns";
}

gsa_status gsa__cache_block_open(gsa__cache_block *block, const unsigned char *payload, gsa__words *words,
                                 gsa_error *error)
{
    cursor from = {payload, (size_t)block->header.payload_size};
    gsa_status status = read_words(block, &from, words, error);
    if (status != GSA_OK)
        return status;
    const char *objection = columns_objection(block, &from);
    block->row = 0;
    return objection ? gsa__fail(error, GSA_FORMAT, "%s", objection) : GSA_OK;
}

static void load_floats(float *out, const unsigned char *from, size_t n)
{
    memcpy(out, from, n * sizeof *out);
    if (!gsa__machine_is_little_endian())
        gsa__swap_bytes((unsigned char *)out, n, sizeof *out);
}

/* The values of the next n entries; false if one is not finite. */
static bool add_values(gsa__cache_block *block, float *value, size_t n, bool *all_ones)
{
    if (!block->values) {
        for (size_t i = 0; i < n; i++)
            value[i] = 1;
        return true;
    }
    load_floats(value, block->values, n);
    block->values += n * sizeof *value;
    int n_bad = 0, n_other = 0;
    for (size_t i = 0; i < n; i++) {
        n_bad |= !isfinite(value[i]);
        n_other |= value[i] != 1;
    }
    *all_ones = !n_other;
    return !n_bad;
}

/* From the gaps between ids to the ids; false if they end beyond the highest. */
static inline bool sum_gaps(uint32_t *index, size_t n)
{
    uint64_t id = UINT64_MAX; /* one less than the first can be */
    for (size_t i = 0; i < n; i++) {
        id += (uint64_t)index[i] + 1;
        index[i] = (uint32_t)id;
    }
    return n == 0 || id <= GSA_MAX_ID;
}

static bool add_row(gsa__cache_block *block, gsa__rows *rows, gsa_place place, bool all_ones)
{
    size_t r = block->row++, n = block->length[r];
    if (!sum_gaps(rows->index + rows->n_values, n))
        return false;
    uint64_t bits = gsa__load_u64(block->labels + 8 * (block->codes ? block->codes[r] : r));
    bool is_word = bits >= GSA__CACHE_WORD;
    double label = 0;
    if (!is_word)
        memcpy(&label, &bits, sizeof label);
    float weight = 1;
    if (block->weights)
        load_floats(&weight, block->weights + r * sizeof weight, 1);
    if (!isfinite(weight) || weight < 0)
        return false;
    place.line = block->header.first_row + r + 1;
    gsa__rows_finish(rows, n, all_ones, label, is_word ? block->word[(uint32_t)bits] : -1, place);
    gsa__rows_weigh(rows, weight);
    return true;
}

gsa_status gsa__cache_block_read(gsa__cache_block *block, gsa_place place, gsa__rows *rows, gsa_error *error)
{
    size_t n_rows = (size_t)block->header.n_rows, end = block->row, n = 0;
    size_t most = rows->most_rows - rows->n_rows;
    for (; end < n_rows && end - block->row < most && rows->n_values + n < rows->most_values; end++)
        n += block->length[end];
    gsa_status status = gsa__rows_reserve(rows, n + 1, error); /* never without memory */
    if (status != GSA_OK)
        return status;
    gsa__unpack(&block->ids, rows->index + rows->n_values, n);
    bool all_ones = true;
    bool sound = add_values(block, rows->value + rows->n_values, n, &all_ones);
    while (sound && block->row < end)
        sound = add_row(block, rows, place, all_ones);
    return sound ? GSA_OK : gsa__fail(error, GSA_FORMAT, "a row makes no sense");
}
