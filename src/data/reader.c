/* The functions that all readers have; those that only files have are in file_reader.c. */
#include "data/reader.h"

#include "base/error.h"

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
