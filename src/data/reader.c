/* The functions that all readers have, and a reader of the caller's rows: batches as they are given, with the numbers
 * of rows as places. The functions that only files have are in file_reader.c. */
#include "data/reader.h"

#include "base/batch.h"
#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>

gsa_status gsa_reader_next(gsa_reader *reader, gsa_batch *out, gsa_error *error)
{
    *out = (gsa_batch){0};
    gsa_status status = reader->kind->next(reader, out, error);
    reader->n_rows += status == GSA_OK ? out->n_rows : 0;
    return status;
}

gsa_status gsa_reader_rewind(gsa_reader *reader, gsa_error *error)
{
    GSA_TRY(reader->kind->rewind(reader, error));
    reader->n_rows = 0;
    return GSA_OK;
}

void gsa_reader_close(gsa_reader *reader)
{
    if (reader)
        reader->kind->close(reader);
}

gsa_status gsa_reader_get_progress(const gsa_reader *reader, gsa_reader_progress *out)
{
    gsa_reader_progress now = {0};
    if (reader->kind->describe)
        reader->kind->describe(reader, &now);
    now.n_rows = reader->n_rows;
    now.n_bad_rows = reader->n_bad_rows;
    now.n_unlabelled = reader->n_unlabelled;
    now.n_recoded = reader->n_recoded;
    now.bytes_read = reader->bytes_read;
    return gsai_give_sized(out, &now, sizeof now);
}

const char *gsa_reader_file(const gsa_reader *reader, uint32_t file)
{
    const char *name = reader->kind->file(reader, file);
    return name ? name : "unknown file";
}

void gsa_reader_locate(const gsa_reader *reader, const gsa_batch *batch, gsa_error *error)
{
    if (!error || error->row == GSA_NO_ROW || !batch->place || error->row >= batch->n_rows)
        return;
    const gsa_place *place = &batch->place[error->row];
    gsai_reader_prefix(gsa_reader_file(reader, place->file), place->line, place->byte, error);
}

void gsai_reader_prefix(const char *file, uint64_t line, uint64_t byte, gsa_error *error)
{
    error->line = line;
    error->byte = byte;
    if (byte == UINT64_MAX)
        gsai_error_prefix(error, "%s, row %" PRIu64 ": ", file, line);
    else if (line == 0)
        gsai_error_prefix(error, "%s (byte %" PRIu64 "): ", file, byte);
    else
        gsai_error_prefix(error, "%s:%" PRIu64 " (byte %" PRIu64 "): ", file, line, byte);
}

/* ---- rows of the caller ----------------------------------------------------------------------------------------- */

typedef struct caller_rows {
    gsa_reader head;
    gsa_row_source source;
    uint64_t n_rows;
    gsa_place *place;
    size_t place_capacity;
} caller_rows;

static void close_caller_rows(gsa_reader *head)
{
    gsai_env env = head->env;
    gsai_free(&env, ((caller_rows *)head)->place);
    gsai_free(&env, head);
}

static gsa_status next_caller_rows(gsa_reader *head, gsa_batch *out, gsa_error *error)
{
    caller_rows *reader = (caller_rows *)head;
    const gsai_env *env = &head->env;
    do {
        *out = (gsa_batch){0};
        if (gsai_should_stop(env))
            return gsai_fail(error, GSA_STOPPED, "reading rows was stopped on request");
        GSA_TRY(reader->source.next(reader->source.ctx, out, error));
    } while (out->n_rows == 0);
    if (!out->place) { /* rows without a place have their number */
        GSAI_TRY_MEMORY(gsai_reserve(env, &reader->place, &reader->place_capacity, out->n_rows, sizeof *reader->place),
                        env, error, "no memory for the numbers of %zu rows", out->n_rows);
        for (size_t r = 0; r < out->n_rows; r++)
            reader->place[r] = (gsa_place){.line = ++reader->n_rows, .byte = UINT64_MAX};
        out->place = reader->place;
    }
    gsa_status status = gsai_batch_check(out, NULL, out->n_rows, 0, error);
    for (size_t r = 0; r < out->n_rows && status == GSA_OK; r++)
        status = gsai_batch_check_ids(out, r, error);
    if (status != GSA_OK)
        gsa_reader_locate(head, out, error);
    return status;
}

static gsa_status rewind_caller_rows(gsa_reader *head, gsa_error *error)
{
    caller_rows *reader = (caller_rows *)head;
    if (!reader->source.rewind)
        return gsai_fail(error, GSA_UNSUPPORTED, "the rows given are a stream, which cannot be read again");
    reader->n_rows = 0;
    return reader->source.rewind(reader->source.ctx, error);
}

static void describe_caller_rows(const gsa_reader *head, gsa_reader_progress *out)
{
    out->is_stream = ((const caller_rows *)head)->source.rewind == NULL;
}

static const char *name_caller_rows(const gsa_reader *head, uint32_t file)
{
    (void)head;
    return file == 0 ? "the rows given" : NULL;
}

gsa_status gsa_reader_open_rows(const gsa_row_source *source, const gsa_memory *memory, const gsa_call *call,
                                gsa_reader **out, gsa_error *error)
{
    gsai_env resolved;
    GSA_TRY(gsai_env_take(&resolved, memory, call, error));
    static const gsai_reader_kind kind = {.next = next_caller_rows,
                                          .rewind = rewind_caller_rows,
                                          .close = close_caller_rows,
                                          .file = name_caller_rows,
                                          .describe = describe_caller_rows};
    gsa_row_source rows;
    GSA_TRY(gsai_take(&rows, source, error));
    caller_rows *reader = gsai_alloc_zeroed(&resolved, 1, sizeof *reader);
    GSAI_TRY_MEMORY(reader, &resolved, error, "no memory for a reader of rows");
    reader->head = (gsa_reader){.kind = &kind, .env = resolved};
    reader->source = rows;
    *out = &reader->head;
    return GSA_OK;
}
