/* Reading a cache in the order of its bytes: from a file, a pipe or memory, compressed or not.
 *
 *   1 Nothing of a block is used before its hash is checked.
 *   2 A call that is stopped goes on where it was: `filled` says how much of the current part is there. */
#include "data/format/cache_block.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

/* The part of the file that is read next. */
typedef enum part { HEAD, HEADER, PAYLOAD, ROWS, FOOT, END } part;

typedef struct cache {
    const gsa_env *env;
    gsa__format_input *input;
    part part;
    uint64_t offset;   /* of this part in the file */
    uint64_t n_blocks; /* before this one */
    uint64_t n_rows;   /* of those */
    unsigned char *buffer;
    size_t capacity, filled;
    gsa__cache_block block;
    bool knows_schema; /* or that there is none */
} cache;

static void close_cache(void *memory)
{
    cache *parser = memory;
    gsa__free(parser->env, parser->buffer);
    gsa__free(parser->env, parser->block.word);
    gsa__free(parser->env, parser);
}

static gsa_status open_cache(size_t buffer_size, const gsa_env *env, void **out, gsa_error *error)
{
    (void)buffer_size; /* a block is taken whole */
    cache *parser = gsa__alloc_zeroed(env, 1, sizeof *parser);
    if (!parser)
        return gsa__fail_memory(env, error, "no memory for a reader of caches");
    parser->env = env;
    *out = parser;
    return GSA_OK;
}

static void enter(cache *parser, part next)
{
    parser->offset += parser->filled;
    parser->filled = 0;
    parser->part = next;
}

static void begin_cache(void *memory, gsa__format_input *input)
{
    cache *parser = memory;
    parser->input = input;
    parser->part = HEAD;
    parser->filled = 0;
    parser->knows_schema = false;
    parser->offset = parser->n_blocks = parser->n_rows = 0;
}

/* The stream is at the header of this block: reads from there on. */
static void begin_at(cache *parser, uint64_t block, uint64_t offset, uint64_t first_row)
{
    parser->part = HEADER;
    parser->filled = 0;
    parser->knows_schema = true;
    parser->n_blocks = block;
    parser->offset = offset;
    parser->n_rows = first_row;
}

static uint64_t entry_at(const gsa__cache_index *index, uint64_t block, size_t field)
{
    return gsa__load_u64(index->entries + GSA__CACHE_ENTRY_SIZE * block + 8 * field);
}

/* To the first block that begins at this byte or behind it, or has this row; behind the last one the index is read. */
static gsa_status enter_cache(void *memory, const gsa_place *at, gsa_error *error)
{
    cache *parser = memory;
    gsa__cache_index index;
    gsa_status status = gsa__cache_index_read(parser->input->stream, parser->env, &index, error);
    if (status != GSA_OK)
        return status;
    bool by_row = at->byte == UINT64_MAX;
    uint64_t block = 0, n_blocks = index.totals.n_rows;
    while (block < n_blocks && (by_row ? entry_at(&index, block, 1) + entry_at(&index, block, 2) < at->line
                                       : entry_at(&index, block, 0) < at->byte))
        block++;
    uint64_t offset = block < n_blocks ? entry_at(&index, block, 0) : index.offset;
    begin_at(parser, block, offset, block < n_blocks ? entry_at(&index, block, 1) : index.totals.first_row);
    gsa__free(parser->env, index.entries);
    return offset > INT64_MAX ? gsa__fail(error, GSA_FORMAT, "%s: damaged cache (make it anew)", parser->input->name)
                              : gsa__decode_seek(parser->input->stream, (int64_t)offset, error);
}

/* Says where, if something is damaged. */
static gsa_status damaged(const cache *parser, gsa_status status, gsa_error *error)
{
    if (status == GSA_FORMAT)
        gsa__error_prefix(error, "%s: damaged cache (make it anew), block %" PRIu64 " (byte %" PRIu64 "): ",
                          parser->input->name, parser->n_blocks, parser->offset);
    return status;
}

static gsa_status fail_damaged(const cache *parser, const char *what, gsa_error *error)
{
    return damaged(parser, gsa__fail(error, GSA_FORMAT, "%s", what), error);
}

/* Fills the buffer to `size` bytes of the current part; *whole is false if the file ends before. */
static gsa_status fill(cache *parser, size_t size, bool *whole, gsa_error *error)
{
    if (!gsa__reserve(parser->env, &parser->buffer, &parser->capacity, size + GSA__PACKED_SLACK, 1))
        return gsa__fail_memory(parser->env, error, "%s: no memory for a block of %zu bytes", parser->input->name,
                                size);
    size_t got = 1;
    while (parser->filled < size && got > 0) {
        gsa_status status = gsa__decode_read(parser->input->stream, parser->buffer + parser->filled,
                                             size - parser->filled, &got, error);
        if (status != GSA_OK)
            return status;
        parser->filled += got;
    }
    *whole = parser->filled == size;
    return GSA_OK;
}

static gsa_status need(cache *parser, size_t size, gsa_error *error)
{
    bool whole = false;
    gsa_status status = fill(parser, size, &whole, error);
    return status != GSA_OK || whole ? status : fail_damaged(parser, "the file ends in the middle", error);
}

static gsa_status read_head(cache *parser, gsa__rows *rows, gsa_error *error)
{
    (void)rows;
    gsa_status status = need(parser, GSA__CACHE_HEAD_SIZE, error);
    if (status != GSA_OK)
        return status;
    uint64_t version = gsa__load_u64(parser->buffer + 8);
    if (version != GSA__CACHE_VERSION)
        return gsa__fail(error, GSA_FORMAT,
                         "%s is a cache of version %" PRIu64 ", this release reads version %d: make it anew",
                         parser->input->name, version, GSA__CACHE_VERSION);
    enter(parser, HEADER);
    return GSA_OK;
}

/* What is wrong with the header of a block, or NULL. */
static const char *header_objection(const cache *parser)
{
    const gsa__cache_header *h = &parser->block.header;
    if (h->marker == GSA__CACHE_INDEX) {
        bool fits = h->n_rows == parser->n_blocks && h->first_row == parser->n_rows &&
                    h->n_rows <= UINT64_MAX / GSA__CACHE_ENTRY_SIZE &&
                    h->payload_size == h->n_rows * GSA__CACHE_ENTRY_SIZE;
        return fits ? NULL : "the index does not fit the blocks before it";
    }
    if (h->marker == GSA__CACHE_SCHEMA && !parser->knows_schema)
        return h->payload_size > 0 ? NULL : "it has no text";
    if (h->marker != GSA__CACHE_BLOCK)
        return "no block begins here";
    if (h->first_row != parser->n_rows)
        return "it does not continue the rows before it";
    bool fits = h->n_rows > 0 && h->n_rows <= GSA_BLOCK_ROWS && h->n_entries <= h->payload_size &&
                h->n_words <= h->n_rows && h->n_labels <= GSA__CACHE_MOST_LABELS &&
                h->flags <= (GSA__CACHE_VALUES | GSA__CACHE_WEIGHTS);
    return fits ? NULL : "its header makes no sense";
}

static gsa_status read_header(cache *parser, gsa__rows *rows, gsa_error *error)
{
    (void)rows;
    if (parser->offset >= parser->input->limit)
        return GSA_END;
    gsa_status status = need(parser, GSA__CACHE_HEADER_SIZE, error);
    if (status != GSA_OK)
        return status;
    if (!gsa__cache_header_read(parser->buffer, &parser->block.header))
        return fail_damaged(parser, "the hash of its header does not match", error);
    const char *objection = header_objection(parser);
    if (objection)
        return fail_damaged(parser, objection, error);
    if (!parser->knows_schema && parser->block.header.marker != GSA__CACHE_SCHEMA && parser->input->schema->text)
        return gsa__fail(error, GSA_ARGUMENT,
                         "%s is a cache that does not say what its columns were, and %s has columns",
                         parser->input->name, parser->input->schema_from);
    parser->knows_schema = parser->knows_schema || parser->block.header.marker != GSA__CACHE_SCHEMA;
    if (parser->block.header.payload_size > gsa__memory_limit(parser->env) / 4 ||
        parser->block.header.payload_size > SIZE_MAX - GSA__PACKED_SLACK)
        return gsa__fail(error, GSA_LIMIT,
                         "%s: block %" PRIu64 " of %" PRIu64
                         " bytes is over a quarter of the memory limit: raise the limit",
                         parser->input->name, parser->n_blocks, parser->block.header.payload_size);
    enter(parser, PAYLOAD);
    return GSA_OK;
}

/* The text is followed by slack in the buffer, where its NUL has room. */
static gsa_status take_schema(cache *parser, size_t size, gsa_error *error)
{
    gsa__format_input *input = parser->input;
    char *text = (char *)parser->buffer;
    text[size] = '\0';
    parser->knows_schema = true;
    enter(parser, HEADER);
    if (strlen(text) != size)
        return fail_damaged(parser, "its schema is not a text", error);
    bool is_first = !input->schema->text && input->file == 0;
    gsa_status status = is_first ? gsa__schema_parse(input->schema, text, error) : GSA_OK;
    if (status != GSA_OK)
        return status;
    if (!input->schema->text || strcmp(input->schema->text, text) != 0)
        return gsa__fail(error, GSA_ARGUMENT, "%s is a cache of rows with other columns than %s", input->name,
                         input->schema_from);
    if (input->options->bits == 0 || input->options->bits == input->schema->bits)
        return GSA_OK;
    return gsa__fail(error, GSA_ARGUMENT, "--bits %u: %s was made with %u; leave it out, or make the cache anew",
                     input->options->bits, input->name, input->schema->bits);
}

static gsa_status read_payload(cache *parser, gsa__rows *rows, gsa_error *error)
{
    const gsa__cache_header *header = &parser->block.header;
    size_t size = (size_t)header->payload_size;
    gsa_status status = need(parser, size, error);
    if (status != GSA_OK)
        return status;
    if (gsa__hash(parser->buffer, size, 0) != header->payload_hash)
        return fail_damaged(parser, "its hash does not match", error);
    if (header->marker == GSA__CACHE_SCHEMA)
        return take_schema(parser, size, error);
    if (header->marker == GSA__CACHE_INDEX) {
        enter(parser, FOOT);
        return GSA_OK;
    }
    parser->part = ROWS;
    return damaged(parser, gsa__cache_block_open(&parser->block, parser->buffer, &rows->words, error), error);
}

static gsa_status read_rows(cache *parser, gsa__rows *rows, gsa_error *error)
{
    gsa_place place = {.byte = parser->offset - GSA__CACHE_HEADER_SIZE, .file = parser->input->file};
    gsa_status status = damaged(parser, gsa__cache_block_read(&parser->block, place, rows, error), error);
    if (status == GSA_OK && parser->block.row == parser->block.header.n_rows) {
        parser->n_rows += parser->block.header.n_rows;
        parser->n_blocks++;
        enter(parser, HEADER);
    }
    return status;
}

static gsa_status read_foot(cache *parser, gsa__rows *rows, gsa_error *error)
{
    (void)rows;
    gsa_status status = need(parser, GSA__CACHE_FOOT_SIZE, error);
    if (status != GSA_OK)
        return status;
    uint64_t index_at = parser->offset - parser->block.header.payload_size - GSA__CACHE_HEADER_SIZE;
    if (gsa__load_u64(parser->buffer) != index_at || memcmp(parser->buffer + 8, GSA__CACHE_END, 8) != 0)
        return fail_damaged(parser, "the last bytes are not the end of a cache", error);
    enter(parser, END);
    return GSA_OK;
}

static gsa_status read_end(cache *parser, gsa__rows *rows, gsa_error *error)
{
    (void)rows;
    bool whole = false;
    gsa_status status = fill(parser, 1, &whole, error);
    if (status != GSA_OK)
        return status;
    return whole ? fail_damaged(parser, "more bytes follow its end", error) : GSA_END;
}

static gsa_status (*const step[])(cache *, gsa__rows *,
                                  gsa_error *) = {[HEAD] = read_head, [HEADER] = read_header, [PAYLOAD] = read_payload,
                                                  [ROWS] = read_rows, [FOOT] = read_foot,     [END] = read_end};

/* Up to where the schema is known: no rows are needed for that. */
static gsa_status prepare_cache(void *memory, gsa_error *error)
{
    cache *parser = memory;
    gsa_status status = GSA_OK;
    while (status == GSA_OK && !parser->knows_schema)
        status = step[parser->part](parser, NULL, error);
    return status;
}

static gsa_status read_cache(void *memory, gsa__rows *rows, gsa_error *error)
{
    cache *parser = memory;
    gsa_status status = GSA_OK;
    while (status == GSA_OK && !gsa__rows_full(rows))
        status = step[parser->part](parser, rows, error);
    return status;
}

/* A header tells what is in its block. */
static gsa_status pass_cache(void *memory, gsa_extent *out, gsa_error *error)
{
    cache *parser = memory;
    const gsa__cache_header *header = &parser->block.header;
    gsa_status status = parser->part == ROWS ? GSA_UNSUPPORTED : GSA_OK;
    while (status == GSA_OK && !(parser->part == PAYLOAD && header->marker == GSA__CACHE_BLOCK))
        status = step[parser->part](parser, NULL, error);
    if (status != GSA_OK)
        return status;
    gsa_place first = {parser->n_rows + 1, parser->offset - GSA__CACHE_HEADER_SIZE, parser->input->file};
    *out = (gsa_extent){first, header->n_rows, header->n_entries};
    uint64_t next = parser->offset + header->payload_size; /* which is below the memory limit */
    begin_at(parser, parser->n_blocks + 1, next, parser->n_rows + header->n_rows);
    return gsa__decode_seek(parser->input->stream, (int64_t)next, error);
}

const gsa__format *gsa__format_cache(void)
{
    static const gsa__format format = {"a cache",     open_cache,  begin_cache, read_cache, close_cache,
                                       prepare_cache, enter_cache, true,        pass_cache};
    return &format;
}
