/* The files of a reader, one after the other, each through its codec: which one is read, what format it has, and where
 * in it reading begins.
 *
 *   1 A row is sought by its location: of a file that can be entered in the middle its byte, of a cache its number.
 *   2 Shares cut all files together at bytes: a line, or a block of a cache, is in the share in which it begins, and so
 *     is, as a whole, a file that cannot be divided.
 *   3 After a failure there are no rows until the next rewind, seek or share.
 *   4 Once a pass has been spilled (spill.c), the last file alone is read, and the spilled rows stand for it. */
#include "data/files.h"

#include "base/error.h"
#include "data/format/cache.h"
#include "data/sniff.h"

#include <inttypes.h>
#include <string.h>

const char *gsai_files_name(const gsa_reader *head, uint32_t file)
{
    const gsai_files *reader = (const gsai_files *)head;
    if (file >= reader->n_files)
        return NULL;
    if (reader->bytes_spilled > 0)
        return "the rows of the input";
    if (!reader->paths)
        return reader->memory_name;
    return strcmp(reader->paths[file], GSAI_STDIN_PATH) == 0 ? GSAI_STDIN_NAME : reader->paths[file];
}

uint64_t gsai_files_start_of(const gsai_files *reader, size_t file)
{
    return reader->bytes_spilled == 0 && reader->file_end && file > 0 ? reader->file_end[file - 1] : 0;
}

uint64_t gsai_files_end_of(const gsai_files *reader, size_t file)
{
    return reader->bytes_spilled > 0 ? reader->bytes_spilled
           : reader->file_end        ? reader->file_end[file]
                                     : reader->memory_size;
}

static gsa_status open_source(const gsai_files *reader, size_t file, gsai_source *out, gsa_error *error)
{
    const gsa_env *env = &reader->head.env;
    if (reader->paths || reader->bytes_spilled > 0) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one of the two is there */
        return gsai_source_open_file(reader->bytes_spilled > 0 ? reader->spill.path : reader->paths[file], env, out,
                                     error);
    }
    gsai_source_open_memory(reader->memory, reader->memory_size, reader->memory_name, env, out);
    return GSA_OK;
}

gsa_status gsai_files_open_current(gsai_files *reader, gsa_error *error)
{
    gsai_source source;
    GSA_TRY(open_source(reader, reader->file, &source, error));
    source.max = reader->sizes.read;
    GSA_TRY(gsai_decode_open(&reader->stream, &source, &reader->head.env, reader->sizes.buffer, error));
    reader->is_open = true;
    reader->input.stream = &reader->stream;
    reader->input.file = (uint32_t)reader->file;
    reader->input.name = gsai_files_name(&reader->head, reader->input.file);
    return GSA_OK;
}

void gsai_files_close(gsai_files *reader)
{
    gsai_chunks_stop(reader->chunks);
    if (reader->is_open) {
        reader->bytes_done += reader->stream.source.n_read;
        gsai_decode_close(&reader->stream);
    }
    reader->is_open = false;
    reader->current = NULL;
}

/* The format that the files must have, NULL if any will do. */
static const gsai_format *expected_format(const gsai_files *reader)
{
    const gsa_reader_options *options = &reader->options;
    if (reader->schema.text)
        return reader->schema.is_namespaced ? gsai_format_vw() : gsai_format_csv();
    if (options->label || options->weight || options->categorical || options->ignore)
        return gsai_format_csv();
    return reader->cache ? gsai_format_libsvm() : reader->format; /* a cache goes with libsvm text */
}

/* Feature numbers of libsvm text, tables and others mean different things: one run has files of one sort. */
static gsa_status check_format(const gsai_files *reader, const gsai_format *format, gsa_error *error)
{
    const char *name = reader->input.name;
    const gsai_format *expected = expected_format(reader);
    bool is_cache = format == gsai_format_cache();
    if (reader->options.cross && (is_cache || format == gsai_format_libsvm()))
        return gsai_fail(error, GSA_ARGUMENT, "%s is %s, which has neither columns nor namespaces: leave out --cross",
                         name, format->title);
    if (is_cache || !expected || format == expected)
        return GSA_OK; /* a cache says itself what its columns were */
    if (reader->first_name)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s is %s and %s is not: their rows do not have the same features, so that one run cannot "
                         "learn both; give files of one sort",
                         name, format->title, reader->first_name);
    return gsai_fail(error, GSA_ARGUMENT, "%s is %s, and %s was expected, %s", name, format->title, expected->title,
                     reader->schema.text ? "which the model was trained on"
                                         : "since --label, --weight, --categorical and --ignore are about columns");
}

/* The format of a file is known by its content, as codecs are; where this leaves it open, by the name. */
static gsa_status begin_current(gsai_files *reader, gsa_error *error)
{
    GSA_TRY(gsai_decode_peek(&reader->stream, error));
    const gsai_format *format =
        gsai_recognise(reader->input.name, reader->stream.start, reader->stream.start_size, expected_format(reader));
    if (!reader->recognises && format != gsai_format_cache())
        format = reader->format;
    if (gsa_model_matches(reader->stream.start, reader->stream.start_size))
        return gsai_fail(error, GSA_FORMAT, "%s is a model or state, not rows; give rows", reader->input.name);
    if (reader->recognises)
        GSA_TRY(check_format(reader, format, error));
    void **parser = format == gsai_format_cache() ? &reader->cache : &reader->parser;
    if (!*parser)
        GSA_TRY(format->open(reader->sizes.buffer, &reader->head.env, parser, error));
    if (format != gsai_format_cache())
        reader->format = format;
    if (!reader->first_name)
        reader->first_name = reader->input.name;
    bool is_cut =
        format->is_divisible && !reader->stream.entry && reader->stop < gsai_files_end_of(reader, reader->file);
    reader->input.limit = is_cut ? reader->stop - gsai_files_start_of(reader, reader->file) : UINT64_MAX;
    reader->input.entered = 0;
    format->begin(*parser, &reader->input);
    reader->current = format;
    return GSA_OK;
}

gsa_status gsai_files_open(gsai_files *reader, gsa_error *error)
{
    if (!reader->is_open)
        GSA_TRY(gsai_files_open_current(reader, error));
    if (!reader->current)
        GSA_TRY(begin_current(reader, error));
    if (reader->stream.entry)
        reader->is_packed = true;
    return GSA_OK;
}

void *gsai_files_parser(const gsai_files *reader)
{
    return reader->current == gsai_format_cache() ? reader->cache : reader->parser;
}

static gsa_status prepare(gsai_files *reader, gsa_error *error)
{
    GSA_TRY(gsai_files_open(reader, error));
    return reader->current->prepare ? reader->current->prepare(gsai_files_parser(reader), error) : GSA_OK;
}

void gsai_files_next(gsai_files *reader)
{
    gsai_files_close(reader);
    reader->file++;
}

bool gsai_files_has_next(const gsai_files *reader)
{
    return reader->file < reader->n_files && gsai_files_start_of(reader, reader->file) < reader->stop;
}

void gsai_files_restart(gsai_files *reader, size_t file)
{
    gsai_files_close(reader);
    gsai_rows_clear(&reader->rows);
    reader->file = file;
    reader->stop = UINT64_MAX;
    reader->bytes_done = 0;
    if (reader->bytes_spilled == 0) /* else the bad rows are those that were not kept */
        reader->input.n_bad_rows = 0;
    reader->delivered = false;
    if (!reader->schema.text) /* some fields of one that was refused may be left */
        gsai_schema_free(&reader->schema);
    memset(&reader->failure, 0, sizeof reader->failure);
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

/* Line ends among the first bytes of a plain file, as its format sees them; UINT64_MAX if these cannot be read. */
static uint64_t count_lines(const gsai_files *reader, size_t file, uint64_t n_bytes)
{
    unsigned char bytes[8192], last = 0;
    uint64_t n_lines = 0, left = n_bytes;
    bool is_table = reader->format == gsai_format_csv();
    gsai_source source;
    gsa_status status = open_source(reader, file, &source, NULL);
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

static gsa_status fail(gsai_files *reader, gsa_error *failure, bool keeps, gsa_error *error)
{
    gsai_files_locate(reader, failure);
    if (keeps)
        reader->failure = *failure;
    if (error)
        *error = *failure;
    return failure->status;
}

gsa_status gsai_files_fail_again(const gsai_files *reader, gsa_error *error)
{
    if (error)
        *error = reader->failure;
    return reader->failure.status;
}

gsa_status gsai_files_begin(gsa_reader *head, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_error failure = {0};
    gsa_status status = GSA_END;
    while (gsai_files_has_next(reader) && reader->failure.status == GSA_OK && status == GSA_END) {
        status = prepare(reader, &failure);
        reader->begun = reader->begun || status == GSA_OK;
        if (status == GSA_END)
            gsai_files_next(reader);
    }
    if (status != GSA_OK && status != GSA_END)
        return fail(reader, &failure, status != GSA_STOPPED, error);
    return reader->failure.status == GSA_OK ? GSA_OK : gsai_files_fail_again(reader, error);
}

/* ---- from a row on ---------------------------------------------------------------------------------------------- */

/* What the input is must be known, and rows are no longer kept: they will not be all of them. */
static gsa_status get_ready(gsai_files *reader, gsa_error *error)
{
    if (reader->is_stream || (reader->is_arrow && reader->bytes_spilled == 0))
        return gsai_fail(error, GSA_UNSUPPORTED, "%s can only be read from its first row on: put the rows in files",
                         reader->is_arrow ? "an Arrow stream" : "a stream");
    gsai_spill_pause(&reader->spill);
    if (reader->begun)
        return GSA_OK;
    gsai_files_restart(reader, 0);
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
    const size_t max_rows = rows->max_rows;
    const uint64_t n_bad_rows = reader->input.n_bad_rows;
    gsa_status status = GSA_OK;
    uint64_t at = 0;
    rows->max_rows = 1;
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
    rows->max_rows = max_rows;
    reader->input.n_bad_rows = n_bad_rows; /* those passed over are not of these rows */
    *found = status == GSA_OK && at == wanted;
    return status == GSA_END ? GSA_OK : status;
}

/* In the file that has the row. */
static gsa_status find_row(gsai_files *reader, const gsa_place *row, gsa_error *error)
{
    bool found = false;
    gsa_status status = prepare(reader, error);
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
    GSA_TRY(get_ready(reader, error));
    gsa_error failure = {0};
    bool is_file = row->file < reader->n_files && (reader->bytes_spilled == 0 || row->file + 1 == reader->n_files);
    gsai_files_restart(reader, is_file ? row->file : reader->n_files);
    gsa_status status = is_file ? find_row(reader, row, &failure)
                                : gsai_fail(&failure, GSA_ARGUMENT, "a place in file number %" PRIu32 ", of %zu files",
                                            row->file, reader->n_files);
    return status == GSA_OK ? GSA_OK : fail(reader, &failure, true, error);
}

/* ---- shares ----------------------------------------------------------------------------------------------------- */

/* The share begins in the middle of the current file, at this byte of it. */
static gsa_status enter_share(gsai_files *reader, uint64_t byte, gsa_error *error)
{
    gsa_status status = prepare(reader, error);
    bool is_divisible = status == GSA_OK && reader->current->is_divisible && !reader->stream.entry;
    if (is_divisible) {
        const gsa_place at = {0, byte, (uint32_t)reader->file};
        status = reader->current->enter(gsai_files_parser(reader), &at, error);
    }
    if (status == GSA_END || (status == GSA_OK && !is_divisible))
        gsai_files_next(reader);
    return status == GSA_END ? GSA_OK : status;
}

gsa_status gsai_files_share(gsa_reader *head, uint64_t part, uint64_t n_parts, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_status status = get_ready(reader, error);
    if (status != GSA_OK)
        return status;
    size_t file = reader->bytes_spilled > 0 ? reader->n_files - 1 : 0;
    uint64_t total = gsai_files_end_of(reader, reader->n_files - 1);
    uint64_t from = gsai_reader_cut(total, part, n_parts), to = gsai_reader_cut(total, part + 1, n_parts);
    while (file < reader->n_files && (from == to || gsai_files_end_of(reader, file) <= from))
        file++;
    gsai_files_restart(reader, file);
    reader->stop = part + 1 < n_parts ? to : UINT64_MAX;
    gsa_error failure = {0};
    uint64_t start = gsai_files_start_of(reader, file);
    if (file < reader->n_files && from > start)
        status = enter_share(reader, from - start, &failure);
    return status == GSA_OK ? GSA_OK : fail(reader, &failure, true, error);
}
