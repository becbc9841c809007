/* What readers deliver, to the bit, and the properties that hold for the bytes of every format:
 *
 *   R1  rows, places, failures and their messages do not depend on how bytes come in pieces;
 *   R2  a second pass is the first one;
 *   R3  with bad rows skipped, the rows before the first bad one are the same; without bad rows all are;
 *   R4  the blocks of a cache are found by their headers, and from any of them on the rest follows;
 *   R5  what was read can be written, or is refused for a reason; what was written reads back equal, and written again
 *       has the same bytes. */
#ifndef GSA_FUZZ_ROWS_H
#define GSA_FUZZ_ROWS_H

#include "fuzz.h"

#include "base/batch.h"
#include "base/memory.h"
#include "data/format/format.h"
#include "data/reader.h"

#include <greedystep/distributed.h>

typedef struct fuzz_source {
    const void *bytes;
    size_t size;
    const char *name;
    const gsai_format *format; /* NULL: it is recognised */
    gsa_reader_options options;
    bool may_contradict; /* an index in it may be a lie, which is noticed only by those that follow it */
} fuzz_source;

/* Rows as bytes that can be compared, and how the reading ended. */
typedef struct fuzz_told {
    fuzz_bytes rows, at, places; /* at: size_t, where rows begin; places: gsa_place */
    size_t n;
    gsa_status status;
    gsa_error error;
    uint64_t n_bad_rows;
    char schema[512];
} fuzz_told;

static inline size_t fuzz_row_at(const fuzz_told *told, size_t row)
{
    size_t at;
    if (row == told->n)
        return told->rows.size;
    memcpy(&at, told->at.data + row * sizeof at, sizeof at);
    return at;
}

static inline gsa_place fuzz_place_at(const fuzz_told *told, size_t row)
{
    gsa_place place;
    memcpy(&place, told->places.data + row * sizeof place, sizeof place);
    return place;
}

static inline void fuzz_tell_label(fuzz_told *told, const gsa_batch *batch, size_t r)
{
    if (!batch->label)
        return;
    bool is_word = batch->word && batch->word[r] >= 0;
    fuzz_must(!is_word || (size_t)batch->word[r] < batch->n_words, "a word of a label is one of the words", NULL);
    if (is_word) {
        const char *word = batch->words[batch->word[r]];
        fuzz_put(&told->rows, "word", 4);
        fuzz_put(&told->rows, word, strlen(word) + 1);
    } else {
        fuzz_must(isfinite(batch->label[r]), "labels are finite", NULL);
        fuzz_put(&told->rows, &batch->label[r], sizeof *batch->label);
    }
}

static inline void fuzz_tell_row(fuzz_told *told, const gsa_batch *batch, size_t r)
{
    size_t at = told->rows.size;
    fuzz_put(&told->at, &at, sizeof at);
    fuzz_tell_label(told, batch, r);
    float weight = batch->weight ? batch->weight[r] : 1.0f;
    fuzz_must(isfinite(weight) && weight >= 0, "weights are finite and not negative", NULL);
    fuzz_put(&told->rows, &weight, sizeof weight);
    gsai_row row = gsai_row_at(batch, r);
    for (size_t i = 0; i < row.n; i++) {
        float value = gsai_row_value(&row, i);
        uint32_t id = gsai_row_id(&row, i);
        fuzz_must(id <= GSA_MAX_ID, "ids are in their range", NULL);
        fuzz_must(i == 0 || id > gsai_row_id(&row, i - 1), "ids ascend", NULL);
        fuzz_must(isfinite(value), "values are finite", NULL);
        if (value == 0)
            continue;
        fuzz_put(&told->rows, &id, sizeof id);
        fuzz_put(&told->rows, &value, sizeof value);
    }
    gsa_place place;
    memset(&place, 0, sizeof place); /* its padding is compared too */
    if (batch->place) {
        place.line = batch->place[r].line;
        place.byte = batch->place[r].byte;
        place.file = batch->place[r].file;
    }
    fuzz_put(&told->places, &place, sizeof place);
    told->n++;
}

static inline void fuzz_tell_nothing(fuzz_told *told)
{
    told->rows.size = told->at.size = told->places.size = told->n = 0;
    told->n_bad_rows = 0;
    told->schema[0] = '\0';
    memset(&told->error, 0, sizeof told->error);
}

/* Adds all rows that come. */
static inline void fuzz_tell_rest(fuzz_told *told, gsa_reader *reader)
{
    gsa_batch batch;
    while ((told->status = gsa_reader_next(reader, &batch, &told->error)) == GSA_OK) {
        fuzz_must(batch.n_rows > 0, "a batch has rows", NULL);
        for (size_t r = 0; r < batch.n_rows; r++)
            fuzz_tell_row(told, &batch, r);
    }
    fuzz_status(told->status, &told->error);
    gsa_reader_progress progress = {.size = sizeof progress};
    gsa_reader_get_progress(reader, &progress);
    told->n_bad_rows += progress.n_bad_rows;
    const char *schema = gsa_reader_schema(reader);
    snprintf(told->schema, sizeof told->schema, "%s", schema ? schema : "none");
}

static const gsai_reader_sizes fuzz_sizes = {.buffer = 4096, .batch_rows = 64};
static const gsai_env fuzz_env = {
    .memory = {.size = sizeof(gsa_memory),
               .budget = &(gsa_budget){.size = sizeof(gsa_budget), .limit = (uint64_t)32 << 20}},
    .call = {.size = sizeof(gsa_call), .n_threads = 1}};

static inline gsa_reader *fuzz_open(const fuzz_source *from, const gsai_reader_sizes *sizes, bool skip)
{
    gsa_reader_options options = from->options;
    gsa_reader *reader = NULL;
    gsa_error error = {0};
    options.skip_bad_rows = skip;
    gsa_status status = gsai_reader_open_bytes(from->bytes, from->size, from->name, from->format, &options, sizes,
                                               &fuzz_env, &reader, &error);
    fuzz_must(status == GSA_OK || options.bits > 31, "bytes can be opened", error.message);
    return reader;
}

/* false: nothing can be opened with these options. */
static inline bool fuzz_tell(const fuzz_source *from, const gsai_reader_sizes *sizes, bool skip, fuzz_told *told)
{
    fuzz_tell_nothing(told);
    gsa_reader *reader = fuzz_open(from, sizes, skip);
    if (!reader)
        return false;
    fuzz_tell_rest(told, reader);
    gsa_reader_close(reader);
    return true;
}

static inline bool fuzz_same_end(const fuzz_told *a, const fuzz_told *b)
{
    return a->status == b->status && a->n_bad_rows == b->n_bad_rows && strcmp(a->schema, b->schema) == 0 &&
           (a->status == GSA_END || (a->error.line == b->error.line && a->error.byte == b->error.byte &&
                                     strcmp(a->error.message, b->error.message) == 0));
}

static inline void fuzz_must_be_same(const fuzz_told *a, const fuzz_told *b, const char *property)
{
    fuzz_must(a->n == b->n && fuzz_same(&a->rows, &b->rows), property, "rows");
    fuzz_must(fuzz_same(&a->places, &b->places), property, "places");
    if (fuzz_same_end(a, b))
        return;
    fprintf(stderr, "one: %s, %s, schema %s\nother: %s, %s, schema %s\n", gsa_status_text(a->status), a->error.message,
            a->schema, gsa_status_text(b->status), b->error.message, b->schema);
    fuzz_must(false, property, "how it ended");
}

/* The rows of b are those of a from row `from` on, where there are as many. */
static inline void fuzz_must_follow(const fuzz_told *a, size_t from, const fuzz_told *b, size_t n, const char *property)
{
    size_t size = fuzz_row_at(a, from + n) - fuzz_row_at(a, from);
    fuzz_must(fuzz_row_at(b, n) == size, property, "sizes of rows");
    fuzz_must(size == 0 || memcmp(a->rows.data + fuzz_row_at(a, from), b->rows.data, size) == 0, property, "rows");
    for (size_t i = 0; i < n; i++) {
        gsa_place x = fuzz_place_at(a, from + i), y = fuzz_place_at(b, i);
        fuzz_must(x.byte == y.byte && (x.line == y.line || y.line == 0), property, "places");
    }
}

/* ---- the properties ---------------------------------------------------------------------------------------------- */

/* R1. How much of a damaged codec's bytes, or of a damaged block of a cache, comes out before the damage is noticed
 * does depend on the pieces. */
static inline void fuzz_check_pieces(const fuzz_source *from, const fuzz_told *whole, uint8_t choice)
{
    static fuzz_told other;
    bool is_cache = from->size >= 5 && memcmp(from->bytes, "\x89GSAC", 5) == 0;
    if ((is_cache || gsai_codec_detect(from->bytes, from->size)) && whole->status != GSA_END)
        return;
    const gsai_reader_sizes sizes = {.buffer = 1 + choice % 61,
                                     .read = 1 + choice % 7,
                                     .batch_rows = 1 + choice % 5,
                                     .batch_values = 1 + choice % 11};
    fuzz_tell(from, &sizes, false, &other);
    fuzz_must_be_same(whole, &other, "rows do not depend on the pieces that bytes come in");
}

/* R2. */
static inline void fuzz_check_rewind(const fuzz_source *from, const fuzz_told *whole, uint8_t choice)
{
    static fuzz_told other;
    gsa_reader *reader = fuzz_open(from, &fuzz_sizes, false);
    gsa_error error = {0};
    gsa_batch batch;
    for (unsigned i = 0; i < choice % 4u && gsa_reader_next(reader, &batch, &error) == GSA_OK; i++)
        ;
    fuzz_must(gsa_reader_rewind(reader, &error) == GSA_OK, "memory can be read again", error.message);
    fuzz_tell_nothing(&other);
    fuzz_tell_rest(&other, reader);
    gsa_reader_close(reader);
    if (whole->status == GSA_END || !gsai_codec_detect(from->bytes, from->size))
        fuzz_must_be_same(whole, &other, "a second pass is the first");
    else /* near which byte a codec is damaged, and what a row before it lacks, depends on how far it has read */
        fuzz_must(other.status != GSA_END, "a second pass fails like the first", other.error.message);
}

/* R3. */
static inline void fuzz_check_skipping(const fuzz_told *whole, const fuzz_told *skipped)
{
    if (whole->status == GSA_END)
        fuzz_must_be_same(whole, skipped, "nothing is skipped where nothing is bad");
    fuzz_must(skipped->status != GSA_INPUT, "bad rows are skipped", skipped->error.message);
    if (whole->status != GSA_INPUT || skipped->status != GSA_END)
        return;
    fuzz_must(skipped->n_bad_rows > 0, "a bad row is counted", whole->error.message);
    if (strcmp(whole->schema, skipped->schema) == 0) {
        fuzz_must(skipped->n >= whole->n, "rows before a bad one are delivered", NULL);
        fuzz_must_follow(whole, 0, skipped, whole->n, "rows before a bad one are the same");
    }
}

/* R4, of a cache that can be read. */
static inline void fuzz_check_blocks(const fuzz_source *from, const fuzz_told *skipped, uint8_t choice)
{
    static fuzz_told rest;
    enum { MAX_BLOCKS = 64 };
    gsa_row_range block[MAX_BLOCKS];
    size_t n = 0, row = 0;
    gsa_reader *reader = fuzz_open(from, &fuzz_sizes, true);
    gsa_error error = {0};
    gsa_status status = GSA_OK;
    while (n < MAX_BLOCKS && (status = gsa_reader_skip(reader, &block[n], &error)) == GSA_OK)
        n++;
    fuzz_must(status != GSA_END || n > 0 || skipped->n == 0 || from->may_contradict, "rows are in blocks",
              error.message);
    if (status == GSA_END && n > 0 && !from->may_contradict) {
        for (size_t i = 0; i < choice % n; i++)
            row += (size_t)block[i].n_rows;
        status = gsa_reader_seek(reader, &block[choice % n].at, &error);
        fuzz_must(status == GSA_OK, "a block is found at its place", error.message);
        fuzz_tell_nothing(&rest);
        fuzz_tell_rest(&rest, reader);
        fuzz_must(rest.status == GSA_END && rest.n == skipped->n - row, "all rows follow", rest.error.message);
        fuzz_must_follow(skipped, row, &rest, rest.n, "from its place on, a block and the rest follow");
    }
    gsa_reader_close(reader);
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/* Packed by a codec of ours that can; returns the size. */
static inline size_t fuzz_pack(const gsai_codec *codec, const void *text, size_t size, unsigned char *out, size_t room)
{
    gsai_env env = gsai_env_resolve(NULL);
    void *encoder = gsai_codec_open(codec, &env, true);
    gsai_codec_io io = {.in = text, .in_size = size, .out = out, .out_size = room, .is_last = true};
    gsai_codec_result result = codec->step(encoder, &io);
    fuzz_must(result == GSAI_CODEC_MEMBER_END, "what there is room for is packed in one step", NULL);
    gsai_codec_close(codec, encoder, &env);
    return room - io.out_size;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The rows of a reader, which is closed, in a format. */
static inline gsa_status fuzz_convert(gsa_reader *reader, const char *format, fuzz_bytes *out, gsa_error *error)
{
    char path[32];
    int fd = fuzz_file(path);
    gsa_writer *writer = NULL;
    gsa_batch batch;
    gsa_status status = gsa_writer_open(path, format, &fuzz_env.memory, &fuzz_env.call, &writer, error);
    fuzz_must(status == GSA_OK, "a file can be opened", error->message);
    status = gsa_reader_begin(reader, error);
    if (status == GSA_OK)
        status = gsa_writer_set_schema(writer, gsa_reader_schema(reader), error);
    while (status == GSA_OK && (status = gsa_reader_next(reader, &batch, error)) == GSA_OK)
        status = gsa_writer_write(writer, &batch, error);
    gsa_reader_close(reader);
    if (status != GSA_END) {
        gsa_writer_discard(writer);
        return fuzz_status(status, error);
    }
    status = gsa_writer_close(writer, error);
    fuzz_must(status == GSA_OK, "a file can be written", error->message);
    off_t size = lseek(fd, 0, SEEK_END);
    out->size = 0;
    fuzz_reserve(out, (size_t)size + 1);
    out->size = (size_t)size;
    fuzz_must(pread(fd, out->data, out->size, 0) == (ssize_t)size, "a file can be read", NULL);
    return GSA_OK;
}

/* R5, of rows that can be read to their end. Words as labels, weights and schemas are what a format may refuse. */
static inline void fuzz_check_writing(const fuzz_source *from, const fuzz_told *whole, const char *format,
                                      const gsai_format *reads, bool may_refuse)
{
    static fuzz_told back;
    static fuzz_bytes file, again;
    gsa_error error = {0};
    gsa_status status = fuzz_convert(fuzz_open(from, &fuzz_sizes, false), format, &file, &error);
    fuzz_must(status == GSA_OK || may_refuse, "what was read can be written", error.message);
    fuzz_must(status == GSA_OK || status == GSA_INPUT || status == GSA_UNSUPPORTED, "rows are refused for a reason",
              error.message);
    if (status != GSA_OK)
        return;
    const fuzz_source written = {file.data, file.size, "written", reads, {0}, false};
    fuzz_tell(&written, &fuzz_sizes, false, &back);
    fuzz_must(back.status == GSA_END, "what was written can be read", back.error.message);
    fuzz_must(back.n == whole->n && fuzz_same(&back.rows, &whole->rows), "what was written reads back equal", format);
    fuzz_must(strcmp(format, "gsac") != 0 || strcmp(back.schema, whole->schema) == 0, "a cache keeps the schema", NULL);
    status = fuzz_convert(fuzz_open(&written, &fuzz_sizes, false), format, &again, &error);
    fuzz_must(status == GSA_OK && fuzz_same(&file, &again), "written again it has the same bytes", format);
}

/* One property an execution, which is faster than all of them and finds the same. */
enum {
    FUZZ_PIECES,
    FUZZ_REWIND,
    FUZZ_SKIP,
    FUZZ_BLOCKS,
    FUZZ_PROPERTIES,
    FUZZ_LIBSVM = FUZZ_PROPERTIES, /* of FUZZ_WRITINGS: what is written */
    FUZZ_CACHE,
    FUZZ_WRITINGS
};

/* `what` is below FUZZ_PROPERTIES. */
static inline void fuzz_check_reading(const fuzz_source *from, unsigned what, uint8_t choice)
{
    static fuzz_told whole, skipped;
    bool needs_whole = what <= FUZZ_SKIP;
    if ((needs_whole && !fuzz_tell(from, &fuzz_sizes, false, &whole)) ||
        (what >= FUZZ_SKIP && !fuzz_tell(from, &fuzz_sizes, true, &skipped)))
        return;
    if (what == FUZZ_PIECES)
        fuzz_check_pieces(from, &whole, choice);
    if (what == FUZZ_REWIND)
        fuzz_check_rewind(from, &whole, choice);
    if (what == FUZZ_SKIP)
        fuzz_check_skipping(&whole, &skipped);
    if (what == FUZZ_BLOCKS && skipped.status == GSA_END)
        fuzz_check_blocks(from, &skipped, choice);
}

/* `what` is below FUZZ_WRITINGS: one of the properties, or what was read is written. */
static inline void fuzz_check_text(const fuzz_source *from, unsigned what, uint8_t choice, bool libsvm_may_refuse)
{
    static fuzz_told whole;
    if (what < FUZZ_PROPERTIES) {
        fuzz_check_reading(from, what, choice);
        return;
    }
    if (!fuzz_tell(from, &fuzz_sizes, false, &whole) || whole.status != GSA_END || from->options.without_labels)
        return;
    if (what == FUZZ_LIBSVM)
        fuzz_check_writing(from, &whole, "libsvm", &gsai_format_libsvm, libsvm_may_refuse);
    else
        fuzz_check_writing(from, &whole, "gsac", NULL, false);
}

#endif
