/* A reader of files that begins elsewhere than at its first row.
 *
 *   1 Plain text and caches are entered in the middle; what is compressed is read from the beginning of its file.
 *   2 Shares are cut at bytes of all files together. A row, or a block of a cache, is in the share in which it begins,
 *     and so is, as a whole, a file that cannot be divided.
 *   3 After a failure there are no rows until the next rewind, seek or share. */
#include "data/files.h"

#include "base/error.h"
#include "data/format/cache.h"

#include <inttypes.h>

uint64_t gsai_files_start_of(const gsai_files *reader, size_t file)
{
    return reader->bytes_kept == 0 && reader->file_end && file > 0 ? reader->file_end[file - 1] : 0;
}

uint64_t gsai_files_end_of(const gsai_files *reader, size_t file)
{
    return reader->bytes_kept > 0 ? reader->bytes_kept
           : reader->file_end     ? reader->file_end[file]
                                  : reader->memory_size;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Line ends among the first bytes of a plain file, as its format sees them; UINT64_MAX if these cannot be read. */
static uint64_t count_lines(const gsai_files *reader, size_t file, uint64_t n_bytes)
{
    unsigned char bytes[8192], last = 0;
    uint64_t n_lines = 0, left = n_bytes;
    bool is_table = reader->format == gsai_format_csv();
    gsai_source source;
    gsa_status status = gsai_files_open_source(reader, file, &source, NULL);
    if (status != GSA_OK)
        return UINT64_MAX;
    for (size_t got = 1; status == GSA_OK && got > 0 && left > 0; left -= got) {
        status = gsai_source_read(&source, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes, &got, NULL);
        for (size_t i = 0; i < got; last = bytes[i++])
            n_lines += is_table ? bytes[i] == '\r' || (bytes[i] == '\n' && last != '\r') : bytes[i] == '\n';
    }
    gsai_source_close(&source);
    return left == 0 ? n_lines : UINT64_MAX;
}

uint64_t gsai_files_line(const gsa_reader *head, const gsa_place *place)
{
    const gsai_files *reader = (const gsai_files *)head;
    uint64_t before = place->file < reader->n_files ? count_lines(reader, place->file, place->byte) : UINT64_MAX;
    return before == UINT64_MAX ? 0 : before + 1;
}

void gsai_files_locate(const gsai_files *reader, gsa_error *failure)
{
    if (failure->line == 0)
        return;
    uint64_t before = reader->input.entered > 0 ? count_lines(reader, reader->file, reader->input.entered) : 0;
    uint64_t line = before == UINT64_MAX ? 0 : before + failure->line;
    gsai_reader_prefix(reader->input.name, line, failure->byte, failure);
}

gsa_status gsai_files_fail(gsai_files *reader, gsa_error *failure, bool keeps, gsa_error *error)
{
    gsai_files_locate(reader, failure);
    if (keeps)
        reader->failure = *failure;
    if (error)
        *error = *failure;
    return failure->status;
}

/* ---- from a place on --------------------------------------------------------------------------------------------- */

/* What the input is must be known, and rows are no longer kept: they will not be all of them. */
static gsa_status get_ready(gsai_files *reader, gsa_error *error)
{
    if (reader->is_stream || (reader->is_arrow && reader->bytes_kept == 0))
        return gsai_fail(error, GSA_UNSUPPORTED, "%s can only be read from its first row on: put the rows in files",
                         reader->is_arrow ? "an Arrow stream" : "a stream");
    gsai_spill_pause(&reader->keep);
    if (reader->begun)
        return GSA_OK;
    gsai_files_go(reader, 0);
    gsa_status status = gsai_files_begin(&reader->head, error);
    if (status == GSA_STOPPED)
        (void)gsai_fail(&reader->failure, GSA_STOPPED, "looking for a row was stopped on request");
    return status;
}

/* Rows are read one by one, of a cache block by block, so that the one that is looked for becomes the first of a
 * batch. */
static gsa_status read_up_to(gsai_files *reader, uint64_t wanted, bool by_number, bool *found, gsa_error *error)
{
    gsai_rows *rows = &reader->rows;
    const size_t most_rows = rows->most_rows;
    const uint64_t n_bad_rows = reader->input.n_bad_rows;
    gsa_status status = GSA_OK;
    uint64_t at = 0;
    rows->most_rows = 1;
    for (bool is_there = false; status == GSA_OK && !is_there;) {
        gsai_rows_clear(rows);
        status = reader->current->read(gsai_files_parser(reader), rows, error);
        for (size_t r = 0; r < rows->n_rows && !is_there; r++) {
            at = by_number ? rows->place[r].line : rows->place[r].byte;
            is_there = at >= wanted;
            if (is_there)
                gsai_rows_drop(rows, r);
        }
    }
    rows->most_rows = most_rows;
    reader->input.n_bad_rows = n_bad_rows; /* those passed over are not of these rows */
    *found = status == GSA_OK && at == wanted;
    return status == GSA_END ? GSA_OK : status;
}

/* In the file that has the row. */
static gsa_status find_row(gsai_files *reader, const gsa_place *row, gsa_error *error)
{
    bool found = false;
    gsa_status status = gsai_files_prepare(reader, error);
    bool is_cache = reader->current == gsai_format_cache();
    gsa_place at = {row->line, is_cache ? UINT64_MAX : row->byte, row->file};
    uint64_t size = gsai_files_end_of(reader, row->file) - gsai_files_start_of(reader, row->file);
    bool is_inside = is_cache || reader->stream.entry || row->byte < size;
    if (status == GSA_OK && is_inside && at.byte > 0 && !reader->stream.entry)
        status = reader->current->enter(gsai_files_parser(reader), &at, error);
    if (status == GSA_OK && is_inside)
        status = read_up_to(reader, is_cache ? row->line : row->byte, is_cache, &found, error);
    if (found || (status != GSA_OK && status != GSA_END))
        return status;
    return gsai_fail(error, GSA_ARGUMENT,
                     "%s: no row begins at %s %" PRIu64 ": expected a place that this input gave, before it changed",
                     reader->input.name, is_cache ? "number" : "byte", is_cache ? row->line : row->byte);
}

gsa_status gsai_files_seek(gsa_reader *head, const gsa_place *row, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_status status = get_ready(reader, error);
    if (status != GSA_OK)
        return status;
    gsa_error failure = {0};
    bool is_file = row->file < reader->n_files && (reader->bytes_kept == 0 || row->file + 1 == reader->n_files);
    gsai_files_go(reader, is_file ? row->file : reader->n_files);
    status = is_file ? find_row(reader, row, &failure)
                     : gsai_fail(&failure, GSA_ARGUMENT, "a place in file number %" PRIu32 ", of %zu files", row->file,
                                 reader->n_files);
    return status == GSA_OK ? GSA_OK : gsai_files_fail(reader, &failure, true, error);
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* The share begins in the middle of the current file, at this byte of it. */
static gsa_status enter_share(gsai_files *reader, uint64_t byte, gsa_error *error)
{
    gsa_status status = gsai_files_prepare(reader, error);
    bool is_divisible = status == GSA_OK && reader->current->is_divisible && !reader->stream.entry;
    if (is_divisible) {
        const gsa_place at = {0, byte, (uint32_t)reader->file};
        status = reader->current->enter(gsai_files_parser(reader), &at, error);
    }
    if (status == GSA_END || (status == GSA_OK && !is_divisible))
        gsai_files_pass(reader);
    return status == GSA_END ? GSA_OK : status;
}

gsa_status gsai_files_share(gsa_reader *head, uint64_t part, uint64_t n_parts, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_status status = get_ready(reader, error);
    if (status != GSA_OK)
        return status;
    size_t file = reader->bytes_kept > 0 ? reader->n_files - 1 : 0;
    uint64_t total = gsai_files_end_of(reader, reader->n_files - 1);
    uint64_t from = gsai_reader_cut(total, part, n_parts), to = gsai_reader_cut(total, part + 1, n_parts);
    while (file < reader->n_files && (from == to || gsai_files_end_of(reader, file) <= from))
        file++;
    gsai_files_go(reader, file);
    reader->stop = part + 1 < n_parts ? to : UINT64_MAX;
    gsa_error failure = {0};
    uint64_t start = gsai_files_start_of(reader, file);
    if (file < reader->n_files && from > start)
        status = enter_share(reader, from - start, &failure);
    return status == GSA_OK ? GSA_OK : gsai_files_fail(reader, &failure, true, error);
}
