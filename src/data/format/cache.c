/* Reading a cache. A plain file is mapped, and its blocks are handed out as views: ids and values stay where they are.
 * What cannot be mapped (a pipe, a compressed file, a file of the caller) is read block by block, and copied.
 *
 *   1 Nothing of a block is delivered before its hash and its numbers are checked: a hash finds damage, but anybody can
 *     make a right one. A block of a mapped file that was checked in an earlier pass is not checked again.
 *   2 A call that is stopped continues where it was: `offset` moves on after a whole section, and `filled` says how
 * much of the section is in the buffer. 3 Mappings stay until the reader is closed: views of earlier blocks are valid
 * until then. */
#include "data/format/cache.h"

#include "base/byte_order.h"
#include "base/error.h"
#include "base/half.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/schema_text.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define N_FIELDS (sizeof(gsai_cache_header) / sizeof(uint64_t))
#define PAGE ((size_t)4096)

_Static_assert(N_FIELDS * 8 + 8 == GSAI_CACHE_HEADER_SIZE, "a header is its fields and their hash");

typedef struct mapping {
    gsai_file_info file;
    const unsigned char *bytes;
    uint64_t checked_end; /* sections that begin before this byte were checked */
} mapping;

typedef struct cache {
    const gsai_env *env;
    gsai_format_input *input;
    mapping *mappings; /* of all files that were read */
    size_t n_mappings, mapping_capacity;
    mapping *mapping;           /* of this file; NULL: it is in memory, or is read */
    const unsigned char *bytes; /* of this file; NULL: it is read to the buffer */
    uint64_t size;
    bool can_view;   /* its numbers can be used where they are */
    uint64_t offset; /* of the next section */
    uint64_t n_rows; /* before it */
    unsigned char *buffer;
    size_t capacity, filled;  /* filled: bytes from the offset on */
    gsai_cache_header header; /* of the next section, once it was read */
    bool knows_schema;        /* or knows that the file has none */
    bool is_at_end;
    int32_t *word; /* the reader's numbers of a block's words */
    size_t word_capacity;
} cache;

/* ---- headers ---------------------------------------------------------------------------------------------------- */

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

static bool has(const gsai_cache_header *header, unsigned flag)
{
    return (header->flags & flag) != 0;
}

static unsigned form_of(const gsai_cache_header *header)
{
    return header->flags >> GSAI_CACHE_FORM_SHIFT & 0xFF;
}

/* Returns the values per dense row; 0: rows are sparse. */
static uint64_t width_of(const gsai_cache_header *header)
{
    return header->flags >> GSAI_CACHE_WIDTH_SHIFT;
}

/* Returns whether a section may be skipped: its first letter is a small one. */
static bool is_optional(const gsai_cache_header *header)
{
    return (header->marker & 0xFF) >= 'a' && (header->marker & 0xFF) <= 'z';
}

/* The columns of a block: each begins where the one before ends. */
typedef struct columns {
    uint64_t lengths, weights, groups, ids, values, codes, words;
} columns;

static columns lay_out(const gsai_cache_header *header)
{
    const unsigned form = form_of(header);
    const uint64_t n_rows = header->n_rows, n_dense = n_rows * width_of(header);
    columns at = {.lengths = 8 * (header->n_labels > 0 ? header->n_labels : n_rows)};
    at.weights = at.lengths + (form == GSAI_CACHE_SPARSE ? 4 * n_rows : 0);
    at.groups = at.weights + (has(header, GSAI_CACHE_WEIGHTS) ? 4 * n_rows : 0);
    at.ids = at.groups + (has(header, GSAI_CACHE_GROUPS) ? 8 * n_rows : 0);
    at.values = at.ids + (form == GSAI_CACHE_SPARSE ? 4 * header->n_entries : 0);
    at.codes = at.values + (form == GSAI_CACHE_SPARSE ? has(header, GSAI_CACHE_VALUES) * 4 * header->n_entries
                                                      : (form == GSAI_CACHE_F32 ? 4 : 2) * n_dense);
    at.words = at.codes + (header->n_labels > 0 ? n_rows : 0);
    return at;
}

/* Returns what is wrong with the header of a block, or NULL. No product here overflows: rows are few, and entries and
 * widths below 2^32 or compared with the payload first. */
static const char *block_objection(const gsai_cache_header *header)
{
    const uint64_t known =
                       GSAI_CACHE_VALUES | GSAI_CACHE_WEIGHTS | GSAI_CACHE_FIRST | GSAI_CACHE_GROUPS | GSAI_CACHE_TIMES,
                   width = width_of(header);
    bool is_sound = header->n_rows > 0 && header->n_rows <= GSA_BLOCK_ROWS && header->n_words <= header->n_rows &&
                    header->n_labels <= GSAI_CACHE_MAX_LABELS && header->n_entries <= header->payload_size &&
                    (has(header, GSAI_CACHE_GROUPS) || !has(header, GSAI_CACHE_TIMES));
    if (form_of(header) == GSAI_CACHE_SPARSE)
        is_sound = is_sound && !(header->flags & ~known) && header->n_entries <= header->payload_size / 4;
    else
        is_sound = is_sound && form_of(header) < GSAI_CACHE_N_FORMS && width > 0 && width <= (uint64_t)GSA_MAX_ID + 1 &&
                   !has(header, GSAI_CACHE_VALUES) && !(header->flags & 0xFFFF00FF & ~known) &&
                   header->n_entries <= header->n_rows * width;
    if (!is_sound)
        return "its header makes no sense";
    uint64_t size = header->payload_size, fixed = lay_out(header).words;
    /* a word has 1 to 255 bytes, and one more for its size */
    bool fits = size >= fixed && size - fixed >= 2 * header->n_words && size - fixed <= 256 * header->n_words;
    return fits ? NULL : "its size does not fit its columns";
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

static void close_cache(void *memory)
{
    cache *parser = memory;
    for (size_t i = 0; i < parser->n_mappings; i++)
        gsai_os_unmap(parser->mappings[i].bytes, parser->mappings[i].file.size);
    gsai_free(parser->env, parser->mappings);
    gsai_free(parser->env, parser->buffer);
    gsai_free(parser->env, parser->word);
    gsai_free(parser->env, parser);
}

/* Returns the mapping of an open file, which may be that of an earlier pass; NULL if it cannot be mapped, would leave
 * too few addresses, or another user could change its bytes after they were checked. */
static mapping *map_file(cache *parser, int fd)
{
    gsai_file_info file;
    if (gsai_os_info(fd, &file) != 0 || file.kind != GSAI_FILE_REGULAR || !file.is_ours)
        return NULL;
    uint64_t left = gsai_os_max_mapped();
    for (size_t i = 0; i < parser->n_mappings; i++) {
        mapping *old = &parser->mappings[i];
        if (old->file.device == file.device && old->file.number == file.number && old->file.size == file.size &&
            old->file.changed == file.changed)
            return old;
        left -= old->file.size < left ? old->file.size : left;
    }
    if (file.size > left || !gsai_reserve(parser->env, &parser->mappings, &parser->mapping_capacity,
                                          parser->n_mappings + 1, sizeof *parser->mappings))
        return NULL;
    const unsigned char *bytes = gsai_os_map(fd, file.size);
    if (!bytes)
        return NULL;
    parser->mappings[parser->n_mappings] = (mapping){file, bytes, GSAI_CACHE_HEAD_SIZE};
    return &parser->mappings[parser->n_mappings++];
}

static void begin_cache(void *memory, gsai_format_input *input)
{
    cache *parser = memory;
    const gsai_source *source = &input->stream->source;
    bool is_plain = !input->stream->entry && source->max == 0; /* reads of limited size are for tests */
    parser->input = input;
    parser->mapping = is_plain && !input->is_stream && source->fd >= 0 ? map_file(parser, source->fd) : NULL;
    parser->bytes = parser->mapping ? parser->mapping->bytes : is_plain ? source->memory : NULL;
    parser->size = parser->mapping ? parser->mapping->file.size : source->size;
    parser->can_view =
        parser->bytes && gsai_machine_is_little_endian() && (uintptr_t)parser->bytes % GSAI_CACHE_ALIGNMENT == 0;
    parser->filled = 0;
    parser->offset = parser->n_rows = 0;
    parser->knows_schema = parser->is_at_end = false;
}

static gsa_status fail_damaged(const cache *parser, const char *what, gsa_error *error)
{
    return gsai_fail(error, GSA_FORMAT, "%s: damaged cache (make it anew), block at byte %" PRIu64 ": %s",
                     parser->input->name, parser->offset, what);
}

/* Points *out at the next `size` bytes, if the file has them. It is asked each time, because reading what a mapped file
 * has lost would end the process. */
static gsa_status need(cache *parser, uint64_t size, const unsigned char **out, gsa_error *error)
{
    gsai_decode *stream = parser->input->stream;
    gsai_file_info now;
    if (parser->bytes) {
        GSA_TRY(gsai_source_ask(parser->input->name, parser->env, error));
        if (parser->mapping && (gsai_os_info(stream->source.fd, &now) != 0 || now.size < parser->size))
            return gsai_fail(error, GSA_IO, "cannot read %s: it became shorter while it was read", parser->input->name);
        *out = parser->bytes + parser->offset;
        return size <= parser->size - parser->offset ? GSA_OK
                                                     : fail_damaged(parser, "the file ends in the middle", error);
    }
    GSAI_TRY_MEMORY(gsai_reserve(parser->env, &parser->buffer, &parser->capacity, (size_t)size, 1), parser->env, error,
                    "%s: no memory for a block of %" PRIu64 " bytes", parser->input->name, size);
    *out = parser->buffer;
    for (size_t got; parser->filled < size; parser->filled += got) {
        GSA_TRY(gsai_decode_read(stream, parser->buffer + parser->filled, (size_t)size - parser->filled, &got, error));
        if (got == 0)
            return fail_damaged(parser, "the file ends in the middle", error);
    }
    return GSA_OK;
}

static uint64_t section_size(const gsai_cache_header *header)
{
    return GSAI_CACHE_HEADER_SIZE + header->payload_size + gsai_cache_padding(header->payload_size);
}

static bool is_checked(const cache *parser)
{
    return parser->mapping && parser->offset < parser->mapping->checked_end;
}

/* Points *out at the payload of the section whose header was read. */
static gsa_status need_payload(cache *parser, const unsigned char **out, gsa_error *error)
{
    const gsai_cache_header *header = &parser->header;
    const size_t size = (size_t)header->payload_size, padding = gsai_cache_padding(size);
    static const unsigned char zeros[GSAI_CACHE_ALIGNMENT] = {0};
    GSA_TRY(need(parser, section_size(header), out, error));
    *out += GSAI_CACHE_HEADER_SIZE;
    if (is_checked(parser))
        return GSA_OK;
    if (gsai_hash(*out, size, 0) != header->payload_hash)
        return fail_damaged(parser, "its hash does not match", error);
    return memcmp(*out + size, zeros, padding) == 0 ? GSA_OK
                                                    : fail_damaged(parser, "bytes after it are not zero", error);
}

/* Goes to another byte, where a section begins. A file that is read is there already, or has to seek. */
static void move_to(cache *parser, uint64_t offset)
{
    parser->offset = offset;
    parser->filled = 0;
    if (parser->bytes)
        parser->input->stream->source.n_read = offset;
}

/* Continues after a section that was taken. */
static void leave_section(cache *parser)
{
    uint64_t end = parser->offset + section_size(&parser->header);
    if (parser->mapping && parser->mapping->checked_end == parser->offset)
        parser->mapping->checked_end = end;
    move_to(parser, end);
}

/* ---- sections beside blocks ------------------------------------------------------------------------------------- */

/* Returns what is wrong with the header of the next section, or NULL. */
static const char *header_objection(const cache *parser)
{
    const gsai_cache_header *h = &parser->header;
    if (parser->bytes && h->payload_size > parser->size)
        return "the file ends in the middle";
    if (h->marker == GSAI_CACHE_INDEX)
        return h->first_row == parser->n_rows && h->payload_size % GSAI_CACHE_ENTRY_SIZE == 0 &&
                       h->n_rows == h->payload_size / GSAI_CACHE_ENTRY_SIZE
                   ? NULL
                   : "the index does not fit the blocks before it";
    if (is_optional(h))
        return NULL;
    if (h->marker == GSAI_CACHE_SCHEMA && !parser->knows_schema)
        return h->payload_size > 0 ? NULL : "it has no text";
    if (h->marker != GSAI_CACHE_BLOCK)
        return "no block begins here";
    return h->first_row != parser->n_rows ? "it does not continue the rows before it" : block_objection(h);
}

/* Reads the header of the next section, and checks what it says. */
static gsa_status read_header(cache *parser, gsa_error *error)
{
    const gsai_format_input *input = parser->input;
    const gsai_cache_header *header = &parser->header;
    const unsigned char *bytes = NULL;
    GSA_TRY(need(parser, GSAI_CACHE_HEADER_SIZE, &bytes, error));
    if (!gsai_cache_header_read(bytes, &parser->header))
        return fail_damaged(parser, "the hash of its header does not match", error);
    if (header->marker == GSAI_CACHE_BLOCK && has(header, GSAI_CACHE_MISSING))
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "%s: the block at byte %" PRIu64 " has numbers that may be missing, which this release does "
                         "not read yet: convert the rows again",
                         input->name, parser->offset);
    const char *objection = header_objection(parser);
    if (objection)
        return fail_damaged(parser, objection, error);
    uint64_t max = gsai_memory_limit(parser->env) / 4;
    if (!parser->bytes && header->payload_size > (max < SIZE_MAX / 2 ? max : SIZE_MAX / 2))
        return gsai_fail_param(error, "memory_limit", GSA_LIMIT,
                               "%s: the block at byte %" PRIu64 ", of %" PRIu64 " bytes, is over a quarter "
                               "of the memory limit: raise the limit",
                               input->name, parser->offset, header->payload_size);
    bool is_schema = header->marker == GSAI_CACHE_SCHEMA || is_optional(header);
    if (!parser->knows_schema && !is_schema && input->schema->text)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s is a cache that does not say what its columns were, and %s has columns", input->name,
                         input->schema_from);
    parser->knows_schema = parser->knows_schema || !is_schema;
    return GSA_OK;
}

static gsa_status take_schema(cache *parser, const char *text, size_t size, gsa_error *error)
{
    const gsai_format_input *input = parser->input;
    if (memchr(text, '\0', size) != text + size - 1)
        return fail_damaged(parser, "its schema is not a text", error);
    parser->knows_schema = true;
    if (!input->schema->text && input->file == 0)
        GSA_TRY(gsai_schema_parse(input->schema, text, error));
    const char *ours = input->schema->text, *theirs = text;
    if (!ours || !gsai_schemas_agree(&ours, &theirs))
        return gsai_fail(error, GSA_ARGUMENT, "%s is a cache of rows with other columns than %s", input->name,
                         input->schema_from);
    if (input->options->bits == 0 || input->options->bits == input->schema->bits)
        return GSA_OK;
    return gsai_fail_param(error, "bits", GSA_ARGUMENT,
                           "%u bits: %s was made with %u; leave them out, or make the cache anew", input->options->bits,
                           input->name, input->schema->bits);
}

/* Enters the names of features that have none yet, if they are wanted and the memory limit has room for them. */
static gsa_status take_names(const cache *parser, const unsigned char *at, size_t size, gsa_error *error)
{
    const gsai_schema *schema = parser->input->schema;
    gsai_feature_names *names = parser->input->names;
    if (!parser->input->options->remember_names || !schema->text || size > gsai_memory_limit(parser->env) / 4 ||
        size > GSA_NAMES_SIZE + GSA_MAX_NAMES * GSAI_CACHE_NAME_SIZE)
        return GSA_OK;
    const uint64_t first = gsai_schema_first_word(schema), end = first + (UINT64_C(1) << gsai_schema_id_bits(schema));
    const unsigned char *limit = at + size;
    GSA_TRY(gsai_feature_names_begin(names, gsai_schema_id_bits(schema), parser->env, error));
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

/* The file ends with the index, the byte where that begins, and the end magic. */
static gsa_status take_end(cache *parser, gsa_error *error)
{
    const unsigned char *bytes;
    const uint64_t size = section_size(&parser->header), end = size + GSAI_CACHE_FOOT_SIZE;
    GSA_TRY(need(parser, end, &bytes, error));
    if (gsai_load_u64(bytes + size) != parser->offset || memcmp(bytes + size + 8, GSAI_CACHE_END, 8) != 0)
        return fail_damaged(parser, "the last bytes are not the end of a cache", error);
    unsigned char more;
    size_t n_more = (size_t)(parser->size - parser->offset > end);
    if (!parser->bytes)
        GSA_TRY(gsai_decode_read(parser->input->stream, &more, 1, &n_more, error));
    if (n_more > 0)
        return fail_damaged(parser, "more bytes follow its end", error);
    move_to(parser, parser->offset + end);
    parser->is_at_end = true;
    return GSA_END;
}

/* Takes sections up to the next block and reads its header. GSA_END after the last. */
static gsa_status find_block(cache *parser, gsa_error *error)
{
    const gsai_cache_header *header = &parser->header;
    const char *name = parser->input->name;
    const unsigned char *payload;
    if (parser->is_at_end)
        return GSA_END;
    if (parser->offset == 0) {
        GSA_TRY(need(parser, GSAI_CACHE_HEAD_SIZE, &payload, error));
        uint64_t version = gsai_load_u64(payload + 8);
        if (version != GSAI_CACHE_VERSION)
            return gsai_fail(error, GSA_FORMAT,
                             "%s is a cache of version %" PRIu64
                             ", this release reads version %d: convert the rows again",
                             name, version, GSAI_CACHE_VERSION);
        if (parser->mapping && memcmp(parser->bytes + parser->size - 8, GSAI_CACHE_END, 8) != 0)
            return gsai_fail(error, GSA_FORMAT,
                             "%s: damaged cache (make it anew): no index at its end; was it cut off?", name);
        move_to(parser, GSAI_CACHE_HEAD_SIZE);
    }
    while (true) {
        GSA_TRY(read_header(parser, error));
        if (header->marker == GSAI_CACHE_BLOCK)
            return GSA_OK;
        GSA_TRY(need_payload(parser, &payload, error));
        if (header->marker == GSAI_CACHE_INDEX)
            return take_end(parser, error);
        const size_t size = (size_t)header->payload_size;
        if (header->marker == GSAI_CACHE_SCHEMA)
            GSA_TRY(take_schema(parser, (const char *)payload, size, error));
        if (header->marker == GSAI_CACHE_NAMES)
            GSA_TRY(take_names(parser, payload, size, error));
        leave_section(parser);
    }
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Returns n numbers of 4 bytes where they are, or a copy of them in the order of the machine. */
static const void *take_numbers(const cache *parser, const unsigned char *from, size_t n, void *copy)
{
    if (parser->can_view)
        return from;
    memcpy(copy, from, 4 * n);
    if (!gsai_machine_is_little_endian())
        gsai_swap_bytes(copy, n, 4);
    return copy;
}

/* Converts n halves, which the file may have at any byte and in another order than the machine. */
static void read_halves(gsa_half kind, const unsigned char *from, size_t n, float *out)
{
    uint16_t piece[1024];
    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < 1024 ? n - at : 1024;
        memcpy(piece, from + 2 * at, 2 * part);
        if (!gsai_machine_is_little_endian())
            gsai_swap_bytes((unsigned char *)piece, part, 2);
        gsa_half_read(kind, piece, part, out + at);
    }
}

/* Returns whether ids ascend within rows and are not too large. Where an id is not above the one before it, a row must
 * begin: the first loop counts such places, the second takes back those that are right. */
static bool are_ids_sound(const uint32_t *id, const int64_t *row_start, size_t n_rows)
{
    const size_t n = (size_t)row_start[n_rows];
    if (n > UINT32_MAX) /* which could be as many breaks as add up to 0 */
        return false;
    uint32_t n_breaks = 0, n_over = n > 0 && id[n - 1] > GSA_MAX_ID;
    for (size_t i = 1; i < n; i++)
        n_breaks += id[i] <= id[i - 1];
    for (size_t r = 0; r < n_rows; r++) {
        size_t at = (size_t)row_start[r];
        if (at > 0 && row_start[r + 1] > row_start[r]) {
            n_breaks -= id[at] <= id[at - 1];
            n_over |= id[at - 1] > GSA_MAX_ID;
        }
    }
    return n_breaks == 0 && n_over == 0;
}

/* Returns whether values are finite; *n_zeros counts those that are 0. */
static bool are_finite(const float *value, size_t n, uint64_t *n_zeros)
{
    int n_bad = 0;
    *n_zeros = 0;
    while (n > 0) {
        const size_t part = n < ((size_t)1 << 24) ? n : (size_t)1 << 24;
        uint32_t zeros = 0; /* of a part, so that the loop is one of vectors */
        for (size_t i = 0; i < part; i++) {
            n_bad |= !isfinite(value[i]);
            zeros += value[i] == 0;
        }
        *n_zeros += zeros;
        value += part;
        n -= part;
    }
    return n_bad == 0;
}

/* Points the rows at the ids and values of a block, or copies them there; row_start is filled in. */
static gsa_status take_entries(cache *parser, const unsigned char *payload, gsai_rows *rows, gsa_error *error)
{
    const gsai_cache_header *header = &parser->header;
    const columns at = lay_out(header);
    const unsigned form = form_of(header);
    const size_t n_rows = (size_t)header->n_rows, width = (size_t)width_of(header);
    const size_t n = width > 0 ? n_rows * width : (size_t)header->n_entries;
    const bool is_half = form == GSAI_CACHE_F16 || form == GSAI_CACHE_BF16, has_values = has(header, GSAI_CACHE_VALUES);
    if (width > 0 && (is_half || !parser->can_view))
        GSA_TRY(gsai_rows_reserve_dense(rows, n_rows, width, error));
    else
        GSA_TRY(
            gsai_rows_reserve_block(rows, n_rows, parser->can_view ? 0 : n, has_values && !parser->can_view, error));
    uint64_t sum = 0;
    for (size_t r = 0; r < n_rows; r++) {
        uint32_t length = (uint32_t)width;
        if (width == 0)
            memcpy(&length, payload + at.lengths + 4 * r, sizeof length);
        if (width == 0 && !gsai_machine_is_little_endian())
            gsai_swap_bytes((unsigned char *)&length, 1, sizeof length);
        sum += length;
        rows->row_start[r + 1] = (int64_t)sum;
    }
    if (sum != n)
        return fail_damaged(parser, "the lengths of its rows make no sense", error);
    const uint32_t *id = width == 0 ? take_numbers(parser, payload + at.ids, n, rows->index) : NULL;
    const float *value = NULL;
    if (is_half) {
        read_halves(form == GSAI_CACHE_F16 ? GSA_HALF_F16 : GSA_HALF_BF16, payload + at.values, n, rows->value);
        value = rows->value;
    } else if (has_values || width > 0)
        value = take_numbers(parser, payload + at.values, n, rows->value);
    if (!is_checked(parser)) {
        uint64_t n_zeros = 0;
        bool is_sound =
            (!id || are_ids_sound(id, rows->row_start, n_rows)) && (!value || are_finite(value, n, &n_zeros));
        if (!is_sound || n_zeros != n - header->n_entries)
            return fail_damaged(parser, "a row makes no sense", error);
    }
    if (parser->can_view) {
        rows->index_view = id;
        rows->value_view = is_half ? NULL : value;
        rows->width = width;
    }
    return GSA_OK;
}

/* Enters the block's words in the reader's dictionary. */
static gsa_status take_words(cache *parser, const unsigned char *from, size_t left, gsai_words *words, gsa_error *error)
{
    size_t n_words = (size_t)parser->header.n_words;
    GSAI_TRY_MEMORY(gsai_reserve(parser->env, &parser->word, &parser->word_capacity, n_words, sizeof *parser->word),
                    parser->env, error, "no memory for %zu label words", n_words);
    for (size_t i = 0; i < n_words; i++) {
        size_t size = left > 0 ? *from : 0;
        if (size >= left || !gsai_is_text((const char *)from + 1, size))
            return fail_damaged(parser, "a label is not text", error);
        GSA_TRY(gsai_words_enter(words, (const char *)from + 1, size, &parser->word[i], error));
        from += size + 1;
        left -= size + 1;
    }
    return left == 0 ? GSA_OK : fail_damaged(parser, "its size does not fit its columns", error);
}

/* Fills in the label of 8 bytes; returns false if it is neither a finite number nor a word of the block. */
static bool read_label(const cache *parser, const unsigned char *from, double *label, int32_t *word)
{
    uint64_t bits = gsai_load_u64(from);
    bool is_word = bits >= GSAI_CACHE_WORD;
    *word = is_word && (uint32_t)bits < parser->header.n_words ? parser->word[(uint32_t)bits] : -1;
    bits = is_word ? 0 : bits;
    memcpy(label, &bits, sizeof *label);
    return is_word ? *word >= 0 : isfinite(*label);
}

static bool take_labels(const cache *parser, const unsigned char *from, const unsigned char *codes, gsai_rows *rows)
{
    double label[GSAI_CACHE_MAX_LABELS];
    int32_t word[GSAI_CACHE_MAX_LABELS], all_words = -1;
    const size_t n_rows = (size_t)parser->header.n_rows, n_labels = (size_t)parser->header.n_labels;
    bool is_sound = true;
    for (size_t i = 0; i < n_labels; i++)
        is_sound &= read_label(parser, from + 8 * i, &label[i], &word[i]);
    for (size_t r = 0; r < n_rows && is_sound; r++) {
        if (n_labels == 0)
            is_sound = read_label(parser, from + 8 * r, &rows->label[r], &rows->word[r]);
        else if ((is_sound = codes[r] < n_labels)) {
            rows->label[r] = label[codes[r]];
            rows->word[r] = word[codes[r]];
        }
        all_words &= is_sound ? rows->word[r] : -1; /* below 0 until a row has a word */
    }
    rows->any_word = all_words >= 0;
    return is_sound;
}

/* Weights may be NULL: each row counts 1. */
static bool take_weights(const unsigned char *from, size_t n, gsai_rows *rows)
{
    int n_bad = 0, n_other = 0;
    for (size_t r = 0; r < n; r++)
        rows->weight[r] = 1;
    if (from)
        memcpy(rows->weight, from, 4 * n);
    if (from && !gsai_machine_is_little_endian())
        gsai_swap_bytes((unsigned char *)rows->weight, n, 4);
    for (size_t r = 0; r < n; r++) {
        n_bad |= !(rows->weight[r] >= 0 && isfinite(rows->weight[r]));
        n_other |= rows->weight[r] != 1;
    }
    rows->any_weight = n_other;
    return !n_bad;
}

/* Reads the next block, which is a batch. */
static gsa_status read_cache(void *memory, gsai_rows *rows, gsa_error *error)
{
    cache *parser = memory;
    const gsai_cache_header *header = &parser->header;
    const unsigned char *payload;
    GSA_TRY(find_block(parser, error));
    GSA_TRY(need_payload(parser, &payload, error));
    const columns at = lay_out(header);
    const size_t n_rows = (size_t)header->n_rows, size = (size_t)header->payload_size;
    volatile unsigned char sum = 0;
    for (size_t i = 0; i < size && is_checked(parser);
         i += PAGE) /* this thread waits for the disk, not the one that learns */
        sum = (unsigned char)(sum + payload[i]);
    gsa_status status = take_entries(parser, payload, rows, error);
    if (status == GSA_OK)
        status = take_words(parser, payload + at.words, size - (size_t)at.words, &rows->words, error);
    if (status == GSA_OK && !take_labels(parser, payload, payload + at.codes, rows))
        status = fail_damaged(parser, "its labels make no sense", error);
    if (status == GSA_OK && !take_weights(has(header, GSAI_CACHE_WEIGHTS) ? payload + at.weights : NULL, n_rows, rows))
        status = fail_damaged(parser, "its weights make no sense", error);
    if (status == GSA_OK && has(header, GSAI_CACHE_GROUPS))
        status = gsai_rows_begin_groups(rows, has(header, GSAI_CACHE_TIMES), error);
    if (status != GSA_OK) {
        gsai_rows_clear(rows);
        return status;
    }
    for (size_t r = 0; r < n_rows && has(header, GSAI_CACHE_GROUPS); r++)
        rows->group[r] = gsai_load_u64(payload + at.groups + 8 * r);
    for (size_t r = 0; r < n_rows; r++) {
        rows->place[r] = (gsa_place){header->first_row + r + 1, parser->offset, parser->input->file};
        if (rows->keeps) { /* no texts, and none is bad */
            rows->kept_start[r + 1] = 0;
            rows->bad[r] = 0;
        }
    }
    const bool has_values = width_of(header) > 0 || has(header, GSAI_CACHE_VALUES);
    gsai_rows_finish_block(rows, n_rows, has_values, !has_values);
    parser->input->begins_file = has(header, GSAI_CACHE_FIRST);
    parser->n_rows += n_rows;
    leave_section(parser);
    return GSA_OK;
}

/* ---- parts of a file -------------------------------------------------------------------------------------------- */

/* Reads up to where the schema is known, which takes no rows. */
static gsa_status prepare_cache(void *memory, gsa_error *error)
{
    cache *parser = memory;
    const gsai_schema *schema = parser->input->schema;
    const gsa_reader_options *options = parser->input->options;
    bool has_time = false;
    if (!parser->knows_schema)
        GSA_TRY(find_block(parser, error));
    for (size_t f = 0; f < schema->n_fields; f++)
        has_time = has_time || gsai_field_is_time(&schema->field[f]);
    if ((options->group && schema->n_of_kind[GSAI_FIELD_GROUP] == 0) || (options->time && !has_time))
        return gsai_fail_param(error, options->group ? "group" : "time", GSA_ARGUMENT,
                               "%s was converted without the column; convert the table again with it",
                               parser->input->name);
    return GSA_OK;
}

/* Goes to a byte; a file that is read has to seek. */
static gsa_status seek(cache *parser, uint64_t offset, gsa_error *error)
{
    move_to(parser, offset);
    return parser->bytes ? GSA_OK : gsai_decode_seek(parser->input->stream, offset, error);
}

/* Goes to the block that begins at this byte. */
static gsa_status enter_cache(void *memory, const gsa_place *at, gsa_error *error)
{
    cache *parser = memory;
    const uint64_t size = parser->bytes ? parser->size : INT64_MAX;
    bool is_there =
        at->line > 0 && at->byte >= GSAI_CACHE_HEAD_SIZE && at->byte < size && at->byte % GSAI_CACHE_ALIGNMENT == 0;
    if (is_there) {
        GSA_TRY(seek(parser, at->byte, error));
        parser->is_at_end = false;
        parser->n_rows = at->line - 1;
        gsa_status status = read_header(parser, error);
        is_there = parser->header.marker == GSAI_CACHE_BLOCK && parser->header.first_row == parser->n_rows;
        if (status == GSA_OK ? is_there : status != GSA_FORMAT || is_there)
            return status;
    }
    return gsai_fail(error, GSA_ARGUMENT,
                     "%s: no block with row %" PRIu64 " begins at byte %" PRIu64 ": has the cache changed?",
                     parser->input->name, at->line, at->byte);
}

/* Skips the next block by its header. */
static gsa_status skip_block(void *memory, gsa_row_range *out, gsa_error *error)
{
    cache *parser = memory;
    const gsai_cache_header *header = &parser->header;
    GSA_TRY(find_block(parser, error));
    gsa_place first = {parser->n_rows + 1, parser->offset, parser->input->file};
    int begins_file = parser->n_rows == 0 || has(header, GSAI_CACHE_FIRST);
    *out = (gsa_row_range){first, header->n_rows, header->n_entries, header->payload_hash, begins_file};
    uint64_t next = parser->offset + section_size(header);
    if (parser->bytes && next > parser->size)
        return fail_damaged(parser, "the file ends in the middle", error);
    parser->n_rows += header->n_rows;
    return seek(parser, next, error);
}

const gsai_format gsai_format_cache = {.title = "a cache",
                                       .size = sizeof(cache),
                                       .begin = begin_cache,
                                       .read = read_cache,
                                       .close = close_cache,
                                       .prepare = prepare_cache,
                                       .enter = enter_cache,
                                       .skip = skip_block};
