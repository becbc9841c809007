/* Chunks of text: each has a parser, rows and names of its own. */
#include "data/chunks.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"

#include <string.h>

/* Rows and values of a chunk: it has 256 KiB of text (text_lines.c) unless lines are long, and ROWS rows if they have
 * 32 bytes. The rest of a chunk with more of them is read where it is taken. */
#define ROWS (2 * GSAI_BATCH_ROWS)
#define VALUES (4 * GSAI_BATCH_VALUES)
/* The likely bytes of a chunk; all of them may take 1/SHARE of the memory that is left. */
#define COST ((uint64_t)2 << 20)
#define SHARE 16
/* Words of labels that a chunk remembers for the next; more would be a copy of all that the reader has. */
#define WORDS 1024

typedef struct chunk {
    void *parser;
    gsai_format_input input;
    gsai_feature_names names;
    gsai_rows rows;
    size_t n_taken;      /* rows that the reader has */
    gsai_word_map words; /* to those of the reader */
    uint64_t n_lines;    /* of the file, before its line 1 */
    gsa_status status;   /* GSA_OK: there is more to read */
    gsa_error error;
    uint64_t n_bytes;
} chunk;

struct gsai_chunks {
    gsai_env env;
    const gsai_format *format;
    void *parser;
    gsai_format_input *input;
    gsai_pipeline *pipeline;
    chunk *chunk;
    size_t n_chunks;
    chunk *current;   /* whose rows are being taken */
    bool has_begun;   /* the parsers of chunks, with the current file */
    bool is_read;     /* by threads */
    uint64_t n_bytes; /* of the source, up to the chunk that was taken last */
};

static bool fill(void *memory, size_t slot)
{
    gsai_chunks *chunks = memory;
    chunk *to = &chunks->chunk[slot];
    gsai_rows_clear(&to->rows);
    if (chunks->format->give(chunks->parser, to->parser, NULL) != GSA_OK)
        return false; /* who goes on there will meet the failure, if it is one */
    to->n_bytes = chunks->input->stream->source.n_read;
    return true;
}

static void read_chunk(void *memory, size_t slot)
{
    gsai_chunks *chunks = memory;
    chunk *from = &chunks->chunk[slot];
    from->status = chunks->format->read(from->parser, &from->rows, &from->error);
    if (from->status == GSA_STOPPED)
        from->status = GSA_OK;
}

gsai_chunks *gsai_chunks_new(const gsai_format *format, void *parser, gsai_format_input *input,
                             const gsai_reader_sizes *sizes, const gsai_env *env)
{
    static const gsai_stages stages = {fill, read_chunk};
    const size_t n_threads = gsai_workers_count(env), n_chunks = n_threads + 2;
    gsai_chunks *chunks = n_threads > 1 ? gsai_alloc_zeroed(env, 1, sizeof *chunks) : NULL;
    if (!chunks)
        return NULL;
    *chunks = (gsai_chunks){.env = *env, .format = format, .parser = parser, .input = input, .n_chunks = n_chunks};
    env = &chunks->env;
    if (gsai_memory_left(env) / SHARE / n_chunks >= COST)
        chunks->chunk = gsai_alloc_zeroed(env, n_chunks, sizeof *chunks->chunk);
    bool is_whole = chunks->chunk != NULL;
    for (size_t i = 0; is_whole && i < n_chunks; i++) {
        chunk *out = &chunks->chunk[i];
        gsai_rows_init(&out->rows, sizes->batch_rows ? sizes->batch_rows : ROWS,
                       sizes->batch_values ? sizes->batch_values : VALUES, env);
        is_whole = gsai_feature_names_list(&out->names, input->names, env) &&
                   gsai_format_open(format, sizes->buffer, env, &out->parser, NULL) == GSA_OK &&
                   (!gsai_format_keeps(input) || gsai_rows_keep(&out->rows, NULL) == GSA_OK);
    }
    if (is_whole)
        chunks->pipeline = gsai_pipeline_new(n_threads, n_chunks, &stages, chunks, env);
    if (chunks->pipeline)
        return chunks;
    gsai_chunks_free(chunks);
    return NULL;
}

void gsai_chunks_free(gsai_chunks *chunks)
{
    if (!chunks)
        return;
    gsai_env env = chunks->env;
    gsai_pipeline_free(chunks->pipeline);
    for (size_t i = 0; chunks->chunk && i < chunks->n_chunks; i++) {
        chunk *of = &chunks->chunk[i];
        if (of->parser)
            chunks->format->close(of->parser);
        if (of->rows.env)
            gsai_rows_free(&of->rows);
        gsai_feature_names_free(&of->names);
        gsai_free(&env, of->words.number);
    }
    gsai_free(&env, chunks->chunk);
    gsai_free(&env, chunks);
}

void gsai_chunks_start(gsai_chunks *chunks)
{
    for (size_t i = 0; i < chunks->n_chunks && !chunks->has_begun; i++) {
        chunk *of = &chunks->chunk[i];
        of->input = *chunks->input;
        of->input.stream = NULL;
        of->input.n_bad_rows = of->input.n_unlabelled = of->input.n_recoded = 0;
        of->input.names = &of->names;
        chunks->format->begin(of->parser, &of->input);
    }
    chunks->has_begun = chunks->is_read = true;
    chunks->n_bytes = chunks->input->stream->source.n_read;
    gsai_pipeline_start(chunks->pipeline);
}

static void forget(chunk *of)
{
    gsai_feature_names_clear(&of->names);
    of->input.n_bad_rows = of->input.n_unlabelled = of->input.n_recoded = 0;
    of->n_taken = 0;
}

void gsai_chunks_stop(gsai_chunks *chunks)
{
    if (!chunks)
        return;
    gsai_pipeline_stop(chunks->pipeline);
    for (size_t i = 0; i < chunks->n_chunks; i++)
        forget(&chunks->chunk[i]);
    chunks->current = NULL;
    chunks->has_begun = chunks->is_read = false;
}

bool gsai_chunks_are_read(const gsai_chunks *chunks, uint64_t *n_bytes)
{
    if (chunks && chunks->is_read)
        *n_bytes = chunks->n_bytes;
    return chunks && chunks->is_read;
}

/* Moves the counts and names of a chunk to the reader. */
static void take_facts(gsai_chunks *chunks, chunk *from)
{
    chunks->input->n_bad_rows += from->input.n_bad_rows;
    chunks->input->n_unlabelled += from->input.n_unlabelled;
    chunks->input->n_recoded += from->input.n_recoded;
    gsai_feature_names_take(chunks->input->names, &from->names);
    forget(from);
}

static bool begin_next(gsai_chunks *chunks)
{
    size_t slot;
    chunks->is_read = chunks->is_read && gsai_pipeline_next(chunks->pipeline, &slot);
    if (!chunks->is_read)
        return false;
    chunk *next = chunks->current = &chunks->chunk[slot];
    chunks->n_bytes = next->n_bytes;
    next->n_lines = *chunks->format->lines(chunks->parser);
    take_facts(chunks, next);
    return true;
}

/* Appends rows that were not taken until these are full. */
static gsa_status take_rows(chunk *from, gsai_rows *rows, gsa_error *error)
{
    const gsa_batch batch = gsai_rows_view(&from->rows);
    size_t first = from->n_taken, before = rows->n_rows;
    if (first == batch.n_rows)
        return GSA_OK;
    size_t n = gsai_batch_count(&batch, first, rows->max_rows - before, rows->max_values - rows->n_values);
    size_t n_cells = from->rows.n_cells / batch.n_rows; /* of a row */
    if (n_cells > 0) {
        size_t max = (rows->max_values - rows->n_cells + n_cells - 1) / n_cells;
        n = n < max ? n : max;
        GSA_TRY(gsai_rows_reserve_cells(rows, n * n_cells, error));
        memcpy(rows->cell + rows->n_cells, from->rows.cell + first * n_cells, n * n_cells * sizeof *rows->cell);
    }
    gsa_status status = gsai_rows_append(rows, &batch, first, n, false, &from->words, error);
    if (status != GSA_OK && error && error->line > 0)
        error->line += from->n_lines;
    n = rows->n_rows - before;
    for (size_t r = before; r < rows->n_rows; r++)
        rows->place[r].line += from->n_lines;
    rows->n_cells += n * n_cells;
    from->n_taken += n;
    return status;
}

gsa_status gsai_chunks_read(gsai_chunks *chunks, gsai_rows *rows, gsa_error *error)
{
    gsa_status status = GSA_OK;
    while (status == GSA_OK && !gsai_rows_full(rows)) {
        if (!chunks->current && !begin_next(chunks))
            return GSA_END;
        chunk *from = chunks->current;
        status = take_rows(from, rows, error);
        if (status != GSA_OK || from->n_taken < from->rows.n_rows)
            continue;
        if (from->status == GSA_END) {
            *chunks->format->lines(chunks->parser) += *chunks->format->lines(from->parser);
            if (from->rows.words.n_words > WORDS) {
                gsai_words_free(&from->rows.words);
                from->words.n = 0;
            }
            chunks->current = NULL;
            gsai_pipeline_release(chunks->pipeline);
            continue;
        }
        status = from->status;
        if (status == GSA_OK) { /* all rows are taken, and there is more text */
            gsai_rows_clear(&from->rows);
            from->status = chunks->format->read(from->parser, &from->rows, &from->error);
            take_facts(chunks, from);
            status = from->status == GSA_STOPPED ? GSA_STOPPED : GSA_OK;
            from->status = from->status == GSA_STOPPED ? GSA_OK : from->status;
        }
        if (status != GSA_OK && error) {
            *error = from->error;
            error->line += error->line > 0 ? from->n_lines : 0;
        }
    }
    return status;
}
