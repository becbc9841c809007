/* Writing a cache. Rows are gathered in columns until a block is full: by its rows and entries alone, so that equal
 * rows make equal files, whatever the batches they came in. From the second block on another thread, if there is one,
 * codes the labels of a block, hashes and writes it while the next one is gathered. */
#include "data/writer.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/half.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "data/format/cache.h"
#include "data/format/input_text.h"

#include <string.h>

typedef struct bytes {
    unsigned char *at;
    size_t size, capacity;
} bytes;

/* The columns of a block, in the order of the file. Until they are written, numbers are in the order of the machine. */
enum { LABELS, LENGTHS, WEIGHTS, GROUPS, IDS, VALUES, CODES, WORDS, N_COLUMNS };

#define N_BLOCKS 2 /* one is gathered, one is written */
#define SHARE 8    /* of the memory that is left, a block that is gathered beside another */

typedef struct block {
    gsai_cache_header header;
    uint64_t n_features;
    gsai_words words;
    bytes column[N_COLUMNS];
    gsa_status status; /* of writing it */
    gsa_error error;
} block;

/* The members from `index` on belong to the thread that writes a block. */
typedef struct cache_writer {
    gsa_writer head;
    block blocks[N_BLOCKS];
    block *current;          /* is gathered */
    gsai_pipeline *pipeline; /* NULL: the caller writes */
    uint32_t file;           /* of the last row */
    bool has_rows;
    bytes names;
    bytes index;
    gsai_cache_header totals;
    bool is_broken; /* a block could not be written */
} cache_writer;

/* Reserves `more` bytes at the end of a column, and at least one in all; returns where they begin, NULL if out of
 * memory. */
static inline unsigned char *room(const gsai_env *env, bytes *to, size_t more)
{
    size_t need;
    bool has_room = gsai_add(to->size, more, &need) &&
                    (need < to->capacity || gsai_reserve(env, &to->at, &to->capacity, need | 1, 1));
    return has_room ? to->at + to->size : NULL;
}

/* Appends bytes to a column that has room for them. */
static inline void append(bytes *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to->at + to->size, from, size);
    to->size += size;
}

static void clear_block(block *of)
{
    of->header = (gsai_cache_header){.marker = GSAI_CACHE_BLOCK};
    of->n_features = 0;
    for (size_t i = 0; i < N_COLUMNS; i++)
        of->column[i].size = 0;
    gsai_words_free(&of->words);
}

static gsa_status open_cache(gsa_writer *head, gsa_error *error)
{
    cache_writer *writer = (cache_writer *)head;
    for (size_t i = 0; i < N_BLOCKS; i++) {
        writer->blocks[i].words = (gsai_words){.env = &head->env};
        clear_block(&writer->blocks[i]);
    }
    writer->current = writer->blocks;
    writer->totals.marker = GSAI_CACHE_INDEX;
    (void)error; /* the file begins with the first block: by then it is known whether there is a schema */
    return GSA_OK;
}

static void free_cache(gsa_writer *head)
{
    cache_writer *writer = (cache_writer *)head;
    gsai_pipeline_free(writer->pipeline);
    for (block *of = writer->blocks; of < writer->blocks + N_BLOCKS; of++) {
        for (size_t i = 0; i < N_COLUMNS; i++)
            gsai_free(&head->env, of->column[i].at);
        gsai_words_free(&of->words);
    }
    gsai_free(&head->env, writer->index.at);
    gsai_free(&head->env, writer->names.at);
}

/* ---- a block ---------------------------------------------------------------------------------------------------- */

/* Makes labels of 8 bytes each into a table and codes of one byte, if there are few different ones. */
static gsa_status code_labels(const gsai_env *env, block *of, gsa_error *error)
{
    enum { SLOTS = 4 * GSAI_CACHE_MAX_LABELS };
    uint16_t slot[SLOTS] = {0}; /* number in the table + 1 */
    uint64_t table[GSAI_CACHE_MAX_LABELS], label;
    size_t n_rows = (size_t)of->header.n_rows, n = 0;
    bytes *labels = &of->column[LABELS];
    unsigned char *codes = room(env, &of->column[CODES], n_rows);
    GSAI_TRY_MEMORY(codes, env, error, "no memory for the labels of %zu rows", n_rows);
    for (size_t r = 0; r < n_rows; r++) {
        memcpy(&label, labels->at + 8 * r, 8);
        size_t at = (size_t)gsai_mix(label) % SLOTS;
        while (slot[at] && table[slot[at] - 1] != label)
            at = (at + 1) % SLOTS;
        if (!slot[at]) {
            if (n == GSAI_CACHE_MAX_LABELS)
                return GSA_OK;
            table[n] = label;
            slot[at] = (uint16_t)++n;
        }
        codes[r] = (unsigned char)(slot[at] - 1);
    }
    of->header.n_labels = n;
    of->column[CODES].size = n_rows;
    labels->size = 0;
    append(labels, table, 8 * n);
    return GSA_OK;
}

/* Spreads the values of all entries to dense rows, from the last on: none moves to a place before its own. */
static void spread(const block *of, size_t width, float *value)
{
    const uint32_t *length = (const void *)of->column[LENGTHS].at, *id = (const void *)of->column[IDS].at;
    size_t entry = (size_t)of->header.n_entries, at = (size_t)of->header.n_rows * width;
    for (size_t r = (size_t)of->header.n_rows; r-- > 0;) {
        for (uint32_t n = length[r]; n > 0; n--) {
            size_t to = r * width + id[--entry];
            float x = value[entry];
            while (at > to + 1)
                value[--at] = 0;
            value[--at] = x;
        }
        while (at > r * width)
            value[--at] = 0;
    }
}

/* Makes a block dense, if that takes fewer bytes as floats: in halves, if all values are halves. These go to the memory
 * of the ids, which is larger. */
static gsa_status make_dense(const gsai_env *env, block *of, gsa_error *error)
{
    static const gsa_half kinds[] = {GSA_HALF_F16, GSA_HALF_BF16};
    bytes *ids = &of->column[IDS], *values = &of->column[VALUES];
    uint64_t n = of->header.n_rows * of->n_features, form = GSAI_CACHE_F32;
    if (!(of->header.flags & GSAI_CACHE_VALUES) || n >= 2 * of->header.n_entries)
        return GSA_OK;
    GSAI_TRY_MEMORY(room(env, values, 4 * (size_t)n - values->size), env, error,
                    "no memory for a block of %zu dense values", (size_t)n);
    spread(of, (size_t)of->n_features, (void *)values->at);
    values->size = 4 * (size_t)n;
    of->column[LENGTHS].size = ids->size = 0;
    for (size_t i = 0; i < 2 && form == GSAI_CACHE_F32; i++)
        if (gsai_half_write(kinds[i], (const void *)values->at, (size_t)n, (void *)ids->at))
            form = GSAI_CACHE_F16 + i;
    if (form != GSAI_CACHE_F32) {
        const bytes halves = {ids->at, 2 * (size_t)n, ids->capacity};
        *ids = (bytes){values->at, 0, values->capacity};
        *values = halves;
    }
    of->header.flags &= ~(uint64_t)GSAI_CACHE_VALUES;
    of->header.flags |= form << GSAI_CACHE_FORM_SHIFT | of->n_features << GSAI_CACHE_WIDTH_SHIFT;
    return GSA_OK;
}

/* Writes a header and its payload, which comes in pieces. */
static gsa_status put_section(cache_writer *writer, gsai_cache_header *header, const bytes *piece, size_t n_pieces,
                              gsa_error *error)
{
    static const unsigned char zeros[GSAI_CACHE_ALIGNMENT] = {0};
    gsai_output *output = &writer->head.output;
    gsai_hasher hasher;
    gsai_hasher_init(&hasher);
    header->payload_size = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        gsai_hasher_add(&hasher, piece[i].at, piece[i].size);
        header->payload_size += piece[i].size;
    }
    header->payload_hash = gsai_hasher_value(&hasher);
    unsigned char start[GSAI_CACHE_HEADER_SIZE];
    gsai_cache_header_write(header, start);
    GSA_TRY(gsai_output_put(output, start, sizeof start, error));
    for (size_t i = 0; i < n_pieces; i++)
        GSA_TRY(gsai_output_put(output, piece[i].at, piece[i].size, error));
    return gsai_output_put(output, zeros, gsai_cache_padding(header->payload_size), error);
}

/* Writes what stands before the first block, unless that was done. */
static gsa_status begin_file(cache_writer *writer, gsa_error *error)
{
    if (writer->head.output.n_bytes > 0)
        return GSA_OK;
    unsigned char start[GSAI_CACHE_HEAD_SIZE];
    memcpy(start, GSAI_CACHE_MAGIC, 8);
    gsai_store_u64(GSAI_CACHE_VERSION, start + 8);
    GSA_TRY(gsai_output_put(&writer->head.output, start, sizeof start, error));
    char *schema = writer->head.schema;
    if (!schema)
        return GSA_OK;
    gsai_cache_header header = {.marker = GSAI_CACHE_SCHEMA};
    const bytes text = {(unsigned char *)schema, strlen(schema) + 1, 0};
    return put_section(writer, &header, &text, 1, error);
}

static gsa_status write_block(cache_writer *writer, block *of, gsa_error *error)
{
    const gsai_env *env = &writer->head.env;
    gsai_cache_header *header = &of->header, *totals = &writer->totals;
    bytes *column = of->column;
    unsigned char *entry = room(env, &writer->index, GSAI_CACHE_ENTRY_SIZE);
    GSAI_TRY_MEMORY(entry, env, error, "no memory for the index of a cache");
    for (size_t i = 0; i < of->words.n_words; i++) {
        const size_t size = strlen(of->words.word[i]);
        const unsigned char length = (unsigned char)size;
        GSAI_TRY_MEMORY(room(env, &column[WORDS], size + 1), env, error, "no memory for the words of a block");
        append(&column[WORDS], &length, 1);
        append(&column[WORDS], of->words.word[i], size);
    }
    header->n_words = of->words.n_words;
    GSA_TRY(code_labels(env, of, error));
    GSA_TRY(make_dense(env, of, error));
    if (!(header->flags & GSAI_CACHE_WEIGHTS))
        column[WEIGHTS].size = 0;
    if (!(header->flags & GSAI_CACHE_GROUPS))
        column[GROUPS].size = 0;
    if (!gsai_machine_is_little_endian()) {
        const bool is_half = (header->flags >> GSAI_CACHE_FORM_SHIFT & 0xFF) > GSAI_CACHE_F32;
        const size_t item[N_COLUMNS] = {8, 4, 4, 8, 4, is_half ? 2 : 4, 1, 1};
        for (size_t i = 0; i < N_COLUMNS; i++)
            gsai_swap_bytes(column[i].at, column[i].size / item[i], item[i]);
    }
    GSA_TRY(begin_file(writer, error));
    header->first_row = totals->first_row;
    const uint64_t numbers[] = {writer->head.output.n_bytes, header->first_row, header->n_rows};
    GSA_TRY(put_section(writer, header, column, N_COLUMNS, error));
    for (size_t i = 0; i < 3; i++)
        gsai_store_u64(numbers[i], entry + 8 * i);
    writer->index.size += GSAI_CACHE_ENTRY_SIZE;
    totals->first_row += header->n_rows;
    totals->n_rows++;
    totals->n_entries += header->n_entries;
    totals->n_labels = of->n_features > totals->n_labels ? of->n_features : totals->n_labels;
    totals->flags |= header->flags & 0xFF;
    return GSA_OK;
}

/* Writes the block in a slot, if there is one, and empties it. */
static bool empty_slot(void *memory, size_t slot)
{
    cache_writer *writer = memory;
    block *of = &writer->blocks[slot];
    if (of->header.n_rows > 0 && !writer->is_broken) {
        of->status = write_block(writer, of, &of->error);
        writer->is_broken = of->status != GSA_OK;
    }
    clear_block(of);
    return true;
}

/* Takes a block that is empty; a failure is that of the rows that were in it. */
static gsa_status take_block(cache_writer *writer, gsa_error *error)
{
    size_t slot = 0;
    if (!writer->pipeline)
        (void)empty_slot(writer, slot);
    else
        (void)gsai_pipeline_next(writer->pipeline, &slot); /* always: nothing stops it */
    block *of = writer->current = &writer->blocks[slot];
    writer->head.failed = of->status != GSA_OK; /* a block that could not be ended cannot go on either */
    if (writer->head.failed && error)
        *error = of->error;
    return of->status;
}

/* Another thread writes from the first block on, if there is one, and memory for a second block like it. */
static gsa_status end_block(cache_writer *writer, gsa_error *error)
{
    static const gsai_stages stages = {empty_slot, NULL};
    const gsai_env *env = &writer->head.env;
    if (writer->pipeline) {
        gsai_pipeline_release(writer->pipeline);
        return take_block(writer, error);
    }
    uint64_t size = 0;
    for (size_t i = 0; i < N_COLUMNS; i++)
        size += writer->current->column[i].capacity;
    if (gsai_workers_count(env) > 1 && gsai_memory_left(env) / SHARE >= size)
        writer->pipeline = gsai_pipeline_new(1, N_BLOCKS, &stages, writer, env);
    if (writer->pipeline)
        gsai_pipeline_start(writer->pipeline);
    return take_block(writer, error);
}

/* ---- a row ------------------------------------------------------------------------------------------------------ */

/* Fills in the 8 bytes of the label; enters a word that is new to the block. */
static gsa_status find_label(block *to, const gsa_batch *batch, size_t r, uint64_t *bits, gsa_error *error)
{
    memcpy(bits, &batch->label[r], sizeof *bits);
    if (!batch->word || batch->word[r] < 0)
        return GSA_OK;
    const char *word = batch->words[batch->word[r]];
    size_t size = strlen(word);
    const char *objection = gsai_label_objection(word, size);
    char quote[GSAI_QUOTE_SIZE];
    if (objection)
        return gsai_fail_row(error, GSA_INPUT, r, "label '%s': %s", gsai_quote(word, size, quote), objection);
    int32_t number = 0;
    gsa_status status = gsai_words_enter(&to->words, word, size, &number, error);
    *bits = GSAI_CACHE_WORD | (uint32_t)number;
    return status;
}

/* Adds the values of a row. They are written down from the first row on that has one other than 1. */
static void add_values(block *to, const gsai_row *row)
{
    static const float one = 1;
    bytes *values = &to->column[VALUES];
    int n_other = 0;
    for (size_t i = 0; row->value && i < row->n; i++)
        n_other |= row->value[i] != 1;
    if (n_other)
        to->header.flags |= GSAI_CACHE_VALUES;
    if (!(to->header.flags & GSAI_CACHE_VALUES))
        return;
    size_t n_ones = (size_t)to->header.n_entries - values->size / 4 + (row->value ? 0 : row->n);
    for (size_t i = 0; i < n_ones; i++)
        append(values, &one, 4);
    if (row->value)
        append(values, row->value, 4 * row->n);
}

static gsa_status write_cache(gsa_writer *head, const gsa_batch *batch, size_t r, const gsai_row *row, gsa_error *error)
{
    cache_writer *writer = (cache_writer *)head;
    const uint32_t file = batch->place ? batch->place[r].file : 0;
    bool is_other_file = writer->has_rows && (file != writer->file || head->begins_file);
    writer->file = file;
    writer->has_rows = true;
    head->begins_file = false;
    if (is_other_file && writer->current->header.n_rows > 0) /* a block ends with its file */
        GSA_TRY(end_block(writer, error));
    block *to = writer->current;
    if (is_other_file)
        to->header.flags |= GSAI_CACHE_FIRST;
    /* Room for the row in every column; in that of values for all that may still have to be written down. */
    const size_t n = row->n, n_before = (size_t)to->header.n_entries;
    const bool has_values = row->value || to->header.flags & GSAI_CACHE_VALUES;
    bool has_room = n <= UINT32_MAX && n <= SIZE_MAX / 8 - n_before;
    const size_t more[] = {[LABELS] = 8, [LENGTHS] = 4, [WEIGHTS] = 4,
                           [GROUPS] = 8, [IDS] = 4 * n, [VALUES] = has_values ? 4 * (n_before + n) : 0};
    for (size_t i = 0; has_room && i <= VALUES; i++)
        has_room = room(&head->env, &to->column[i], i == VALUES ? more[i] - to->column[i].size : more[i]) != NULL;
    GSAI_TRY_MEMORY(has_room, &head->env, error, "no memory for a row of %zu values", n);
    uint64_t label = 0;
    GSA_TRY(find_label(to, batch, r, &label, error));
    const uint32_t length = (uint32_t)row->n;
    const float weight = batch->weight ? batch->weight[r] : 1;
    append(&to->column[LABELS], &label, 8);
    append(&to->column[LENGTHS], &length, 4);
    append(&to->column[WEIGHTS], &weight, 4);
    to->header.flags |= weight == 1 ? 0 : GSAI_CACHE_WEIGHTS;
    const uint64_t group = batch->group ? batch->group[r] : 0;
    append(&to->column[GROUPS], &group, 8);
    to->header.flags |= !batch->group          ? 0u
                        : batch->group_is_time ? GSAI_CACHE_GROUPS | GSAI_CACHE_TIMES
                                               : GSAI_CACHE_GROUPS;
    append(&to->column[IDS], row->index, 4 * row->n);
    add_values(to, row);
    if (row->n > 0 && row->index[row->n - 1] >= to->n_features)
        to->n_features = (uint64_t)row->index[row->n - 1] + 1;
    to->header.n_entries += row->n;
    bool is_full = ++to->header.n_rows == GSA_BLOCK_ROWS || to->header.n_entries >= GSA_BLOCK_ENTRIES;
    return is_full ? end_block(writer, error) : GSA_OK;
}

static gsa_status add_name(gsa_writer *head, uint32_t feature, const char *text, gsa_error *error)
{
    cache_writer *writer = (cache_writer *)head;
    size_t size = strlen(text);
    unsigned char *out = room(&head->env, &writer->names, GSAI_CACHE_NAME_SIZE + size);
    GSAI_TRY_MEMORY(out, &head->env, error, "no memory for the names of features");
    gsai_store_u64((uint64_t)size << 32 | feature, out);
    memcpy(out + GSAI_CACHE_NAME_SIZE, text, size);
    writer->names.size += GSAI_CACHE_NAME_SIZE + size;
    return GSA_OK;
}

static gsa_status finish_cache(gsa_writer *head, gsa_error *error)
{
    cache_writer *writer = (cache_writer *)head;
    for (size_t i = 0; i < N_BLOCKS; i++) {
        if (writer->pipeline)
            gsai_pipeline_release(writer->pipeline);
        GSA_TRY(take_block(writer, error));
    }
    GSA_TRY(begin_file(writer, error));
    gsai_cache_header names = {.marker = GSAI_CACHE_NAMES};
    if (writer->names.size > 0)
        GSA_TRY(put_section(writer, &names, &writer->names, 1, error));
    unsigned char end[GSAI_CACHE_FOOT_SIZE];
    gsai_store_u64(writer->head.output.n_bytes, end);
    memcpy(end + 8, GSAI_CACHE_END, 8);
    GSA_TRY(put_section(writer, &writer->totals, &writer->index, 1, error));
    return gsai_output_put(&writer->head.output, end, sizeof end, error);
}

const gsai_writer_kind gsai_writer_cache = {"gsac",      ".gsac",      sizeof(cache_writer), open_cache,
                                            write_cache, finish_cache, free_cache,           add_name};
