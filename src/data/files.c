/* A reader of files, or of one piece of memory, in some format: one after the other, each through its codec.
 *
 *   1 Rows before a failure are delivered first; the failure follows with the next call, and with every one after it.
 *   2 GSA_STOPPED is no failure: rows that were read stay, and the next call goes on behind them.
 *   3 Batches depend on the content alone: they end at the same rows whatever the sizes of buffers and reads, and run
 *     on from one file into the next.
 *   4 Once a pass has been kept (keep.c), passes are the turn of the last file alone, in whose place the kept rows are.
 */
#include "data/files.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/format/cache.h"
#include "data/sniff.h"

#include <math.h>
#include <string.h>

static void close_current(gsai_files *reader)
{
    gsai_chunks_stop(reader->chunks);
    if (reader->is_open) {
        reader->bytes_done += reader->stream.source.n_read;
        gsai_decode_close(&reader->stream);
    }
    reader->is_open = false;
    reader->current = NULL;
}

static void close_files(gsa_reader *head)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_env env = head->env; /* outlives the reader that holds it */
    close_current(reader);
    gsai_spill_drop(&reader->keep, &env);
    gsai_chunks_free(reader->chunks);
    if (reader->parser)
        reader->format->close(reader->parser);
    if (reader->cache)
        gsai_format_cache()->close(reader->cache);
    gsai_schema_free(&reader->schema);
    gsai_feature_names_free(&reader->names);
    const char *texts[] = {reader->options.label, reader->options.weight, reader->options.categorical,
                           reader->options.ignore, reader->options.cross};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        gsai_free(&env, (void *)(uintptr_t)texts[i]);
    gsai_rows_free(&reader->rows);
    for (size_t i = 0; reader->paths && i < reader->n_files; i++)
        gsai_free(&env, reader->paths[i]);
    gsai_free(&env, reader->paths);
    gsai_free(&env, reader->file_end);
    gsai_free(&env, reader->memory_name);
    gsai_free(&env, reader);
}

static const char *name_of(const gsa_reader *head, uint32_t file)
{
    const gsai_files *reader = (const gsai_files *)head;
    if (file >= reader->n_files)
        return NULL;
    if (reader->bytes_kept > 0)
        return "the rows of the input";
    if (!reader->paths)
        return reader->memory_name;
    return strcmp(reader->paths[file], GSAI_STDIN_PATH) == 0 ? GSAI_STDIN_NAME : reader->paths[file];
}

gsa_status gsai_files_open_source(const gsai_files *reader, size_t file, gsai_source *out, gsa_error *error)
{
    const gsa_env *env = &reader->head.env;
    if (reader->paths || reader->bytes_kept > 0) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one of the two is there */
        return gsai_source_open_file(reader->bytes_kept > 0 ? reader->keep.path : reader->paths[file], env, out, error);
    }
    gsai_source_open_memory(reader->memory, reader->memory_size, reader->memory_name, env, out);
    return GSA_OK;
}

static gsa_status open_current(gsai_files *reader, gsa_error *error)
{
    gsai_source source;
    gsa_status status = gsai_files_open_source(reader, reader->file, &source, error);
    if (status != GSA_OK)
        return status;
    source.most = reader->sizes.read;
    status = gsai_decode_open(&reader->stream, &source, &reader->head.env, reader->sizes.buffer, error);
    if (status != GSA_OK)
        return status;
    reader->is_open = true;
    reader->input.stream = &reader->stream;
    reader->input.file = (uint32_t)reader->file;
    reader->input.name = name_of(&reader->head, reader->input.file);
    return GSA_OK;
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
    gsa_status status = gsai_decode_peek(&reader->stream, error);
    if (status != GSA_OK)
        return status;
    const gsai_format *format =
        gsai_recognise(reader->input.name, reader->stream.start, reader->stream.start_size, expected_format(reader));
    if (!reader->recognises && format != gsai_format_cache())
        format = reader->format;
    if (gsa_model_matches(reader->stream.start, reader->stream.start_size))
        return gsai_fail(error, GSA_FORMAT, "%s is a model or state, not rows; give rows", reader->input.name);
    if (reader->recognises)
        status = check_format(reader, format, error);
    if (status != GSA_OK)
        return status;
    void **parser = format == gsai_format_cache() ? &reader->cache : &reader->parser;
    if (!*parser)
        status = format->open(reader->sizes.buffer, &reader->head.env, parser, error);
    if (status != GSA_OK)
        return status;
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
    gsa_status status = reader->is_open ? GSA_OK : open_current(reader, error);
    if (status == GSA_OK && !reader->current)
        status = begin_current(reader, error);
    if (status == GSA_OK && reader->stream.entry)
        reader->is_packed = true;
    return status;
}

void gsai_files_pass(gsai_files *reader)
{
    close_current(reader);
    reader->file++;
}

/* There is a file to be read, and it begins in this share. */
static bool has_turn(const gsai_files *reader)
{
    return reader->file < reader->n_files && gsai_files_start_of(reader, reader->file) < reader->stop;
}

static gsa_status fail_again(const gsai_files *reader, gsa_error *error)
{
    if (error)
        *error = reader->failure;
    return reader->failure.status;
}

void *gsai_files_parser(const gsai_files *reader)
{
    return reader->current == gsai_format_cache() ? reader->cache : reader->parser;
}

gsa_status gsai_files_prepare(gsai_files *reader, gsa_error *error)
{
    gsa_status status = gsai_files_open(reader, error);
    return status == GSA_OK && reader->current->prepare ? reader->current->prepare(gsai_files_parser(reader), error)
                                                        : status;
}

/* Files without rows are passed over until one tells the schema. */
gsa_status gsai_files_begin(gsa_reader *head, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_error failure = {0};
    gsa_status status = GSA_END;
    while (has_turn(reader) && reader->failure.status == GSA_OK && status == GSA_END) {
        status = gsai_files_prepare(reader, &failure);
        reader->begun = reader->begun || status == GSA_OK;
        if (status == GSA_END)
            gsai_files_pass(reader);
    }
    if (status != GSA_OK && status != GSA_END)
        return gsai_files_fail(reader, &failure, status != GSA_STOPPED, error);
    return reader->failure.status == GSA_OK ? GSA_OK : fail_again(reader, error);
}

static gsa_status follow_schema(gsa_reader *head, const char *text, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (reader->is_open || reader->file > 0 || reader->schema.text)
        return gsai_fail(error, GSA_ARGUMENT, "the reader knows its columns already");
    reader->input.schema_is_given = text != NULL;
    if (text)
        reader->input.schema_from = "the model";
    gsa_status status = text ? gsai_schema_parse(&reader->schema, text, error) : GSA_OK;
    const char *list = reader->options.cross, *name[2];
    size_t name_size[2];
    while (status == GSA_OK && text && gsai_schema_next_cross(&list, name, name_size)) {
        if (!gsai_schema_is_crossed(&reader->schema, name, name_size))
            status = gsai_fail(error, GSA_ARGUMENT, "--cross contradicts the model: leave it out");
    }
    if (status == GSA_OK && text && reader->options.bits != 0 && reader->options.bits != reader->schema.bits)
        status = gsai_fail(error, GSA_ARGUMENT, "--bits %u contradicts the model, which has %u: leave it out",
                           reader->options.bits, reader->schema.bits);
    return status;
}

static const char *schema_of_files(const gsa_reader *head, bool in_words)
{
    const gsai_files *reader = (const gsai_files *)head;
    return in_words ? reader->input.description[0] ? reader->input.description : NULL : reader->schema.text;
}

static const char *feature_name(const gsa_reader *head, uint64_t feature)
{
    const gsai_files *reader = (const gsai_files *)head;
    const gsai_schema *schema = &reader->schema;
    uint64_t n_numbers = schema->n_of_kind[GSAI_FIELD_NUMBER];
    if (feature >= n_numbers)
        return gsai_feature_names_find(&reader->names, feature - n_numbers);
    return schema->field[schema->number[feature]].name;
}

const char *gsa_reader_name_at(const gsa_reader *head, size_t number, uint64_t *feature)
{
    const gsai_files *reader = (const gsai_files *)head;
    if (head->kind != gsai_files_kind() || number >= reader->names.n)
        return NULL;
    *feature = reader->schema.n_of_kind[GSAI_FIELD_NUMBER] + (uint64_t)reader->names.id[number];
    return reader->names.text + reader->names.start[number];
}

/* Of n words in N places 1 - e^(-n/N) are not alone, which is the share of places that are taken. */
static double collision_rate_of_words(const gsa_reader *head)
{
    const gsai_files *reader = (const gsai_files *)head;
    return reader->names.n_came > 0 ? (double)reader->names.n_came / (double)(UINT64_C(1) << reader->schema.bits)
                                    : (double)NAN;
}

static void hand_to_threads(gsai_files *reader)
{
    if (!reader->current->give || reader->is_alone)
        return;
    if (!reader->chunks)
        reader->chunks =
            gsai_chunks_new(reader->format, reader->parser, &reader->input, &reader->sizes, &reader->head.env);
    reader->is_alone = !reader->chunks;
    if (reader->chunks)
        gsai_chunks_start(reader->chunks);
}

/* Rows that threads have read ahead, then those that are read here. Where these were enough for a batch without a wait,
 * threads go on. */
static gsa_status read_current(gsai_files *reader, gsa_error *error)
{
    gsa_status status = reader->chunks ? gsai_chunks_read(reader->chunks, &reader->rows, error) : GSA_END;
    if (status != GSA_END)
        return status;
    status = reader->current->read(gsai_files_parser(reader), &reader->rows, error);
    if (status == GSA_OK && gsai_rows_full(&reader->rows))
        hand_to_threads(reader);
    return status;
}

/* Fills rows from the current file and those after it: GSA_END if there is no more, GSA_OK if they are full. */
static gsa_status fill(gsai_files *reader, gsa_error *error)
{
    gsa_status status = GSA_END;
    while (status == GSA_END && has_turn(reader)) {
        status = gsai_files_open(reader, error);
        if (status == GSA_OK)
            status = read_current(reader, error);
        if (status == GSA_END)
            gsai_files_pass(reader);
    }
    if (status != GSA_OK && status != GSA_END)
        gsai_files_locate(reader, error);
    return status;
}

static gsa_status pass_rows(gsa_reader *head, gsa_row_range *out, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    gsa_status status = reader->failure.status != GSA_OK ? fail_again(reader, error) : GSA_END;
    while (status == GSA_END && has_turn(reader)) {
        status = gsai_files_open(reader, error);
        bool can = status == GSA_OK && reader->current->pass && !reader->stream.entry && reader->rows.n_rows == 0;
        if (status == GSA_OK)
            status = can ? reader->current->pass(gsai_files_parser(reader), out, error) : GSA_UNSUPPORTED;
        if (status == GSA_END)
            gsai_files_pass(reader);
    }
    return status;
}

static gsa_status next_files(gsa_reader *head, gsa_batch *out, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (reader->delivered)
        gsai_rows_clear(&reader->rows);
    reader->delivered = false;
    if (reader->failure.status != GSA_OK)
        return fail_again(reader, error);
    gsa_error failure = {0};
    gsa_status status = fill(reader, &failure);
    if ((status == GSA_OK || status == GSA_END) && reader->names.lacks_memory)
        status = gsai_fail_memory(&head->env, &failure, "no memory for the names of features");
    if (status == GSA_STOPPED) {
        if (error)
            *error = failure;
        return status;
    }
    if (status != GSA_OK && status != GSA_END)
        reader->failure = failure;
    if (reader->rows.n_rows == 0 && status == GSA_END)
        gsai_spill_end(&reader->keep, &head->env);
    if (reader->rows.n_rows == 0)
        return status == GSA_END ? GSA_END : fail_again(reader, error);
    gsai_rows_view(&reader->rows, out);
    gsai_spill_add(&reader->keep, out, reader->schema.text, &head->env);
    reader->delivered = true;
    return GSA_OK;
}

void gsai_files_go(gsai_files *reader, size_t file)
{
    close_current(reader);
    gsai_rows_clear(&reader->rows);
    reader->file = file;
    reader->stop = UINT64_MAX;
    reader->bytes_done = 0;
    if (reader->bytes_kept == 0) /* else the bad rows are those that were not kept */
        reader->input.n_bad_rows = 0;
    reader->delivered = false;
    if (!reader->schema.text) /* some fields of one that was refused may be left */
        gsai_schema_free(&reader->schema);
    memset(&reader->failure, 0, sizeof reader->failure);
}

static gsa_status rewind_files(gsa_reader *head, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (reader->is_stream)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "the input is a stream and cannot be read again: put it in a file for more than one pass");
    reader->bytes_kept = reader->keep.size;
    gsai_files_go(reader, reader->bytes_kept > 0 ? reader->n_files - 1 : 0);
    gsai_spill_begin(&reader->keep, &head->env);
    return GSA_OK;
}

static void facts_of_files(const gsa_reader *head, gsa_reader_progress *out)
{
    const gsai_files *reader = (const gsai_files *)head;
    out->bytes_kept = reader->bytes_kept;
    out->keep_failed = reader->keep.failed;
    out->is_packed = reader->is_packed && reader->bytes_kept == 0;
    out->bytes_total = out->bytes_kept > 0 ? out->bytes_kept : reader->total_unknown ? 0 : reader->bytes_total;
    out->is_stream = reader->is_stream;
}

static void position_in_files(const gsa_reader *head, gsa_reader_progress *out)
{
    const gsai_files *reader = (const gsai_files *)head;
    out->n_bad_rows = reader->input.n_bad_rows;
    uint64_t here = 0;
    if (reader->is_open && !gsai_chunks_are_read(reader->chunks, &here))
        here = reader->stream.source.n_read;
    out->bytes_read = reader->bytes_done + here;
}

const uint64_t *gsa_reader_cells(const gsa_reader *head, size_t *n_columns)
{
    const gsai_files *reader = (const gsai_files *)head;
    *n_columns = 0;
    if (head->kind != gsai_files_kind() || !reader->delivered || !reader->options.keep_cells)
        return NULL;
    const gsai_schema *schema = &reader->schema;
    *n_columns = schema->n_of_kind[GSAI_FIELD_NUMBER] + schema->n_of_kind[GSAI_FIELD_WORDS];
    return reader->rows.n_cells == reader->rows.n_rows * *n_columns ? reader->rows.cell : NULL;
}

/* Text that is not compressed is read as fast as it is learned, and a cache is kept rows already. Arrow streams come
 * from who has to make them anew. */
gsa_status gsa_reader_spill(gsa_reader *head, const char *folder, gsa_error *error)
{
    gsai_files *reader = (gsai_files *)head;
    if (head->kind != gsai_files_kind() || reader->is_stream || reader->keep.path)
        return GSA_OK;
    bool is_worth = reader->is_arrow;
    for (reader->file = 0; reader->paths && reader->file < reader->n_files && !is_worth; reader->file++) {
        close_current(reader);
        is_worth = open_current(reader, NULL) == GSA_OK && gsai_decode_peek(&reader->stream, NULL) == GSA_OK &&
                   reader->stream.entry; /* what fails here is met again by whoever reads */
    }
    gsa_status status = gsa_reader_rewind(head, error);
    return status == GSA_OK && is_worth ? gsai_spill_open(&reader->keep, folder, &head->env, error) : status;
}

const gsai_reader_kind *gsai_files_kind(void)
{
    static const gsai_reader_kind kind = {
        next_files,       rewind_files,  close_files,     name_of,      facts_of_files,          position_in_files,
        gsai_files_begin, follow_schema, schema_of_files, feature_name, collision_rate_of_words, gsai_files_seek,
        gsai_files_share, pass_rows,     gsai_files_line};
    return &kind;
}
