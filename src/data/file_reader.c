/* A reader of files, or of one piece of memory, in some format: which file is read, what format it has, and its rows.
 *
 *   1 Rows before a failure are delivered first; the failure follows with the next call, and with every one after it
 *     until the next rewind or seek.
 *   2 GSA_STOPPED is not a failure: rows that were read stay, and the next call goes on behind them.
 *   3 Batches depend on the content alone: they end at the same rows whatever the sizes of buffers and reads, or with
 *     their file.
 *   4 Once a pass has been spilled (spill.c), the spilled rows are read in place of all files, as the last of them. */
#include "data/reader.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/chunks.h"
#include "data/spill.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct file_reader {
    gsa_reader head;
    const gsai_format *format; /* of files that are not caches; NULL: what the first file shows */
    bool recognises;           /* it may be any */
    void *parser, *cache;      /* NULL before the first of their format */
    gsai_chunks *chunks;       /* of the parser's text, which other threads read; NULL: none */
    bool is_alone;             /* there cannot be any */
    const char *first_name;    /* the file that told the format */
    gsa_reader_options options;
    gsa_file_source given; /* opens the paths; all zero: the file system does */
    gsai_schema schema;
    gsai_feature_names names;
    gsai_reader_sizes sizes;
    char **paths; /* NULL: memory */
    size_t n_files;
    char *memory_name;
    const void *memory;
    bool is_stream;
    bool is_arrow; /* memory without bytes: the parser has its rows from elsewhere */
    uint64_t bytes_total;
    bool total_unknown; /* the size of one file is */

    size_t file; /* the one being read, or n_files */
    bool is_open;
    const gsai_format *current; /* its format, NULL while that is not known */
    uint64_t bytes_done;        /* of the files before it */
    gsai_decode stream;
    gsai_format_input input;
    gsai_rows rows;
    gsai_spill spill;
    atomic_uint_fast64_t bytes_spilled; /* 0 while rows come from the files themselves */
    bool delivered;                     /* rows are with the caller: cleared by the next call */
    bool begins_file;                   /* they are the first of a file, as it was before it was converted */
    uint32_t last_file;                 /* whose they are */
    gsa_error failure;
} file_reader;

/* ---- the current file ------------------------------------------------------------------------------------------- */

/* Returns the name of a file for messages; NULL if not found. */
static const char *file_name(const gsa_reader *head, uint32_t file)
{
    const file_reader *reader = (const file_reader *)head;
    if (file >= reader->n_files)
        return NULL;
    if (reader->bytes_spilled > 0)
        return "the rows of the input";
    if (!reader->paths)
        return reader->memory_name;
    return strcmp(reader->paths[file], GSAI_STDIN_PATH) == 0 ? GSAI_STDIN_NAME : reader->paths[file];
}

/* Opens the current file, without looking at its format. */
static gsa_status open_current(file_reader *reader, gsa_error *error)
{
    const gsai_env *env = &reader->head.env;
    const bool is_spilled = reader->bytes_spilled > 0;
    const char *path = reader->paths ? reader->paths[reader->file] : NULL;
    gsai_source source;
    path = is_spilled ? reader->spill.path : path;
    if (!path)
        gsai_source_open_memory(reader->memory, (size_t)reader->bytes_total, reader->memory_name, env, &source);
    else if (reader->given.open && !is_spilled)
        GSA_TRY(gsai_source_open_given(&reader->given, path, env, &source, error));
    else
        GSA_TRY(gsai_source_open_file(path, env, &source, error));
    source.max = reader->sizes.read;
    GSA_TRY(gsai_decode_open(&reader->stream, &source, env, reader->sizes.buffer, error));
    reader->is_open = true;
    reader->input.stream = &reader->stream;
    reader->input.file = (uint32_t)reader->file;
    reader->input.name = file_name(&reader->head, reader->input.file);
    return GSA_OK;
}

static void close_current(file_reader *reader)
{
    gsai_chunks_stop(reader->chunks);
    if (reader->is_open) {
        reader->bytes_done += reader->stream.source.n_read;
        gsai_decode_close(&reader->stream);
    }
    reader->is_open = false;
    reader->current = NULL;
}

/* Opens a file and looks at how it begins. */
static gsa_status peek_at(file_reader *reader, size_t file, gsa_error *error)
{
    close_current(reader);
    reader->file = file;
    GSA_TRY(open_current(reader, error));
    return gsai_decode_peek(&reader->stream, error);
}

/* The format that the files must have, NULL if any will do. */
static const gsai_format *expected_format(const file_reader *reader)
{
    const gsa_reader_options *options = &reader->options;
    if (reader->schema.text)
        return reader->schema.is_namespaced ? &gsai_format_vw : &gsai_format_table;
    if (options->label || options->weight || options->exposure || options->offset || options->categorical ||
        options->ignore || options->group || options->time || options->text || options->increasing ||
        options->decreasing || options->per)
        return &gsai_format_table;
    return reader->cache ? &gsai_format_libsvm : reader->format; /* a cache goes with libsvm text */
}

/* Feature numbers of libsvm text, tables and others mean different things: one run has files of one sort. */
static gsa_status check_format(const file_reader *reader, const gsai_format *format, gsa_error *error)
{
    const char *name = reader->input.name;
    const gsai_format *expected = expected_format(reader);
    bool is_cache = format == &gsai_format_cache, is_array = format == &gsai_format_npy;
    bool is_numbered = is_cache || is_array || format == &gsai_format_libsvm;
    if (reader->options.labels && !is_array && !reader->bytes_spilled)
        return gsai_fail_param(error, "labels", GSA_ARGUMENT,
                               "%s is %s, whose rows have their labels: leave others out", name, format->title);
    if (reader->options.cross && is_numbered)
        return gsai_fail_param(error, "cross", GSA_ARGUMENT,
                               "%s is %s, which has neither columns nor namespaces: leave crosses out", name,
                               format->title);
    if (reader->options.keep && (is_numbered || format == &gsai_format_vw))
        return gsai_fail_param(error, "keep", GSA_ARGUMENT, "%s is %s, which has no texts of columns to keep", name,
                               format->title);
    const gsai_schema *schema = &reader->schema;
    bool are_numbers = schema->n_numbers > 0 && schema->n_crosses == 0 &&
                       gsai_schema_cells(schema) == schema->n_numbers && schema->n_of_kind[GSAI_FIELD_OFFSET] == 0;
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

/* Opens the current file and begins its format, unless that is done. The format is known by its content, as codecs are;
 * where this leaves it open, by the name. */
static gsa_status begin_current(file_reader *reader, gsa_error *error)
{
    if (!reader->is_open)
        GSA_TRY(open_current(reader, error));
    if (reader->current)
        return GSA_OK;
    GSA_TRY(gsai_decode_peek(&reader->stream, error));
    const gsai_format *format =
        gsai_recognise(reader->input.name, reader->stream.start, reader->stream.start_size, expected_format(reader));
    if (!reader->recognises && format != &gsai_format_cache)
        format = reader->format;
    if (gsa_model_matches(reader->stream.start, reader->stream.start_size))
        return gsai_fail(error, GSA_FORMAT, "%s is a model or state, not rows; give rows", reader->input.name);
    const char *foreign = reader->recognises ? gsai_foreign(reader->stream.start, reader->stream.start_size) : NULL;
    if (foreign)
        return gsai_fail(error, GSA_ARGUMENT, "cannot read %s: it is %s", reader->input.name, foreign);
    if (reader->recognises)
        GSA_TRY(check_format(reader, format, error));
    void **parser = format == &gsai_format_cache ? &reader->cache : &reader->parser;
    if (!*parser)
        GSA_TRY(gsai_format_open(format, reader->sizes.buffer, &reader->head.env, parser, error));
    if (format != &gsai_format_cache)
        reader->format = format;
    if (!reader->first_name)
        reader->first_name = reader->input.name;
    reader->input.begins_file = false;
    format->begin(*parser, &reader->input);
    reader->current = format;
    return GSA_OK;
}

/* Returns the parser of the current file. */
static void *current_parser(const file_reader *reader)
{
    return reader->current == &gsai_format_cache ? reader->cache : reader->parser;
}

static gsa_status prepare(file_reader *reader, gsa_error *error)
{
    GSA_TRY(begin_current(reader, error));
    return reader->current->prepare ? reader->current->prepare(current_parser(reader), error) : GSA_OK;
}

/* Closes the current file and goes to the next one. */
static void go_to_next(file_reader *reader)
{
    close_current(reader);
    reader->file++;
}

/* Goes to a file, as if nothing had been read. */
static void restart(file_reader *reader, size_t file)
{
    close_current(reader);
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

/* Puts file, line and byte in front of a failure of the current file that has a line. */
static void locate(const file_reader *reader, gsa_error *failure)
{
    if (failure->line > 0)
        gsai_reader_prefix(reader->input.name, failure->line, failure->byte, failure);
}

/* Returns a failure: one that is new, or the one that ended the reading. */
static gsa_status fail(const gsa_error *failure, gsa_error *error)
{
    if (error)
        *error = *failure;
    return failure->status;
}

/* Tells what the reader has read, so that other threads may ask. */
static void tell_position(file_reader *reader)
{
    uint64_t here = 0;
    if (reader->is_open && !gsai_chunks_are_read(reader->chunks, &here))
        here = reader->stream.source.n_read;
    reader->head.n_bad_rows = reader->input.n_bad_rows;
    reader->head.n_unlabelled = reader->input.n_unlabelled;
    reader->head.n_recoded = reader->input.n_recoded;
    reader->head.bytes_read = reader->bytes_done + here;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* Rows that threads have read ahead, then those that are read here. Where these were enough for a batch without a wait,
 * threads go on. */
static gsa_status read_current(file_reader *reader, gsai_rows *rows, gsa_error *error)
{
    gsa_status status = reader->chunks ? gsai_chunks_read(reader->chunks, rows, error) : GSA_END;
    if (status != GSA_END)
        return status;
    status = reader->current->read(current_parser(reader), rows, error);
    if (status != GSA_OK || !gsai_rows_full(rows) || !reader->current->give || reader->is_alone)
        return status;
    if (!reader->chunks)
        reader->chunks =
            gsai_chunks_new(reader->format, reader->parser, &reader->input, &reader->sizes, &reader->head.env);
    reader->is_alone = !reader->chunks;
    if (reader->chunks)
        gsai_chunks_start(reader->chunks);
    return GSA_OK;
}

/* Looks after rows that were read behind the first n_before: a failure waits until they are delivered. */
static gsa_status deliver(file_reader *reader, gsa_status status, const gsai_rows *rows, size_t n_before,
                          gsa_error *failure, gsa_batch *out, gsa_error *error)
{
    const gsai_env *env = &reader->head.env;
    if ((status == GSA_OK || status == GSA_END) && reader->names.lacks_memory)
        status = gsai_fail_memory(env, failure, "no memory for the names of features");
    if (status == GSA_STOPPED)
        return fail(failure, error);
    if (status != GSA_OK && status != GSA_END)
        reader->failure = *failure;
    if (rows->n_rows == n_before)
        return status == GSA_END ? GSA_END : fail(&reader->failure, error);
    const uint32_t file = rows->place[n_before].file;
    reader->begins_file = file != reader->last_file || reader->input.begins_file;
    reader->last_file = file;
    const gsa_batch all = gsai_rows_view(rows);
    *out = gsai_batch_slice(&all, n_before, all.n_rows - n_before);
    if (reader->spill.writer && reader->begins_file)
        gsa_writer_begin_file(reader->spill.writer);
    gsai_spill_add(&reader->spill, out, reader->schema.text, env);
    return GSA_OK;
}

static gsa_status next_files(gsa_reader *head, gsa_batch *out, gsa_error *error)
{
    file_reader *reader = (file_reader *)head;
    if (reader->delivered)
        gsai_rows_clear(&reader->rows);
    reader->delivered = false;
    if (reader->failure.status != GSA_OK)
        return fail(&reader->failure, error);
    gsa_error failure = {0};
    gsa_status status = GSA_END;
    for (bool has_rows = false; status == GSA_END && reader->file < reader->n_files && !has_rows;) {
        status = begin_current(reader, &failure);
        if (status == GSA_OK)
            status = read_current(reader, &reader->rows, &failure);
        if (status == GSA_END)
            go_to_next(reader);
        has_rows = reader->rows.n_rows > 0;
    }
    if (status != GSA_OK && status != GSA_END)
        locate(reader, &failure);
    status = deliver(reader, status, &reader->rows, 0, &failure, out, error);
    reader->delivered = status == GSA_OK;
    if (status == GSA_END)
        gsai_spill_end(&reader->spill, &head->env);
    tell_position(reader);
    return status;
}

static gsa_status rewind_files(gsa_reader *head, gsa_error *error)
{
    file_reader *reader = (file_reader *)head;
    if (reader->is_stream)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "the input is a stream and cannot be read again: put it in a file for more than one pass");
    reader->bytes_spilled = reader->spill.size;
    restart(reader, reader->bytes_spilled > 0 ? reader->n_files - 1 : 0);
    gsai_spill_begin(&reader->spill, &head->env);
    tell_position(reader);
    return GSA_OK;
}

static void describe_files(const gsa_reader *head, gsa_reader_progress *out)
{
    const file_reader *reader = (const file_reader *)head;
    out->bytes_kept = reader->bytes_spilled;
    out->keep_failed = reader->spill.failed;
    out->bytes_total = out->bytes_kept > 0 ? out->bytes_kept : reader->total_unknown ? 0 : reader->bytes_total;
    out->is_stream = reader->is_stream;
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

/* Returns text number i of the options; NULL after the last. */
static const char **option_text(gsa_reader_options *of, size_t i)
{
    const char **texts[] = {&of->label, &of->weight, &of->categorical, &of->ignore,     &of->cross,      &of->decimal,
                            &of->dates, &of->keep,   &of->exposure,    &of->labels,     &of->missing,    &of->group,
                            &of->time,  &of->text,   &of->offset,      &of->increasing, &of->decreasing, &of->per};
    return i < sizeof texts / sizeof *texts ? texts[i] : NULL;
}

static void close_files(gsa_reader *head)
{
    file_reader *reader = (file_reader *)head;
    gsai_env env = head->env; /* outlives the reader that holds it */
    close_current(reader);
    gsai_spill_drop(&reader->spill, &env);
    gsai_chunks_free(reader->chunks);
    if (reader->parser)
        reader->format->close(reader->parser);
    if (reader->cache)
        gsai_format_cache.close(reader->cache);
    gsai_schema_free(&reader->schema);
    gsai_feature_names_free(&reader->names);
    const char **text;
    for (size_t i = 0; (text = option_text(&reader->options, i)) != NULL; i++)
        gsai_free(&env, (void *)(uintptr_t)*text);
    gsai_rows_free(&reader->rows);
    for (size_t i = 0; reader->paths && i < reader->n_files; i++)
        gsai_free(&env, reader->paths[i]);
    gsai_free(&env, reader->paths);
    gsai_free(&env, reader->memory_name);
    gsai_free(&env, reader);
}

static const gsai_reader_kind files_kind = {next_files, rewind_files, close_files, file_name, describe_files};

/* Returns the reader if it is one of files, else NULL. */
static file_reader *files_of(const gsa_reader *head)
{
    return head->kind == &files_kind ? (file_reader *)(uintptr_t)head : NULL;
}

/* Options that are one of two words. */
static gsa_status check_words(const gsa_reader_options *options, gsa_error *error)
{
    const struct {
        const char *name, *given, *words[2];
    } option[] = {{"decimal", options->decimal, {"point", "comma"}},
                  {"dates", options->dates, {"day-first", "month-first"}}};
    for (size_t i = 0; i < 2; i++)
        if (option[i].given && strcmp(option[i].given, option[i].words[0]) != 0 &&
            strcmp(option[i].given, option[i].words[1]) != 0)
            return gsai_fail_param(error, option[i].name, GSA_ARGUMENT, "'%s': expected %s or %s", option[i].given,
                                   option[i].words[0], option[i].words[1]);
    return GSA_OK;
}

/* Hands out a reader that could be opened, and closes one that could not; NULL: there was no memory for it. */
static gsa_status hand_out(gsa_reader *reader, gsa_status status, gsa_reader **out)
{
    if (status == GSA_OK)
        *out = reader;
    else
        gsa_reader_close(reader);
    return status;
}

/* Makes a reader without files yet, which is also there if this fails but for memory. */
static gsa_status new_files(const gsai_format *format, const gsa_reader_options *options,
                            const gsai_reader_sizes *sizes, const gsai_env *env, file_reader **out, gsa_error *error)
{
    gsai_env resolved = gsai_env_resolve(env);
    file_reader *reader = gsai_alloc_zeroed(&resolved, 1, sizeof *reader);
    GSAI_TRY_MEMORY(reader, &resolved, error, "no memory for a reader");
    *out = reader;
    reader->head = (gsa_reader){.kind = &files_kind, .env = resolved};
    reader->format = format;
    reader->recognises = format == NULL;
    reader->sizes = *sizes;
    reader->last_file = UINT32_MAX;
    gsai_schema_init(&reader->schema, &reader->head.env);
    reader->input.schema = &reader->schema;
    reader->input.names = &reader->names;
    reader->input.schema_from = "the first file";
    reader->input.options = &reader->options;
    if (options)
        reader->options = *options;
    reader->options.files = NULL; /* those of the caller are copied */
    bool has_room = true;
    const char **text;
    for (size_t i = 0; (text = option_text(&reader->options, i)) != NULL; i++)
        if (*text) { /* becomes NULL if out of memory, so that all texts left are the reader's */
            *text = gsai_copy_text(&reader->head.env, *text);
            has_room = has_room && *text;
        }
    gsai_rows_init(&reader->rows, sizes->batch_rows, sizes->batch_values, &reader->head.env);
    reader->rows.without_labels = reader->options.without_labels != 0;
    gsa_status status = gsai_format_keeps(&reader->input) ? gsai_rows_keep(&reader->rows, error) : GSA_OK;
    if (status == GSA_OK && !has_room)
        status = gsai_fail_memory(&resolved, error, "no memory for a reader");
    if (status == GSA_OK)
        status = check_words(&reader->options, error);
    if (status == GSA_OK && reader->options.bits > GSAI_MAX_BITS)
        status = gsai_fail(error, GSA_ARGUMENT, "%u bits to hash words to: expected 1 to %u", reader->options.bits,
                           GSAI_MAX_BITS);
    return status;
}

/* Adds a file, which is opened, so that a wrong name is said before any work. */
static gsa_status add_path(file_reader *reader, const char *path, bool stands_alone, gsa_error *error)
{
    const gsai_env *env = &reader->head.env;
    if (strcmp(path, GSAI_STDIN_PATH) == 0 && !stands_alone)
        return gsai_fail(error, GSA_ARGUMENT, "- (standard input) must be the only input; a file of that name is ./-");
    gsai_source_info info = {0};
    gsai_source source;
    if (reader->given.open) {
        GSA_TRY(gsai_source_open_given(&reader->given, path, env, &source, error));
        info.size = source.size;
        gsai_source_close(&source);
    } else
        GSA_TRY(gsai_source_probe(path, env, &info, error));
    char *copy = gsai_copy_text(env, path);
    GSAI_TRY_MEMORY(copy, env, error, "no memory for the names of the input files");
    reader->bytes_total += info.size;
    reader->paths[reader->n_files++] = copy;
    reader->is_stream = reader->input.is_stream = reader->is_stream || info.is_stream;
    reader->total_unknown = reader->total_unknown || (info.is_stream && info.size == 0);
    return GSA_OK;
}

/* Checks that all rows have labels, as far as headers tell. */
static gsa_status check_labels(file_reader *reader, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (!reader->options.labels || reader->options.without_labels || reader->is_stream)
        return GSA_OK;
    for (size_t i = 0; i < reader->n_files && status == GSA_OK; i++) {
        status = peek_at(reader, i, error);
        if (status == GSA_OK && gsai_npy_matches(reader->stream.start, reader->stream.start_size))
            status = gsai_npy_labels_check(&reader->input, reader->n_files, &reader->head.env, error);
    }
    restart(reader, 0);
    return status;
}

gsa_status gsai_reader_open_files(const char *const *paths, size_t n_paths, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes,
                                  const gsai_env *env, gsa_reader **out, gsa_error *error)
{
    if (n_paths == 0 || n_paths > UINT32_MAX)
        return gsai_fail(error, GSA_ARGUMENT, "%zu input files: expected at least one, or - for standard input",
                         n_paths);
    file_reader *reader = NULL;
    const gsa_file_source *files = options ? options->files : NULL;
    gsa_status status = new_files(format, options, sizes, env, &reader, error);
    if (status == GSA_OK) {
        status = gsai_take(&reader->given, files, error);
        reader->options.files = files ? &reader->given : NULL;
        reader->paths = gsai_alloc_zeroed(&reader->head.env, n_paths, sizeof *reader->paths);
        if (status == GSA_OK && !reader->paths)
            status = gsai_fail_memory(&reader->head.env, error, "no memory for the names of %zu input files", n_paths);
    }
    for (size_t i = 0; status == GSA_OK && i < n_paths; i++)
        status = add_path(reader, paths[i], n_paths == 1, error);
    if (status == GSA_OK)
        status = check_labels(reader, error);
    return hand_out((gsa_reader *)reader, status, out);
}

gsa_status gsa_reader_open(const char *const *paths, size_t n_paths, const gsa_reader_options *options,
                           const gsa_memory *memory, const gsa_call *call, gsa_reader **out, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, call, error));
    gsa_reader_options asked;
    GSA_TRY(gsai_take(&asked, options, error));
    return gsai_reader_open_files(paths, n_paths, NULL, &asked, &(gsai_reader_sizes){0}, &own, out, error);
}

gsa_status gsai_reader_open_bytes(const void *bytes, size_t size, const char *name, const gsai_format *format,
                                  const gsa_reader_options *options, const gsai_reader_sizes *sizes,
                                  const gsai_env *env, gsa_reader **out, gsa_error *error)
{
    file_reader *reader = NULL;
    gsa_status status = new_files(format, options, sizes, env, &reader, error);
    if (status == GSA_OK) {
        reader->memory_name = gsai_copy_text(&reader->head.env, name ? name : "memory");
        reader->n_files = 1;
        reader->memory = bytes;
        reader->bytes_total = size;
        if (!reader->memory_name)
            status = gsai_fail_memory(&reader->head.env, error, "no memory for a reader");
    }
    return hand_out((gsa_reader *)reader, status, out);
}

gsa_status gsa_reader_open_memory(const void *bytes, size_t size, const char *name, const gsa_reader_options *options,
                                  const gsa_memory *memory, const gsa_call *call, gsa_reader **out, gsa_error *error)
{
    gsai_env own;
    GSA_TRY(gsai_env_take(&own, memory, call, error));
    gsa_reader_options asked;
    GSA_TRY(gsai_take(&asked, options, error));
    return gsai_reader_open_bytes(bytes, size, name, NULL, &asked, &(gsai_reader_sizes){0}, &own, out, error);
}

/* The stream is taken over in any case; what reopens it only if its size is known. To the reader it is memory without
 * bytes, whose parser is there already and has its rows from elsewhere. */
gsa_status gsa_reader_open_arrow(struct ArrowArrayStream *stream, const gsa_arrow_again *again,
                                 const gsa_reader_options *options, const gsa_memory *memory, const gsa_call *call,
                                 gsa_reader **out, gsa_error *error)
{
    gsai_env own;
    gsa_reader_options asked;
    gsa_arrow_again reopens = {0};
    gsa_reader *head = NULL;
    gsa_status status = gsai_take(&reopens, again, error);
    if (status == GSA_OK)
        status = gsai_take(&asked, options, error);
    if (status == GSA_OK)
        status = gsai_env_take(&own, memory, call, error);
    if (status == GSA_OK)
        status = gsai_reader_open_bytes("", 0, "the Arrow stream", &gsai_format_arrow, &asked, &(gsai_reader_sizes){0},
                                        &own, &head, error);
    if (status == GSA_OK && asked.labels)
        status = gsai_fail_param(error, "labels", GSA_ARGUMENT, "a table has its labels in a column: leave others out");
    file_reader *reader = (file_reader *)head;
    if (status == GSA_OK)
        status = gsai_arrow_open(stream, &reopens, &head->env, &reader->parser, error);
    else
        gsai_arrow_refuse(stream, &reopens);
    if (status == GSA_OK) {
        reader->is_arrow = true;
        reader->is_stream = !reopens.open;
    }
    return hand_out(head, status, out);
}

/* ---- what only files have --------------------------------------------------------------------------------------- */

static gsa_status fail_in_order(gsa_error *error)
{
    return gsai_fail(error, GSA_UNSUPPORTED, "rows that a caller gives can only be read one after the other");
}

/* Reads up to the first file that tells the schema; files without rows are skipped. */
gsa_status gsa_reader_begin(gsa_reader *head, gsa_error *error)
{
    file_reader *reader = files_of(head);
    gsa_error failure = {0};
    gsa_status status = GSA_END;
    if (!reader)
        return GSA_OK;
    while (reader->file < reader->n_files && reader->failure.status == GSA_OK && status == GSA_END) {
        status = prepare(reader, &failure);
        if (status == GSA_END)
            go_to_next(reader);
    }
    if (status == GSA_OK || status == GSA_END)
        return reader->failure.status == GSA_OK ? GSA_OK : fail(&reader->failure, error);
    locate(reader, &failure);
    if (status != GSA_STOPPED)
        reader->failure = failure;
    return fail(&failure, error);
}

/* Goes on with the block of a cache that begins there. */
gsa_status gsa_reader_seek(gsa_reader *head, const gsa_place *block, gsa_error *error)
{
    file_reader *reader = files_of(head);
    if (!reader)
        return fail_in_order(error);
    gsa_error failure = {0};
    gsa_status status = GSA_OK;
    gsai_spill_pause(&reader->spill); /* the rows will not be all of them */
    restart(reader, block->file < reader->n_files ? block->file : reader->n_files);
    if (block->file >= reader->n_files)
        status = gsai_fail(&failure, GSA_ARGUMENT, "a block of file number %" PRIu32 ", of %zu files", block->file,
                           reader->n_files);
    if (status == GSA_OK)
        status = prepare(reader, &failure);
    bool can = status == GSA_OK && reader->current->enter && !reader->stream.entry && !reader->is_stream;
    if (status == GSA_OK)
        status =
            can ? reader->current->enter(current_parser(reader), block, &failure)
                : gsai_fail(&failure, GSA_UNSUPPORTED,
                            "%s can only be read from its first row on: convert it to a cache", reader->input.name);
    if (status != GSA_OK && status != GSA_END) {
        locate(reader, &failure);
        reader->failure = failure;
        return fail(&failure, error);
    }
    head->n_rows = 0;
    tell_position(reader);
    return GSA_OK;
}

gsa_status gsa_reader_skip(gsa_reader *head, gsa_row_range *out, gsa_error *error)
{
    file_reader *reader = files_of(head);
    if (!reader)
        return fail_in_order(error);
    gsa_status status = reader->failure.status != GSA_OK ? fail(&reader->failure, error) : GSA_END;
    while (status == GSA_END && reader->file < reader->n_files) {
        status = begin_current(reader, error);
        bool can = status == GSA_OK && reader->current->skip && !reader->stream.entry && !reader->is_stream;
        if (status == GSA_OK)
            status =
                can ? reader->current->skip(current_parser(reader), out, error)
                    : gsai_fail(error, GSA_UNSUPPORTED,
                                "%s is not a plain cache, so its blocks cannot be read one by one", reader->input.name);
        if (status == GSA_END)
            go_to_next(reader);
    }
    tell_position(reader);
    return status;
}

/* Exchanges all but whose rows they are. */
static void exchange_arrays(gsai_rows *a, gsai_rows *b)
{
    gsai_rows *both[2] = {a, b};
    const gsai_rows own[2] = {*a, *b};
    for (int i = 0; i < 2; i++) {
        *both[i] = own[!i];
        both[i]->env = own[i].env;
        both[i]->max_rows = own[i].max_rows;
        both[i]->max_values = own[i].max_values;
        both[i]->without_labels = own[i].without_labels;
        both[i]->words = own[i].words;
    }
}

static bool has_same_memory(const gsai_env *a, const gsai_env *b)
{
    return a->memory.budget == b->memory.budget && a->memory.release == b->memory.release &&
           a->memory.ctx == b->memory.ctx;
}

/* Not at the beginning of a file, which another block may have to begin with, and not where rows may be waited for. */
gsa_status gsai_reader_extend(gsa_reader *head, gsai_rows *rows, gsa_batch *out, gsa_error *error)
{
    file_reader *reader = files_of(head);
    *out = (gsa_batch){0};
    bool is_between = reader && !reader->delivered && reader->rows.n_rows > 0;
    if (!reader || !reader->current || !reader->current->give || reader->is_stream || is_between || rows->width > 0 ||
        rows->keeps || reader->rows.keeps || reader->options.keep_cells || reader->failure.status != GSA_OK ||
        !has_same_memory(&head->env, rows->env))
        return GSA_UNSUPPORTED;
    const size_t n_before = rows->n_rows;
    const gsai_words own = rows->words;
    const bool without_labels = rows->without_labels;
    gsa_error failure = {0};
    rows->words = reader->rows.words;
    rows->without_labels = reader->rows.without_labels;
    gsa_status status = read_current(reader, rows, &failure);
    bool has_ended = status == GSA_END;
    if (has_ended)
        go_to_next(reader);
    else if (status != GSA_OK)
        locate(reader, &failure);
    if (status == GSA_STOPPED && rows->n_rows > n_before)
        status = GSA_OK; /* the next call is stopped again */
    else if (status == GSA_OK && rows->n_rows == n_before)
        status = GSA_UNSUPPORTED;
    if (status != GSA_UNSUPPORTED)
        status = deliver(reader, status, rows, n_before, &failure, out, error);
    reader->rows.words = rows->words;
    rows->words = own;
    rows->without_labels = without_labels;
    head->n_rows += out->n_rows;
    tell_position(reader);
    return status == GSA_OK && has_ended ? GSA_END : status;
}

bool gsai_reader_take_rows(gsa_reader *head, gsai_rows *rows)
{
    file_reader *reader = files_of(head);
    if (!reader || !reader->delivered || reader->options.keep_cells || !has_same_memory(&head->env, rows->env))
        return false;
    if (reader->rows.keeps && gsai_rows_keep(rows, NULL) != GSA_OK) /* which the reader goes on with */
        return false;
    exchange_arrays(&reader->rows, rows);
    return true;
}

/* ---- columns and features --------------------------------------------------------------------------------------- */

gsa_status gsa_reader_set_schema(gsa_reader *head, const char *text, gsa_error *error)
{
    file_reader *reader = files_of(head);
    if (!reader)
        return text ? gsai_fail(error, GSA_ARGUMENT, "rows that are made have no columns") : GSA_OK;
    if (reader->is_open || reader->file > 0 || reader->schema.text)
        return gsai_fail(error, GSA_ARGUMENT, "the reader knows its columns already");
    reader->input.schema_is_fixed = text != NULL;
    if (!text)
        return GSA_OK;
    reader->input.schema_from = "the model";
    GSA_TRY(gsai_schema_parse(&reader->schema, text, error));
    const char *list = reader->options.cross, *name[2];
    size_t name_size[2];
    gsa_status status;
    while ((status = gsai_schema_next_cross(&list, name, name_size, error)) == GSA_OK)
        if (!gsai_schema_is_crossed(&reader->schema, name, name_size))
            return gsai_fail_param(error, "cross", GSA_ARGUMENT, "crosses contradict the model; leave them out");
    if (status != GSA_END)
        return status;
    if (reader->options.bits != 0 && reader->options.bits != reader->schema.bits)
        return gsai_fail_param(error, "bits", GSA_ARGUMENT,
                               "%u bits contradict the model, which has %u; leave them out", reader->options.bits,
                               reader->schema.bits);
    return GSA_OK;
}

const char *gsa_reader_schema(const gsa_reader *head)
{
    const file_reader *reader = files_of(head);
    return reader ? reader->schema.text : NULL;
}

const char *gsa_reader_description(const gsa_reader *head)
{
    const file_reader *reader = files_of(head);
    return reader && reader->input.description[0] ? reader->input.description : NULL;
}

const char *gsa_reader_name(const gsa_reader *head, uint64_t feature)
{
    const file_reader *reader = files_of(head);
    if (!reader || !reader->schema.text)
        return NULL;
    const gsai_schema *schema = &reader->schema;
    uint64_t first = gsai_schema_first_word(schema);
    return feature >= first ? gsai_feature_names_find(reader->input.names, feature - first)
                            : gsai_schema_number_name(schema, feature);
}

/* Returns the share of places that are taken: 1 - e^(-n/N) with n words in N places, as is the share of words that are
 * not alone. */
double gsa_reader_collision_rate(const gsa_reader *head)
{
    const file_reader *reader = files_of(head);
    return reader && reader->names.n_came > 0
               ? (double)reader->names.n_came / (double)(UINT64_C(1) << gsai_schema_id_bits(&reader->schema))
               : (double)NAN;
}

const char *gsa_reader_name_at(const gsa_reader *head, size_t number, uint64_t *feature)
{
    const file_reader *reader = files_of(head);
    if (!reader || number >= reader->names.n)
        return NULL;
    *feature = gsai_schema_first_word(&reader->schema) + (uint64_t)reader->names.id[number];
    return reader->names.text + reader->names.start[number];
}

const uint64_t *gsa_reader_cells(const gsa_reader *head, size_t *n_cells)
{
    const file_reader *reader = files_of(head);
    *n_cells = 0;
    if (!reader || !reader->delivered || !reader->options.keep_cells)
        return NULL;
    *n_cells = gsai_schema_cells(&reader->schema);
    return reader->rows.n_cells == reader->rows.n_rows * *n_cells ? reader->rows.cell : NULL;
}

uint64_t gsai_reader_header_lines(const gsa_reader *head)
{
    const file_reader *reader = files_of(head);
    return reader ? reader->input.header_lines : 0;
}

int gsa_reader_begins_file(const gsa_reader *head)
{
    const file_reader *reader = files_of(head);
    return reader && reader->begins_file;
}

/* Text that is not compressed is read as fast as it is learned, and a cache is kept rows already. Arrow streams and
 * files of the caller come from who has to make or fetch them anew. */
gsa_status gsa_reader_spill(gsa_reader *head, const char *folder, gsa_error *error)
{
    file_reader *reader = files_of(head);
    if (!reader || reader->is_stream || reader->spill.path)
        return GSA_OK;
    bool is_worth = reader->is_arrow || reader->given.open;
    for (size_t i = 0; reader->paths && i < reader->n_files && !is_worth; i++)
        is_worth = peek_at(reader, i, NULL) == GSA_OK && reader->stream.entry; /* a failure comes again with the rows */
    GSA_TRY(gsa_reader_rewind(head, error));
    return is_worth ? gsai_spill_open(&reader->spill, folder, &head->env, error) : GSA_OK;
}
