/* The parts of a cache: headers and their hash, the index, and blocks, whose columns become those of a batch. */
#include "data/format/cache.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/half.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define N_FIELDS (sizeof(gsai_cache_header) / sizeof(uint64_t))

_Static_assert(N_FIELDS * 8 + 8 == GSAI_CACHE_HEADER_SIZE, "a header is its fields and their hash");

void gsai_cache_header_write(const gsai_cache_header *header, unsigned char out[GSAI_CACHE_HEADER_SIZE])
{
    uint64_t field[N_FIELDS];
    memcpy(field, header, sizeof field);
    for (size_t i = 0; i < N_FIELDS; i++)
        gsai_store_u64(field[i], out + 8 * i);
    gsai_store_u64(gsai_hash(out, 8 * N_FIELDS, 0), out + 8 * N_FIELDS);
}

bool gsai_cache_header_read(const unsigned char bytes[GSAI_CACHE_HEADER_SIZE], gsai_cache_header *out)
{
    uint64_t field[N_FIELDS];
    for (size_t i = 0; i < N_FIELDS; i++)
        field[i] = gsai_load_u64(bytes + 8 * i);
    memcpy(out, field, sizeof field);
    return gsai_load_u64(bytes + 8 * N_FIELDS) == gsai_hash(bytes, 8 * N_FIELDS, 0);
}

bool gsai_cache_matches(const unsigned char *start, size_t size)
{
    return size > 0 && memcmp(start, GSAI_CACHE_MAGIC, size < 8 ? size : 8) == 0;
}

/* What the file does not have of these bytes is zero, which fits no magic and no hash. */
static gsa_status read_at(gsai_decode *stream, int64_t at, unsigned char *bytes, size_t size, gsa_error *error)
{
    gsa_status status = gsai_decode_seek(stream, at, error);
    memset(bytes, 0, size);
    for (size_t got = 1, n = 0; status == GSA_OK && got > 0 && n < size; n += got)
        status = gsai_decode_read(stream, bytes + n, size - n, &got, error);
    return status;
}

static gsa_status fail_index(const gsai_decode *stream, gsa_error *error)
{
    return gsai_fail(error, GSA_FORMAT, "%s: damaged cache (make it anew): no index at its end; was it cut off?",
                     stream->source.name);
}

/* Header and payload, where the last bytes say that they are. */
static gsa_status read_index(gsai_decode *stream, const gsai_env *env, gsai_cache_index *out, gsa_error *error)
{
    unsigned char bytes[GSAI_CACHE_HEADER_SIZE];
    gsai_cache_header *totals = &out->totals;
    GSA_TRY(read_at(stream, (int64_t)out->offset, bytes, sizeof bytes, error));
    if (!gsai_cache_header_read(bytes, totals) || totals->marker != GSAI_CACHE_INDEX ||
        totals->payload_size > gsai_memory_limit(env) / 4 || totals->payload_size % GSAI_CACHE_ENTRY_SIZE != 0 ||
        totals->n_rows != totals->payload_size / GSAI_CACHE_ENTRY_SIZE)
        return fail_index(stream, error);
    size_t size = (size_t)totals->payload_size;
    out->entries = gsai_alloc(env, size + 1, 1);
    GSAI_TRY_MEMORY(out->entries, env, error, "no memory for the index of a cache, of %zu bytes", size);
    GSA_TRY(read_at(stream, (int64_t)out->offset + GSAI_CACHE_HEADER_SIZE, out->entries, size, error));
    return gsai_hash(out->entries, size, 0) != totals->payload_hash ? fail_index(stream, error) : GSA_OK;
}

gsa_status gsai_cache_index_read(gsai_decode *stream, const gsai_env *env, gsai_cache_index *out, gsa_error *error)
{
    unsigned char foot[GSAI_CACHE_FOOT_SIZE];
    *out = (gsai_cache_index){0};
    GSA_TRY(read_at(stream, -GSAI_CACHE_FOOT_SIZE, foot, sizeof foot, error));
    out->offset = gsai_load_u64(foot);
    if (memcmp(foot + 8, GSAI_CACHE_END, 8) != 0 || out->offset > INT64_MAX - GSAI_CACHE_HEADER_SIZE)
        return fail_index(stream, error);
    gsa_status status = read_index(stream, env, out, error);
    if (status != GSA_OK) {
        gsai_free(env, out->entries);
        out->entries = NULL;
    }
    return status;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Where the columns of a block begin, from its first byte on. */
typedef struct layout {
    size_t lengths, weights, codes, words, end;
} layout;

static bool has(const gsai_cache_header *header, unsigned flag)
{
    return (header->flags & flag) != 0;
}

static layout lay_out(const gsai_cache_header *header)
{
    size_t n_rows = (size_t)header->n_rows, n_labels = (size_t)header->n_labels;
    layout at = {.lengths = 8 * (n_labels > 0 ? n_labels : n_rows)};
    at.weights = at.lengths + (gsai_cache_form(header) == GSAI_CACHE_SPARSE ? 4 * n_rows : 0);
    at.codes = at.weights + (has(header, GSAI_CACHE_WEIGHTS) ? 4 * n_rows : 0);
    at.words = at.codes + (n_labels > 0 ? n_rows : 0);
    at.end = gsai_cache_info_size(header);
    return at;
}

size_t gsai_cache_info_size(const gsai_cache_header *header)
{
    return (size_t)(header->payload_size - gsai_cache_part_size(header) * (has(header, GSAI_CACHE_VALUES) ? 2 : 1));
}

const char *gsai_cache_block_novelty(const gsai_cache_header *header)
{
    return has(header, GSAI_CACHE_MISSING) ? "numbers that may be missing" : NULL;
}

/* Whether flags go together, and entries and values fit into the payload. */
static bool has_sound_form(const gsai_cache_header *header)
{
    const uint64_t known = GSAI_CACHE_VALUES | GSAI_CACHE_WEIGHTS | GSAI_CACHE_FIRST;
    unsigned form = gsai_cache_form(header);
    uint64_t width = header->flags >> GSAI_CACHE_WIDTH_SHIFT;
    if (form == GSAI_CACHE_SPARSE)
        return !(header->flags & ~known) &&
               header->n_entries <= header->payload_size / (has(header, GSAI_CACHE_VALUES) ? 8 : 4);
    return form < GSAI_CACHE_N_FORMS && width > 0 && width <= (uint64_t)GSA_MAX_ID + 1 &&
           !has(header, GSAI_CACHE_VALUES) && !(header->flags & 0xFFFF00FF & ~known) &&
           header->n_entries <= header->n_rows * width && gsai_cache_part_size(header) <= header->payload_size;
}

const char *gsai_cache_block_objection(const gsai_cache_header *header)
{
    if (header->n_rows == 0 || header->n_rows > GSA_BLOCK_ROWS || header->n_words > header->n_rows ||
        header->n_labels > GSAI_CACHE_MAX_LABELS || !has_sound_form(header))
        return "its header makes no sense";
    uint64_t size = gsai_cache_info_size(header), fixed = lay_out(header).words;
    /* a word has 1 to 255 bytes, and one more for its size */
    bool fits = size >= fixed && size - fixed >= 2 * header->n_words && size - fixed <= 256 * header->n_words;
    return fits ? NULL : "its size does not fit its columns";
}

static uint32_t load_u32(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

gsa_status gsai_cache_block_begin(gsai_cache_block *block, const unsigned char *bytes, gsai_rows *rows,
                                  gsa_error *error)
{
    size_t n_rows = (size_t)block->header.n_rows;
    block->layout = bytes;
    block->row = 0;
    block->breaks = 0;
    block->n_entries = 0;
    block->sound = block->all_ones = true;
    if (gsai_cache_width(&block->header) > 0)
        return gsai_rows_reserve_dense(rows, n_rows, gsai_cache_width(&block->header), error);
    GSA_TRY(gsai_rows_reserve_block(rows, n_rows, (size_t)block->header.n_entries,
                                    has(&block->header, GSAI_CACHE_VALUES), error));
    const unsigned char *length = bytes + lay_out(&block->header).lengths;
    int64_t *start = rows->row_start + rows->n_rows;
    uint64_t sum = 0;
    for (size_t r = 0; r < n_rows; r++) {
        sum += load_u32(length + 4 * r);
        start[r + 1] = (int64_t)(rows->n_values + sum);
    }
    bool fits = sum == block->header.n_entries;
    return fits ? GSA_OK : gsai_fail(error, GSA_FORMAT, "the lengths of its rows make no sense");
}

static void turn(void *elements, size_t n)
{
    if (!gsai_machine_is_little_endian())
        gsai_swap_bytes(elements, n, 4);
}

/* Where an id is not above the one before it, a row must begin: the first loop counts such places, the second takes
 * back those that are right. What ascends has its highest id at its end. */
void gsai_cache_block_take_ids(gsai_cache_block *block, gsai_rows *rows, size_t from, size_t end)
{
    uint32_t *id = rows->index + rows->n_values, n_breaks = 0, n_right = 0, n_over = 0;
    const int64_t *start = rows->row_start + rows->n_rows;
    const int64_t first = start[0];
    turn(id + from, end - from);
    for (size_t i = from > 0 ? from : 1; i < end; i++)
        n_breaks += id[i] <= id[i - 1];
    size_t r = block->row, n_rows = (size_t)block->header.n_rows;
    for (size_t at; r < n_rows && (at = (size_t)(start[r] - first)) < end; r++)
        if (at > 0 && start[r + 1] > start[r]) {
            n_right += id[at] <= id[at - 1];
            n_over |= id[at - 1] > GSA_MAX_ID;
        }
    block->row = r;
    block->sound = block->sound && n_over == 0 && id[end - 1] <= GSA_MAX_ID;
    block->breaks += (int64_t)n_breaks - n_right;
}

void gsai_cache_block_take_values(gsai_cache_block *block, gsai_rows *rows, size_t from, size_t end)
{
    float *value = rows->value + rows->n_values;
    int n_bad = 0, n_other = 0;
    turn(value + from, end - from);
    for (size_t i = from; i < end; i++) {
        n_bad |= !isfinite(value[i]) | (value[i] == 0);
        n_other |= value[i] != 1;
    }
    block->sound = block->sound && n_bad == 0;
    block->all_ones = block->all_ones && n_other == 0;
}

void gsai_cache_block_take_dense(gsai_cache_block *block, gsai_rows *rows, unsigned char *from_half, size_t from,
                                 size_t end)
{
    float *value = rows->value + rows->n_values;
    unsigned form = gsai_cache_form(&block->header);
    if (form == GSAI_CACHE_F32) {
        turn(value + from, end - from);
    } else {
        if (!gsai_machine_is_little_endian())
            gsai_swap_bytes(from_half, end - from, 2);
        gsa_half_read(form == GSAI_CACHE_F16 ? GSA_HALF_F16 : GSA_HALF_BF16, (const uint16_t *)(const void *)from_half,
                      end - from, value + from);
    }
    int n_bad = 0;
    uint32_t n_entries = 0;
    for (size_t i = from; i < end; i++) {
        n_bad |= !isfinite(value[i]);
        n_entries += value[i] != 0;
    }
    block->sound = block->sound && n_bad == 0;
    block->n_entries += n_entries;
}

/* ---- labels, weights and words ---------------------------------------------------------------------------------- */

/* Enters the block's words in the reader's dictionary. */
static gsa_status enter_words(gsai_cache_block *block, const layout *at, gsai_words *words, gsa_error *error)
{
    size_t n_words = (size_t)block->header.n_words, left = at->end - at->words;
    const unsigned char *from = block->layout + at->words;
    GSAI_TRY_MEMORY(gsai_reserve(words->env, &block->word, &block->word_capacity, n_words, sizeof *block->word),
                    words->env, error, "no memory for %zu label words", n_words);
    for (size_t i = 0; i < n_words; i++) {
        size_t size = left > 0 ? *from : 0;
        if (size >= left || !gsai_is_text((const char *)from + 1, size))
            return gsai_fail(error, GSA_FORMAT, "a label is not text");
        GSA_TRY(gsai_words_enter(words, (const char *)from + 1, size, &block->word[i], error));
        from += size + 1;
        left -= size + 1;
    }
    return left == 0 ? GSA_OK : gsai_fail(error, GSA_FORMAT, "its size does not fit its columns");
}

/* Label number i; false if it is neither a finite number nor a word of the block. */
static bool find_label(const gsai_cache_block *block, size_t i, double *label, int32_t *word)
{
    uint64_t bits = gsai_load_u64(block->layout + 8 * i);
    bool is_word = bits >= GSAI_CACHE_WORD;
    *label = 0;
    *word = -1;
    if (is_word && (uint32_t)bits < block->header.n_words)
        *word = block->word[(uint32_t)bits];
    if (!is_word)
        memcpy(label, &bits, sizeof *label);
    return is_word ? *word >= 0 : isfinite(*label);
}

static bool take_labels(const gsai_cache_block *block, const layout *at, gsai_rows *rows)
{
    double label[GSAI_CACHE_MAX_LABELS];
    int32_t word[GSAI_CACHE_MAX_LABELS];
    size_t n_rows = (size_t)block->header.n_rows, n_labels = (size_t)block->header.n_labels;
    double *out = rows->label + rows->n_rows;
    int32_t *word_out = rows->word + rows->n_rows, all_words = -1;
    bool sound = true;
    for (size_t i = 0; i < n_labels; i++)
        sound &= find_label(block, i, &label[i], &word[i]);
    for (size_t r = 0; r < n_rows && sound; r++) {
        size_t code = n_labels > 0 ? block->layout[at->codes + r] : 0;
        sound = n_labels > 0 ? code < n_labels : find_label(block, r, &out[r], &word_out[r]);
        if (sound && n_labels > 0) {
            out[r] = label[code];
            word_out[r] = word[code];
        }
        all_words &= sound ? word_out[r] : -1; /* below 0 while there is none */
    }
    rows->any_word = rows->any_word || all_words >= 0;
    return sound;
}

static bool take_weights(const gsai_cache_block *block, const layout *at, gsai_rows *rows)
{
    size_t n = (size_t)block->header.n_rows;
    float *weight = rows->weight + rows->n_rows;
    int n_bad = 0, n_other = 0;
    if (has(&block->header, GSAI_CACHE_WEIGHTS)) {
        memcpy(weight, block->layout + at->weights, 4 * n);
        turn(weight, n);
        for (size_t r = 0; r < n; r++) {
            n_bad |= !(weight[r] >= 0 && isfinite(weight[r]));
            n_other |= weight[r] != 1;
        }
    } else
        for (size_t r = 0; r < n; r++)
            weight[r] = 1;
    rows->any_weight = rows->any_weight || n_other;
    return !n_bad;
}

gsa_status gsai_cache_block_finish(gsai_cache_block *block, gsa_place place, gsai_rows *rows, gsa_error *error)
{
    const layout at = lay_out(&block->header);
    size_t n_rows = (size_t)block->header.n_rows;
    size_t width = gsai_cache_width(&block->header);
    if (!block->sound || block->breaks != 0 || (width > 0 && block->n_entries != block->header.n_entries))
        return gsai_fail(error, GSA_FORMAT, "a row makes no sense");
    GSA_TRY(enter_words(block, &at, &rows->words, error));
    if (!take_labels(block, &at, rows))
        return gsai_fail(error, GSA_FORMAT, "its labels make no sense");
    if (!take_weights(block, &at, rows))
        return gsai_fail(error, GSA_FORMAT, "its weights make no sense");
    for (size_t r = 0; r < n_rows; r++) {
        place.line = block->header.first_row + r + 1;
        rows->place[rows->n_rows + r] = place;
        if (width > 0)
            rows->row_start[rows->n_rows + r + 1] = (int64_t)(rows->n_values + (r + 1) * width);
    }
    bool has_values = width > 0 || has(&block->header, GSAI_CACHE_VALUES);
    gsai_rows_finish_block(rows, n_rows, has_values, width == 0 && block->all_ones);
    return GSA_OK;
}
