/* A reader of the caller's rows: batches as they are given, with the numbers of rows as places. */
#include "data/reader.h"

#include "base/batch.h"
#include "base/error.h"
#include "base/memory.h"

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

static gsa_status number_rows(caller_rows *reader, gsa_batch *batch, gsa_error *error)
{
    GSAI_TRY_MEMORY(
        gsai_reserve(&reader->head.env, &reader->place, &reader->place_capacity, batch->n_rows, sizeof *reader->place),
        &reader->head.env, error, "no memory for the numbers of %zu rows", batch->n_rows);
    for (size_t r = 0; r < batch->n_rows; r++)
        reader->place[r] = (gsa_place){.line = ++reader->n_rows, .byte = UINT64_MAX};
    batch->place = reader->place;
    return GSA_OK;
}

static gsa_status check_caller_rows(const gsa_reader *head, const gsa_batch *batch, gsa_error *error)
{
    gsa_status status = gsai_batch_check(batch, NULL, batch->n_rows, 0, error);
    for (size_t r = 0; r < batch->n_rows && status == GSA_OK; r++)
        status = gsai_batch_check_ids(batch, r, error);
    if (status != GSA_OK)
        gsa_reader_locate(head, batch, error);
    return status;
}

static gsa_status next_caller_rows(gsa_reader *head, gsa_batch *out, gsa_error *error)
{
    caller_rows *reader = (caller_rows *)head;
    gsa_status status = GSA_OK;
    while (status == GSA_OK && out->n_rows == 0) {
        *out = (gsa_batch){0};
        status = gsai_should_stop(&head->env) ? gsai_fail(error, GSA_STOPPED, "reading rows was stopped on request")
                                              : reader->source.next(reader->source.ctx, out, error);
    }
    if (status == GSA_OK && !out->place)
        status = number_rows(reader, out, error);
    return status == GSA_OK ? check_caller_rows(head, out, error) : status;
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
