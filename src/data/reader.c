/* The public functions of readers: each calls the function of the reader's kind. */
#include "data/reader.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>

static void tell_position(gsa_reader *reader)
{
    gsa_reader_progress at = {0};
    if (reader->kind->position)
        reader->kind->position(reader, &at);
    atomic_store_explicit(&reader->n_bad_rows, at.n_bad_rows, memory_order_relaxed);
    atomic_store_explicit(&reader->n_unlabelled, at.n_unlabelled, memory_order_relaxed);
    atomic_store_explicit(&reader->n_recoded, at.n_recoded, memory_order_relaxed);
    atomic_store_explicit(&reader->bytes_read, at.bytes_read, memory_order_relaxed);
}

gsa_status gsa_reader_next(gsa_reader *reader, gsa_batch *out, gsa_error *error)
{
    *out = (gsa_batch){0};
    gsa_status status = reader->kind->next(reader, out, error);
    if (status == GSA_OK)
        atomic_fetch_add_explicit(&reader->n_rows, out->n_rows, memory_order_relaxed);
    tell_position(reader);
    return status;
}

gsa_status gsai_reader_extend(gsa_reader *reader, gsai_rows *rows, gsa_batch *out, gsa_error *error)
{
    *out = (gsa_batch){0};
    gsa_status status = reader->kind->extend ? reader->kind->extend(reader, rows, out, error) : GSA_UNSUPPORTED;
    atomic_fetch_add_explicit(&reader->n_rows, out->n_rows, memory_order_relaxed);
    tell_position(reader);
    return status;
}

gsa_status gsa_reader_begin(gsa_reader *reader, gsa_error *error)
{
    return reader->kind->begin ? reader->kind->begin(reader, error) : GSA_OK;
}

gsa_status gsa_reader_set_schema(gsa_reader *reader, const char *text, gsa_error *error)
{
    if (!reader->kind->match && text)
        return gsai_fail(error, GSA_ARGUMENT, "rows that are made have no columns");
    return reader->kind->match ? reader->kind->match(reader, text, error) : GSA_OK;
}

const char *gsa_reader_schema(const gsa_reader *reader)
{
    return reader->kind->schema ? reader->kind->schema(reader, false) : NULL;
}

const char *gsa_reader_description(const gsa_reader *reader)
{
    return reader->kind->schema ? reader->kind->schema(reader, true) : NULL;
}

const char *gsa_reader_name(const gsa_reader *reader, uint64_t feature)
{
    return reader->kind->name && reader->kind->schema(reader, false) ? reader->kind->name(reader, feature) : NULL;
}

double gsa_reader_collision_rate(const gsa_reader *reader)
{
    return reader->kind->collision_rate ? reader->kind->collision_rate(reader) : (double)NAN;
}

/* After a rewind and the like. */
static gsa_status begin_counting(gsa_reader *reader, gsa_status status)
{
    if (status == GSA_OK) {
        atomic_store_explicit(&reader->n_rows, 0, memory_order_relaxed);
        tell_position(reader);
    }
    return status;
}

static gsa_status fail_in_order(gsa_error *error)
{
    return gsai_fail(error, GSA_UNSUPPORTED, "rows that a caller gives can only be read one after the other");
}

gsa_status gsa_reader_rewind(gsa_reader *reader, gsa_error *error)
{
    return begin_counting(reader, reader->kind->rewind(reader, error));
}

gsa_status gsa_reader_seek(gsa_reader *reader, const gsa_place *block, gsa_error *error)
{
    if (!reader->kind->seek)
        return fail_in_order(error);
    return begin_counting(reader, reader->kind->seek(reader, block, error));
}

gsa_status gsa_reader_skip(gsa_reader *reader, gsa_row_range *out, gsa_error *error)
{
    gsa_status status = reader->kind->skip ? reader->kind->skip(reader, out, error) : fail_in_order(error);
    tell_position(reader);
    return status;
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
    now.n_rows = atomic_load_explicit(&reader->n_rows, memory_order_relaxed);
    now.n_bad_rows = atomic_load_explicit(&reader->n_bad_rows, memory_order_relaxed);
    now.n_unlabelled = atomic_load_explicit(&reader->n_unlabelled, memory_order_relaxed);
    now.n_recoded = atomic_load_explicit(&reader->n_recoded, memory_order_relaxed);
    now.bytes_read = atomic_load_explicit(&reader->bytes_read, memory_order_relaxed);
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
