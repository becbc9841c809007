/* Reading a cache in the order of its bytes: from a file, a pipe or memory, compressed or not.
 *
 *   1 Nothing of a block is delivered before its hash is checked.
 *   2 A call that is stopped goes on where it was: `filled` says how much of the current part is there, `taken` how
 *     much of that is in the hash.
 *   3 Ids and values are read to where the batch has them, in pieces that the processor's cache still holds when they
 *     are hashed and checked. */
#include "data/format/cache.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/schema_text.h"

#include <inttypes.h>
#include <string.h>

#define PIECE ((size_t)128 << 10)

/* The part of the file that is read next. A block is its labels, lengths, weights and words, which are a payload, its
 * ids and its values. */
typedef enum part { HEAD, HEADER, PAYLOAD, IDS, VALUES, SKIPPED, FOOT, END } part;

typedef struct cache {
    const gsai_env *env;
    gsai_format_input *input;
    part part;
    uint64_t start;    /* in the file, of the block or whatever else has a header */
    uint64_t offset;   /* of this part */
    uint64_t n_blocks; /* before this one */
    uint64_t n_rows;   /* of those */
    unsigned char *buffer;
    size_t capacity, filled, taken;
    unsigned char *half; /* a piece of dense rows */
    size_t half_capacity;
    gsai_cache_block block;
    unsigned char hasher[sizeof(gsai_hasher) + _Alignof(gsai_hasher)]; /* has one in it, aligned */
    bool knows_schema;                                                 /* or that there is none */
} cache;

/* Memory of the env is not aligned as a hasher wants it. */
static gsai_hasher *hasher_of(cache *parser)
{
    size_t over = (uintptr_t)parser->hasher % _Alignof(gsai_hasher);
    return (void *)(parser->hasher + (over > 0 ? _Alignof(gsai_hasher) - over : 0));
}

static void close_cache(void *memory)
{
    cache *parser = memory;
    gsai_free(parser->env, parser->buffer);
    gsai_free(parser->env, parser->half);
    gsai_free(parser->env, parser->block.word);
    gsai_free(parser->env, parser);
}

static gsa_status open_cache(size_t buffer_size, const gsai_env *env, void **out, gsa_error *error)
{
    (void)buffer_size; /* a block is taken whole */
    cache *parser = gsai_alloc_zeroed(env, 1, sizeof *parser);
    GSAI_TRY_MEMORY(parser, env, error, "no memory for a reader of caches");
    parser->env = env;
    *out = parser;
    return GSA_OK;
}

static void enter(cache *parser, part next)
{
    parser->offset += parser->filled;
    parser->filled = parser->taken = 0;
    parser->part = next;
    if (next == HEADER || next == FOOT)
        parser->start = parser->offset;
}

static void begin_cache(void *memory, gsai_format_input *input)
{
    cache *parser = memory;
    parser->input = input;
    parser->part = HEAD;
    parser->filled = parser->taken = 0;
    parser->knows_schema = false;
    parser->start = parser->offset = parser->n_blocks = parser->n_rows = 0;
}

/* The stream is at the header of this block: reads from there on. */
static void begin_at(cache *parser, uint64_t block, uint64_t offset, uint64_t first_row)
{
    parser->filled = 0;
    parser->offset = offset;
    enter(parser, HEADER);
    parser->knows_schema = true;
    parser->n_blocks = block;
    parser->n_rows = first_row;
}

static uint64_t entry_at(const gsai_cache_index *index, uint64_t block, size_t field)
{
    return gsai_load_u64(index->entries + GSAI_CACHE_ENTRY_SIZE * block + 8 * field);
}

/* To the block that begins at this byte. */
static gsa_status enter_cache(void *memory, const gsa_place *at, gsa_error *error)
{
    cache *parser = memory;
    gsai_cache_index index;
    GSA_TRY(gsai_cache_index_read(parser->input->stream, parser->env, &index, error));
    uint64_t block = 0, n_blocks = index.totals.n_rows, n_rows = 0;
    while (block < n_blocks && entry_at(&index, block, 0) < at->byte)
        block++;
    bool is_there = block < n_blocks && entry_at(&index, block, 0) == at->byte && at->byte <= INT64_MAX;
    n_rows = is_there ? entry_at(&index, block, 1) : 0;
    gsai_free(parser->env, index.entries);
    if (!is_there || n_rows + 1 != at->line)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s: no block with row %" PRIu64 " begins at byte %" PRIu64 ": has the cache changed?",
                         parser->input->name, at->line, at->byte);
    begin_at(parser, block, at->byte, n_rows);
    return gsai_decode_seek(parser->input->stream, (int64_t)at->byte, error);
}

/* Says where, if something is damaged. */
static gsa_status damaged(const cache *parser, gsa_status status, gsa_error *error)
{
    if (status == GSA_FORMAT)
        gsai_error_prefix(error, "%s: damaged cache (make it anew), block %" PRIu64 " (byte %" PRIu64 "): ",
                          parser->input->name, parser->n_blocks, parser->start);
    return status;
}

static gsa_status fail_damaged(const cache *parser, const char *what, gsa_error *error)
{
    return damaged(parser, gsai_fail(error, GSA_FORMAT, "%s", what), error);
}

/* Reads the bytes [from, size) of the current part to `to`; *whole is false if the file ends before. */
static gsa_status fill(cache *parser, unsigned char *to, size_t from, size_t size, bool *whole, gsa_error *error)
{
    size_t got = 1;
    while (parser->filled < size && got > 0) {
        unsigned char *at = to + (parser->filled - from);
        GSA_TRY(gsai_decode_read(parser->input->stream, at, size - parser->filled, &got, error));
        parser->filled += got;
    }
    *whole = parser->filled == size;
    return GSA_OK;
}

static gsa_status need(cache *parser, unsigned char *to, size_t from, size_t size, gsa_error *error)
{
    bool whole = false;
    gsa_status status = fill(parser, to, from, size, &whole, error);
    return status != GSA_OK || whole ? status : fail_damaged(parser, "the file ends in the middle", error);
}

/* All of the current part, and one byte for a NUL. */
static gsa_status need_buffer(cache *parser, size_t size, gsa_error *error)
{
    GSAI_TRY_MEMORY(gsai_reserve(parser->env, &parser->buffer, &parser->capacity, size + 1, 1), parser->env, error,
                    "%s: no memory for a block of %zu bytes", parser->input->name, size);
    return need(parser, parser->buffer, 0, size, error);
}

static gsa_status read_head(cache *parser, gsai_rows *rows, gsa_error *error)
{
    (void)rows;
    GSA_TRY(need_buffer(parser, GSAI_CACHE_HEAD_SIZE, error));
    uint64_t version = gsai_load_u64(parser->buffer + 8);
    if (version != GSAI_CACHE_VERSION)
        return gsai_fail(error, GSA_FORMAT,
                         "%s is a cache of version %" PRIu64 ", this release reads version %d: convert the rows again",
                         parser->input->name, version, GSAI_CACHE_VERSION);
    enter(parser, HEADER);
    return GSA_OK;
}

/* Whether a section may be skipped: its first letter is a small one. */
static bool is_optional(const gsai_cache_header *header)
{
    return (header->marker & 0xFF) >= 'a' && (header->marker & 0xFF) <= 'z';
}

/* Whether a section is one of names, and wanted; those that the memory limit has no room for are skipped. */
static bool are_names(const cache *parser)
{
    const gsai_cache_header *header = &parser->block.header;
    uint64_t max = gsai_memory_limit(parser->env) / 4, most = GSA_NAMES_SIZE + GSA_MAX_NAMES * GSAI_CACHE_NAME_SIZE;
    return header->marker == GSAI_CACHE_NAMES && parser->input->options->remember_names &&
           parser->input->schema->text && header->payload_size <= (max < most ? max : most);
}

/* What is wrong with a header, or NULL. */
static const char *header_objection(const cache *parser)
{
    const gsai_cache_header *h = &parser->block.header;
    if (h->marker == GSAI_CACHE_INDEX) {
        bool fits = h->n_rows == parser->n_blocks && h->first_row == parser->n_rows &&
                    h->n_rows <= UINT64_MAX / GSAI_CACHE_ENTRY_SIZE &&
                    h->payload_size == h->n_rows * GSAI_CACHE_ENTRY_SIZE;
        return fits ? NULL : "the index does not fit the blocks before it";
    }
    if (is_optional(h))
        return NULL;
    if (h->marker == GSAI_CACHE_SCHEMA && !parser->knows_schema)
        return h->payload_size > 0 ? NULL : "it has no text";
    if (h->marker != GSAI_CACHE_BLOCK)
        return "no block begins here";
    if (h->first_row != parser->n_rows)
        return "it does not continue the rows before it";
    return gsai_cache_block_objection(h);
}

/* A header that was damaged is none; so this is what was written. */
static gsa_status check_header(cache *parser, gsa_error *error)
{
    const gsai_cache_header *header = &parser->block.header;
    const char *novelty = header->marker == GSAI_CACHE_BLOCK ? gsai_cache_block_novelty(header) : NULL;
    if (novelty)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "%s: block %" PRIu64 " has %s, which this release does not read yet: convert the rows again",
                         parser->input->name, parser->n_blocks, novelty);
    const char *objection = header_objection(parser);
    if (objection)
        return fail_damaged(parser, objection, error);
    if (is_optional(header) ||
        (header->payload_size <= gsai_memory_limit(parser->env) / 4 && header->payload_size < SIZE_MAX))
        return GSA_OK;
    return gsai_fail_about(error, "memory_limit",
                           gsai_fail(error, GSA_LIMIT,
                                     "%s: block %" PRIu64 " of %" PRIu64
                                     " bytes is over a quarter of the memory limit: raise the limit",
                                     parser->input->name, parser->n_blocks, header->payload_size));
}

static gsa_status read_header(cache *parser, gsai_rows *rows, gsa_error *error)
{
    (void)rows;
    const gsai_cache_header *header = &parser->block.header;
    GSA_TRY(need_buffer(parser, GSAI_CACHE_HEADER_SIZE, error));
    if (!gsai_cache_header_read(parser->buffer, &parser->block.header))
        return fail_damaged(parser, "the hash of its header does not match", error);
    GSA_TRY(check_header(parser, error));
    bool is_schema = header->marker == GSAI_CACHE_SCHEMA || is_optional(header);
    if (!parser->knows_schema && !is_schema && parser->input->schema->text)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s is a cache that does not say what its columns were, and %s has columns",
                         parser->input->name, parser->input->schema_from);
    parser->knows_schema = parser->knows_schema || !is_schema;
    enter(parser, is_optional(header) && !are_names(parser) ? SKIPPED : PAYLOAD);
    gsai_hasher_init(hasher_of(parser));
    return GSA_OK;
}

/* The text is followed by a byte in the buffer, where its NUL has room. */
static gsa_status take_schema(cache *parser, size_t size, gsa_error *error)
{
    gsai_format_input *input = parser->input;
    char *text = (char *)parser->buffer;
    text[size] = '\0';
    parser->knows_schema = true;
    enter(parser, HEADER);
    if (strlen(text) != size)
        return fail_damaged(parser, "its schema is not a text", error);
    bool is_first = !input->schema->text && input->file == 0;
    if (is_first)
        GSA_TRY(gsai_schema_parse(input->schema, text, error));
    const char *ours = input->schema->text, *theirs = text;
    if (!ours || !gsai_schemas_agree(&ours, &theirs))
        return gsai_fail(error, GSA_ARGUMENT, "%s is a cache of rows with other columns than %s", input->name,
                         input->schema_from);
    if (input->options->bits == 0 || input->options->bits == input->schema->bits)
        return GSA_OK;
    return gsai_fail_about(error, "bits",
                           gsai_fail(error, GSA_ARGUMENT,
                                     "%u bits: %s was made with %u; leave them out, or make the cache anew",
                                     input->options->bits, input->name, input->schema->bits));
}

/* Enters the names of features that have none yet. */
static gsa_status take_names(cache *parser, size_t size, gsa_error *error)
{
    const gsai_schema *schema = parser->input->schema;
    gsai_feature_names *names = parser->input->names;
    const uint64_t first = gsai_schema_first_word(schema), end = first + (UINT64_C(1) << schema->bits);
    const unsigned char *at = parser->buffer, *limit = at + size;
    enter(parser, HEADER);
    GSA_TRY(gsai_feature_names_begin(names, schema->bits, parser->env, error));
    while (at < limit) {
        size_t left = (size_t)(limit - at);
        uint64_t head = left >= GSAI_CACHE_NAME_SIZE ? gsai_load_u64(at) : UINT64_MAX;
        uint64_t feature = head & UINT32_MAX, length = head >> 32;
        const char *text = (const char *)at + GSAI_CACHE_NAME_SIZE;
        if (feature < first || feature >= end || length > left - GSAI_CACHE_NAME_SIZE ||
            memchr(text, '\0', (size_t)length))
            return fail_damaged(parser, "a name in it makes no sense", error);
        uint32_t id = (uint32_t)(feature - first);
        if (gsai_feature_names_is_new(names, id))
            gsai_feature_names_enter(names, id, "", 0, text, (size_t)length);
        at += GSAI_CACHE_NAME_SIZE + length;
    }
    return GSA_OK;
}

/* The hash of what was read since the header. */
static gsa_status check_hash(cache *parser, gsa_error *error)
{
    bool matches = gsai_hasher_value(hasher_of(parser)) == parser->block.header.payload_hash;
    return matches ? GSA_OK : fail_damaged(parser, "its hash does not match", error);
}

static gsa_status read_payload(cache *parser, gsai_rows *rows, gsa_error *error)
{
    const gsai_cache_header *header = &parser->block.header;
    bool is_block = header->marker == GSAI_CACHE_BLOCK;
    size_t size = is_block ? gsai_cache_info_size(header) : (size_t)header->payload_size;
    GSA_TRY(need_buffer(parser, size, error));
    gsai_hasher_add(hasher_of(parser), parser->buffer, size);
    if (is_block) {
        enter(parser, gsai_cache_width(header) > 0 ? VALUES : IDS);
        return damaged(parser, gsai_cache_block_begin(&parser->block, parser->buffer, rows, error), error);
    }
    GSA_TRY(check_hash(parser, error));
    if (header->marker == GSAI_CACHE_SCHEMA)
        return take_schema(parser, size, error);
    if (header->marker == GSAI_CACHE_NAMES)
        return take_names(parser, size, error);
    enter(parser, FOOT);
    return GSA_OK;
}

static gsa_status end_block(cache *parser, gsai_rows *rows, gsa_error *error)
{
    gsa_place place = {.byte = parser->start, .file = parser->input->file};
    GSA_TRY(check_hash(parser, error));
    GSA_TRY(damaged(parser, gsai_cache_block_finish(&parser->block, place, rows, error), error));
    parser->input->begins_file |= (parser->block.header.flags & GSAI_CACHE_FIRST) != 0;
    parser->n_rows += parser->block.header.n_rows;
    parser->n_blocks++;
    enter(parser, HEADER);
    return GSA_OK;
}

/* The next piece of dense rows; halves are converted on their way to the batch. */
static gsa_status read_dense(cache *parser, gsai_rows *rows, gsa_error *error)
{
    const gsai_cache_header *header = &parser->block.header;
    size_t left = (size_t)gsai_cache_part_size(header) - parser->taken, n = left < PIECE ? left : PIECE;
    size_t item = gsai_cache_item(header), from = parser->taken;
    unsigned char *to = (unsigned char *)(rows->value + rows->n_values) + from;
    if (n == 0)
        return end_block(parser, rows, error);
    if (item < 4) {
        GSAI_TRY_MEMORY(gsai_reserve(parser->env, &parser->half, &parser->half_capacity, PIECE, 1), parser->env, error,
                        "no memory for a piece of a block");
        to = parser->half;
    }
    GSA_TRY(need(parser, to, from, from + n, error));
    gsai_hasher_add(hasher_of(parser), to, n);
    parser->taken += n;
    gsai_cache_block_take_dense(&parser->block, rows, to, from / item, (from + n) / item);
    return GSA_OK;
}

/* The next piece of ids or values; behind the last one, what follows them. */
static gsa_status read_entries(cache *parser, gsai_rows *rows, gsa_error *error)
{
    const gsai_cache_header *header = &parser->block.header;
    bool is_ids = parser->part == IDS;
    if (gsai_cache_width(header) > 0)
        return read_dense(parser, rows, error);
    size_t left = (size_t)gsai_cache_part_size(header) - parser->taken, n = left < PIECE ? left : PIECE;
    unsigned char *to =
        is_ids ? (unsigned char *)(rows->index + rows->n_values) : (unsigned char *)(rows->value + rows->n_values);
    GSA_TRY(need(parser, to, 0, parser->taken + n, error));
    if (n > 0) {
        size_t from = parser->taken / 4, end = from + n / 4;
        gsai_hasher_add(hasher_of(parser), to + parser->taken, n);
        parser->taken += n;
        (is_ids ? gsai_cache_block_take_ids : gsai_cache_block_take_values)(&parser->block, rows, from, end);
        return GSA_OK;
    }
    if (!is_ids || !(header->flags & GSAI_CACHE_VALUES))
        return end_block(parser, rows, error);
    enter(parser, VALUES);
    return GSA_OK;
}

/* Piece after piece to the same place. */
static gsa_status read_skipped(cache *parser, gsai_rows *rows, gsa_error *error)
{
    (void)rows;
    uint64_t left = parser->block.header.payload_size - (parser->offset - parser->start - GSAI_CACHE_HEADER_SIZE);
    size_t n = left < PIECE ? (size_t)left : PIECE;
    GSA_TRY(need_buffer(parser, n, error));
    gsai_hasher_add(hasher_of(parser), parser->buffer, n);
    enter(parser, n > 0 ? SKIPPED : HEADER);
    return n > 0 ? GSA_OK : check_hash(parser, error);
}

static gsa_status read_foot(cache *parser, gsai_rows *rows, gsa_error *error)
{
    (void)rows;
    GSA_TRY(need_buffer(parser, GSAI_CACHE_FOOT_SIZE, error));
    uint64_t index_at = parser->start - parser->block.header.payload_size - GSAI_CACHE_HEADER_SIZE;
    if (gsai_load_u64(parser->buffer) != index_at || memcmp(parser->buffer + 8, GSAI_CACHE_END, 8) != 0)
        return fail_damaged(parser, "the last bytes are not the end of a cache", error);
    enter(parser, END);
    return GSA_OK;
}

static gsa_status read_end(cache *parser, gsai_rows *rows, gsa_error *error)
{
    (void)rows;
    bool whole = false;
    GSA_TRY(fill(parser, parser->buffer, 0, 1, &whole, error));
    return whole ? fail_damaged(parser, "more bytes follow its end", error) : GSA_END;
}

static gsa_status (*const step[])(cache *, gsai_rows *, gsa_error *) = {
    [HEAD] = read_head,      [HEADER] = read_header,   [PAYLOAD] = read_payload, [IDS] = read_entries,
    [VALUES] = read_entries, [SKIPPED] = read_skipped, [FOOT] = read_foot,       [END] = read_end};

/* Up to where the schema is known: no rows are needed for that. */
static gsa_status prepare_cache(void *memory, gsa_error *error)
{
    cache *parser = memory;
    gsa_status status = GSA_OK;
    while (status == GSA_OK && !parser->knows_schema)
        status = step[parser->part](parser, NULL, error);
    return status;
}

/* Whether a block is next whose rows are not for the batch of those before: it begins a file, or has another form. */
static bool is_apart(const cache *parser, const gsai_rows *rows)
{
    const gsai_cache_header *header = &parser->block.header;
    return rows->n_rows > 0 && parser->part == PAYLOAD && header->marker == GSAI_CACHE_BLOCK &&
           ((header->flags & GSAI_CACHE_FIRST) != 0 || gsai_cache_width(header) != rows->width);
}

/* Rows of two files are not in one batch. */
static gsa_status read_cache(void *memory, gsai_rows *rows, gsa_error *error)
{
    cache *parser = memory;
    gsa_status status = GSA_OK;
    parser->input->begins_file &= rows->n_rows > 0;
    while (status == GSA_OK && !gsai_rows_full(rows) && !is_apart(parser, rows))
        status = step[parser->part](parser, rows, error);
    return status;
}

/* A header tells what is in its block. */
static gsa_status skip_block(void *memory, gsa_row_range *out, gsa_error *error)
{
    cache *parser = memory;
    const gsai_cache_header *header = &parser->block.header;
    gsa_status status = parser->part == IDS || parser->part == VALUES ? GSA_UNSUPPORTED : GSA_OK;
    while (status == GSA_OK && !(parser->part == PAYLOAD && header->marker == GSAI_CACHE_BLOCK))
        status = step[parser->part](parser, NULL, error);
    if (status != GSA_OK)
        return status;
    gsa_place first = {parser->n_rows + 1, parser->start, parser->input->file};
    int begins_file = parser->n_blocks == 0 || (header->flags & GSAI_CACHE_FIRST) != 0;
    *out = (gsa_row_range){first, header->n_rows, header->n_entries, header->payload_hash, begins_file};
    uint64_t next = parser->offset + header->payload_size; /* which is below the memory limit */
    begin_at(parser, parser->n_blocks + 1, next, parser->n_rows + header->n_rows);
    return gsai_decode_seek(parser->input->stream, (int64_t)next, error);
}

const gsai_format *gsai_format_cache(void)
{
    static const gsai_format format = {.title = "a cache",
                                       .open = open_cache,
                                       .begin = begin_cache,
                                       .read = read_cache,
                                       .close = close_cache,
                                       .prepare = prepare_cache,
                                       .enter = enter_cache,
                                       .skip = skip_block};
    return &format;
}
