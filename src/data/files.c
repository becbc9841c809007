/* The files of a reader, one after the other, each through its codec: which one is read, what format it has, and where
 * in it reading begins.
 *
 *   1 A block of a plain cache is sought by its file and byte.
 *   2 After a failure rows are delivered only after the next rewind or seek.
 *   3 Once a pass has been spilled (spill.c), the spilled rows are read in place of all files, as the last of them. */
#include "data/files.h"

#include "base/error.h"
#include "data/format/cache.h"
#include "data/format/npy.h"
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

static gsa_status open_source(const gsai_files *reader, size_t file, gsai_source *out, gsa_error *error)
{
    const gsai_env *env = &reader->head.env;
    if (reader->given.open && reader->bytes_spilled == 0)
        return gsai_source_open_given(&reader->given, reader->paths[file], env, out, error);
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
        return reader->schema.is_namespaced ? gsai_format_vw() : gsai_format_table();
    if (options->label || options->weight || options->exposure || options->categorical || options->ignore)
        return gsai_format_table();
    return reader->cache ? gsai_format_libsvm() : reader->format; /* a cache goes with libsvm text */
}

/* Feature numbers of libsvm text, tables and others mean different things: one run has files of one sort. */
static gsa_status check_format(const gsai_files *reader, const gsai_format *format, gsa_error *error)
{
    const char *name = reader->input.name;
    const gsai_format *expected = expected_format(reader);
    bool is_cache = format == gsai_format_cache(), is_array = format == gsai_format_npy();
    bool is_numbered = is_cache || is_array || format == gsai_format_libsvm();
    if (reader->options.labels && !is_array && !reader->bytes_spilled)
        return gsai_fail_about(error, "labels",
                               gsai_fail(error, GSA_ARGUMENT,
                                         "%s is %s, whose rows have their labels: leave others out", name,
                                         format->title));
    if (reader->options.cross && is_numbered)
        return gsai_fail_about(error, "cross",
                               gsai_fail(error, GSA_ARGUMENT,
                                         "%s is %s, which has neither columns nor namespaces: leave crosses out", name,
                                         format->title));
    if (reader->options.keep && (is_numbered || format == gsai_format_vw()))
        return gsai_fail_about(
            error, "keep",
            gsai_fail(error, GSA_ARGUMENT, "%s is %s, which has no texts of columns to keep", name, format->title));
    const gsai_schema *schema = &reader->schema;
    bool are_numbers = schema->n_numbers > 0 && schema->n_crosses == 0 &&
                       schema->n_of_kind[GSAI_FIELD_CATEGORICAL] + schema->n_of_kind[GSAI_FIELD_DATE] == 0;
    for (size_t f = 0; f < schema->n_fields; f++) /* numbers that mean missing ones would be read as they are */
        are_numbers = are_numbers && !(schema->field[f].kind == GSAI_FIELD_NUMBER && schema->field[f].reading);
    if (is_cache || !expected || format == expected || (is_array && are_numbers))
        return GSA_OK; /* a cache says itself what its columns were, and an array has columns of numbers */
    if (reader->first_name)
        return gsai_fail(error, GSA_ARGUMENT,
                         "%s is %s and %s is not: their rows do not have the same features, so one run cannot "
                         "learn both; give files of one format",
                         name, format->title, reader->first_name);
    return gsai_fail(error, GSA_ARGUMENT, "%s is %s, and %s was expected, %s", name, format->title, expected->title,
                     reader->schema.text ? "which the model was trained on" : "since columns were named for it");
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
    const char *foreign = reader->recognises ? gsai_foreign(reader->stream.start, reader->stream.start_size) : NULL;
    if (foreign)
        return gsai_fail(error, GSA_ARGUMENT, "cannot read %s: it is %s", reader->input.name, foreign);
    if (reader->recognises)
        GSA_TRY(check_format(reader, format, error));
    void **parser = format == gsai_format_cache() ? &reader->cache : &reader->parser;
    if (!*parser)
        GSA_TRY(format->open(reader->sizes.buffer, &reader->head.env, parser, error));
    if (format != gsai_format_cache())
        reader->format = format;
    if (!reader->first_name)
        reader->first_name = reader->input.name;
    reader->input.begins_file = false;
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
    return reader->file < reader->n_files;
}

void gsai_files_restart(gsai_files *reader, size_t file)
{
    gsai_files_close(reader);
    gsai_rows_clear(&reader->rows);
    reader->file = file;
    reader->bytes_done = 0;
    if (reader->bytes_spilled == 0) /* else the bad rows are those that were not kept */
        reader->input.n_bad_rows = reader->input.n_unlabelled = reader->input.n_recoded = 0;
    reader->delivered = false;
    reader->last_file = UINT32_MAX;
    if (!reader->schema.text) /* some fields of one that was refused may be left */
        gsai_schema_free(&reader->schema);
    memset(&reader->failure, 0, sizeof reader->failure);
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

void gsai_files_locate(const gsai_files *reader, gsa_error *failure)
{
    if (failure->line == 0)
        return;
    gsai_reader_prefix(reader->input.name, failure->line, failure->byte, failure);
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

/* ---- from a block on -------------------------------------------------------------------------------------------- */

static gsa_status enter_block(gsai_files *reader, const gsa_place *block, gsa_error *error)
{
    GSA_TRY(prepare(reader, error));
    if (!reader->current->enter || reader->stream.entry || reader->is_stream)
        return gsai_fail(error, GSA_UNSUPPORTED, "%s can only be read from its first row on: convert it to a cache",
                         reader->input.name);
    return reader->current->enter(gsai_files_parser(reader), block, error);
}

gsa_status gsai_files_seek(gsa_reader *head, const gsa_place *block, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_error failure = {0};
    gsai_spill_pause(&reader->spill); /* the rows will not be all of them */
    gsai_files_restart(reader, block->file < reader->n_files ? block->file : reader->n_files);
    gsa_status status = block->file < reader->n_files
                            ? enter_block(reader, block, &failure)
                            : gsai_fail(&failure, GSA_ARGUMENT, "a block of file number %" PRIu32 ", of %zu files",
                                        block->file, reader->n_files);
    return status == GSA_OK ? GSA_OK : fail(reader, &failure, true, error);
}
