/* Chunks of text: each has a parser, rows and names of its own. */
#include "data/chunks.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"

/* A chunk has 256 KiB of text (lines.c) unless lines are long, and so many rows if they have 32 bytes. What is left of
 * a chunk with more of them is read by whoever takes it. */
#define ROWS (2 * GSA__BATCH_ROWS)
#define VALUES (4 * GSA__BATCH_VALUES)
/* What a chunk is likely to take, and which share of the memory that is left all of them may have. */
#define COST ((uint64_t)2 << 20)
#define SHARE 16
/* Words of labels that a chunk remembers for the next; more would be a copy of all that the reader has. */
#define WORDS 1024

typedef struct chunk {
    void *parser;
    gsa__format_input input;
    gsa__name_book names;
    gsa__rows rows;
    gsa__rows_source source;
    gsa_status status; /* GSA_OK: there is more to read */
    gsa_error error;
    uint64_t n_bytes;
} chunk;

struct gsa__chunks {
    gsa_env env;
    const gsa__format *format;
    void *parser;
    gsa__format_input *input;
    gsa__pipeline *pipeline;
    chunk *chunk;
    size_t n_chunks;
    chunk *current;   /* whose rows are being taken */
    bool has_begun;   /* the parsers of chunks, with the current file */
    bool is_read;     /* by threads */
    uint64_t n_bytes; /* of the source, up to the chunk that was taken last */
};

static bool fill(void *memory, size_t slot)
{
    gsa__chunks *chunks = memory;
    chunk *to = &chunks->chunk[slot];
    gsa__rows_clear(&to->rows);
    if (chunks->format->give(chunks->parser, to->parser, NULL) != GSA_OK)
        return false; /* who goes on there will meet the failure, if it is one */
    to->n_bytes = chunks->input->stream->source.n_read;
    return true;
}

static void read_chunk(void *memory, size_t slot)
{
    gsa__chunks *chunks = memory;
    chunk *from = &chunks->chunk[slot];
    from->status = chunks->format->read(from->parser, &from->rows, &from->error);
    if (from->status == GSA_STOPPED)
        from->status = GSA_OK;
}

static bool make_chunk(gsa__chunks *chunks, chunk *out, const gsa__reader_sizes *sizes)
{
    const gsa_env *env = &chunks->env;
    const gsa__name_book *names = chunks->input->names;
    size_t n_rows = sizes->batch_rows ? sizes->batch_rows : ROWS;
    size_t n_values = sizes->batch_values ? sizes->batch_values : VALUES;
    out->source.rows = &out->rows;
    return chunks->format->open(sizes->buffer, env, &out->parser, NULL) == GSA_OK &&
           gsa__rows_init(&out->rows, n_rows, n_values, env, NULL) == GSA_OK &&
           (!names->came || gsa__name_book_list(&out->names, names, chunks->input->schema->bits, env));
}

static bool has_room(const gsa__chunks *chunks)
{
    const gsa__format_input *input = chunks->input;
    uint64_t of_names = input->names->came ? (UINT64_C(1) << input->schema->bits) / 8 : 0;
    return gsa__memory_left(&chunks->env) / SHARE / chunks->n_chunks >= COST + of_names;
}

gsa__chunks *gsa__chunks_new(const gsa__format *format, void *parser, gsa__format_input *input,
                             const gsa__reader_sizes *sizes, const gsa_env *env)
{
    static const gsa__stages stages = {fill, read_chunk};
    size_t n_threads = gsa__workers_count(env);
    gsa__chunks *chunks = n_threads > 1 ? gsa__alloc_zeroed(env, 1, sizeof *chunks) : NULL;
    if (!chunks)
        return NULL;
    *chunks = (gsa__chunks){.env = *env, .format = format, .parser = parser, .input = input};
    chunks->n_chunks = n_threads + 2;
    if (has_room(chunks))
        chunks->chunk = gsa__alloc_zeroed(env, chunks->n_chunks, sizeof *chunks->chunk);
    bool is_whole = chunks->chunk != NULL;
    for (size_t i = 0; is_whole && i < chunks->n_chunks; i++)
        is_whole = make_chunk(chunks, &chunks->chunk[i], sizes);
    if (is_whole)
        chunks->pipeline = gsa__pipeline_new(n_threads, chunks->n_chunks, &stages, chunks, env);
    if (chunks->pipeline)
        return chunks;
    gsa__chunks_free(chunks);
    return NULL;
}

static void free_chunk(const gsa__chunks *chunks, chunk *of)
{
    if (of->parser)
        chunks->format->close(of->parser);
    if (of->rows.env)
        gsa__rows_free(&of->rows);
    gsa__name_book_free(&of->names);
    gsa__free(&chunks->env, of->source.word);
}

void gsa__chunks_free(gsa__chunks *chunks)
{
    if (!chunks)
        return;
    gsa_env env = chunks->env;
    gsa__pipeline_free(chunks->pipeline);
    for (size_t i = 0; chunks->chunk && i < chunks->n_chunks; i++)
        free_chunk(chunks, &chunks->chunk[i]);
    gsa__free(&env, chunks->chunk);
    gsa__free(&env, chunks);
}

static void begin_chunk(const gsa__chunks *chunks, chunk *of)
{
    of->input = *chunks->input;
    of->input.stream = NULL;
    of->input.limit = UINT64_MAX;
    of->input.entered = of->input.n_bad_rows = 0;
    of->input.names = &of->names;
    chunks->format->begin(of->parser, &of->input);
}

void gsa__chunks_start(gsa__chunks *chunks)
{
    for (size_t i = 0; i < chunks->n_chunks && !chunks->has_begun; i++)
        begin_chunk(chunks, &chunks->chunk[i]);
    chunks->has_begun = chunks->is_read = true;
    chunks->n_bytes = chunks->input->stream->source.n_read;
    gsa__pipeline_start(chunks->pipeline);
}

static void forget(chunk *of)
{
    gsa__name_book_clear(&of->names);
    of->input.n_bad_rows = 0;
    of->source.n_given = 0;
}

void gsa__chunks_stop(gsa__chunks *chunks)
{
    if (!chunks)
        return;
    gsa__pipeline_stop(chunks->pipeline);
    for (size_t i = 0; i < chunks->n_chunks; i++)
        forget(&chunks->chunk[i]);
    chunks->current = NULL;
    chunks->has_begun = chunks->is_read = false;
}

bool gsa__chunks_are_read(const gsa__chunks *chunks, uint64_t *n_bytes)
{
    if (chunks && chunks->is_read)
        *n_bytes = chunks->n_bytes;
    return chunks && chunks->is_read;
}

/* What a chunk has beside rows becomes the reader's. */
static void take_facts(gsa__chunks *chunks, chunk *from)
{
    chunks->input->n_bad_rows += from->input.n_bad_rows;
    gsa__name_book_take(chunks->input->names, &from->names);
    forget(from);
}

static bool begin_next(gsa__chunks *chunks)
{
    size_t slot;
    chunks->is_read = chunks->is_read && gsa__pipeline_next(chunks->pipeline, &slot);
    if (!chunks->is_read)
        return false;
    chunk *next = chunks->current = &chunks->chunk[slot];
    chunks->n_bytes = next->n_bytes;
    next->source.n_lines = *chunks->format->lines(chunks->parser);
    next->source.has_lines = chunks->input->entered == 0;
    take_facts(chunks, next);
    return true;
}

static void end_current(gsa__chunks *chunks)
{
    chunk *last = chunks->current;
    *chunks->format->lines(chunks->parser) += *chunks->format->lines(last->parser);
    if (last->rows.words.n_words > WORDS) {
        gsa__words_free(&last->rows.words);
        last->source.n_words = 0;
    }
    chunks->current = NULL;
    gsa__pipeline_release(chunks->pipeline);
}

/* All rows of the current chunk are taken, and it has more text. */
static gsa_status read_on(gsa__chunks *chunks, gsa_error *error)
{
    chunk *from = chunks->current;
    gsa__rows_clear(&from->rows);
    from->status = chunks->format->read(from->parser, &from->rows, &from->error);
    take_facts(chunks, from);
    if (from->status != GSA_STOPPED)
        return GSA_OK;
    from->status = GSA_OK;
    if (error)
        *error = from->error;
    return GSA_STOPPED;
}

static gsa_status fail(const chunk *from, gsa_error *error)
{
    if (error) {
        *error = from->error;
        error->line += error->line > 0 ? from->source.n_lines : 0;
    }
    return from->status;
}

gsa_status gsa__chunks_read(gsa__chunks *chunks, gsa__rows *rows, gsa_error *error)
{
    gsa_status status = GSA_OK;
    while (status == GSA_OK && !gsa__rows_full(rows)) {
        if (!chunks->current && !begin_next(chunks))
            return GSA_END;
        chunk *from = chunks->current;
        status = gsa__rows_append(rows, &from->source, error);
        if (status != GSA_OK || from->source.n_given < from->rows.n_rows)
            continue;
        if (from->status == GSA_END)
            end_current(chunks);
        else
            status = from->status == GSA_OK ? read_on(chunks, error) : fail(from, error);
    }
    return status;
}
